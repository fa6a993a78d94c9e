package dev.sluice.reference;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The world at one moment: the tree with all that is used, and those who use it. */
record ReferenceSnapshot(ReferenceTree tree, List<ReferenceHolder> holders) {

  /** The same world, where these hold nothing any more. */
  ReferenceSnapshot without(Collection<ReferenceHolder> gone) {
    ReferenceTree left = tree.copy();
    List<ReferenceHolder> others = new ArrayList<>(holders);
    for (ReferenceHolder holder : gone) {
      if (others.remove(holder)) {
        left.remove(holder.queue(), holder.usage());
      }
    }
    return new ReferenceSnapshot(left, others);
  }
}

package dev.sluice.reference;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * The world at one moment: the tree with all that is used, those who use it, what is used of nodes
 * beside them, the time, and whom each preemptor may not evict once more.
 */
record ReferenceSnapshot(
    ReferenceTree tree,
    List<ReferenceHolder> holders,
    List<ReferenceNodes.Use> uses,
    Instant now,
    Function<String, Set<String>> spared) {

  /** The same world, in a copy. */
  ReferenceSnapshot copy() {
    return without(List.of());
  }

  /** All that is used of nodes. */
  List<ReferenceNodes.Use> allUses(ReferenceNodes nodes) {
    List<ReferenceNodes.Use> all = new ArrayList<>(uses);
    holders.forEach(
        holder ->
            all.addAll(nodes.beyond(nodes.uses(holder.placed()), nodes.uses(holder.shared()))));
    return all;
  }

  /** The same world, where these hold nothing any more. */
  ReferenceSnapshot without(Collection<ReferenceHolder> gone) {
    ReferenceTree left = tree.copy();
    List<ReferenceHolder> others = new ArrayList<>(holders);
    for (ReferenceHolder holder : gone) {
      if (others.remove(holder)) {
        left.remove(holder.queue(), holder.usage());
      }
    }
    return new ReferenceSnapshot(left, others, new ArrayList<>(uses), now, spared);
  }
}

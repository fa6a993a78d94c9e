package dev.sluice.reference;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * The world at one moment: the tree with all that is used, those who use it, what is used of nodes
 * beside them, the time, whom each preemptor may not evict once more, and the queues in which
 * anybody saved work since it got its quota.
 */
record ReferenceSnapshot(
    ReferenceTree tree,
    List<ReferenceHolder> holders,
    List<ReferenceNodes.Use> uses,
    Instant now,
    Function<String, Set<String>> spared,
    Set<String> saving) {

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

  /** Whether anybody in the tree of a queue saved work. */
  boolean savesWork(String queue) {
    return tree.tree(queue).stream().anyMatch(saving::contains);
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
    return new ReferenceSnapshot(left, others, new ArrayList<>(uses), now, spared, saving);
  }
}

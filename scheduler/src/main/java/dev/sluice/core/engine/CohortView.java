package dev.sluice.core.engine;

import dev.sluice.core.quota.DominantResourceShare;
import java.util.List;
import java.util.Optional;

/**
 * A snapshot of a cohort.
 *
 * @param parent name of the parent; empty for a root
 * @param root name of the root of the tree; empty while the chain of parents is a cycle
 * @param dominantResourceShare the share for fair sharing; empty without fair sharing
 * @param usage one entry per flavor and resource: {@code nominal} is the quota of the whole
 *     subtree, {@code reserved} the reservations of all queues of the subtree
 */
public record CohortView(
    String name,
    String parent,
    String root,
    Optional<DominantResourceShare> dominantResourceShare,
    List<FlavorUsage> usage) {

  public CohortView {
    usage = List.copyOf(usage);
  }

  /** A snapshot without fair sharing. */
  public CohortView(String name, String parent, String root, List<FlavorUsage> usage) {
    this(name, parent, root, Optional.empty(), usage);
  }
}

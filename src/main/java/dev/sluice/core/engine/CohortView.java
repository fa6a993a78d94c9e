package dev.sluice.core.engine;

import dev.sluice.core.quota.DominantResourceShare;
import java.util.List;
import java.util.Optional;

/**
 * What a cohort looks like from outside, at one moment.
 *
 * @param parent its parent; empty for a root
 * @param root the root of its tree; empty while its chain of parents is a cycle
 * @param share its fair share; empty where queues don't share by weight
 * @param usage per flavor and resource: {@code nominal} is the quota of the whole subtree, {@code
 *     reserved} its usage as seen at this cohort
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

  /** Of one whose queues don't share by weight. */
  public CohortView(String name, String parent, String root, List<FlavorUsage> usage) {
    this(name, parent, root, Optional.empty(), usage);
  }
}

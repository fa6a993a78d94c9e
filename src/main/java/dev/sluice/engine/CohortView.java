package dev.sluice.engine;

import java.util.List;

/**
 * What a cohort looks like from outside, at one moment.
 *
 * @param parent its parent; empty for a root
 * @param root the root of its tree; empty while its chain of parents is a cycle
 * @param usage per flavor and resource: {@code nominal} is the quota of the whole subtree, {@code
 *     reserved} its usage as seen at this cohort
 */
public record CohortView(String name, String parent, String root, List<FlavorUsage> usage) {

  public CohortView {
    usage = List.copyOf(usage);
  }
}

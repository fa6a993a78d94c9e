package dev.sluice.core.model;

import java.util.List;

/**
 * The domains that the pods of a pod set run in.
 *
 * @param levels the label keys of the values of each domain: only the hostname if the topology's
 *     lowest level is the hostname, otherwise all levels
 * @param domains the domains of the lowest level, ordered by their values
 */
public record TopologyAssignment(List<String> levels, List<Domain> domains) {

  /**
   * Pods in one domain.
   *
   * @param values the value of each level's label
   * @param count the number of pods; positive
   */
  public record Domain(List<String> values, int count) {
    public Domain {
      values = List.copyOf(values);
    }
  }

  public TopologyAssignment {
    levels = List.copyOf(levels);
    domains = List.copyOf(domains);
  }

  /** Whether the domains are nodes. */
  public boolean isOfNodes() {
    return levels.size() == 1 && levels.getFirst().equals(TopologySpec.HOSTNAME);
  }

  /** The number of pods in all domains. */
  public long pods() {
    long pods = 0;
    for (Domain domain : domains) {
      pods += domain.count();
    }
    return pods;
  }
}

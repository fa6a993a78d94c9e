package dev.sluice.core.model;

import java.util.List;

/**
 * The slice that a Workload replaces, with the quota that it still holds.
 *
 * @param uid UID of the replaced Workload, which is no preemption target of its replacement
 * @param podSets what is reserved for its pod sets
 */
public record ReplacedSlice(String uid, List<PodSetAssignment> podSets) {

  public ReplacedSlice {
    podSets = List.copyOf(podSets);
  }
}

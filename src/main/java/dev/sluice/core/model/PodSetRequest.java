package dev.sluice.core.model;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What one pod set of a pending Workload asks for.
 *
 * @param name its name in the Workload
 * @param count pods that still need quota (reclaimable ones are already taken off)
 * @param minCount the least number of pods it can start with; 0 when it must be all
 * @param perPod amounts one pod requests, by resource (thousandths for cpu, whole units otherwise)
 * @param placement where its pods may run
 * @param group pod sets with the same non-empty group get the same flavors
 */
public record PodSetRequest(
    String name,
    int count,
    int minCount,
    SortedMap<String, Long> perPod,
    NodeConstraints nodeConstraints,
    String group) {

  public PodSetRequest {
    perPod = Collections.unmodifiableSortedMap(new TreeMap<>(perPod));
  }

  /** Pods it can do without at its start. */
  public long spare() {
    return minCount > 0 ? Math.max(0, count - minCount) : 0;
  }

  /** The same with another number of pods, all of which it needs. */
  public PodSetRequest withCount(int pods) {
    return new PodSetRequest(name, pods, 0, perPod, nodeConstraints, group);
  }
}

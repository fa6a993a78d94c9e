package dev.sluice.jobs.kinds.statefulset;

import dev.sluice.workload.record.CachedWorkload;

/**
 * Consecutive pods of a StatefulSet, and the Workload that holds or requests their quota.
 *
 * @param first how many pods of the set come before them
 * @param count the number of pods that the Workload still needs quota for
 */
record ReplicaRange(int first, int count, CachedWorkload workload) {

  /** The range of a Workload; pods that it gave back (reclaimablePods) are left out. */
  static ReplicaRange of(int first, CachedWorkload workload) {
    int count = 0;
    for (CachedWorkload.PodSet podSet : workload.spec().podSets()) {
      int givenBack = workload.status().reclaimablePods().getOrDefault(podSet.name(), 0);
      count += Math.max(0, podSet.count() - Math.max(0, givenBack));
    }
    return new ReplicaRange(first, count, workload);
  }

  /** The number of pods of the set up to the end of this range. */
  int end() {
    return first + count;
  }

  /** Whether the Workload has quota and keeps it. */
  boolean isReserved() {
    return workload.quotaReserved() && !workload.deleting() && !workload.finished();
  }

  /** Whether the pod with this many pods before it belongs to the range. */
  boolean covers(int place) {
    return place >= first && place < end();
  }
}

package dev.sluice.jobs.kinds.leaderworkerset;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kinds.pod.GatedSet;
import dev.sluice.jobs.policy.CachedJob;

/**
 * What is kept of a LeaderWorkerSet.
 *
 * @param job the set in the words of all jobs, with the pod sets of one group; its text is there
 *     only while its pods are held back
 * @param replicas how many groups it is to have
 * @param size how many pods a group has
 * @param present how many groups it has, those on their way out included
 * @param surging whether a rollout may make more groups than {@code replicas}
 */
public record CachedLeaderWorkerSet(
    CachedJob job, int replicas, int size, int present, boolean surging) implements GatedSet {

  /** Whether the manager of several clusters sent it here, and its Workloads with it. */
  boolean isSent() {
    return job.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN);
  }

  /** The UID by which its Workloads are named. */
  String uidOfOrigin() {
    String origin = job.annotations().getOrDefault(KueueConstants.MULTIKUEUE_ORIGIN_UID, "");
    return origin.isEmpty() ? job.ref().uid() : origin;
  }

  /** How many groups have a Workload; those that a rollout made in addition are counted. */
  int groups() {
    return surging ? Math.max(replicas, present) : replicas;
  }
}

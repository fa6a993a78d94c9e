package dev.sluice.jobs.statefulset;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.CachedJob;

/**
 * What is kept of a StatefulSet.
 *
 * @param job the set in the words of all jobs; its text is there only while its pods are held back
 * @param replicas how many pods it is to have
 * @param present how many it has, those on their way out included
 * @param currentRevision the revision of its pods before the rollout that is under way, if one is
 * @param updateRevision the revision that its pods are to have
 */
public record CachedStatefulSet(
    CachedJob job, int replicas, int present, String currentRevision, String updateRevision) {

  /** Whether its pods wait at their gates, as its template tells them. */
  boolean gated() {
    return job.state().suspended();
  }

  /** Whether the manager of several clusters sent it here, and its Workload with it. */
  boolean isSent() {
    return job.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN);
  }

  /** The UID by which its Workload is named. */
  String uidOfOrigin() {
    String origin = job.annotations().getOrDefault(KueueConstants.MULTIKUEUE_ORIGIN_UID, "");
    return origin.isEmpty() ? job.ref().uid() : origin;
  }

  /** Whether pods of this revision are on their way out. */
  boolean replaces(String revision) {
    return !revision.isEmpty()
        && !currentRevision.equals(updateRevision)
        && !revision.equals(updateRevision);
  }
}

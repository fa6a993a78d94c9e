package dev.sluice.jobs.kinds.statefulset;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kinds.pod.GatedSet;
import dev.sluice.jobs.policy.CachedJob;

/**
 * What is kept of a StatefulSet.
 *
 * @param job the set in the words of all jobs; its text is there only while its pods are held back
 * @param replicas how many pods it is to have
 * @param present how many it has, those on their way out included
 * @param currentRevision the revision of its pods before the rollout that is under way, if one is
 * @param updateRevision the revision that its pods are to have
 * @param firstIndex the index of its first pod
 * @param partition how many of its first pods keep their revision in a rollout
 */
public record CachedStatefulSet(
    CachedJob job,
    int replicas,
    int present,
    String currentRevision,
    String updateRevision,
    int firstIndex,
    int partition)
    implements GatedSet {

  /** Whether the manager of several clusters sent it here, and its Workload with it. */
  boolean isSent() {
    return job.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN);
  }

  /** The UID by which its Workload is named. */
  String uidOfOrigin() {
    String origin = job.annotations().getOrDefault(KueueConstants.MULTIKUEUE_ORIGIN_UID, "");
    return origin.isEmpty() ? job.ref().uid() : origin;
  }

  /**
   * Whether a rollout that is under way replaces pods of this revision and index. Pods below the
   * partition keep their revision, so that no rollout waits for them.
   */
  boolean replaces(String revision, int index) {
    return !revision.isEmpty()
        && !currentRevision.equals(updateRevision)
        && !revision.equals(updateRevision)
        && index >= firstIndex + partition;
  }

  /** Whether a pod of this index is one that the set is to have. */
  boolean wants(int index) {
    return index < firstIndex + replicas;
  }

  /** How many pods of the set come before the pod of this index. */
  int place(int index) {
    return index - firstIndex;
  }
}

package dev.sluice.jobs.kinds.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.policy.JobAction.DeleteJob;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizers;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What is done to pods of a group, one by one. */
final class PodActionExecutor {

  private PodActionExecutor() {}

  /** Takes our finalizer off those that have it. */
  static List<PodGroupAction> release(List<CachedPod> pods) {
    return pods.stream()
        .filter(PodGroupMembers::isHeld)
        .map(
            pod ->
                new PodGroupAction(
                    pod.job(), new RemoveFinalizers(RemoveFinalizers.patchOf(pod.job()))))
        .toList();
  }

  /** Stops pods, which is the end of them. */
  static List<PodGroupAction> stop(List<CachedPod> pods, StopReason reason, String note) {
    return stop(pods, new Stop(reason, Optional.empty(), note));
  }

  /** The same for an eviction. */
  static List<PodGroupAction> evict(List<CachedPod> pods, CachedWorkload.Condition evicted) {
    return stop(pods, Stop.evicted(Optional.empty(), evicted));
  }

  private static List<PodGroupAction> stop(List<CachedPod> pods, Stop stop) {
    return pods.stream().map(pod -> new PodGroupAction(pod.job(), stop)).toList();
  }

  /** Deletes pods that the group has too many of. */
  static List<PodGroupAction> removeExcess(List<CachedPod> pods) {
    List<PodGroupAction> steps = new ArrayList<>();
    for (CachedPod pod : pods) {
      steps.addAll(release(List.of(pod)));
      if (!pod.job().deleting()) {
        steps.add(
            new PodGroupAction(
                pod.job(),
                new DeleteJob(
                    "ExcessPodDeleted",
                    "The group has more pods than "
                        + KueueConstants.POD_GROUP_TOTAL_COUNT
                        + " says")));
      }
    }
    return steps;
  }
}

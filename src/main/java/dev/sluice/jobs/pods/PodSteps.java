package dev.sluice.jobs.pods;

import dev.sluice.api.Keys;
import dev.sluice.jobs.JobAction.DeleteJob;
import dev.sluice.jobs.JobAction.ReleaseJob;
import dev.sluice.jobs.JobAction.Stop;
import dev.sluice.jobs.JobAction.StopReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What is done to pods of a group, one by one. */
final class PodSteps {

  private PodSteps() {}

  /** Takes our finalizer off those that have it. */
  static List<GroupStep> release(List<PodView> pods) {
    return pods.stream()
        .filter(Roster::isHeld)
        .map(pod -> new GroupStep(pod.job(), new ReleaseJob(ReleaseJob.patchOf(pod.job()))))
        .toList();
  }

  /** Stops pods, which is the end of them. */
  static List<GroupStep> stop(List<PodView> pods, StopReason reason, String note) {
    return pods.stream()
        .map(pod -> new GroupStep(pod.job(), new Stop(reason, Optional.empty(), note)))
        .toList();
  }

  /** Deletes pods that the group has too many of. */
  static List<GroupStep> removeExcess(List<PodView> pods) {
    List<GroupStep> steps = new ArrayList<>();
    for (PodView pod : pods) {
      steps.addAll(release(List.of(pod)));
      if (!pod.job().deleting()) {
        steps.add(
            new GroupStep(
                pod.job(),
                new DeleteJob(
                    "ExcessPodDeleted",
                    "The group has more pods than " + Keys.POD_GROUP_TOTAL_COUNT + " says")));
      }
    }
    return steps;
  }
}

package dev.sluice.jobs.kinds.pod;

import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;

/**
 * One thing to do for a group.
 *
 * @param subject the pod that it is done to; what is done to the Workload is told to people there
 */
record PodGroupAction(CachedJob subject, JobAction action) {

  private static final String WORKLOAD = "workload";

  /** What the action writes: the UID of the pod, or one constant for the Workload of the group. */
  String target() {
    return switch (action) {
      case JobAction.RemoveFinalizers release -> subject.ref().uid();
      case JobAction.DeleteJob delete -> subject.ref().uid();
      case JobAction.Start start -> subject.ref().uid();
      case JobAction.Stop stop -> subject.ref().uid();
      default -> WORKLOAD;
    };
  }
}

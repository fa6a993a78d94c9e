package dev.sluice.jobs.kinds.statefulset;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.GroupMembership;
import java.util.Map;
import java.util.Optional;

/**
 * What the pods of a StatefulSet are told so that they make a group: a pure function. It concerns
 * them only as long as they wait at their gates.
 */
final class StatefulSetPods {

  private static final String REVISION = "controller-revision-hash";
  private static final Map<String, String> FURTHER =
      Map.of(
          KueueConstants.POD_GROUP_FAST_ADMISSION,
          "true",
          KueueConstants.POD_GROUP_POD_INDEX_LABEL,
          StatefulSets.INDEX_LABEL);

  private StatefulSetPods() {}

  /**
   * Whether this is a pod that the StatefulSet made and that is held back for it. The controller of
   * StatefulSets names pods by their place, so that no two pods have the same one.
   */
  static boolean isOf(CachedStatefulSet set, CachedPod pod) {
    return pod.name().equals(set.job().ref().name() + "-" + index(pod))
        && pod.job()
            .controller()
            .filter(owner -> owner.uid().equals(set.job().ref().uid()))
            .isPresent()
        && StatefulSets.KIND
            .framework()
            .equals(pod.job().annotations().get(KueueConstants.POD_SUSPENDING_PARENT));
  }

  /**
   * The write that a pod of the set needs; empty when it needs none.
   *
   * @param membership what makes the pod a member of the group, from {@link #membership}
   * @param waitsHere whether the Workload is not admitted, nothing of the set runs in another
   *     cluster, and pods may run for a moment without quota
   */
  static Optional<JobPatch> needed(
      CachedStatefulSet set, GroupMembership membership, boolean waitsHere, CachedPod pod) {
    int index = index(pod);
    if (!pod.gated() || pod.job().deleting() || pod.ended() || !set.wants(index)) {
      return Optional.empty();
    }
    return waitsHere && isReplaced(set, pod)
        ? Optional.of(membership.release(set.job(), pod))
        : membership.join(set.job(), pod);
  }

  /**
   * The membership of pods of a StatefulSet.
   *
   * @param workload name of the Workload that the pods belong to
   * @param role the pod set of that Workload
   * @param total the number of pods of that Workload
   * @param byAnnotation whether the Workload and the group are named by annotations, else by labels
   *     where the name is short enough
   */
  static GroupMembership membership(String workload, String role, int total, boolean byAnnotation) {
    return new GroupMembership(workload, role, total, FURTHER, byAnnotation);
  }

  /** Whether a rollout that is under way replaces a pod of the set, and waits for it to run. */
  static boolean isReplaced(CachedStatefulSet set, CachedPod pod) {
    return isOf(set, pod)
        && set.replaces(pod.job().labels().getOrDefault(REVISION, ""), index(pod));
  }

  /** The index of a pod: the number at the end of its name. */
  static int index(CachedPod pod) {
    try {
      return Integer.parseInt(pod.name().substring(pod.name().lastIndexOf('-') + 1));
    } catch (NumberFormatException notMadeByTheController) {
      return 0;
    }
  }
}

package dev.sluice.jobs.kinds.leaderworkerset;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.GroupMembership;
import java.util.Map;
import java.util.Optional;

/**
 * The place of a pod in a LeaderWorkerSet.
 *
 * @param group the index of its group
 * @param index the index of the pod in the group; that of the leader is 0
 */
record GroupPlace(int group, int index) {

  private static final String GROUP_LABEL = LeaderWorkerSets.PREFIX + "/group-index";
  private static final String REVISION_LABEL = LeaderWorkerSets.PREFIX + "/template-revision-hash";

  /**
   * The name of the LeaderWorkerSet that a pod says it is of; empty if the pod isn't held back for
   * one.
   */
  static Optional<String> setOf(CachedPod pod) {
    return Optional.ofNullable(pod.job().labels().get(LeaderWorkerSets.NAME_LABEL))
        .filter(
            it ->
                LeaderWorkerSets.KIND
                    .framework()
                    .equals(pod.job().annotations().get(KueueConstants.POD_SUSPENDING_PARENT)));
  }

  /**
   * The place that the labels of a pod tell; empty if it isn't a pod of the set. A pod has to have
   * the name that belongs to the place, so that no two pods have the same one.
   */
  static Optional<GroupPlace> of(CachedLeaderWorkerSet set, CachedPod pod) {
    String name = set.job().ref().name();
    Map<String, String> labels = pod.job().labels();
    if (setOf(pod).filter(name::equals).isEmpty()) {
      return Optional.empty();
    }
    int group = number(labels.getOrDefault(GROUP_LABEL, ""));
    int index = number(labels.getOrDefault(LeaderWorkerSets.INDEX_LABEL, ""));
    String expected = name + "-" + group + (index == 0 ? "" : "-" + index);
    return group >= 0 && index >= 0 && index < set.size() && pod.name().equals(expected)
        ? Optional.of(new GroupPlace(group, index))
        : Optional.empty();
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException notANumber) {
      return -1;
    }
  }

  /** The pod set of the pod. */
  private String role(CachedLeaderWorkerSet set) {
    boolean divided = set.job().podSets().getFirst().name().equals("leader");
    return divided ? index == 0 ? "leader" : "worker" : "main";
  }

  /** The revision of the templates that the labels of a pod or StatefulSet name; empty if none. */
  static String revision(Map<String, String> labels) {
    return labels.getOrDefault(REVISION_LABEL, "");
  }

  /**
   * The write that a gated pod at this place needs; empty when it needs none.
   *
   * @param workload the name of the Workload of its group
   * @param updateRevision the revision to which a rollout brings pods whose Workload isn't
   *     admitted: a pod of another one is let go; empty if none is
   * @param byAnnotation whether the Workload and the group are named by annotations
   */
  Optional<JobPatch> needed(
      CachedLeaderWorkerSet set,
      CachedPod pod,
      String workload,
      String updateRevision,
      boolean byAnnotation) {
    String revision = revision(pod.job().labels());
    boolean replaced =
        !updateRevision.isEmpty() && !revision.isEmpty() && !revision.equals(updateRevision);
    return replaced
        ? Optional.of(GroupMembership.leave(pod))
        : new GroupMembership(workload, role(set), set.size(), Map.of(), byAnnotation)
            .join(set.job(), pod);
  }
}

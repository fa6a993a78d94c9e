package dev.sluice.jobs.kinds.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Which pods of a group there are too many of, and which are kept though they have ended. */
final class PodGroupMembers {

  /** Who stays is first. */
  private static final Comparator<CachedPod> SENIORITY =
      Comparator.<CachedPod, Boolean>comparing(pod -> !isHeld(pod))
          .thenComparing(CachedPod::gated)
          .thenComparing(pod -> pod.job().createdAt())
          .thenComparing(CachedPod::name);

  private PodGroupMembers() {}

  /** Whether the pod carries the operator's finalizer. */
  static boolean isHeld(CachedPod pod) {
    return pod.job().finalizers().contains(KueueConstants.MANAGED);
  }

  /**
   * Returns the candidates in excess of the total count that the group declares, the youngest first
   * to go; none when it declares no count.
   */
  static List<CachedPod> excess(PodGroup group, List<CachedPod> candidates) {
    return group.totalCount() == 0 ? List.of() : after(candidates, group.totalCount());
  }

  /**
   * The pods that are too many for a Workload. One that was made for roles has room for those: once
   * quota is given, one role doesn't stand in for another. Pods that an eviction deletes are not
   * counted, so that their replacements may come while they terminate; nor are those that have
   * given their quota back.
   */
  static List<CachedPod> excess(PodGroup group, CachedWorkload workload) {
    List<CachedPod> candidates = group.members(workload.evicted());
    if (!workload.quotaReserved() || group.fastAdmission() || group.prebuilt()) {
      return excess(group, candidates);
    }
    Map<String, Integer> counts = counts(workload);
    List<CachedPod> result = new ArrayList<>();
    PodGroup.byRole(candidates)
        .forEach((role, pods) -> result.addAll(after(pods, counts.getOrDefault(role, 0))));
    return result;
  }

  /** How many pods a Workload has of each role. */
  static Map<String, Integer> counts(CachedWorkload workload) {
    return workload.spec().podSets().stream()
        .collect(
            Collectors.toMap(
                CachedWorkload.PodSet::name, CachedWorkload.PodSet::count, Integer::sum));
  }

  /**
   * How many pods of the role of a pod the Workload has, without those whose quota was given back.
   * Of a group that has an end, those are pods that have succeeded, and count.
   */
  static int needed(PodGroup group, CachedWorkload workload, CachedPod pod) {
    int count = counts(workload).getOrDefault(pod.role(), 0);
    return group.serving()
        ? count - workload.status().reclaimablePods().getOrDefault(pod.role(), 0)
        : count;
  }

  private static List<CachedPod> after(List<CachedPod> pods, int count) {
    return pods.stream().sorted(SENIORITY).skip(count).toList();
  }

  /**
   * Returns the lost pods that have a replacement and can be released. Of lost pods without a
   * replacement the most recently active ones are retained. A pod that was deleted before it was
   * scheduled is always released, unless it had been started and was deleted by an eviction.
   */
  static List<CachedPod> replaced(PodGroup group, CachedWorkload workload) {
    boolean evicted = workload.evicted();
    Map<String, Integer> counts = counts(workload);
    Map<String, List<CachedPod>> present = PodGroup.byRole(group.present(evicted));
    List<CachedPod> result = new ArrayList<>();
    PodGroup.byRole(group.lost(evicted))
        .forEach(
            (role, lost) -> {
              List<CachedPod> kept =
                  lost.stream().filter(pod -> pod.ended() || evicted && !pod.gated()).toList();
              int missing =
                  Math.max(
                      0,
                      counts.getOrDefault(role, 0) - present.getOrDefault(role, List.of()).size());
              result.addAll(kept.stream().skip(missing).toList());
              lost.stream().filter(pod -> !kept.contains(pod)).forEach(result::add);
            });
    return result.stream().filter(PodGroupMembers::isHeld).toList();
  }

  /**
   * How many pods somebody has yet to make in place of others. Of a group without pods these are
   * all pods of its Workload once that was evicted, or once it had pods that are gone before it has
   * quota, unless the Workload names another object that makes the pods.
   */
  static int missing(PodGroup group, CachedWorkload workload) {
    if (group.pods().isEmpty()) {
      return isBereft(workload)
          ? counts(workload).values().stream().mapToInt(Integer::intValue).sum()
          : 0;
    }
    if (group.serving()) {
      return 0;
    }
    boolean evicted = workload.evicted();
    int absent = Math.max(0, group.totalCount() - group.present(evicted).size());
    return group.fastAdmission() ? Math.min(absent, group.lost(evicted).size()) : absent;
  }

  /** Whether a Workload without pods had some: the copy in a worker cluster precedes its pods. */
  private static boolean isBereft(CachedWorkload workload) {
    boolean hadPods =
        workload.evicted()
            || !workload.quotaReserved()
                && workload.coOwners().stream().anyMatch(CachedWorkload.Owner::isPod);
    return hadPods && !workload.annotations().containsKey(KueueConstants.JOB_OWNER_GVK);
  }
}

package dev.sluice.jobs.pods;

import dev.sluice.api.Keys;
import dev.sluice.workloads.Workload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Which pods of a group there are too many of, and which are kept though they have ended. */
final class Roster {

  /** Who stays is first. */
  private static final Comparator<PodView> SENIORITY =
      Comparator.<PodView, Boolean>comparing(pod -> !isHeld(pod))
          .thenComparing(PodView::gated)
          .thenComparing(pod -> pod.job().createdAt())
          .thenComparing(PodView::name);

  private Roster() {}

  /** Whether our finalizer keeps it. */
  static boolean isHeld(PodView pod) {
    return pod.job().finalizers().contains(Keys.MANAGED);
  }

  /**
   * The pods of these that are beyond what the group says that it has. Nobody is too much where
   * nothing is said.
   */
  static List<PodView> beyond(PodGroup group, List<PodView> candidates) {
    return group.totalCount() == 0 ? List.of() : after(candidates, group.totalCount());
  }

  /**
   * The pods that are too many for a Workload. One that was made for roles has room for those: once
   * quota is given, one role doesn't stand in for another.
   */
  static List<PodView> beyond(PodGroup group, Workload workload) {
    if (!workload.quotaReserved() || group.fastAdmission() || group.prebuilt()) {
      return beyond(group, group.runnable());
    }
    Map<String, Integer> counts = counts(workload);
    List<PodView> result = new ArrayList<>();
    PodGroup.byRole(group.runnable())
        .forEach((role, pods) -> result.addAll(after(pods, counts.getOrDefault(role, 0))));
    return result;
  }

  /** How many pods a Workload has of each role. */
  static Map<String, Integer> counts(Workload workload) {
    return workload.spec().podSets().stream()
        .collect(Collectors.toMap(Workload.PodSet::name, Workload.PodSet::count, Integer::sum));
  }

  private static List<PodView> after(List<PodView> pods, int count) {
    return pods.stream().sorted(SENIORITY).skip(count).toList();
  }

  /**
   * The pods that ended in vain and have been replaced, so that nobody needs them. Of those that
   * aren't replaced yet the most recently active are kept. Who was deleted before it had a node
   * never did anything that it could be kept for.
   */
  static List<PodView> replaced(PodGroup group, Workload workload) {
    Map<String, Integer> counts = counts(workload);
    Map<String, List<PodView>> runnable = PodGroup.byRole(group.runnable());
    List<PodView> result = new ArrayList<>();
    PodGroup.byRole(group.spent())
        .forEach(
            (role, spent) -> {
              List<PodView> failed = spent.stream().filter(PodView::ended).toList();
              int present = runnable.getOrDefault(role, List.of()).size();
              int missing = Math.max(0, counts.getOrDefault(role, 0) - present);
              result.addAll(failed.stream().skip(missing).toList());
              spent.stream().filter(pod -> !pod.ended()).forEach(result::add);
            });
    return result.stream().filter(Roster::isHeld).toList();
  }

  /** How many pods somebody has yet to make in place of others. */
  static int missing(PodGroup group) {
    if (group.serving()) {
      return 0;
    }
    int absent = Math.max(0, group.totalCount() - group.runnable().size());
    return group.fastAdmission() ? Math.min(absent, group.spent().size()) : absent;
  }
}

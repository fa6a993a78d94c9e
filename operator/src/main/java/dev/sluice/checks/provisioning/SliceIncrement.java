package dev.sluice.checks.provisioning;

import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.WorkloadLister;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The pods that a slice of an elastic job has more than the slice that it replaces
 * (docs/provisioning.md#elastic-jobs): the others run, so that their nodes are there.
 */
final class SliceIncrement {

  private SliceIncrement() {}

  /**
   * The Workload with the numbers of pods for which nodes are needed. These are all of them if the
   * replaced slice isn't there any more, or doesn't run.
   */
  static CachedWorkload of(CachedWorkload workload, WorkloadLister workloads) {
    if (!workload.elastic() || workload.replacedSlice().isEmpty()) {
      return workload;
    }
    return workloads
        .get(workload.id().namespace(), workload.replacedSlice())
        .filter(replaced -> runs(replaced) && replaced.owner().equals(workload.owner()))
        .map(replaced -> workload.withAssignments(increments(workload, replaced.assignments())))
        .orElse(workload);
  }

  private static boolean runs(CachedWorkload workload) {
    return workload.elastic() && workload.admitted() && !workload.evicted() && !workload.finished();
  }

  private static List<Assignment> increments(
      CachedWorkload workload, List<Assignment> replacedAssignments) {
    Map<String, Integer> running =
        replacedAssignments.stream()
            .collect(Collectors.toMap(Assignment::name, Assignment::count, Math::max));
    // A slice that is made smaller while it has quota keeps its assignment.
    Map<String, Integer> asked =
        workload.spec().podSets().stream()
            .collect(Collectors.toMap(PodSet::name, PodSet::count, Math::max));
    return workload.assignments().stream()
        .map(
            assignment -> {
              int pods =
                  Math.min(
                      assignment.count(),
                      asked.getOrDefault(assignment.name(), assignment.count()));
              return assignment.withCount(
                  Math.max(0, pods - running.getOrDefault(assignment.name(), 0)));
            })
        .toList();
  }

  /** The slices that replace a Workload: its own state decides how many nodes they need. */
  static Collection<CachedWorkload> replacing(CachedWorkload workload, WorkloadLister workloads) {
    return !workload.elastic() || workload.owner().isEmpty()
        ? List.of()
        : workloads.ownedBy(workload.owner().get().uid()).stream()
            .filter(other -> other.replacedSlice().equals(workload.id().name()))
            .toList();
  }
}

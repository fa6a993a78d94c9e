package dev.sluice.topology;

import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.CachedWorkload.PodSet;
import java.util.Optional;

/** What the assignments of a Workload say about its pods. */
final class TopologyAssignments {

  private TopologyAssignments() {}

  /** Whether a pod set of the Workload has domains. */
  static boolean isPlaced(CachedWorkload workload) {
    return workload.status().admission().stream()
        .flatMap(admission -> admission.podSetAssignments().stream())
        .anyMatch(assignment -> assignment.topology().isPresent());
  }

  /** How the ranks of a pod set's pods follow from their labels. */
  static PodRanking ranking(CachedWorkload workload, CachedWorkload.Assignment assignment) {
    Optional<PodSet> podSet =
        workload.spec().podSets().stream()
            .filter(each -> each.name().equals(assignment.name()))
            .findFirst();
    return podSet
        .flatMap(PodSet::topologyRequest)
        .map(
            request ->
                new PodRanking(
                    request.podIndexLabel(),
                    request.subGroupIndexLabel(),
                    request.subGroupCount(),
                    leaders(workload, podSet.get())))
        .orElse(PodRanking.NONE);
  }

  /** The number of pods of the smaller pod set, if this is the larger one of a group. */
  private static int leaders(CachedWorkload workload, PodSet podSet) {
    if (podSet.group().isEmpty()) {
      return 0;
    }
    return workload.spec().podSets().stream()
        .filter(each -> each.group().equals(podSet.group()) && each.count() < podSet.count())
        .mapToInt(PodSet::count)
        .min()
        .orElse(0);
  }
}

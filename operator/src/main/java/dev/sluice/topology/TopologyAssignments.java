package dev.sluice.topology;

import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.topology.PodPlacement.PodRanking;
import dev.sluice.topology.TopologyPod.TopologyLabels;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What the assignments of a Workload say about its pods. */
public final class TopologyAssignments {

  private TopologyAssignments() {}

  /** Whether a pod set of the Workload has domains. */
  public static boolean isPlaced(CachedWorkload workload) {
    return workload.status().admission().stream()
        .flatMap(admission -> admission.podSetAssignments().stream())
        .anyMatch(assignment -> assignment.topology().isPresent());
  }

  /** Whether a pod set of the Workload has a domain that a node with these labels is in. */
  public static boolean isAssigned(
      CachedWorkload workload, String node, Map<String, String> labels) {
    return workload.status().admission().stream()
        .flatMap(admission -> admission.podSetAssignments().stream())
        .flatMap(assignment -> assignment.topology().stream())
        .anyMatch(topology -> isIn(topology, node, labels));
  }

  private static boolean isIn(
      TopologyAssignment topology, String node, Map<String, String> labels) {
    List<String> values =
        topology.levels().stream().map(level -> value(level, node, labels)).toList();
    return topology.domains().stream().anyMatch(domain -> domain.values().equals(values));
  }

  /** A node without the label of its hostname is known by its name. */
  private static String value(String level, String node, Map<String, String> labels) {
    return labels.getOrDefault(level, level.equals(TopologyLabels.HOSTNAME) ? node : "");
  }

  /**
   * The domains that pod sets of an elastic job have left after it shrank, by name of the pod set;
   * without those that lose none, or of which it isn't known yet.
   *
   * @param pods the pods of the Workload that have not terminated
   */
  static Map<String, TopologyAssignment> truncated(
      CachedWorkload workload, Collection<TopologyPod> pods) {
    Map<String, TopologyAssignment> result = new TreeMap<>();
    if (workload.elastic()) {
      for (CachedWorkload.Assignment assignment : workload.assignments()) {
        int count =
            workload.spec().podSets().stream()
                .filter(podSet -> podSet.name().equals(assignment.name()))
                .mapToInt(PodSet::count)
                .findFirst()
                .orElse(Integer.MAX_VALUE);
        List<TopologyPod> own =
            pods.stream().filter(pod -> pod.podSet().equals(assignment.name())).toList();
        assignment
            .topology()
            .flatMap(domains -> PodPlacement.truncated(domains, count, own))
            .ifPresent(domains -> result.put(assignment.name(), domains));
      }
    }
    return result;
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

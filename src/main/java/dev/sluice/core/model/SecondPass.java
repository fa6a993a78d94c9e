package dev.sluice.core.model;

import java.util.List;
import java.util.Set;

/**
 * Places that a Workload with quota lacks: those that are found later than the quota, and those
 * instead of lost nodes (docs/topology.md#the-second-pass).
 *
 * @param podSets what the pod sets ask for, in the order of the assignments
 * @param lostNodes names of the nodes whose pods need other places
 */
public record SecondPass(List<PodSetRequest> podSets, Set<String> lostNodes) {

  public SecondPass {
    podSets = List.copyOf(podSets);
    lostNodes = Set.copyOf(lostNodes);
  }
}

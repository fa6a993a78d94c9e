package dev.sluice.core.model;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The request of one pod set of a pending Workload.
 *
 * @param name name of the pod set in the Workload
 * @param count pods that still need quota; reclaimable pods are already subtracted
 * @param spare the number of pods that the pod set can start without, from 0 to {@code count}; 0
 *     without partial admission, and for a journal of before this component
 * @param perPod what quota counts of one pod, by resource (thousandths for cpu, whole units
 *     otherwise)
 * @param nodeConstraints the nodes that the pods may run on
 * @param group pod sets with the same non-empty group get the same flavors, and are placed together
 * @param topology what the pod set asks of the topology of its nodes
 * @param nodeRequests what one pod requests of its node, by resource: its own requests, before
 *     resources are excluded from quota and before resource transformations
 */
public record PodSetRequest(
    String name,
    int count,
    int spare,
    SortedMap<String, Long> perPod,
    NodeConstraints nodeConstraints,
    String group,
    TopologyRequest topology,
    SortedMap<String, Long> nodeRequests) {

  public PodSetRequest {
    boolean same = nodeRequests.equals(perPod);
    perPod = Collections.unmodifiableSortedMap(new TreeMap<>(perPod));
    nodeRequests = same ? perPod : Collections.unmodifiableSortedMap(new TreeMap<>(nodeRequests));
  }

  /** A request of pods of which quota counts what they request of their nodes. */
  public PodSetRequest(
      String name,
      int count,
      int spare,
      SortedMap<String, Long> perPod,
      NodeConstraints nodeConstraints,
      String group,
      TopologyRequest topology) {
    this(name, count, spare, perPod, nodeConstraints, group, topology, perPod);
  }

  /** A request that asks for no topology. */
  public PodSetRequest(
      String name,
      int count,
      int spare,
      SortedMap<String, Long> perPod,
      NodeConstraints nodeConstraints,
      String group) {
    this(name, count, spare, perPod, nodeConstraints, group, TopologyRequest.NONE);
  }

  /** The fewest pods that the pod set can start with. */
  public int minCount() {
    return count - spare;
  }

  /** The same request of a pod set with another name. */
  public PodSetRequest withName(String other) {
    return new PodSetRequest(
        other, count, spare, perPod, nodeConstraints, group, topology, nodeRequests);
  }

  /** The same request of pods that may run on other nodes. */
  public PodSetRequest with(NodeConstraints constraints) {
    return new PodSetRequest(
        name, count, spare, perPod, constraints, group, topology, nodeRequests);
  }

  /** The same request of pods that ask for another topology. */
  public PodSetRequest with(TopologyRequest other) {
    return new PodSetRequest(
        name, count, spare, perPod, nodeConstraints, group, other, nodeRequests);
  }

  /** The same request with another number of pods, all of which are required. */
  public PodSetRequest withCount(int pods) {
    return new PodSetRequest(name, pods, 0, perPod, nodeConstraints, group, topology, nodeRequests);
  }
}

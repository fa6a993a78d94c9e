package dev.sluice.core.model;

import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The quota that was assigned to a pod set.
 *
 * @param name name of the pod set
 * @param flavors the assigned flavor of each resource
 * @param usage the amount of each resource for all pods of the pod set (thousandths for cpu)
 * @param count the number of pods that have quota
 * @param topology the places of the pods
 */
public record PodSetAssignment(
    String name,
    SortedMap<String, String> flavors,
    SortedMap<String, Long> usage,
    int count,
    PodSetTopology topology) {

  public PodSetAssignment {
    flavors = Collections.unmodifiableSortedMap(new TreeMap<>(flavors));
    usage = Collections.unmodifiableSortedMap(new TreeMap<>(usage));
  }

  /** An assignment without topology. */
  public PodSetAssignment(
      String name, SortedMap<String, String> flavors, SortedMap<String, Long> usage, int count) {
    this(name, flavors, usage, count, PodSetTopology.NONE);
  }

  /** The same assignment with other places. */
  public PodSetAssignment with(PodSetTopology places) {
    return new PodSetAssignment(name, flavors, usage, count, places);
  }
}

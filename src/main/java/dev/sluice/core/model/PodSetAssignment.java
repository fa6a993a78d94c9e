package dev.sluice.core.model;

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
 */
public record PodSetAssignment(
    String name, SortedMap<String, String> flavors, SortedMap<String, Long> usage, int count) {

  public PodSetAssignment {
    flavors = Collections.unmodifiableSortedMap(new TreeMap<>(flavors));
    usage = Collections.unmodifiableSortedMap(new TreeMap<>(usage));
  }
}

package dev.sluice.core.model;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a pod set was given.
 *
 * @param name the pod set
 * @param flavors the flavor chosen for each resource that has one
 * @param usage the amount of each resource for all its pods (thousandths for cpu)
 * @param count pods it was given quota for
 */
public record PodSetAssignment(
    String name, SortedMap<String, String> flavors, SortedMap<String, Long> usage, int count) {

  public PodSetAssignment {
    flavors = Collections.unmodifiableSortedMap(new TreeMap<>(flavors));
    usage = Collections.unmodifiableSortedMap(new TreeMap<>(usage));
  }
}

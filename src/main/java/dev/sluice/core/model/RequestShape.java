package dev.sluice.core.model;

import java.util.List;

/**
 * All that flavor assignment looks at in a Workload. Workloads alike share one: equal shapes of
 * equal priority are one equivalence class, so that what is learned of one holds for all.
 */
public record RequestShape(List<PodSetRequest> podSets) {

  public RequestShape {
    podSets = List.copyOf(podSets);
  }
}

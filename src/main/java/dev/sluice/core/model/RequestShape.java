package dev.sluice.core.model;

import java.util.List;

/**
 * Everything in a Workload that flavor assignment depends on. Equal shapes are shared between
 * Workloads: Workloads of one queue with equal shape and priority form one equivalence class, and
 * an evaluation result of one is valid for all.
 */
public record RequestShape(List<PodSetRequest> podSets) {

  public RequestShape {
    podSets = List.copyOf(podSets);
  }
}

package dev.sluice.workload.lifecycle;

import dev.sluice.core.model.WorkloadId;

/** Records Kubernetes events about what the life cycle did to Workloads. */
@FunctionalInterface
public interface LifecycleEvents {

  /** Records an event about the Workload; returns at once. */
  void record(WorkloadId workload, LifecycleAction.EventSpec eventSpec);
}

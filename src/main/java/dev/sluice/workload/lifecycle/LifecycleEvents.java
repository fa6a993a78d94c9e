package dev.sluice.workload.lifecycle;

import dev.sluice.core.model.WorkloadId;

/** Tells people of what was done to a Workload. */
@FunctionalInterface
public interface LifecycleEvents {

  /** Records an event about the Workload; returns at once. */
  void record(WorkloadId workload, LifecycleAction.EventSpec eventSpec);
}

package dev.sluice.workload.lifecycle;

import dev.sluice.api.config.Configuration.WaitForPodsReady;
import java.time.Duration;
import java.util.Optional;

/**
 * What the configuration says about the life of Workloads.
 *
 * @param podsReady how long pods may take to be ready; empty: as long as they like
 * @param afterFinished how long finished Workloads are kept; empty: forever
 * @param finishOrphans whether a Workload whose job went without it is finished (gate
 *     FinishOrphanedWorkloads)
 * @param explicitStatus whether a Workload says that it waits before it was looked at (gate
 *     UnadmittedWorkloadsExplicitStatus)
 * @param preemptionGates whether preemption gates exist (gates MultiKueueOrchestratedPreemption and
 *     ConcurrentAdmission)
 */
public record LifecycleOptions(
    Optional<WaitForPodsReady> podsReady,
    Optional<Duration> afterFinished,
    boolean finishOrphans,
    boolean explicitStatus,
    boolean preemptionGates) {

  /** Rules by which there are no preemption gates. */
  public LifecycleOptions(
      Optional<WaitForPodsReady> podsReady,
      Optional<Duration> afterFinished,
      boolean finishOrphans,
      boolean explicitStatus) {
    this(podsReady, afterFinished, finishOrphans, explicitStatus, false);
  }

  /** Pods may take their time, and nothing is deleted. */
  public static final LifecycleOptions PATIENT =
      new LifecycleOptions(Optional.empty(), Optional.empty(), true, false);
}

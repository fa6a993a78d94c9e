package dev.sluice.workload.lifecycle;

import dev.sluice.api.config.Configuration.WaitForPodsReady;
import java.time.Duration;
import java.util.Optional;

/**
 * Options of the life cycle of Workloads, from configuration and feature gates.
 *
 * @param podsReady parameters of waiting for pods; empty: pods may take any time to be ready
 * @param afterFinished the time for which finished Workloads are kept; empty: forever
 * @param finishOrphans whether a Workload whose job was deleted is finished (gate
 *     FinishOrphanedWorkloads)
 * @param explicitStatus whether the status of a pending Workload gets a QuotaReserved condition
 *     before the first evaluation (gate UnadmittedWorkloadsExplicitStatus)
 * @param preemptionGates whether preemption gates exist (gates MultiKueueOrchestratedPreemption and
 *     ConcurrentAdmission)
 */
public record LifecycleOptions(
    Optional<WaitForPodsReady> podsReady,
    Optional<Duration> afterFinished,
    boolean finishOrphans,
    boolean explicitStatus,
    boolean preemptionGates) {

  /** Options without preemption gates. */
  public LifecycleOptions(
      Optional<WaitForPodsReady> podsReady,
      Optional<Duration> afterFinished,
      boolean finishOrphans,
      boolean explicitStatus) {
    this(podsReady, afterFinished, finishOrphans, explicitStatus, false);
  }

  /** Options without time limits: pods may take any time, and nothing is deleted. */
  public static final LifecycleOptions WITHOUT_LIMITS =
      new LifecycleOptions(Optional.empty(), Optional.empty(), true, false);
}

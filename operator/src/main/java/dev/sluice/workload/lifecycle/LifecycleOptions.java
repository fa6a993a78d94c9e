package dev.sluice.workload.lifecycle;

import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

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
 * @param admissionGates whether the annotation admission-gated-by keeps Workloads out of the queue
 *     (gate AdmissionGatedBy)
 * @param evictable whether somebody stops the pods of a Workload when it is evicted; no eviction of
 *     another Workload that runs is started, because nobody would finish it
 * @param ownerlessSlices whether a slice of an elastic job belongs to no integration, which would
 *     finish it when another slice has replaced it
 */
public record LifecycleOptions(
    Optional<WaitForPodsReady> podsReady,
    Optional<Duration> afterFinished,
    boolean finishOrphans,
    boolean explicitStatus,
    boolean preemptionGates,
    boolean admissionGates,
    Predicate<CachedWorkload> evictable,
    Predicate<CachedWorkload> ownerlessSlices) {

  /** Options where every Workload may be evicted. */
  public LifecycleOptions(
      Optional<WaitForPodsReady> podsReady,
      Optional<Duration> afterFinished,
      boolean finishOrphans,
      boolean explicitStatus,
      boolean preemptionGates) {
    this(
        podsReady,
        afterFinished,
        finishOrphans,
        explicitStatus,
        preemptionGates,
        true,
        workload -> true,
        workload -> false);
  }

  /** Options without preemption gates, where every Workload may be evicted. */
  public LifecycleOptions(
      Optional<WaitForPodsReady> podsReady,
      Optional<Duration> afterFinished,
      boolean finishOrphans,
      boolean explicitStatus) {
    this(podsReady, afterFinished, finishOrphans, explicitStatus, false);
  }

  /** The same options, with these Workloads evictable. */
  public LifecycleOptions evicting(Predicate<CachedWorkload> workloads) {
    return new LifecycleOptions(
        podsReady,
        afterFinished,
        finishOrphans,
        explicitStatus,
        preemptionGates,
        admissionGates,
        workloads,
        ownerlessSlices);
  }

  /** The same options, with these slices finished when others have replaced them. */
  public LifecycleOptions replacing(Predicate<CachedWorkload> slices) {
    return new LifecycleOptions(
        podsReady,
        afterFinished,
        finishOrphans,
        explicitStatus,
        preemptionGates,
        admissionGates,
        evictable,
        slices);
  }

  /** The same options, with admission gates or without. */
  public LifecycleOptions withAdmissionGates(boolean enabled) {
    return new LifecycleOptions(
        podsReady,
        afterFinished,
        finishOrphans,
        explicitStatus,
        preemptionGates,
        enabled,
        evictable,
        ownerlessSlices);
  }

  /** What may be done to a Workload that has to go. */
  enum Eviction {
    /** Whoever runs the job stops it; then the quota is released. */
    WITH_JOB,
    /** Nobody stops the job, which has not been started: the quota is released at once. */
    AT_ONCE,
    /** Nobody stops the job, which may run. */
    IMPOSSIBLE
  }

  /** How a Workload can be evicted. */
  Eviction evictionOf(CachedWorkload workload) {
    if (!workload.quotaReserved() || evictable.test(workload)) {
      return Eviction.WITH_JOB;
    }
    return workload.admitted() || workload.evicted() ? Eviction.IMPOSSIBLE : Eviction.AT_ONCE;
  }

  /** Options without time limits: pods may take any time, and nothing is deleted. */
  public static final LifecycleOptions WITHOUT_LIMITS =
      new LifecycleOptions(Optional.empty(), Optional.empty(), true, false);
}

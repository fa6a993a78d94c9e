package dev.sluice.core.model;

import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Everything in a Workload that flavor assignment depends on. Equal shapes are shared between
 * Workloads: Workloads of one queue with equal shape and priority form one equivalence class, and
 * an evaluation result of one is valid for all.
 *
 * @param podSets the requests of the pod sets
 * @param guaranteed whether the Workload is marked as not preemptible: in queues where that counts,
 *     it is held to nominal quota and is never a preemption target
 * @param preemption the rules of preemption of the Workload's priority class
 * @param slice what makes the Workload a slice of an elastic job; empty for other Workloads
 * @param replaced the slice that it replaces, while that holds quota; known to the engine only
 * @param run how long the Workload runs at the most; empty if nobody says so, or no budget asks
 * @param cost what counts for its costs; empty if nothing does
 */
public record RequestShape(
    List<PodSetRequest> podSets,
    boolean guaranteed,
    PreemptionRules preemption,
    Optional<JobSlice> slice,
    Optional<ReplacedSlice> replaced,
    Optional<Duration> run,
    Optional<CostRules> cost) {

  public RequestShape {
    podSets = List.copyOf(podSets);
  }

  /** The request of a Workload of which no budget asks how long it runs. */
  public RequestShape(
      List<PodSetRequest> podSets,
      boolean guaranteed,
      PreemptionRules preemption,
      Optional<JobSlice> slice,
      Optional<ReplacedSlice> replaced) {
    this(podSets, guaranteed, preemption, slice, replaced, Optional.empty(), Optional.empty());
  }

  /** The request of a Workload that is no slice. */
  public RequestShape(List<PodSetRequest> podSets, boolean guaranteed) {
    this(podSets, guaranteed, PreemptionRules.NONE, Optional.empty(), Optional.empty());
  }

  /** The request of a Workload that may be preempted and is no slice. */
  public RequestShape(List<PodSetRequest> podSets) {
    this(podSets, false);
  }

  /** The same request of a slice. */
  public RequestShape withSlice(Optional<JobSlice> of) {
    return of.isEmpty()
        ? this
        : new RequestShape(podSets, guaranteed, preemption, of, Optional.empty(), run, cost);
  }

  /** The same request of a Workload that is no slice; it stays in place of the one it replaces. */
  public RequestShape withoutSlice() {
    return slice.isEmpty()
        ? this
        : new RequestShape(podSets, guaranteed, preemption, Optional.empty(), replaced, run, cost);
  }

  /** The same request in place of a slice, or of none. */
  public RequestShape replacing(Optional<ReplacedSlice> other) {
    return replaced.equals(other)
        ? this
        : new RequestShape(podSets, guaranteed, preemption, slice, other, run, cost);
  }

  /** The same slice with other requests. */
  public RequestShape withPodSets(List<PodSetRequest> others) {
    return new RequestShape(others, guaranteed, preemption, slice, replaced, run, cost);
  }

  /** The same request of a Workload whose priority class has these rules of preemption. */
  public RequestShape withPreemption(PreemptionRules rules) {
    return rules.equals(preemption)
        ? this
        : new RequestShape(podSets, guaranteed, rules, slice, replaced, run, cost);
  }

  /** The same request of a Workload that runs so long at the most. */
  public RequestShape running(Optional<Duration> length) {
    return length.equals(run)
        ? this
        : new RequestShape(podSets, guaranteed, preemption, slice, replaced, length, cost);
  }

  /** The same request of a Workload for whose costs this counts. */
  public RequestShape costing(Optional<CostRules> rules) {
    return rules.equals(cost)
        ? this
        : new RequestShape(podSets, guaranteed, preemption, slice, replaced, run, rules);
  }

  /** Of the pod sets alone: shapes that differ in the rest only are few, and queues ask often. */
  @Override
  public int hashCode() {
    return podSets.hashCode();
  }
}

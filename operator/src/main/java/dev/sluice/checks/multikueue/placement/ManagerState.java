package dev.sluice.checks.multikueue.placement;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * State of a Workload in the manager.
 *
 * @param over whether the Workload is finished, deleted or being deleted
 * @param reserving whether it holds quota
 * @param evicted whether it is being evicted
 * @param check state of its MultiKueue check
 * @param othersReady whether all its other checks are Ready
 * @param job whether its job can be dispatched
 * @param cluster the worker that it runs in ({@code status.clusterName})
 * @param nominated the nominated workers ({@code status.nominatedClusterNames})
 * @param lastRound when clusters were last added to {@code nominated}
 * @param fitting the workers that would admit it at once, as far as is known
 */
public record ManagerState(
    boolean over,
    boolean reserving,
    boolean evicted,
    Check check,
    boolean othersReady,
    Sendable job,
    Optional<String> cluster,
    List<String> nominated,
    Optional<Instant> lastRound,
    Set<String> fitting) {

  /** Creates a state without capacity information. */
  public ManagerState(
      boolean over,
      boolean reserving,
      boolean evicted,
      Check check,
      boolean othersReady,
      Sendable job,
      Optional<String> cluster,
      List<String> nominated,
      Optional<Instant> lastRound) {
    this(
        over, reserving, evicted, check, othersReady, job, cluster, nominated, lastRound, Set.of());
  }

  /** Copies the collections. */
  public ManagerState {
    nominated = List.copyOf(nominated);
    fitting = Set.copyOf(fitting);
  }

  /** Whether it holds quota and waits for a worker. */
  public boolean looksForWorker() {
    return !over && reserving && !evicted && check == Check.PENDING;
  }

  /** Copy whose job cannot be dispatched, for this reason. */
  public ManagerState unsendable(String why) {
    return new ManagerState(
        over,
        reserving,
        evicted,
        check,
        othersReady,
        new Sendable.No(why),
        cluster,
        nominated,
        lastRound,
        fitting);
  }

  /** State of an admission check. */
  public enum Check {
    /** Not decided yet. */
    PENDING,
    /** The Workload runs in a worker. */
    READY,
    /** The quota is released and the Workload is requeued. */
    RETRY,
    /** The Workload cannot run. */
    REJECTED
  }

  /** Whether a job can be dispatched to other clusters. */
  public sealed interface Sendable {

    /** The job can be dispatched. */
    record Yes() implements Sendable {}

    /**
     * The job cannot be dispatched.
     *
     * @param why the reason
     */
    record No(String why) implements Sendable {}
  }
}

package dev.sluice.checks.multikueue.placement;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How a Workload stands in the manager.
 *
 * @param over whether it is finished, deleted or being deleted
 * @param reserving whether it holds quota
 * @param evicted whether it is being sent back
 * @param check the state of its check
 * @param othersReady whether all its other checks are Ready
 * @param job whether its job can be sent
 * @param cluster the worker that it runs in ({@code status.clusterName})
 * @param nominated the workers that it is offered to ({@code status.nominatedClusterNames})
 * @param lastRound when clusters were last added to those
 * @param fitting the workers in which it would be admitted at once, as far as is known
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

  /** Of one of which nobody knows where it would fit. */
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

  /** With copies of the collections. */
  public ManagerState {
    nominated = List.copyOf(nominated);
    fitting = Set.copyOf(fitting);
  }

  /** The same of one whose job can't be sent. */
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

  /** The state of an admission check. */
  public enum Check {
    /** Nothing is decided. */
    PENDING,
    /** It runs in a worker. */
    READY,
    /** Its quota is taken back, and it is tried again. */
    RETRY,
    /** It can't be. */
    REJECTED
  }

  /** Whether a job can be sent to other clusters. */
  public sealed interface Sendable {

    /** It can. */
    record Yes() implements Sendable {}

    /** It can't, for this reason. */
    record No(String why) implements Sendable {}
  }
}

package dev.sluice.core.engine;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.TopologyView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * Queries that the engine answers on its own thread, between cycles. Queries don't change the
 * engine's state.
 */
public interface SchedulerQueries {

  /**
   * The pending Workloads of a ClusterQueue in queue order, from {@code offset} on; empty if the
   * ClusterQueue is unknown.
   */
  CompletableFuture<Optional<List<PendingPosition>>> pendingInClusterQueue(
      String clusterQueue, int offset, int limit);

  /**
   * The pending Workloads of a LocalQueue in queue order, from {@code offset} on; empty if the
   * LocalQueue is unknown.
   */
  CompletableFuture<Optional<List<PendingPosition>>> pendingInLocalQueue(
      LocalQueueId queue, int offset, int limit);

  /** Why a Workload is pending; empty when it is not pending. */
  CompletableFuture<Optional<PendingReport>> pendingReason(WorkloadId id);

  /** What the nodes of a flavor have, and who uses them; empty if the flavor has no topology. */
  default CompletableFuture<Optional<TopologyView>> topology(String flavor) {
    return CompletableFuture.completedFuture(Optional.empty());
  }

  /**
   * The planned starts of a ClusterQueue, in queue order; none without back-fill
   * (docs/backfill.md#planned-starts).
   */
  default CompletableFuture<List<PlannedStart>> plannedStarts(String clusterQueue) {
    return CompletableFuture.completedFuture(List.of());
  }

  /**
   * Up to {@code max} explanations that were not reported yet, oldest change first. Each
   * explanation is returned once; if it is not written, the Workload's next explanation is returned
   * when the explanation changes.
   */
  CompletableFuture<List<PendingExplanation>> unreportedExplanations(int max);

  /**
   * The current situation of a pending Workload.
   *
   * @param position the position in the queue
   * @param clusterQueue the ClusterQueue that the Workload waits in
   * @param explanation the result of the last evaluation; empty if the Workload was not evaluated
   *     yet
   * @param holders Workloads that have the missing quota reserved, largest amount first
   * @param earlierLocalQueues the LocalQueues that come first, with admission fair sharing
   * @param backfill what is planned in the queue; empty if nobody may start before its head
   */
  record PendingReport(
      PendingPosition position,
      String clusterQueue,
      Optional<Explanation> explanation,
      List<Holder> holders,
      Optional<EarlierLocalQueues> earlierLocalQueues,
      Optional<BackfillReport> backfill) {
    public PendingReport {
      holders = List.copyOf(holders);
    }

    /** A pending Workload of a queue without back-fill. */
    public PendingReport(
        PendingPosition position,
        String clusterQueue,
        Optional<Explanation> explanation,
        List<Holder> holders,
        Optional<EarlierLocalQueues> earlierLocalQueues) {
      this(position, clusterQueue, explanation, holders, earlierLocalQueues, Optional.empty());
    }

    /** A pending Workload whose LocalQueue comes first. */
    public PendingReport(
        PendingPosition position,
        String clusterQueue,
        Optional<Explanation> explanation,
        List<Holder> holders) {
      this(position, clusterQueue, explanation, holders, Optional.empty(), Optional.empty());
    }
  }

  /**
   * What back-fill means to a pending Workload (docs/backfill.md#what-is-shown).
   *
   * @param own its planned start; empty if it has none
   * @param first the planned start of the Workload that comes first, where that is another one
   *     without which this one would be the first; empty if nothing is planned
   * @param bound how long the Workload has its quota at most, once it starts; empty if no bound is
   *     known
   * @param needsBound whether it never starts before others without a bound
   */
  record BackfillReport(
      Optional<PlannedStart> own,
      Optional<PlannedStart> first,
      Optional<Duration> bound,
      boolean needsBound) {

    /**
     * Until when the Workload may start before the one that comes first and take what is planned
     * for that; empty if its bound isn't known.
     */
    public Optional<Instant> startsBeforeUntil() {
      return first.flatMap(planned -> bound.map(planned.at()::minus));
    }

    /**
     * This report without the Workload that comes first, unless that may be named.
     *
     * @param visible whether the Workloads of a namespace may be named
     */
    public BackfillReport shown(Predicate<String> visible) {
      return new BackfillReport(
          own, first.filter(planned -> visible.test(planned.id().namespace())), bound, needsBound);
    }
  }

  /**
   * Other LocalQueues that come first because they have less usage.
   *
   * @param used usage of the Workload's own LocalQueue, as the order compares it
   * @param first the LocalQueue that comes first of all
   * @param usedByFirst usage of that LocalQueue
   * @param others number of LocalQueues that come before the Workload's own, the first one included
   */
  record EarlierLocalQueues(double used, LocalQueueId first, double usedByFirst, int others) {}

  /** A Workload that has an amount of a pair reserved that another Workload is missing. */
  record Holder(WorkloadId id, String clusterQueue, FlavorResource pair, long amount) {}
}

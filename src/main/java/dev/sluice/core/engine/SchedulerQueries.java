package dev.sluice.core.engine;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Questions that the engine answers on its own thread, between cycles; nothing changes by them. */
public interface SchedulerQueries {

  /** The pending Workloads of a ClusterQueue in queue order, from {@code offset} on. */
  CompletableFuture<List<PendingPosition>> pendingInClusterQueue(
      String clusterQueue, int offset, int limit);

  /** The pending Workloads of a LocalQueue in queue order, from {@code offset} on. */
  CompletableFuture<List<PendingPosition>> pendingInLocalQueue(
      LocalQueueId queue, int offset, int limit);

  /** Why a Workload waits; empty when it is not pending. */
  CompletableFuture<Optional<Waiting>> pendingReason(WorkloadId id);

  /**
   * Up to {@code max} explanations that people were not told yet, most pressing first. Each is
   * given out once; what is not written is given again when it changes.
   */
  CompletableFuture<List<Decision.Explain>> unreportedExplanations(int max);

  /**
   * A pending Workload, as it stands.
   *
   * @param position its place
   * @param clusterQueue the queue it waits in
   * @param explanation what its last evaluation found; empty if it was not evaluated yet
   * @param holders who holds the quota that it lacks, largest first
   * @param turn whose turn it is before, where LocalQueues take turns by what they used
   */
  record Waiting(
      PendingPosition position,
      String clusterQueue,
      Optional<Explanation> explanation,
      List<Holder> holders,
      Optional<Turn> turn) {
    public Waiting {
      holders = List.copyOf(holders);
    }

    /** One whose LocalQueue used no more than others. */
    public Waiting(
        PendingPosition position,
        String clusterQueue,
        Optional<Explanation> explanation,
        List<Holder> holders) {
      this(position, clusterQueue, explanation, holders, Optional.empty());
    }
  }

  /**
   * Other LocalQueues that come first because they used less.
   *
   * @param used what its own LocalQueue used, as it counts for the order
   * @param first the one that comes first of all
   * @param usedByFirst what that one used
   * @param others how many come before its own, that one among them
   */
  record Turn(double used, LocalQueueId first, double usedByFirst, int others) {}

  /** A Workload that holds some of a pair that another lacks. */
  record Holder(WorkloadId id, String clusterQueue, FlavorResource pair, long amount) {}
}

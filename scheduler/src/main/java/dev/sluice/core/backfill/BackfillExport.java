package dev.sluice.core.backfill;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Bounds of run times and planned starts as a value (docs/engine-state.md).
 *
 * @param bounds the bounds that events reported, by UID
 * @param plans what is planned, by ClusterQueue
 * @param trees on what plans depend that aren't of all trees alike
 * @param changed whether anything happened since then that may concern any tree
 * @param next when it is planned anew though nothing happens; empty if never
 * @param passes how many passes have planned trees
 */
public record BackfillExport(
    List<BoundExport> bounds,
    List<QueueExport> plans,
    List<TreeExport> trees,
    boolean changed,
    Optional<Instant> next,
    long passes) {

  /** No bounds, no plans. */
  public static final BackfillExport NONE =
      new BackfillExport(List.of(), List.of(), List.of(), false, Optional.empty(), 0);

  public BackfillExport {
    bounds = List.copyOf(bounds);
    plans = List.copyOf(plans);
    trees = List.copyOf(trees);
  }

  /**
   * The bound of a Workload.
   *
   * @param extended how many passes there were when the Workload got a later bound last while it
   *     had quota, by the rule under which the bound is later; only as long as a queue with planned
   *     starts hasn't been planned since
   */
  public record BoundExport(String uid, RunBound bound, Map<UnknownRunTime, Long> extended) {

    public BoundExport {
      extended = Map.copyOf(extended);
    }
  }

  /**
   * When the queues of a quota tree are planned anew.
   *
   * @param root name of the cohort at the root, or of a ClusterQueue without a cohort
   * @param ofQueue whether it is a ClusterQueue
   * @param changed whether anything has happened in the tree since it was planned
   * @param unsteady whether its plans depend on the time, or on what happens elsewhere
   * @param next when it is planned anew though nothing happens; empty if never
   */
  public record TreeExport(
      String root, boolean ofQueue, boolean changed, boolean unsteady, Optional<Instant> next) {}

  /**
   * What is planned in a ClusterQueue.
   *
   * @param starts the planned starts, in queue order
   * @param quotas what the queue had of each of its pairs when it was planned
   * @param overtakenIds those of them before whom a head has started since that came behind them,
   *     or wasn't planned
   * @param pass the number of the pass that planned the queue, from 1 on
   */
  public record QueueExport(
      String clusterQueue,
      List<PlannedStart> starts,
      List<PairQuota> quotas,
      List<WorkloadId> overtakenIds,
      long pass) {

    public QueueExport {
      starts = List.copyOf(starts);
      quotas = List.copyOf(quotas);
      overtakenIds = List.copyOf(overtakenIds);
    }
  }

  /**
   * What a ClusterQueue has of a pair.
   *
   * @param flavorResource the pair
   * @param nominal what it alone can use: its nominal quota, and what Cohorts have for nobody else
   * @param most what it can have with all that it can borrow
   */
  public record PairQuota(FlavorResource flavorResource, long nominal, long most) {}
}

package dev.sluice.core.backfill;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.PlannedStart;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Bounds of run times and planned starts as a value (docs/engine-state.md).
 *
 * @param bounds the bounds that events reported, by UID
 * @param plans what is planned, by ClusterQueue
 * @param trees on what plans depend that aren't of all trees alike
 * @param changed whether anything happened since then that may concern any tree
 * @param next when it is planned anew though nothing happens; empty if never
 */
public record BackfillExport(
    List<BoundExport> bounds,
    List<QueueExport> plans,
    List<TreeExport> trees,
    boolean changed,
    Optional<Instant> next) {

  /** No bounds, no plans. */
  public static final BackfillExport NONE =
      new BackfillExport(List.of(), List.of(), List.of(), false, Optional.empty());

  public BackfillExport {
    bounds = List.copyOf(bounds);
    plans = List.copyOf(plans);
    trees = List.copyOf(trees);
  }

  /**
   * The bound of a Workload.
   *
   * @param extended whether it got a later one since it was planned last
   */
  public record BoundExport(String uid, RunBound bound, boolean extended) {}

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
   * @param quota what the queue had of each of its pairs when it was planned
   * @param overtaken whether a head has started since that came before those that were planned
   */
  public record QueueExport(
      String clusterQueue, List<PlannedStart> starts, List<Long> quota, boolean overtaken) {

    public QueueExport {
      starts = List.copyOf(starts);
      quota = List.copyOf(quota);
    }
  }
}

package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.LocalQueueId;
import java.util.List;
import java.util.Optional;

/**
 * A snapshot of a LocalQueue.
 *
 * @param id identity of the LocalQueue
 * @param clusterQueue name of the ClusterQueue that the LocalQueue feeds
 * @param problems why the LocalQueue is inactive (Stopped, ClusterQueueDoesNotExist,
 *     ClusterQueueIsInactive)
 * @param pendingActive number of Workloads that the next cycles will evaluate
 * @param pendingInadmissible number of Workloads that wait for a change
 * @param reserving number of Workloads with quota reserved; 0 if the ClusterQueue doesn't exist
 * @param admitted number of those Workloads that are admitted
 * @param usage usage by flavor and resource of the ClusterQueue; the limits are the ClusterQueue's
 * @param usageOverTime usage over time; empty if admission fair sharing is not configured
 */
public record LocalQueueView(
    LocalQueueId id,
    String clusterQueue,
    List<InactiveReason> problems,
    int pendingActive,
    int pendingInadmissible,
    int reserving,
    int admitted,
    List<FlavorUsage> usage,
    Optional<LocalQueueUsageView> usageOverTime) {

  public LocalQueueView {
    problems = List.copyOf(problems);
    usage = List.copyOf(usage);
  }

  /** A snapshot without admission fair sharing. */
  public LocalQueueView(
      LocalQueueId id,
      String clusterQueue,
      List<InactiveReason> problems,
      int pendingActive,
      int pendingInadmissible,
      int reserving,
      int admitted,
      List<FlavorUsage> usage) {
    this(
        id,
        clusterQueue,
        problems,
        pendingActive,
        pendingInadmissible,
        reserving,
        admitted,
        usage,
        Optional.empty());
  }
}

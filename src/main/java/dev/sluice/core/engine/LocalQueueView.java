package dev.sluice.core.engine;

import dev.sluice.core.model.InactiveReason;
import dev.sluice.core.model.LocalQueueId;
import java.util.List;
import java.util.Optional;

/**
 * What a LocalQueue looks like from outside, at one moment.
 *
 * @param id which
 * @param clusterQueue the ClusterQueue it names
 * @param problems why it is not active (Stopped, ClusterQueueDoesNotExist, ClusterQueueIsInactive)
 * @param pendingActive Workloads that the next cycles will look at
 * @param pendingInadmissible Workloads that wait for something to change
 * @param reserving Workloads that hold quota
 * @param admitted those of them that are admitted
 * @param usage use by flavor and resource of its ClusterQueue; limits are of the ClusterQueue
 * @param pastUse what it used over time; empty where LocalQueues don't take turns by that
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
    Optional<LocalQueueUsageView> pastUse) {

  public LocalQueueView {
    problems = List.copyOf(problems);
    usage = List.copyOf(usage);
  }

  /** One whose past use doesn't count. */
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

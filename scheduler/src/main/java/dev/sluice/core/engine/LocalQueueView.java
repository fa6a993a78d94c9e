package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.LocalQueueId;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

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

  /**
   * A snapshot of a LocalQueue's usage over time.
   *
   * @param consumed the average by resource, in the resource's own unit (cores for cpu)
   * @param sampledAt the time of the last sample
   * @param amount the usage as one number, entry penalties included: a LocalQueue with less usage
   *     comes first; may be infinite
   */
  public record LocalQueueUsageView(
      SortedMap<String, Double> consumed, Instant sampledAt, double amount) {

    public LocalQueueUsageView {
      consumed = Collections.unmodifiableSortedMap(new TreeMap<>(consumed));
    }
  }
}

package dev.sluice.metrics;

import dev.sluice.core.model.LocalQueueId;
import java.util.List;

/**
 * The queue and priority class that a measurement belongs to.
 *
 * @param clusterQueue the ClusterQueue
 * @param localQueue the LocalQueue
 * @param priorityClass the priority class of the Workload; empty if it has none
 * @param workloadLabels the values of the further labels that come from Workloads, in their order
 */
public record QueueRef(
    String clusterQueue,
    LocalQueueId localQueue,
    String priorityClass,
    List<String> workloadLabels) {

  /** Copies the list. */
  public QueueRef {
    workloadLabels = List.copyOf(workloadLabels);
  }

  /** One of a Workload whose labels are not asked for. */
  public QueueRef(String clusterQueue, LocalQueueId localQueue, String priorityClass) {
    this(clusterQueue, localQueue, priorityClass, List.of());
  }
}

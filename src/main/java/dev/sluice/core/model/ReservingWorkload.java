package dev.sluice.core.model;

import java.time.Instant;
import java.util.List;

/**
 * A Workload that holds quota, as its status says.
 *
 * @param id which
 * @param version its resourceVersion as a number
 * @param queueName its LocalQueue, in its own namespace
 * @param clusterQueue the ClusterQueue whose quota it holds
 * @param podSets what each pod set was assigned, after reclaimable pods are taken off
 * @param priority its effective priority
 * @param queuedAt its place in the queue, as for a pending one: who came first among equals
 * @param evicted whether its eviction is decided: it holds quota until its job has stopped
 * @param admitted whether its Admitted condition is True
 * @param podsReady whether nobody has to wait for its pods: they are ready, or that doesn't count
 * @param reservedAt when it got its quota
 */
public record ReservingWorkload(
    WorkloadId id,
    long version,
    String queueName,
    String clusterQueue,
    List<PodSetAssignment> podSets,
    long priority,
    Instant queuedAt,
    boolean evicted,
    boolean admitted,
    boolean podsReady,
    Instant reservedAt) {

  public ReservingWorkload {
    podSets = List.copyOf(podSets);
  }

  /** The LocalQueue it came from. */
  public LocalQueueId localQueue() {
    return new LocalQueueId(id.namespace(), queueName);
  }
}

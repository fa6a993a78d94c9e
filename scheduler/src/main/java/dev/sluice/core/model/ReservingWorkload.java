package dev.sluice.core.model;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.SecondPass;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A Workload that has quota reserved, according to its status.
 *
 * @param id identity of the Workload
 * @param version the resourceVersion as a number
 * @param queueName name of the LocalQueue, in the Workload's namespace
 * @param clusterQueue the ClusterQueue whose quota is reserved
 * @param podSets the assignment of each pod set, with reclaimable pods subtracted
 * @param priority the effective priority
 * @param queuedAt the position in the queue, as for a pending Workload; orders Workloads of equal
 *     priority
 * @param evicted whether the eviction is decided; the quota stays reserved until the job has
 *     stopped
 * @param admitted whether the Admitted condition is True
 * @param podsReady whether no other Workload has to wait for the pods: the pods are ready, or
 *     waiting for pods is disabled
 * @param reservedAt the time at which the quota was reserved
 * @param evictable whether somebody stops the pods when the Workload is evicted
 * @param guaranteed whether the Workload is marked as not preemptible
 * @param slice what makes the Workload a slice of an elastic job; empty for other Workloads
 * @param secondPass the places that the Workload lacks; empty if it lacks none
 * @param protection what protects the Workload from preemption for some time
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
    Instant reservedAt,
    boolean evictable,
    boolean guaranteed,
    Optional<JobSlice> slice,
    Optional<SecondPass> secondPass,
    PreemptionProtection protection) {

  public ReservingWorkload {
    podSets = List.copyOf(podSets);
  }

  /** The same Workload, being evicted, for whose pods no other Workload waits. */
  public ReservingWorkload evicting() {
    return changed(podSets, true, true, evictable, Optional.empty(), protection);
  }

  /** The same Workload, whose pods nobody stops if it is evicted. */
  public ReservingWorkload notEvictable() {
    return changed(podSets, evicted, podsReady, false, secondPass, protection);
  }

  /** The same Workload with other assignments, or with places that it lacks. */
  public ReservingWorkload with(List<PodSetAssignment> assignments, Optional<SecondPass> lacking) {
    return changed(assignments, evicted, podsReady, evictable, lacking, protection);
  }

  private ReservingWorkload changed(
      List<PodSetAssignment> assignments,
      boolean leaving,
      boolean ready,
      boolean stoppable,
      Optional<SecondPass> lacking,
      PreemptionProtection otherProtection) {
    return new ReservingWorkload(
        id,
        version,
        queueName,
        clusterQueue,
        assignments,
        priority,
        queuedAt,
        leaving,
        admitted,
        ready,
        reservedAt,
        stoppable,
        guaranteed,
        slice,
        lacking,
        otherProtection);
  }

  /** The same Workload, protected from preemption by something else. */
  public ReservingWorkload protectedBy(PreemptionProtection other) {
    return changed(podSets, evicted, podsReady, evictable, secondPass, other);
  }

  /** A Workload that lacks no places. */
  public ReservingWorkload(
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
      Instant reservedAt,
      boolean evictable,
      boolean guaranteed,
      Optional<JobSlice> slice) {
    this(
        id,
        version,
        queueName,
        clusterQueue,
        podSets,
        priority,
        queuedAt,
        evicted,
        admitted,
        podsReady,
        reservedAt,
        evictable,
        guaranteed,
        slice,
        Optional.empty(),
        PreemptionProtection.NONE);
  }

  /** A Workload that may be evicted. */
  public ReservingWorkload(
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
    this(
        id,
        version,
        queueName,
        clusterQueue,
        podSets,
        priority,
        queuedAt,
        evicted,
        admitted,
        podsReady,
        reservedAt,
        true);
  }

  /** A Workload that may be preempted and is no slice. */
  public ReservingWorkload(
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
      Instant reservedAt,
      boolean evictable) {
    this(
        id,
        version,
        queueName,
        clusterQueue,
        podSets,
        priority,
        queuedAt,
        evicted,
        admitted,
        podsReady,
        reservedAt,
        evictable,
        false,
        Optional.empty());
  }

  /** The LocalQueue of the Workload. */
  public LocalQueueId localQueue() {
    return new LocalQueueId(id.namespace(), queueName);
  }
}

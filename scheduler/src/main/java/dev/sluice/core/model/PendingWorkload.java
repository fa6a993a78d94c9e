package dev.sluice.core.model;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A Workload that may be queued (docs/scheduling-semantics.md#what-is-pending).
 *
 * @param id identity of the Workload
 * @param version the resourceVersion as a number: a later state has a higher version
 * @param queueName name of the LocalQueue, in the Workload's namespace
 * @param shape the request
 * @param priority the effective priority
 * @param createdAt the time of creation
 * @param queuedAt the position in the queue: the time of creation, or of the eviction that requeued
 *     the Workload
 * @param notBefore the end of the requeue backoff, if there is a backoff
 * @param held whether the Workload must stay out of the queue until its condition changes
 *     (Requeued=False)
 * @param defect why the Workload can't be evaluated whatever the quota (limits, LimitRange); empty
 *     if it can
 * @param gated whether the Workload may not preempt yet because one of its preemption gates is
 *     closed
 * @param evictable whether somebody stops the pods when the Workload is evicted
 * @param history what happened to the Workload that rules of preemption depend on
 */
public record PendingWorkload(
    WorkloadId id,
    long version,
    String queueName,
    RequestShape shape,
    long priority,
    Instant createdAt,
    Instant queuedAt,
    Optional<Instant> notBefore,
    boolean held,
    Optional<String> defect,
    boolean gated,
    boolean evictable,
    PreemptionHistory history) {

  /** A Workload without history. */
  public PendingWorkload(
      WorkloadId id,
      long version,
      String queueName,
      RequestShape shape,
      long priority,
      Instant createdAt,
      Instant queuedAt,
      Optional<Instant> notBefore,
      boolean held,
      Optional<String> defect,
      boolean gated,
      boolean evictable) {
    this(
        id,
        version,
        queueName,
        shape,
        priority,
        createdAt,
        queuedAt,
        notBefore,
        held,
        defect,
        gated,
        evictable,
        PreemptionHistory.NONE);
  }

  /** A Workload that may be evicted, without closed preemption gates. */
  public PendingWorkload(
      WorkloadId id,
      long version,
      String queueName,
      RequestShape shape,
      long priority,
      Instant createdAt,
      Instant queuedAt,
      Optional<Instant> notBefore,
      boolean held,
      Optional<String> defect) {
    this(
        id, version, queueName, shape, priority, createdAt, queuedAt, notBefore, held, defect,
        false, true);
  }

  /** The LocalQueue of the Workload. */
  public LocalQueueId localQueue() {
    return new LocalQueueId(id.namespace(), queueName);
  }

  /** The same Workload with another request. */
  public PendingWorkload withShape(RequestShape other) {
    return other.equals(shape)
        ? this
        : new PendingWorkload(
            id, version, queueName, other, priority, createdAt, queuedAt, notBefore, held, defect,
            gated, evictable, history);
  }

  /** The same Workload with another history. */
  public PendingWorkload withHistory(PreemptionHistory other) {
    return new PendingWorkload(
        id, version, queueName, shape, priority, createdAt, queuedAt, notBefore, held, defect,
        gated, evictable, other);
  }

  /** The same Workload in another version, queued since another time. */
  public PendingWorkload requeued(long newVersion, Instant since) {
    return new PendingWorkload(
        id,
        newVersion,
        queueName,
        shape,
        priority,
        createdAt,
        since,
        notBefore,
        held,
        defect,
        gated,
        evictable,
        history);
  }

  /** The same Workload whose backoff is over. */
  public PendingWorkload withoutBackoff() {
    return new PendingWorkload(
        id,
        version,
        queueName,
        shape,
        priority,
        createdAt,
        queuedAt,
        Optional.empty(),
        held,
        defect,
        gated,
        evictable,
        history);
  }

  /**
   * Places that a Workload with quota lacks: those that are found later than the quota, and those
   * instead of lost nodes (docs/topology.md#the-second-pass).
   *
   * @param podSets what the pod sets ask for, in the order of the assignments
   * @param lostNodes names of the nodes whose pods need other places
   */
  public record SecondPass(List<PodSetRequest> podSets, Set<String> lostNodes) {

    public SecondPass {
      podSets = List.copyOf(podSets);
      lostNodes = Set.copyOf(lostNodes);
    }
  }

  /**
   * The slice that a Workload replaces, with the quota that it still holds.
   *
   * @param uid UID of the replaced Workload, which is no preemption target of its replacement
   * @param podSets what is reserved for its pod sets
   */
  public record ReplacedSlice(String uid, List<PodSetAssignment> podSets) {

    public ReplacedSlice {
      podSets = List.copyOf(podSets);
    }
  }

  /**
   * What makes a Workload a slice of an elastic job (docs/elastic-jobs.md#what-the-engine-charges).
   * Slices of different jobs never meet, whatever their annotations name.
   *
   * @param job UID of the job that controls the Workload; empty for Workloads without an owner,
   *     whose annotations alone tell which replaces which
   * @param name name of the Workload
   * @param replaces name of the slice that the Workload replaces, in the same namespace; empty if
   *     it replaces none
   * @param choosesFromZero whether a pod set of which the replaced slice has no pods may get
   *     another flavor (gate ElasticJobsViaWorkloadSlicesFlavorChangeFromZero)
   * @param variant which of several nominations of one request the Workload is; empty for a slice
   */
  public record JobSlice(
      String job,
      String name,
      String replaces,
      boolean choosesFromZero,
      Optional<Variant> variant) {

    /** A slice, which is no variant. */
    public JobSlice(String job, String name, String replaces, boolean choosesFromZero) {
      this(job, name, replaces, choosesFromZero, Optional.empty());
    }

    /** A variant of the Workload with the UID {@code parent}, which replaces nothing. */
    public static JobSlice variant(String parent, String name, Variant variant) {
      return new JobSlice(parent, name, "", false, Optional.of(variant));
    }

    /** A slice whose pod sets keep the flavors of the one that it replaces. */
    public JobSlice(String job, String name, String replaces) {
      this(job, name, replaces, false);
    }

    /** What binds the replacement of a slice that holds this. */
    public List<PodSetAssignment> binding(List<PodSetAssignment> held) {
      return choosesFromZero ? held.stream().filter(podSet -> podSet.count() > 0).toList() : held;
    }
  }

  /**
   * Which nomination of its parent's request a Workload is (docs/concurrent-admission.md). Of all
   * variants of a parent, one has quota at any time.
   *
   * @param place the place of its flavor in its ClusterQueue; 0 is the most preferred one
   * @param attracts whether it takes the place of a variant with quota and a later flavor
   */
  public record Variant(int place, boolean attracts) {}
}

package dev.sluice.core.model;

import java.time.Instant;
import java.util.Map;

/**
 * What the world tells the engine. The engine is a function of the facts in their order: the same
 * facts give the same decisions.
 */
public sealed interface SchedulerEvent {

  /** A flavor appeared or changed. */
  record FlavorChanged(Flavor flavor) implements SchedulerEvent {}

  /** A flavor is gone. */
  record FlavorRemoved(String name) implements SchedulerEvent {}

  /** A ClusterQueue appeared or changed. */
  record ClusterQueueChanged(ClusterQueueSpec queue) implements SchedulerEvent {}

  /** A ClusterQueue is gone. */
  record ClusterQueueRemoved(String name) implements SchedulerEvent {}

  /** A Cohort object appeared or changed. */
  record CohortChanged(CohortSpec cohort) implements SchedulerEvent {}

  /** A Cohort object is gone; the name may live on in its members. */
  record CohortRemoved(String name) implements SchedulerEvent {}

  /** A LocalQueue appeared or changed. */
  record LocalQueueChanged(LocalQueueSpec queue) implements SchedulerEvent {}

  /** A LocalQueue is gone. */
  record LocalQueueRemoved(LocalQueueId id) implements SchedulerEvent {}

  /**
   * What a LocalQueue used in the past, as its status tells: it counts for an engine that doesn't
   * decide yet, or doesn't know better.
   *
   * @param consumed use over time by resource, in the resource's own unit (cores for cpu)
   * @param sampledAt when that was right
   */
  record LocalQueueUsed(LocalQueueId id, Map<String, Double> consumed, Instant sampledAt)
      implements SchedulerEvent {
    public LocalQueueUsed {
      consumed = Map.copyOf(consumed);
    }
  }

  /** A namespace appeared, or its labels changed. */
  record NamespaceChanged(String name, Map<String, String> labels) implements SchedulerEvent {
    public NamespaceChanged {
      labels = Map.copyOf(labels);
    }
  }

  /** A namespace is gone. */
  record NamespaceRemoved(String name) implements SchedulerEvent {}

  /** A Workload waits for quota. */
  record WorkloadPending(PendingWorkload workload) implements SchedulerEvent {}

  /** A Workload holds quota. */
  record WorkloadReserving(ReservingWorkload workload) implements SchedulerEvent {}

  /**
   * A Workload neither waits nor holds quota: finished, deleted, inactive, gated or on hold.
   *
   * @param version its last resourceVersion; {@link Long#MAX_VALUE} when the object is gone
   */
  record WorkloadReleased(WorkloadId id, long version) implements SchedulerEvent {}

  /**
   * The admission that was decided stands in the API server, in the given (new) version.
   *
   * @param admitted whether the Workload is admitted with that, not only given quota
   */
  record AdmissionWritten(WorkloadId id, long version, boolean admitted) implements SchedulerEvent {

    /** Of one that is admitted. */
    public AdmissionWritten(WorkloadId id, long version) {
      this(id, version, true);
    }
  }

  /**
   * The admission that was decided was not written, and never will be.
   *
   * @param decided the version that had been looked at
   * @param superseded whether the Workload has moved on, so that a newer version is sure to be
   *     seen; otherwise it is tried again after a while
   */
  record AdmissionRefused(WorkloadId id, long decided, boolean superseded)
      implements SchedulerEvent {}

  /**
   * An eviction that was decided was not written, and never will be: if it is still wanted, it is
   * to be decided anew.
   *
   * @param decided the version of the victim that had been looked at
   */
  record EvictionRefused(WorkloadId id, long decided) implements SchedulerEvent {}

  /** It is now {@code now}. */
  record TimePassed(Instant now) implements SchedulerEvent {}

  /** From here on the engine decides (true: it is complete and leads), or only listens (false). */
  record DecidingEnabled(boolean enabled) implements SchedulerEvent {}
}

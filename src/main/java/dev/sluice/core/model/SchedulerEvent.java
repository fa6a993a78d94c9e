package dev.sluice.core.model;

import dev.sluice.core.model.BackfillRules.RunBound;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * An input of the engine: a change in the cluster, a result of a decision, or the passing of time.
 * The engine is a function of its events in their order: the same events lead to the same
 * decisions.
 */
public sealed interface SchedulerEvent {

  /** A ResourceFlavor was created or changed. */
  record FlavorChanged(Flavor flavor) implements SchedulerEvent {}

  /** A ResourceFlavor was deleted. */
  record FlavorRemoved(String name) implements SchedulerEvent {}

  /** A ClusterQueue was created or changed. */
  record ClusterQueueChanged(ClusterQueueSpec queue) implements SchedulerEvent {}

  /** A ClusterQueue was deleted. */
  record ClusterQueueRemoved(String name) implements SchedulerEvent {}

  /** A Cohort object was created or changed. */
  record CohortChanged(CohortSpec cohort) implements SchedulerEvent {}

  /** A Cohort object was deleted; the cohort continues to exist while members name it. */
  record CohortRemoved(String name) implements SchedulerEvent {}

  /** A LocalQueue was created or changed. */
  record LocalQueueChanged(LocalQueueSpec queue) implements SchedulerEvent {}

  /** A LocalQueue was deleted. */
  record LocalQueueRemoved(LocalQueueId id) implements SchedulerEvent {}

  /**
   * The usage over time of a LocalQueue, from its status. The engine uses this value while the
   * engine doesn't decide, or has no value of its own.
   *
   * @param consumed usage over time by resource, in the resource's own unit (cores for cpu)
   * @param sampledAt the time of the last sample
   */
  record LocalQueueUsed(LocalQueueId id, Map<String, Double> consumed, Instant sampledAt)
      implements SchedulerEvent {
    public LocalQueueUsed {
      consumed = Map.copyOf(consumed);
    }
  }

  /** A namespace was created, or its labels changed. */
  record NamespaceChanged(String name, Map<String, String> labels) implements SchedulerEvent {
    public NamespaceChanged {
      labels = MapCopies.of(labels);
    }
  }

  /** A namespace was deleted. */
  record NamespaceRemoved(String name) implements SchedulerEvent {}

  /**
   * A Budget was created or changed.
   *
   * @param spent what was spent, as another process wrote it down last; empty if this engine knows
   */
  record BudgetChanged(BudgetSpec budget, Optional<BudgetAccount> spent)
      implements SchedulerEvent {}

  /** A Budget was deleted. */
  record BudgetRemoved(String name) implements SchedulerEvent {}

  /**
   * A ResourceFlavor has other prices than before.
   *
   * @param perHour what a unit of quota costs for an hour, by resource; empty if nothing costs
   *     anything, or the flavor is gone
   */
  record PricesChanged(String flavor, Map<String, BigDecimal> perHour) implements SchedulerEvent {

    public PricesChanged {
      perHour = Map.copyOf(perHour);
    }
  }

  /** A Topology was created or changed. */
  record TopologyChanged(TopologySpec topology) implements SchedulerEvent {}

  /** A Topology was deleted. */
  record TopologyRemoved(String name) implements SchedulerEvent {}

  /** A node was created or changed: labels, taints, allocatable, ready or schedulable. */
  record NodeChanged(ClusterNode node) implements SchedulerEvent {}

  /** A node was deleted. */
  record NodeRemoved(String name) implements SchedulerEvent {}

  /**
   * What pods that aren't placed by topology request on a node, all of them together; terminated
   * pods don't count. Reported before or after the node itself.
   *
   * @param used the amounts by resource (thousandths for cpu), each pod also as one of {@code pods}
   */
  record NodeUsageChanged(String node, SortedMap<String, Long> used) implements SchedulerEvent {
    public NodeUsageChanged {
      used = Collections.unmodifiableSortedMap(new TreeMap<>(used));
    }
  }

  /** A Workload is pending. */
  record WorkloadPending(PendingWorkload workload) implements SchedulerEvent {}

  /** A Workload has quota reserved. */
  record WorkloadReserving(ReservingWorkload workload) implements SchedulerEvent {}

  /**
   * A Workload is neither pending nor has quota reserved: it is finished, deleted, inactive, gated
   * or on hold.
   *
   * @param version the last resourceVersion; {@link Long#MAX_VALUE} when the object was deleted
   */
  record WorkloadReleased(WorkloadId id, long version) implements SchedulerEvent {}

  /**
   * The decided admission was written to the API server, in the given (new) version.
   *
   * @param admitted whether the Workload is admitted, and doesn't only have quota reserved
   */
  record AdmissionWritten(WorkloadId id, long version, boolean admitted) implements SchedulerEvent {

    /** An event for a Workload that is admitted. */
    public AdmissionWritten(WorkloadId id, long version) {
      this(id, version, true);
    }
  }

  /**
   * The decided admission was not written and will not be written.
   *
   * @param decided the resourceVersion that the decision was based on
   * @param superseded whether the Workload has a newer version, which a later event will report;
   *     otherwise the admission is retried after a backoff
   */
  record AdmissionRefused(WorkloadId id, long decided, boolean superseded)
      implements SchedulerEvent {}

  /**
   * A decided eviction was not written and will not be written: an eviction that is still needed
   * must be decided again.
   *
   * @param decided the resourceVersion of the target that the decision was based on
   */
  record EvictionRefused(WorkloadId id, long decided) implements SchedulerEvent {}

  /** The places of a second pass were not written and will not be written. */
  record PlacementRefused(WorkloadId id) implements SchedulerEvent {}

  /**
   * How long a run of a Workload takes at most. Reported before or after the Workload itself, and
   * forgotten when it is released.
   */
  record RunBounded(WorkloadId id, RunBound bound) implements SchedulerEvent {}

  /** The current time is {@code now}. */
  record TimePassed(Instant now) implements SchedulerEvent {}

  /**
   * Whether the engine decides: true once its state is complete and this replica leads, false while
   * the engine only applies events.
   */
  record DecidingEnabled(boolean enabled) implements SchedulerEvent {}
}

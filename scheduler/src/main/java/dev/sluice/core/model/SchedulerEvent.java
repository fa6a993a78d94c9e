package dev.sluice.core.model;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An input of the engine: a change in the cluster, a result of a decision, or the passing of time.
 * The engine is a function of its events in their order: the same events lead to the same
 * decisions.
 */
public sealed interface SchedulerEvent {

  /** The Workload that the event is about; null if it is about something else. */
  default @Nullable WorkloadId about() {
    return switch (this) {
      case WorkloadPending(var pending) -> pending.id();
      case WorkloadReserving(var reserving) -> reserving.id();
      case WorkloadReleased(var id, var _) -> id;
      case AdmissionWritten(var id, var _, var _) -> id;
      case AdmissionRefused(var id, var _, var _) -> id;
      case EvictionRefused(var id, var _) -> id;
      case PlacementRefused(var id) -> id;
      case RunBounded(var id, var _) -> id;
      default -> null;
    };
  }

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

  /**
   * Other capacity is kept than before, or at other times (docs/reservations.md).
   *
   * @param kept everything that is kept, in the order in which its users count for it
   */
  record ReservationsChanged(List<ReservedCapacity> kept) implements SchedulerEvent {

    public ReservationsChanged {
      kept = List.copyOf(kept);
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
   * @param version the last resourceVersion; {@link Long#MAX_VALUE} when the Workload doesn't come
   *     back: it has finished, or was deleted
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

  /**
   * Capacity that is kept for some Workloads, or for none, at certain times (docs/reservations.md).
   *
   * @param name name of the object that keeps it
   * @param scope what is kept
   * @param users the Workloads that may use it
   * @param lend whether others that can be preempted may use it while its users don't
   * @param occurrences when it is kept: those that aren't over, ascending and apart
   */
  record ReservedCapacity(
      String name, Scope scope, Users users, boolean lend, List<Occurrence> occurrences) {

    /** Why Workloads are held, and why they are evicted, for capacity that is kept. */
    public static final String REASON = "CapacityReserved";

    public ReservedCapacity {
      occurrences = List.copyOf(occurrences);
    }

    /** The kind and the name, as messages call it. */
    public String title() {
      return switch (scope) {
        case Scope.OfQueue _ -> "CapacityReservation " + name;
        case Scope.OfFlavors _, Scope.OfNodes _ -> "MaintenanceWindow " + name;
      };
    }

    /** The occurrence that a time is in; empty if there is none. */
    public Optional<Occurrence> at(Instant time) {
      return occurrences.stream().filter(each -> each.contains(time)).findFirst();
    }

    /** What is kept. */
    public sealed interface Scope {

      /** Parts of the nominal quota of a ClusterQueue, by their flavor and resource. */
      record OfQueue(String clusterQueue, List<Share> shares) implements Scope {

        public OfQueue {
          shares = List.copyOf(shares);
        }
      }

      /** Everything that flavors have, in each ClusterQueue. */
      record OfFlavors(Set<String> flavors) implements Scope {

        public OfFlavors {
          flavors = Set.copyOf(flavors);
        }
      }

      /**
       * Everything that nodes with these labels have: places on them, and each flavor all of whose
       * nodes have them.
       */
      record OfNodes(Map<String, String> labels) implements Scope {

        public OfNodes {
          labels = MapCopies.of(labels);
        }

        /** Whether something with such labels is one of them. */
        public boolean includes(Map<String, String> others) {
          return others.entrySet().containsAll(labels.entrySet());
        }
      }
    }

    /**
     * A part of a quota.
     *
     * @param amount how much, in the unit of quota (thousandths of a core for cpu)
     */
    public record Share(String flavor, String resource, long amount) {}

    /**
     * Who may use reserved capacity: whoever matches both; nobody if both are empty.
     *
     * @param localQueues the LocalQueues; empty for any
     * @param priorities the effective priorities; empty for any
     */
    public record Users(Set<LocalQueueId> localQueues, Set<Long> priorities) {

      /** Nobody. */
      public static final Users NOBODY = new Users(Set.of(), Set.of());

      public Users {
        localQueues = Set.copyOf(localQueues);
        priorities = Set.copyOf(priorities);
      }

      /** Whether a Workload of a LocalQueue and of this priority is one of them. */
      public boolean include(LocalQueueId localQueue, long priority) {
        return !equals(NOBODY)
            && (localQueues.isEmpty() || localQueues.contains(localQueue))
            && (priorities.isEmpty() || priorities.contains(priority));
      }
    }

    /**
     * A time in which capacity is kept.
     *
     * @param end the first instant after it
     */
    public record Occurrence(Instant start, Instant end) {

      /** Whether a time is in it. */
      public boolean contains(Instant time) {
        return !time.isBefore(start) && time.isBefore(end);
      }
    }

    /**
     * A Workload that has to go, because capacity that it uses is kept.
     *
     * @param keeper the {@link #title} of what keeps it
     * @param from since when, or from when on
     * @param grace how long before that its job is asked for a checkpoint
     */
    public record Overstay(
        WorkloadId id, String keeper, String message, Instant from, Duration grace) {}
  }

  /**
   * A Workload that may be queued (docs/scheduling-semantics.md#what-is-pending).
   *
   * @param id identity of the Workload
   * @param version the resourceVersion as a number: a later state has a higher version
   * @param queueName name of the LocalQueue, in the Workload's namespace
   * @param shape the request
   * @param priority the effective priority
   * @param createdAt the time of creation
   * @param queuedAt the position in the queue: the time of creation, or of the eviction that
   *     requeued the Workload
   * @param notBefore the end of the requeue backoff, if there is a backoff
   * @param held whether the Workload must stay out of the queue until its condition changes
   *     (Requeued=False)
   * @param defect why the Workload can't be evaluated whatever the quota (limits, LimitRange);
   *     empty if it can
   * @param gated whether the Workload may not preempt yet because one of its preemption gates is
   *     closed
   * @param evictable whether somebody stops the pods when the Workload is evicted
   * @param history what happened to the Workload that rules of preemption depend on
   */
  record PendingWorkload(
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
     * What makes a Workload a slice of an elastic job
     * (docs/elastic-jobs.md#what-the-engine-charges). Slices of different jobs never meet, whatever
     * their annotations name.
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

  /**
   * Everything in a Workload that flavor assignment depends on. Equal shapes are shared between
   * Workloads: Workloads of one queue with equal shape and priority form one equivalence class, and
   * an evaluation result of one is valid for all.
   *
   * @param podSets the requests of the pod sets
   * @param guaranteed whether the Workload is marked as not preemptible: in queues where that
   *     counts, it is held to nominal quota and is never a preemption target
   * @param preemption the rules of preemption of the Workload's priority class
   * @param slice what makes the Workload a slice of an elastic job; empty for other Workloads
   * @param replaced the slice that it replaces, while that holds quota; known to the engine only
   * @param run how long the Workload runs at the most; empty if nobody says so, or no budget asks
   * @param cost what counts for its costs; empty if nothing does
   */
  record RequestShape(
      List<PodSetRequest> podSets,
      boolean guaranteed,
      PreemptionRules preemption,
      Optional<JobSlice> slice,
      Optional<ReplacedSlice> replaced,
      Optional<Duration> run,
      Optional<CostRules> cost) {

    public RequestShape {
      podSets = List.copyOf(podSets);
    }

    /** The request of a Workload of which no budget asks how long it runs. */
    public RequestShape(
        List<PodSetRequest> podSets,
        boolean guaranteed,
        PreemptionRules preemption,
        Optional<JobSlice> slice,
        Optional<ReplacedSlice> replaced) {
      this(podSets, guaranteed, preemption, slice, replaced, Optional.empty(), Optional.empty());
    }

    /** The request of a Workload that is no slice. */
    public RequestShape(List<PodSetRequest> podSets, boolean guaranteed) {
      this(podSets, guaranteed, PreemptionRules.NONE, Optional.empty(), Optional.empty());
    }

    /** The request of a Workload that may be preempted and is no slice. */
    public RequestShape(List<PodSetRequest> podSets) {
      this(podSets, false);
    }

    /** The same request of a slice. */
    public RequestShape withSlice(Optional<JobSlice> of) {
      return of.isEmpty()
          ? this
          : new RequestShape(podSets, guaranteed, preemption, of, Optional.empty(), run, cost);
    }

    /**
     * The same request of a Workload that is no slice; it stays in place of the one it replaces.
     */
    public RequestShape withoutSlice() {
      return slice.isEmpty()
          ? this
          : new RequestShape(
              podSets, guaranteed, preemption, Optional.empty(), replaced, run, cost);
    }

    /** The same request in place of a slice, or of none. */
    public RequestShape replacing(Optional<ReplacedSlice> other) {
      return replaced.equals(other)
          ? this
          : new RequestShape(podSets, guaranteed, preemption, slice, other, run, cost);
    }

    /** The same slice with other requests. */
    public RequestShape withPodSets(List<PodSetRequest> others) {
      return new RequestShape(others, guaranteed, preemption, slice, replaced, run, cost);
    }

    /** The same request of a Workload whose priority class has these rules of preemption. */
    public RequestShape withPreemption(PreemptionRules rules) {
      return rules.equals(preemption)
          ? this
          : new RequestShape(podSets, guaranteed, rules, slice, replaced, run, cost);
    }

    /** The same request of a Workload that runs so long at the most. */
    public RequestShape running(Optional<Duration> length) {
      return length.equals(run)
          ? this
          : new RequestShape(podSets, guaranteed, preemption, slice, replaced, length, cost);
    }

    /** The same request of a Workload for whose costs this counts. */
    public RequestShape costing(Optional<CostRules> rules) {
      return rules.equals(cost)
          ? this
          : new RequestShape(podSets, guaranteed, preemption, slice, replaced, run, rules);
    }

    /** Of the pod sets alone: shapes that differ in the rest only are few, and queues ask often. */
    @Override
    public int hashCode() {
      return podSets.hashCode();
    }
  }

  /**
   * The request of one pod set of a pending Workload.
   *
   * @param name name of the pod set in the Workload
   * @param count pods that still need quota; reclaimable pods are already subtracted
   * @param spare the number of pods that the pod set can start without, from 0 to {@code count}; 0
   *     without partial admission, and for a journal of before this component
   * @param perPod what quota counts of one pod, by resource (thousandths for cpu, whole units
   *     otherwise)
   * @param nodeConstraints the nodes that the pods may run on
   * @param group pod sets with the same non-empty group get the same flavors, and are placed
   *     together
   * @param topology what the pod set asks of the topology of its nodes
   * @param nodeRequests what one pod requests of its node, by resource: its own requests, before
   *     resources are excluded from quota and before resource transformations
   */
  record PodSetRequest(
      String name,
      int count,
      int spare,
      SortedMap<String, Long> perPod,
      NodeConstraints nodeConstraints,
      String group,
      TopologyRequest topology,
      SortedMap<String, Long> nodeRequests) {

    public PodSetRequest {
      boolean same = nodeRequests.equals(perPod);
      perPod = Collections.unmodifiableSortedMap(new TreeMap<>(perPod));
      nodeRequests = same ? perPod : Collections.unmodifiableSortedMap(new TreeMap<>(nodeRequests));
    }

    /** A request of pods of which quota counts what they request of their nodes. */
    public PodSetRequest(
        String name,
        int count,
        int spare,
        SortedMap<String, Long> perPod,
        NodeConstraints nodeConstraints,
        String group,
        TopologyRequest topology) {
      this(name, count, spare, perPod, nodeConstraints, group, topology, perPod);
    }

    /** A request that asks for no topology. */
    public PodSetRequest(
        String name,
        int count,
        int spare,
        SortedMap<String, Long> perPod,
        NodeConstraints nodeConstraints,
        String group) {
      this(name, count, spare, perPod, nodeConstraints, group, TopologyRequest.NONE);
    }

    /** The fewest pods that the pod set can start with. */
    public int minCount() {
      return count - spare;
    }

    /** The same request of a pod set with another name. */
    public PodSetRequest withName(String other) {
      return new PodSetRequest(
          other, count, spare, perPod, nodeConstraints, group, topology, nodeRequests);
    }

    /** The same request of pods that may run on other nodes. */
    public PodSetRequest with(NodeConstraints constraints) {
      return new PodSetRequest(
          name, count, spare, perPod, constraints, group, topology, nodeRequests);
    }

    /** The same request of pods that ask for another topology. */
    public PodSetRequest with(TopologyRequest other) {
      return new PodSetRequest(
          name, count, spare, perPod, nodeConstraints, group, other, nodeRequests);
    }

    /** The same request with another number of pods, all of which are required. */
    public PodSetRequest withCount(int pods) {
      return new PodSetRequest(
          name, pods, 0, perPod, nodeConstraints, group, topology, nodeRequests);
    }
  }
}

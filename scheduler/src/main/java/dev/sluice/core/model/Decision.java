package dev.sluice.core.model;

import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A decision of the engine. Other components carry decisions out and report the result as {@link
 * SchedulerEvent}s.
 */
public sealed interface Decision permits Decision.Admit, Decision.Preempt, PlacementDecision {

  /** The Workload that the decision is about. */
  WorkloadId id();

  /**
   * Reserve quota for this Workload, and admit the Workload.
   *
   * @param version the resourceVersion of the Workload that the decision is based on
   * @param clusterQueue the ClusterQueue whose quota is reserved
   * @param podSets the flavors and amounts of each pod set
   * @param at time of the decision
   * @param queuedAt the position in the queue
   * @param considered the flavors that were tried, for the event
   */
  record Admit(
      WorkloadId id,
      long version,
      String clusterQueue,
      List<PodSetAssignment> podSets,
      Instant at,
      Instant queuedAt,
      List<FlavorAttempt> considered)
      implements Decision {
    public Admit {
      podSets = List.copyOf(podSets);
      considered = List.copyOf(considered);
    }
  }

  /**
   * Evict the targets, so that this Workload fits after their eviction.
   *
   * @param version the resourceVersion of the Workload that the decision is based on
   * @param clusterQueue the ClusterQueue that the Workload waits in
   * @param path names from the root of the cohort tree down to that ClusterQueue
   * @param priority effective priority of the Workload
   * @param targets the Workloads to evict; none of them is being evicted already
   * @param at time of the decision
   */
  record Preempt(
      WorkloadId id,
      long version,
      String clusterQueue,
      List<String> path,
      long priority,
      List<Target> targets,
      Instant at)
      implements Decision {
    public Preempt {
      path = List.copyOf(path);
      targets = List.copyOf(targets);
    }
  }

  /**
   * A preemption target: a Workload to evict for another Workload.
   *
   * @param id the Workload to evict
   * @param version the resourceVersion that the decision is based on
   * @param path names from the root of the cohort tree down to the ClusterQueue of the Workload
   * @param priority effective priority of the Workload
   * @param reason the preemption policy that selected the Workload
   * @param rules the rules of preemption for the Workload: where they limit how often it may be
   *     preempted, this preemption is remembered, and where they give it time for a checkpoint, it
   *     is asked for one first
   */
  record Target(
      WorkloadId id,
      long version,
      List<String> path,
      long priority,
      PreemptionReason reason,
      PreemptionRules rules) {

    /** A target without rules. */
    public Target(
        WorkloadId id, long version, List<String> path, long priority, PreemptionReason reason) {
      this(id, version, path, priority, reason, PreemptionRules.NONE);
    }

    public Target {
      path = List.copyOf(path);
    }
  }

  /** Why a Workload is preempted (docs/workload-semantics.md#conditions). */
  public enum PreemptionReason {
    /** The preemptor is in the same ClusterQueue. */
    IN_CLUSTER_QUEUE("InClusterQueue"),
    /** The preemptor's ClusterQueue reclaims quota that the target's ClusterQueue borrows. */
    IN_COHORT_RECLAMATION("InCohortReclamation"),
    /** The target's ClusterQueue has more than its fair share. */
    IN_COHORT_FAIR_SHARING("InCohortFairSharing"),
    /** The preemptor's ClusterQueue reclaims quota and borrows at the same time. */
    IN_COHORT_RECLAIM_WHILE_BORROWING("InCohortReclaimWhileBorrowing"),
    /** Another variant of the same request fits in a flavor that is preferred. */
    FLAVOR_MIGRATION("FlavorMigration");

    private final String reason;

    PreemptionReason(String reason) {
      this.reason = reason;
    }

    /** The reason as the API spells it. */
    public String apiReason() {
      return reason;
    }
  }

  /**
   * The quota that was assigned to a pod set.
   *
   * @param name name of the pod set
   * @param flavors the assigned flavor of each resource
   * @param usage the amount of each resource for all pods of the pod set (thousandths for cpu)
   * @param count the number of pods that have quota
   * @param topology the places of the pods
   */
  record PodSetAssignment(
      String name,
      SortedMap<String, String> flavors,
      SortedMap<String, Long> usage,
      int count,
      PodSetTopology topology) {

    public PodSetAssignment {
      flavors = Collections.unmodifiableSortedMap(new TreeMap<>(flavors));
      usage = Collections.unmodifiableSortedMap(new TreeMap<>(usage));
    }

    /** An assignment without topology. */
    public PodSetAssignment(
        String name, SortedMap<String, String> flavors, SortedMap<String, Long> usage, int count) {
      this(name, flavors, usage, count, PodSetTopology.NONE);
    }

    /** The same assignment with other places. */
    public PodSetAssignment with(PodSetTopology places) {
      return new PodSetAssignment(name, flavors, usage, count, places);
    }
  }
}

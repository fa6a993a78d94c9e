package dev.sluice.core.model;

import java.time.Instant;
import java.util.List;

/** What the engine wants done; others do it, and report back as facts. */
public sealed interface Decision {

  /** Which Workload it is about. */
  WorkloadId id();

  /**
   * Give this Workload quota, and admit it.
   *
   * @param version the version of the Workload that was looked at
   * @param clusterQueue the queue whose quota it gets
   * @param podSets the flavors and amounts of each pod set
   * @param at when it was decided
   * @param queuedAt since when it waited
   * @param considered the flavors that were looked at, for the event
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
   * Evict these Workloads, so that this one fits when they are gone.
   *
   * @param version the version of the Workload that was looked at
   * @param clusterQueue the queue it waits in
   * @param path names from the root of the cohort tree down to that queue
   * @param priority its effective priority
   * @param victims whom to evict; none of them is being evicted already
   * @param at when it was decided
   */
  record Preempt(
      WorkloadId id,
      long version,
      String clusterQueue,
      List<String> path,
      long priority,
      List<Victim> victims,
      Instant at)
      implements Decision {
    public Preempt {
      path = List.copyOf(path);
      victims = List.copyOf(victims);
    }
  }

  /**
   * A Workload that is to be evicted for another one.
   *
   * @param id which
   * @param version the version of it that was looked at
   * @param path names from the root of the cohort tree down to its queue
   * @param priority its effective priority
   * @param reason by which policy
   */
  record Victim(
      WorkloadId id, long version, List<String> path, long priority, PreemptionReason reason) {
    public Victim {
      path = List.copyOf(path);
    }
  }

  /**
   * Tell people why this Workload waits. It is advice: it may be late, and lost without harm.
   *
   * @param version the version of the Workload that was looked at
   */
  record Explain(WorkloadId id, long version, Explanation explanation) implements Decision {}
}

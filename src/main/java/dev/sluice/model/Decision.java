package dev.sluice.model;

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
   * Tell people why this Workload waits. It is advice: it may be late, and lost without harm.
   *
   * @param version the version of the Workload that was looked at
   */
  record Explain(WorkloadId id, long version, Explanation explanation) implements Decision {}
}

package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import java.time.Duration;
import java.util.Optional;

/**
 * The workers that a Workload may use beside other Workloads of its job.
 *
 * @param clusterCandidates the workers
 * @param requeueAfter the delay after which they are determined again even without an event
 */
record LimitedCandidates(ClusterCandidates clusterCandidates, Optional<Duration> requeueAfter) {

  /** Workers that don't depend on time. */
  static LimitedCandidates of(ClusterCandidates clusterCandidates) {
    return new LimitedCandidates(clusterCandidates, Optional.empty());
  }
}

package dev.sluice.checks.multikueue.capacity;

import dev.sluice.workload.record.CachedWorkload;
import java.util.Set;

/** Estimates which workers have enough free quota for a Workload. */
@FunctionalInterface
public interface CapacityEstimator {

  /** An estimator without information: no worker. */
  CapacityEstimator UNKNOWN = workload -> Set.of();

  /** The names of the workers that would admit the Workload at once, as far as is known. */
  Set<String> of(CachedWorkload workload);
}

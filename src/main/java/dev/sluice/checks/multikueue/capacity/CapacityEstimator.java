package dev.sluice.checks.multikueue.capacity;

import dev.sluice.workload.CachedWorkload;
import java.util.Set;

/** Knows in which workers a Workload would fit at once. */
@FunctionalInterface
public interface CapacityEstimator {

  /** Knows of none. */
  CapacityEstimator UNKNOWN = workload -> Set.of();

  /** The names of these workers, as far as is known now. */
  Set<String> of(CachedWorkload workload);
}

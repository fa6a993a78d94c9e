package dev.sluice.checks.multikueue.capacity;

import dev.sluice.workloads.Workload;
import java.util.Set;

/** Knows in which workers a Workload would fit at once. */
@FunctionalInterface
public interface Fitting {

  /** Knows of none. */
  Fitting UNKNOWN = workload -> Set.of();

  /** The names of these workers, as far as is known now. */
  Set<String> of(Workload workload);
}

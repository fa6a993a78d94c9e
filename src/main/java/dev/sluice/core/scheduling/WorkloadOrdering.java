package dev.sluice.core.scheduling;

import java.util.Collection;
import java.util.Iterator;

/** The order in which a cycle processes nominated Workloads; selected by the configuration. */
@FunctionalInterface
public interface WorkloadOrdering {

  /**
   * Returns the nominated Workloads in order. Each one is selected only when it is requested, so
   * that the usage of the ones before it counts.
   */
  Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominated);
}

package dev.sluice.core.scheduling;

import java.util.Collection;
import java.util.Iterator;

/** In which order the nominated are processed; chosen once, when the engine is built. */
@FunctionalInterface
public interface WorkloadOrdering {

  /**
   * The nominated, one by one. Each is chosen only when it is asked for, so that what those before
   * it took may count.
   */
  Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominatedWorkload);
}

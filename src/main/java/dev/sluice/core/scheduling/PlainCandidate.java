package dev.sluice.core.scheduling;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;

/**
 * An inadmissible class whose head fits with the usage at the beginning of a cycle, without a
 * choice of flavors, places or preemption. The cycle either gives it what it asks for or skips it,
 * and nothing else happens to others because of it: so a head that is skipped needs no outcome of
 * its own.
 */
public record PlainCandidate(ClusterQueueCache queue, EquivalenceClass equivalenceClass) {}

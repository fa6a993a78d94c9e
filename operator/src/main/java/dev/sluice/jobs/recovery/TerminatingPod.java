package dev.sluice.jobs.recovery;

import java.time.Duration;
import java.time.Instant;

/**
 * A pod that may be deleted by force and is being deleted.
 *
 * @param version its resource version
 * @param node the node that it is bound to; empty while it is bound to none
 * @param deletionTime its {@code deletionTimestamp}: when its grace period is over
 * @param gracePeriod its {@code deletionGracePeriodSeconds}
 * @param ended whether its phase is Succeeded or Failed
 * @param forced whether it has the condition that the operator sets before it deletes the pod
 */
record TerminatingPod(
    String namespace,
    String name,
    String uid,
    String version,
    String node,
    Instant deletionTime,
    Duration gracePeriod,
    boolean ended,
    boolean forced) {}

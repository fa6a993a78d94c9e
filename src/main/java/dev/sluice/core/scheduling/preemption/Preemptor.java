package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;

/**
 * Who asks for targets, and when.
 *
 * @param queue the queue of the preemptor
 * @param priority the preemptor's effective priority
 * @param queuedAtMicros the preemptor's position in the queue
 * @param spared UID of the slice that the preemptor replaces, which is not among the candidates;
 *     empty if it replaces none
 * @param exempt whether it doesn't matter to the preemptor how long candidates have run
 * @param traits what PreemptionConfigs compare of it
 * @param nowMicros the time, in microseconds since the epoch
 */
public record Preemptor(
    ClusterQueueCache queue,
    long priority,
    long queuedAtMicros,
    String spared,
    boolean exempt,
    PreemptionTraits traits,
    long nowMicros) {

  /** A pending Workload at a time. */
  public static Preemptor of(
      QueuedWorkload queuedWorkload, ClusterQueueCache queue, long nowMicros) {
    return new Preemptor(
        queue,
        queuedWorkload.equivalenceClass().priority(),
        queuedWorkload.queuedAtMicros(),
        queuedWorkload.equivalenceClass().shape().replaced().map(ReplacedSlice::uid).orElse(""),
        queuedWorkload.equivalenceClass().shape().preemption().exempt(),
        queuedWorkload
            .equivalenceClass()
            .shape()
            .preemption()
            .traits()
            .orElse(PreemptionTraits.NONE),
        nowMicros);
  }
}

package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.RepeatedPreemptions;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Who asks for targets, and when.
 *
 * @param queue the queue of the preemptor
 * @param priority the preemptor's effective priority
 * @param queuedAtMicros the preemptor's position in the queue
 * @param spared UID of the slice that the preemptor replaces, which is not among the candidates;
 *     empty if it replaces none
 * @param repeated UIDs of the Workloads that it preempted as often as it may, each with the end of
 *     that, in microseconds since the epoch
 * @param exempt whether it doesn't matter to the preemptor how long candidates have run
 * @param traits what PreemptionConfigs compare of it
 * @param nowMicros the time, in microseconds since the epoch
 */
public record Preemptor(
    ClusterQueueCache queue,
    long priority,
    long queuedAtMicros,
    String spared,
    Map<String, Long> repeated,
    boolean exempt,
    PreemptionTraits traits,
    long nowMicros) {

  /** A pending Workload at a time. */
  public static Preemptor of(
      QueuedWorkload queuedWorkload, ClusterQueueCache queue, PreemptionTime time) {
    return new Preemptor(
        queue,
        queuedWorkload.equivalenceClass().priority(),
        queuedWorkload.queuedAtMicros(),
        queuedWorkload.equivalenceClass().shape().replaced().map(ReplacedSlice::uid).orElse(""),
        time.repeatedPreemptions().sparedBy(queuedWorkload.id().uid()),
        queuedWorkload.equivalenceClass().shape().preemption().exempt(),
        queuedWorkload
            .equivalenceClass()
            .shape()
            .preemption()
            .traits()
            .orElse(PreemptionTraits.NONE),
        time.nowMicros());
  }

  /** Whether a Workload is no candidate, whatever policies say. */
  boolean spares(QuotaHolder quotaHolder) {
    if (spared.isEmpty() && repeated.isEmpty()) {
      return false; // as a rule, and then no UID is read
    }
    String uid = quotaHolder.id().uid();
    return uid.equals(spared) || repeated.containsKey(uid);
  }

  /**
   * The time of a cycle, as far as rules of preemption depend on it.
   *
   * @param nowMicros the time, in microseconds since the epoch
   * @param waits finds the roots of the trees in which a rule protects or delays a Workload at that
   *     time
   * @param repeatedPreemptions who preempted whom lately
   */
  public record PreemptionTime(
      long nowMicros, Supplier<Set<QuotaNode>> waits, RepeatedPreemptions repeatedPreemptions) {

    /** The time of a cycle. */
    public static PreemptionTime of(Instant now, WaitingWorkloads waiting) {
      return new PreemptionTime(
          Instants.micros(now), waiting::preemptionWaits, waiting.repeatedPreemptions());
    }
  }
}

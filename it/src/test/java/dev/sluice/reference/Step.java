package dev.sluice.reference;

import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One thing that happens in a random world. Steps name Workloads loosely (the n-th that holds
 * quota), so that any of them can be left out and the rest still makes sense.
 */
sealed interface Step {

  /** A flavor, queue, cohort or namespace appears, changes or goes. */
  record Declare(SchedulerEvent schedulerEvent) implements Step {}

  /** A declaration comes once more, unchanged. */
  record Repeat(int nth) implements Step {}

  /** A Workload appears, or changes what it asks for. */
  record Submit(
      int number,
      String namespace,
      String queue,
      RequestShape shape,
      long priority,
      int queuedAt,
      boolean held,
      int restsFor,
      boolean defective,
      boolean gated)
      implements Step {

    /** The same, which asks for something else. */
    Submit with(RequestShape other) {
      return new Submit(
          number, namespace, queue, other, priority, queuedAt, held, restsFor, defective, gated);
    }

    /**
     * The Workload as it asks for quota.
     *
     * @param before what is known of it, whose namespace it keeps; null if it is new
     */
    PendingWorkload asked(
        String uid,
        @Nullable PendingWorkload before,
        long version,
        Instant now,
        boolean evictable) {
      Instant queued = Stage.START.plusSeconds(queuedAt);
      return new PendingWorkload(
          new WorkloadId(uid, before == null ? namespace : before.id().namespace(), "w" + number),
          version,
          queue,
          shape,
          priority,
          queued,
          queued,
          restsFor == 0 ? Optional.empty() : Optional.of(now.plusSeconds(restsFor)),
          held,
          defective ? Optional.of("requests exceed limits") : Optional.empty(),
          gated,
          evictable);
    }
  }

  /** A pending Workload is written to by somebody, and asks for the same. */
  record Touch(int number) implements Step {}

  /** The last fact about a pending Workload comes again, or one of an older version does. */
  record Echo(int number, boolean older) implements Step {}

  /** A Workload is deleted, whatever it does; one that waits may be away for a while instead. */
  record Release(int number) implements Step {}

  /** The n-th holder finishes. */
  record Finish(int nth) implements Step {}

  /** The n-th holder loses its quota and waits again. */
  record Evict(int nth) implements Step {}

  /** The n-th holder gives half of its quota back. */
  record Shrink(int nth) implements Step {}

  /** A Workload that nobody decided on holds quota (of any amount) in a ClusterQueue. */
  record Intrude(
      int number,
      String namespace,
      String queue,
      String clusterQueue,
      String flavor,
      long amount,
      long priority)
      implements Step {}

  /** How a decision ends. */
  enum End {
    WRITTEN,
    SEEN,
    SEEN_THEN_WRITTEN,
    REFUSED,
    SUPERSEDED,
    OVERTAKEN_BY_CHANGE,
    WRITTEN_THEN_LATE_REFUSAL
  }

  /** The n-th admission that is under way ends. */
  record Answer(int nth, End end) implements Step {}

  /** How the writing of an eviction ends. */
  enum EvictionEnd {
    WRITTEN,
    REFUSED,
    STALE_REFUSAL,
    CHANGED_THEN_REFUSED,
    /** Its job is asked to save its work first; another step writes it, or takes that back. */
    ASKED;

    /** All that ends it. */
    static final EvictionEnd[] AT_ONCE = {WRITTEN, REFUSED, STALE_REFUSAL, CHANGED_THEN_REFUSED};
  }

  /** The n-th eviction that is under way is written, or not. */
  record AnswerEviction(int nth, EvictionEnd end) implements Step {}

  /** The job of the n-th evicted one has stopped: it waits again. */
  record Leave(int nth) implements Step {}

  /** The pods of the n-th holder get ready, or aren't any more. */
  record PodsReady(int nth, boolean ready) implements Step {}

  /** The owner of a Workload with quota says that its work is saved. */
  record Checkpoint(int nth) implements Step {}

  /** The n-th holder gets another priority. */
  record Reprioritize(int nth, long priority) implements Step {}

  /** Somebody stops the pods of the n-th holder from now on, or nobody does. */
  record Attend(int nth, boolean evictable) implements Step {}

  /** A preemption gate of a Workload that waits is closed or opened. */
  record Gate(int number, boolean closed) implements Step {}

  /** Time passes. */
  record Pass(int seconds) implements Step {}

  /**
   * Time passes, and nobody misses any of it: who has to end by its bound ends before, and each
   * time decisions are made and written until nothing is left to decide.
   */
  record PassInTime(int seconds) implements Step {}

  /** The engine is told to decide, or to listen only. */
  record Deciding(boolean enabled) implements Step {}

  /** One cycle. */
  record Cycle() implements Step {}

  /** Cycles until nothing is left to look at. */
  record Quiesce() implements Step {}

  /** What a declaration is about. */
  static String subject(SchedulerEvent schedulerEvent) {
    return switch (schedulerEvent) {
      case SchedulerEvent.FlavorChanged(var flavor) -> "flavor " + flavor.name();
      case SchedulerEvent.FlavorRemoved(var name) -> "flavor " + name;
      case SchedulerEvent.ClusterQueueChanged(var queue) -> "queue " + queue.name();
      case SchedulerEvent.ClusterQueueRemoved(var name) -> "queue " + name;
      case SchedulerEvent.CohortChanged(var cohort) -> "cohort " + cohort.name();
      case SchedulerEvent.CohortRemoved(var name) -> "cohort " + name;
      case SchedulerEvent.BudgetChanged(var budget, var spent) -> "budget " + budget.name();
      case SchedulerEvent.ReservationsChanged(var kept) -> "reservations";
      case SchedulerEvent.RunBounded(var id, var bound) -> "bound of " + id.uid();
      case SchedulerEvent.BudgetRemoved(var name) -> "budget " + name;
      case SchedulerEvent.PricesChanged(var flavor, var perHour) -> "prices " + flavor;
      case SchedulerEvent.LocalQueueChanged(var queue) -> "local " + queue.id();
      case SchedulerEvent.LocalQueueRemoved(var id) -> "local " + id;
      case SchedulerEvent.NamespaceChanged(var name, var labels) -> "namespace " + name;
      case SchedulerEvent.NamespaceRemoved(var name) -> "namespace " + name;
      case SchedulerEvent.TopologyChanged(var topology) -> "topology " + topology.name();
      case SchedulerEvent.TopologyRemoved(var name) -> "topology " + name;
      case SchedulerEvent.NodeChanged(var node) -> "node " + node.name();
      case SchedulerEvent.NodeRemoved(var name) -> "node " + name;
      case SchedulerEvent.NodeUsageChanged(var node, var used) -> "use of node " + node;
      default -> throw new IllegalArgumentException(schedulerEvent + " is no declaration");
    };
  }
}

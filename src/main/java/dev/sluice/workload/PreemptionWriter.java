package dev.sluice.workload;

import dev.sluice.api.KueueConstants;
import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.workload.WorkloadWriter.Outcome;
import dev.sluice.workload.WorkloadWriter.Urgency;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evicts the targets of preemptions, each with one write, and reports to the engine the ones that
 * could not be evicted. A target that has only changed meanwhile is still evicted, because its
 * reservation is what matters.
 */
final class PreemptionWriter {

  private static final Logger LOG = LoggerFactory.getLogger(PreemptionWriter.class);
  private static final int AT_A_TIME = 8;
  private static final int ATTEMPTS = 5;

  private final WorkloadLister store;
  private final WorkloadWriter writer;
  private final SchedulerEventSink engine;
  private final AdmissionObserver observer;
  private final InstantSource clock;
  private final Executor executor;
  private final NewerVersionWaiter news;

  PreemptionWriter(
      WorkloadLister store,
      WorkloadWriter writer,
      SchedulerEventSink engine,
      AdmissionObserver observer,
      InstantSource clock,
      Executor executor,
      NewerVersionWaiter news) {
    this.store = store;
    this.writer = writer;
    this.engine = engine;
    this.observer = observer;
    this.clock = clock;
    this.executor = executor;
    this.news = news;
  }

  /**
   * Evicts the targets, at most eight at a time; evicts none if the preemptor is not pending any
   * more.
   */
  void preempt(Decision.Preempt decision) {
    Optional<CachedWorkload> preemptor =
        store
            .get(decision.id().namespace(), decision.id().name())
            .filter(found -> found.id().equals(decision.id()))
            .filter(PreemptionWriter::waits);
    if (preemptor.isEmpty()) {
      decision.victims().forEach(this::refuse);
      return;
    }
    LOG.info(
        "workload={} preempts={} clusterQueue={} priority={}",
        decision.id(),
        decision.victims().size(),
        decision.clusterQueue(),
        decision.priority());
    Round round =
        new Round(decision, preemptor.get().labels().getOrDefault(KueueConstants.JOB_UID, ""));
    for (int lane = 0; lane < AT_A_TIME; lane++) {
      round.next();
    }
  }

  private static boolean waits(CachedWorkload workload) {
    return !workload.deleting()
        && !workload.finished()
        && !workload.quotaReserved()
        && workload.spec().active();
  }

  private void refuse(Decision.Victim victim) {
    engine.submit(new SchedulerEvent.EvictionRefused(victim.id(), victim.version()));
  }

  /** The targets of one decision that are not processed yet. */
  private final class Round {

    private final Decision.Preempt decision;
    private final String jobUid;
    private final Queue<Decision.Victim> left;

    Round(Decision.Preempt decision, String jobUid) {
      this.decision = decision;
      this.jobUid = jobUid;
      this.left = new ConcurrentLinkedQueue<>(decision.victims());
    }

    void next() {
      Decision.Victim victim = left.poll();
      if (victim != null) {
        evict(victim, ATTEMPTS);
      }
    }

    private void evict(Decision.Victim victim, int attempts) {
      Optional<CachedWorkload> found =
          store
              .get(victim.id().namespace(), victim.id().name())
              .filter(workload -> workload.id().equals(victim.id()))
              .filter(workload -> !workload.finished())
              .filter(
                  workload ->
                      workload.quotaReserved()
                          ? !workload.evicted()
                          : isBeingAdmitted(workload, victim));
      if (found.isEmpty() || attempts == 0) {
        refuse(victim);
        executor.execute(this::next);
      } else if (found.get().quotaReserved()) {
        evict(victim, found.get(), attempts);
      } else {
        evictOnNews(victim, found.get(), attempts);
      }
    }

    /** Whether the admission that was decided on this version is still being written. */
    private static boolean isBeingAdmitted(CachedWorkload workload, Decision.Victim victim) {
      return workload.version() <= victim.version();
    }

    private void evictOnNews(Decision.Victim victim, CachedWorkload seen, int attempts) {
      var unused =
          news.after(seen.id(), seen.version())
              .thenRunAsync(() -> evict(victim, attempts - 1), executor);
    }

    private void evict(Decision.Victim victim, CachedWorkload workload, int attempts) {
      String message = Preemptions.message(decision, victim, jobUid);
      var unused =
          writer
              .patchStatus(
                  workload.id(),
                  workload.version(),
                  Preemptions.evicted(workload, victim.reason(), message, clock.instant()),
                  Urgency.DECISION)
              .whenCompleteAsync(
                  (outcome, bug) -> {
                    if (bug == null && outcome instanceof Outcome.Conflict) {
                      evictOnNews(victim, workload, attempts);
                    } else {
                      ended(victim, workload, message, outcome, bug);
                      next();
                    }
                  },
                  executor);
    }

    private void ended(
        Decision.Victim victim,
        CachedWorkload before,
        String message,
        Outcome outcome,
        @Nullable Throwable bug) {
      if (bug == null && outcome instanceof Outcome.Written) {
        observer.preempted(decision, victim, before, message);
        return;
      }
      if (bug != null) {
        LOG.error("workload={} evicted=failed preemptor={}", victim.id(), decision.id(), bug);
      } else if (outcome instanceof Outcome.Refused(int code, String reason)) {
        LOG.warn(
            "workload={} evicted=refused preemptor={} code={} reason=\"{}\"",
            victim.id(),
            decision.id(),
            code,
            reason);
      }
      // Waits before reporting the failure: an immediate new decision would fail again.
      var unused =
          news.after(before.id(), before.version()).thenRunAsync(() -> refuse(victim), executor);
    }
  }
}

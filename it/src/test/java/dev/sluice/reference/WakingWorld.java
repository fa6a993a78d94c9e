package dev.sluice.reference;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * An engine alone, in a cluster in which every write succeeds at once and the pods of a victim stop
 * at once. Workloads have one pod set and no preemption gate, so that whether one fits depends on
 * usage only, not on what it tried before. When the engine finds nothing to look at, everybody is
 * woken by a declaration that means nothing: whoever is admitted then was forgotten.
 */
final class WakingWorld {

  /** More cycles than any of these worlds needs; one that goes round in circles isn't judged. */
  private static final int ENDLESS = 400;

  private final EngineProbe engine;
  private final Map<String, PendingWorkload> known = new HashMap<>();
  private final Set<String> holders = new LinkedHashSet<>();
  private boolean anyStrict;
  private Instant now = Stage.START;
  private long version = 1;
  private int changes;
  private int decisions;
  private int judged;

  WakingWorld(EngineOptions options) {
    engine = new EngineProbe(options);
    engine.fold(new SchedulerEvent.TimePassed(now));
    engine.fold(new SchedulerEvent.DecidingEnabled(true));
  }

  /** How many admissions and preemptions were decided. */
  int decisions() {
    return decisions;
  }

  /** How often everybody was woken in a world without StrictFIFO queues. */
  int judged() {
    return judged;
  }

  /**
   * Plays the steps that say what people and jobs do; how writes end is settled here.
   *
   * @throws AssertionError when somebody was forgotten
   */
  void play(List<Step> steps) {
    for (Step step : steps) {
      switch (step) {
        case Step.Declare(var schedulerEvent) -> declare(schedulerEvent);
        case Step.Submit submit -> submit(submit);
        case Step.Release(var number) -> release("uid-" + number);
        case Step.Finish(var nth) -> holder(nth).ifPresent(this::release);
        case Step.Evict(var nth) -> holder(nth).ifPresent(this::requeue);
        case Step.Pass(var seconds) -> {
          now = now.plusSeconds(seconds);
          engine.fold(new SchedulerEvent.TimePassed(now));
        }
        case Step.Cycle() -> judge();
        case Step.Quiesce() -> judge();
        default -> {}
      }
    }
    judge();
  }

  private void declare(SchedulerEvent schedulerEvent) {
    engine.fold(schedulerEvent);
    if (schedulerEvent instanceof SchedulerEvent.ClusterQueueChanged(var queue)
        && queue.strategy() == QueueingStrategy.STRICT_FIFO) {
      anyStrict = true;
    }
  }

  private void judge() {
    if (!settles()) {
      return;
    }
    engine.fold(
        new SchedulerEvent.FlavorChanged(
            new Flavor("unused", Map.of("change", "" + changes++), List.of(), List.of())));
    judged += anyStrict ? 0 : 1;
    for (int cycle = 0; cycle < ENDLESS && engine.cycle(); cycle++) {
      List<Decided> forgotten =
          engine.takeDecisions().stream()
              .flatMap(decision -> Decided.of(decision).stream())
              .filter(this::isForgotten)
              .toList();
      if (!forgotten.isEmpty()) {
        throw new AssertionError("not woken: " + forgotten);
      }
    }
  }

  /**
   * Whether the Workload could have been admitted without being woken. Preemptors may get their
   * chance without a release: when another queue begins to borrow, or when one is older than the
   * rest of its class. Nobody is woken for that, nor when a StrictFIFO head walks over its flavors
   * anew (docs/scheduling-semantics.md).
   */
  private boolean isForgotten(Decided decided) {
    return decided instanceof Decided.Admission && !anyStrict;
  }

  /** Cycles until there is nothing to look at; returns false if that doesn't end. */
  private boolean settles() {
    for (int cycle = 0; cycle < ENDLESS; cycle++) {
      if (!engine.cycle()) {
        return true;
      }
      engine.takeDecisions().forEach(this::carryOut);
    }
    return false;
  }

  private void carryOut(Decision decision) {
    switch (decision) {
      case Decision.Admit admit -> {
        decisions++;
        holders.add(admit.id().uid());
        engine.fold(new SchedulerEvent.AdmissionWritten(admit.id(), version++));
      }
      case Decision.Preempt preempt -> {
        decisions++;
        preempt.targets().forEach(target -> preempted(target.id().uid()));
      }
      default -> {}
    }
  }

  private Optional<String> holder(int nth) {
    List<String> all = List.copyOf(holders);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(nth % all.size()));
  }

  private void submit(Step.Submit submit) {
    String uid = "uid-" + submit.number();
    if (holders.contains(uid) || submit.gated() || submit.shape().podSets().size() > 1) {
      return;
    }
    pending(submit.asked(uid, known.get(uid), version, now, Stage.isAttended(submit.number())));
  }

  private void preempted(String uid) {
    known.computeIfPresent(uid, (any, workload) -> RandomRules.preempted(workload, now));
    requeue(uid);
  }

  private void requeue(String uid) {
    PendingWorkload before = known.get(uid);
    if (before != null && holders.remove(uid)) {
      pending(Stage.withVersion(before, version));
    }
  }

  private void pending(PendingWorkload workload) {
    version++;
    known.put(workload.id().uid(), workload);
    engine.fold(new SchedulerEvent.WorkloadPending(workload));
  }

  private void release(String uid) {
    PendingWorkload before = known.remove(uid);
    holders.remove(uid);
    if (before != null) {
      engine.fold(new SchedulerEvent.WorkloadReleased(before.id(), version++));
    }
  }
}

package dev.sluice.reference;

import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Two engines in the same cluster, which have to decide the same in every cycle. Writes and the end
 * of pods take as long as the steps say, so that cycles run while others wait for their targets.
 */
final class TwinWorld {

  private static final int ENDLESS = 300;

  private final List<EngineProbe> engines;
  private final Map<String, PendingWorkload> known = new HashMap<>();

  /** Workloads with quota, and whether their admission is written. */
  private final Map<String, Boolean> holders = new LinkedHashMap<>();

  private final List<String> evicted = new ArrayList<>();
  private final List<String> log = new ArrayList<>();
  private Instant now = Stage.START;
  private long version = 1;
  private int decisions;
  private int preemptions;

  /** A world of engines that have the same options. */
  TwinWorld(List<EngineProbe> engines) {
    this.engines = engines;
    fold(new SchedulerEvent.TimePassed(now));
    fold(new SchedulerEvent.DecidingEnabled(true));
  }

  /** How many admissions and preemptions were decided. */
  int decisions() {
    return decisions;
  }

  /** The decisions of each cycle, by queue: which tree comes first is nowhere said. */
  List<String> log() {
    return log;
  }

  /**
   * Plays the steps.
   *
   * @throws AssertionError when the engines decide otherwise
   */
  void play(List<Step> steps) {
    steps.forEach(this::play);
    settle();
  }

  private void play(Step step) {
    switch (step) {
      case Step.Declare(var schedulerEvent) -> fold(schedulerEvent);
      case Step.Submit submit -> submit(submit);
      case Step.Touch(var number) -> {
        PendingWorkload workload = known.get("uid-" + number);
        if (workload != null && !holders.containsKey("uid-" + number)) {
          pending(Stage.withVersion(workload, version));
        }
      }
      case Step.Release(var number) -> release("uid-" + number);
      case Step.Finish(var nth) ->
          pick(List.copyOf(holders.keySet()), nth).ifPresent(this::release);
      case Step.Evict(var nth) -> pick(List.copyOf(holders.keySet()), nth).ifPresent(this::requeue);
      case Step.Answer(var nth, var end) -> {
        List<String> unwritten = holders.keySet().stream().filter(uid -> !written(uid)).toList();
        pick(unwritten, nth).ifPresent(uid -> answer(uid, end));
      }
      case Step.Leave(var nth) -> pick(List.copyOf(evicted), nth).ifPresent(this::preempted);
      case Step.Gate(var number, var closed) -> {
        PendingWorkload workload = known.get("uid-" + number);
        if (workload != null && !holders.containsKey("uid-" + number)) {
          pending(Stage.withGate(Stage.withVersion(workload, version), closed));
        }
      }
      case Step.Pass(var seconds) -> {
        now = now.plusSeconds(seconds);
        fold(new SchedulerEvent.TimePassed(now));
      }
      case Step.Cycle() -> cycle();
      case Step.Quiesce() -> settle();
      default -> {}
    }
  }

  private boolean written(String uid) {
    return Boolean.TRUE.equals(holders.get(uid));
  }

  /**
   * Plays the steps, and then cycles until nothing is left to do, while every decision is carried
   * out at once and nothing else happens but that an hour passes.
   *
   * @param most how many preemptions there may be after the steps
   * @return how many there were, with those of the steps
   */
  int leaveAlone(List<Step> steps, int most) {
    int first = preemptions;
    if (goesOn(steps, most)) {
      throw new AssertionError("goes on: " + log.subList(Math.max(0, log.size() - 8), log.size()));
    }
    return preemptions - first;
  }

  /** The same; whether there are more preemptions. */
  boolean goesOn(List<Step> steps, int most) {
    steps.forEach(this::play);
    int first = preemptions;
    for (Step last : List.of(new Step.Pass(0), new Step.Pass(3_600))) {
      play(last);
      while (cycle()) {
        carryOutAll();
        if (preemptions - first > most) {
          return true;
        }
      }
    }
    return false;
  }

  private void carryOutAll() {
    for (String uid : List.copyOf(holders.keySet())) {
      if (!written(uid)) {
        answer(uid, Step.End.WRITTEN);
      }
    }
    List.copyOf(evicted).forEach(this::preempted);
  }

  private void settle() {
    for (int i = 0; i < ENDLESS && cycle(); i++) {
      carryOutAll();
    }
  }

  /** Runs a cycle of each engine; whether any of them found something to evaluate. */
  private boolean cycle() {
    boolean looked = false;
    List<Map<String, List<String>>> decided = new ArrayList<>();
    List<Decision> last = List.of();
    for (EngineProbe engine : engines) {
      looked |= engine.cycle();
      last = engine.takeDecisions();
      Map<String, List<String>> byQueue = new TreeMap<>();
      for (Decision decision : last) {
        Decided.of(decision)
            .ifPresent(
                each ->
                    byQueue
                        .computeIfAbsent(each.clusterQueue(), any -> new ArrayList<>())
                        .add(each.toString()));
      }
      decided.add(byQueue);
    }
    for (Map<String, List<String>> each : decided) {
      if (!each.equals(decided.getFirst())) {
        throw new AssertionError("decided otherwise: " + decided.getFirst() + ", other " + each);
      }
    }
    log.add(decided.getFirst().toString());
    last.stream()
        .sorted(Comparator.comparing(decision -> decision.id().uid()))
        .forEach(this::carryOut);
    return looked;
  }

  private void carryOut(Decision decision) {
    switch (decision) {
      case Decision.Admit admit -> {
        decisions++;
        holders.put(admit.id().uid(), false);
      }
      case Decision.Preempt preempt -> {
        decisions++;
        preemptions++;
        preempt.targets().forEach(target -> evicted.add(target.id().uid()));
      }
      default -> {}
    }
  }

  private static Optional<String> pick(List<String> among, int nth) {
    return among.isEmpty() ? Optional.empty() : Optional.of(among.get(nth % among.size()));
  }

  private void answer(String uid, Step.End end) {
    PendingWorkload workload = known.get(uid);
    if (workload == null) {
      return;
    }
    if (end == Step.End.REFUSED || end == Step.End.SUPERSEDED) {
      holders.remove(uid);
      evicted.remove(uid);
      fold(
          new SchedulerEvent.AdmissionRefused(
              workload.id(), workload.version(), end == Step.End.SUPERSEDED));
      return;
    }
    holders.put(uid, true);
    fold(new SchedulerEvent.AdmissionWritten(workload.id(), version++));
  }

  private void submit(Step.Submit submit) {
    String uid = "uid-" + submit.number();
    if (!holders.containsKey(uid)) {
      pending(submit.asked(uid, known.get(uid), version, now, Stage.isAttended(submit.number())));
    }
  }

  private void preempted(String uid) {
    known.computeIfPresent(uid, (any, workload) -> RandomRules.preempted(workload, now));
    requeue(uid);
  }

  private void requeue(String uid) {
    PendingWorkload before = known.get(uid);
    evicted.remove(uid);
    if (before != null && holders.remove(uid) != null) {
      pending(Stage.withVersion(before, version));
    }
  }

  private void pending(PendingWorkload workload) {
    version++;
    known.put(workload.id().uid(), workload);
    fold(new SchedulerEvent.WorkloadPending(workload));
  }

  private void release(String uid) {
    PendingWorkload before = known.remove(uid);
    holders.remove(uid);
    evicted.remove(uid);
    if (before != null) {
      fold(new SchedulerEvent.WorkloadReleased(before.id(), version++));
    }
  }

  private void fold(SchedulerEvent schedulerEvent) {
    engines.forEach(engine -> engine.fold(schedulerEvent));
  }
}

package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.simulate.Feasibility;
import dev.sluice.forecast.simulate.Simulation;
import dev.sluice.forecast.simulate.SimulationResult;
import dev.sluice.forecast.starts.StartForecast;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A world in which it is asked what would become of a Workload, which is then submitted to the same
 * engine. Admissions are written at once.
 */
final class AskedWorld {

  private static final int ENDLESS = 200;

  /** The longest bound of a run, in seconds. */
  private static final int LONGEST = 600;

  /** Longer than anything in a world lasts. */
  private static final Duration LONG = Duration.ofHours(2);

  /** Seconds that pass at once when nothing runs. */
  private static final int A_WHILE = 150;

  private static final RunTimeEstimate AN_HOUR =
      RunTimeEstimate.of(Optional.of(Duration.ofHours(1)), Optional.empty(), Optional.empty());

  private final EngineOptions options;
  private final Dice dice;

  /** For bounds of runs: what else is made up doesn't depend on them. */
  private final Dice bounds;

  private final List<Decision> decisions = new ArrayList<>();
  private final Map<Feasibility, Integer> answers = new EnumMap<>(Feasibility.class);
  private InlineScheduler scheduler;
  private Map<String, PendingWorkload> known = new LinkedHashMap<>();
  private Set<String> holders = new LinkedHashSet<>();
  private Set<String> evicted = new LinkedHashSet<>();
  private Instant now = Stage.START;
  private long version = 1;
  private int questions;

  /** What became of the Workload that was asked about. */
  private boolean admitted;

  private List<Decision.Target> targets = List.of();
  private String asked = "";

  AskedWorld(EngineOptions options, long seed) {
    this.options = options;
    this.dice = new Dice(seed);
    this.bounds = new Dice(~seed);
    scheduler = new InlineScheduler(options, decisions::add);
    scheduler.apply(new SchedulerEvent.TimePassed(now));
    scheduler.apply(new SchedulerEvent.DecidingEnabled(true));
  }

  /** How often each answer was given. */
  Map<Feasibility, Integer> answers() {
    return answers;
  }

  void play(List<Step> steps) {
    for (Step step : steps) {
      play(step);
      if (step instanceof Step.Submit submit && dice.chance(40)) {
        ask(submit);
      }
    }
  }

  private void play(Step step) {
    switch (step) {
      case Step.Declare(var event) -> scheduler.apply(event);
      case Step.Submit submit -> {
        String uid = "uid-" + submit.number();
        if (!holders.contains(uid)) {
          pending(
              submit.asked(uid, known.get(uid), version++, now, Stage.isAttended(submit.number())));
        }
      }
      case Step.Release(var number) -> release("uid-" + number);
      case Step.Finish(var nth) -> pick(nth).ifPresent(this::release);
      case Step.Evict(var nth) -> pick(nth).ifPresent(this::requeue);
      case Step.Leave(var nth) -> pick(nth).filter(evicted::contains).ifPresent(this::requeue);
      case Step.Gate(var number, var closed) -> {
        PendingWorkload workload = known.get("uid-" + number);
        if (workload != null && !holders.contains("uid-" + number)) {
          pending(Stage.withGate(Stage.withVersion(workload, version++), closed));
        }
      }
      case Step.Pass(var seconds) -> pass(seconds);
      case Step.PassInTime(var seconds) -> pass(seconds);
      case Step.Cycle() -> decide();
      case Step.Quiesce() -> settle();
      default -> {}
    }
  }

  private void pass(int seconds) {
    now = now.plusSeconds(seconds);
    scheduler.apply(new SchedulerEvent.TimePassed(now));
  }

  private Optional<String> pick(int nth) {
    List<String> all = List.copyOf(holders);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(nth % all.size()));
  }

  /** Asks, submits, compares, and goes on as if nothing had been asked. */
  private void ask(Step.Submit like) {
    String uid = "uid-asked-" + questions++;
    PendingWorkload submitted = like.asked(uid, null, version++, now, true);
    PendingWorkload workload =
        new PendingWorkload(
            new WorkloadId(uid, like.namespace(), "asked"),
            submitted.version(),
            like.queue(),
            like.shape(),
            like.priority(),
            now,
            now,
            Optional.empty(),
            false,
            submitted.defect());
    RunBound bound = bound();
    EngineState before = scheduler.export();
    SimulationResult result =
        Simulation.of(
                before,
                workload,
                bound,
                _ -> AN_HOUR,
                new StartForecast.Options(3, Duration.ofDays(300), Duration.ofSeconds(30), 1),
                () -> true)
            .orElseThrow();
    answers.merge(result.feasibility(), 1, Integer::sum);

    Map<String, PendingWorkload> knownBefore = known;
    Set<String> holdersBefore = holders;
    Set<String> evictedBefore = evicted;
    known = new LinkedHashMap<>(known);
    holders = new LinkedHashSet<>(holders);
    evicted = new LinkedHashSet<>(evicted);
    decisions.clear();
    scheduler = new InlineScheduler(before, decisions::add);
    asked = uid;
    admitted = false;
    targets = List.of();

    Instant nowBefore = now;
    pending(workload);
    scheduler.apply(new SchedulerEvent.RunBounded(workload.id(), bound));
    settleWithoutEvents();
    compare(result);
    now = nowBefore;

    asked = "";
    known = knownBefore;
    holders = holdersBefore;
    evicted = evictedBefore;
    decisions.clear();
    scheduler = new InlineScheduler(before, decisions::add);
  }

  private RunBound bound() {
    Optional<Duration> some = Optional.of(Duration.ofSeconds(1 + bounds.below(LONGEST)));
    return switch (bounds.below(5)) {
      case 0 -> RunBound.UNKNOWN;
      case 1 -> new RunBound(Optional.empty(), some, some);
      default -> new RunBound(some, Optional.empty(), Optional.empty());
    };
  }

  private void compare(SimulationResult result) {
    String of = "answer " + result + " with " + options;
    switch (result.feasibility()) {
      case NOW -> assertThat(admitted).as("now: " + of).isTrue();
      case AFTER_PREEMPTION -> {
        assertThat(admitted).as("preempts: " + of).isFalse();
        assertThat(targets).as("targets: " + of).isEqualTo(result.targets()).isNotEmpty();
      }
      case LATER -> {
        assertThat(admitted).as("later: " + of).isFalse();
        assertThat(targets).as("later: " + of).isEmpty();
        assertThat(result.start()).as("start: " + of).isPresent();
      }
      case NEVER -> {
        assertThat(admitted).as("never: " + of).isFalse();
        assertThat(targets).as("never: " + of).isEmpty();
        endAll();
        assertThat(admitted).as("never, at the end: " + of).isFalse();
      }
    }
  }

  /** Runs end, one after the other in any order, until nothing runs; and time passes. */
  private void endAll() {
    Instant end = now.plus(LONG);
    for (int i = 0; i < ENDLESS && !admitted; i++) {
      List<String> left = List.copyOf(holders);
      if (left.isEmpty()) {
        if (now.isAfter(end)) {
          break;
        }
        pass(A_WHILE);
        settleWithoutEvents();
        continue;
      }
      String uid = left.get(dice.below(left.size()));
      if (evicted.contains(uid) && dice.chanceOfHalf()) {
        requeue(uid);
      } else {
        release(uid);
      }
      settleWithoutEvents();
    }
    assertThat(admitted || holders.isEmpty()).isTrue();
  }

  private void settleWithoutEvents() {
    for (int i = 0; i < ENDLESS && decide(); i++) {}
  }

  /** Cycles, and whoever is evicted leaves. */
  private void settle() {
    settleWithoutEvents();
    for (String uid : List.copyOf(evicted)) {
      requeue(uid);
    }
    settleWithoutEvents();
  }

  private boolean decide() {
    scheduler.decide();
    List<Decision> made = List.copyOf(decisions);
    decisions.clear();
    made.forEach(this::carryOut);
    return !made.isEmpty();
  }

  private void carryOut(Decision decision) {
    switch (decision) {
      case Decision.Admit admit -> {
        holders.add(admit.id().uid());
        admitted |= admit.id().uid().equals(asked);
        scheduler.apply(new SchedulerEvent.AdmissionWritten(admit.id(), version++));
      }
      case Decision.Preempt preempt -> {
        preempt.targets().forEach(target -> evicted.add(target.id().uid()));
        if (preempt.id().uid().equals(asked)) {
          targets = preempt.targets();
        }
      }
      case PlacementDecision _ -> {}
    }
  }

  private void requeue(String uid) {
    evicted.remove(uid);
    PendingWorkload before = known.get(uid);
    if (before != null && holders.remove(uid)) {
      pending(Stage.withVersion(before, version++));
    }
  }

  private void pending(PendingWorkload workload) {
    known.put(workload.id().uid(), workload);
    scheduler.apply(new SchedulerEvent.WorkloadPending(workload));
  }

  private void release(String uid) {
    evicted.remove(uid);
    holders.remove(uid);
    PendingWorkload before = known.remove(uid);
    if (before != null) {
      scheduler.apply(new SchedulerEvent.WorkloadReleased(before.id(), version++));
    }
  }
}

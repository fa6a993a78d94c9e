package dev.sluice.reference;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.reference.Decided.Admission;
import dev.sluice.reference.Decided.Preemption;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Others may be preempted: the engine and the reference decide the same in every cycle, or fail
 * where they differ.
 *
 * <p>Whom the engine wakes when quota is given back is its own affair; here everybody is woken by
 * the change of a declaration, so that both look at the same heads.
 */
final class PreemptionRerun extends Stage {

  private static final int ENDLESS = 500;

  private final PreemptionChecks checks = new PreemptionChecks(asked());
  private final VictimSetChecks victimSets = new VictimSetChecks(asked());
  private final WaitingChecks waiting = new WaitingChecks(asked());
  private int changes;
  private int admissions;
  private int preemptions;
  private int victims;

  PreemptionRerun(Played engine) {
    this(engine, Optional.empty());
  }

  /**
   * A comparison.
   *
   * @param sharing how queues share fairly; empty: they don't
   */
  PreemptionRerun(Played engine, Optional<FairSharing> sharing) {
    this(engine, new EngineOptions(sharing, false));
  }

  /**
   * @param options how the engine decides; the reference does so, too
   */
  PreemptionRerun(Played engine, EngineOptions options) {
    super(engine, reference(options));
  }

  static ReferenceEngine reference(Optional<FairSharing> sharing) {
    return reference(new EngineOptions(sharing, false));
  }

  static ReferenceEngine reference(EngineOptions options) {
    return new ReferenceEngine(
        Duration.ofSeconds(10), ReferenceEngine.Waking.ALL, 32, true, options);
  }

  int admissions() {
    return admissions;
  }

  int preemptions() {
    return preemptions;
  }

  int victims() {
    return victims;
  }

  /** How many preemptions were judged by their victims alone. */
  int judged() {
    return victimSets.judged();
  }

  @Override
  void oneCycle() {
    cycle(1);
  }

  /**
   * One cycle of both.
   *
   * @param idle how often the reference looks in vain if the engine finds nothing to look at
   * @return whether it found anything
   */
  private boolean cycle(int idle) {
    if (asked().flushIsDue()) {
      fold(
          new SchedulerEvent.FlavorChanged(
              new Flavor("unused", Map.of("change", "" + changes++), List.of(), List.of())));
    }
    boolean looked = engine.cycle();
    List<Decided> actual = engine.takeDecided();
    checks.check(actual);
    victimSets.check(actual);
    if (engine.evaluated()) {
      waiting.check(actual);
      decidedAs(reference.cycle(engine::lookedAt), actual);
      comparePromises();
    } else {
      decidedAs(reference.idleCycles(idle), List.of());
      backfilled(actual);
    }
    for (Decided each : actual) {
      switch (each) {
        case Admission admission -> admissions++;
        case Preemption preemption -> {
          preemptions++;
          victims += preemption.victims().size();
        }
      }
    }
    return looked;
  }

  private void decidedAs(List<Decided> expected, List<Decided> actual) {
    require(
        byTree(expected).equals(byTree(actual)),
        "decided otherwise: " + expected + ", engine " + actual);
  }

  @Override
  void quiesce() {
    Set<String> seen = new HashSet<>();
    int cycles = 0;
    while (cycle(ENDLESS) && seen.add(asked().state() + asked().flushIsDue())) {
      require(++cycles < ENDLESS, "cycles never end");
    }
    waiting.checkQuiescence();
  }
}

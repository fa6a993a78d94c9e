package dev.sluice.reference;

import dev.sluice.model.Fact;
import dev.sluice.model.Flavor;
import dev.sluice.reference.Decided.Admission;
import dev.sluice.reference.Decided.Preemption;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
  private int changes;
  private int admissions;
  private int preemptions;
  private int victims;

  PreemptionRerun(Played engine) {
    super(engine, reference());
  }

  static ReferenceEngine reference() {
    return new ReferenceEngine(Duration.ofSeconds(10), ReferenceEngine.Waking.ALL, 32, true);
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

  @Override
  void oneCycle() {
    cycle();
  }

  /** Whether anything was decided. */
  private boolean cycle() {
    if (asked().flushIsDue()) {
      fold(
          new Fact.FlavorChanged(
              new Flavor("unused", Map.of("change", "" + changes++), List.of(), List.of())));
    }
    boolean looked = engine.cycle();
    List<Decided> actual = engine.takeDecided();
    checks.check(actual);
    List<Decided> expected = reference.cycle();
    require(expected.equals(actual), "decided otherwise: " + expected + ", engine " + actual);
    if (!looked) {
      reference.uncount();
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
    return !actual.isEmpty();
  }

  @Override
  void quiesce() {
    Set<String> seen = new HashSet<>();
    int cycles = 0;
    while (seen.add(asked().state())) {
      if (cycle()) {
        seen.clear();
      }
      require(++cycles < ENDLESS, "cycles never end");
    }
  }
}

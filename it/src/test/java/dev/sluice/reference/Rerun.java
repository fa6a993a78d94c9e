package dev.sluice.reference;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.reference.Decided.Admission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Nobody is preempted: the engine and the reference admit the same, or fail where they differ. */
final class Rerun extends Stage {

  private static final int ENDLESS = 5_000;

  private final boolean everyCycle;
  private int admissions;

  /**
   * @param everyCycle whether every cycle must be the same; otherwise only the order of admissions
   */
  Rerun(ReferenceEngine reference, boolean everyCycle) {
    this(EngineOptions.DEFAULT, reference, everyCycle);
  }

  /**
   * @param rules how the engine decides; the reference must do so, too
   */
  Rerun(EngineOptions rules, ReferenceEngine reference, boolean everyCycle) {
    this(Played.of(new EngineProbe(rules)), reference, everyCycle);
  }

  /**
   * @param engine the engine, which decides as the reference must
   */
  Rerun(Played engine, ReferenceEngine reference, boolean everyCycle) {
    super(engine, reference);
    this.everyCycle = everyCycle;
  }

  static ReferenceEngine reference(ReferenceEngine.Waking waking) {
    return new ReferenceEngine(Duration.ofSeconds(10), waking, 32, true);
  }

  int admissions() {
    return admissions;
  }

  @Override
  void oneCycle() {
    if (everyCycle) {
      cycle();
    } else {
      quiesce();
    }
  }

  /**
   * One cycle of both; whether the engine found anything to look at. The reference may look in vain
   * at somebody of whom the engine knows beforehand that nothing comes of it; such a cycle of the
   * reference doesn't count.
   */
  private boolean cycle() {
    boolean looked = engine.cycle();
    List<Admission> actual = taken();
    checkQuota(actual);
    if (!engine.evaluated()) {
      List<Admission> expected = admissions(reference.idleCycles(0));
      require(expected.isEmpty(), "reference admitted " + expected + ", engine looked at nobody");
      backfilled(List.copyOf(actual));
      return looked;
    }
    checkOrder(actual);
    List<Admission> expected = admissions(reference.cycle(engine::lookedAt));
    while (expected.isEmpty() && !actual.isEmpty() && reference.looked()) {
      expected = admissions(reference.cycle());
    }
    require(expected.equals(actual), "reference admitted " + expected + ", engine " + actual);
    comparePromises();
    return looked;
  }

  private static List<Admission> admissions(List<Decided> decided) {
    return decided.stream()
        .flatMap(each -> each instanceof Admission admission ? Stream.of(admission) : Stream.of())
        .toList();
  }

  private List<Admission> taken() {
    List<Admission> actual = admissions(engine.takeDecided());
    admissions += actual.size();
    return actual;
  }

  /** Nobody is given more than the tree allows, one after the other. */
  private void checkQuota(List<Admission> decided) {
    ReferenceTree tree = asked().tree();
    for (Admission admission : decided) {
      Map<FlavorResource, Long> usage = asked().charged(admission);
      usage.forEach(
          (pair, amount) ->
              require(
                  amount <= tree.available(admission.clusterQueue(), pair),
                  "more than available: " + pair + " of " + admission));
      tree.add(admission.clusterQueue(), usage);
    }
  }

  /** Nobody passes one who is before it in its queue and could be admitted now. */
  private void checkOrder(List<Admission> decided) {
    for (Admission admission : decided) {
      List<WorkloadId> skipped = asked().skippedBy(admission.id(), admission.clusterQueue());
      require(skipped.isEmpty(), "admitted past others who fit: " + admission + skipped);
    }
  }

  @Override
  void quiesce() {
    if (everyCycle) {
      int cycles = 0;
      while (cycle()) {
        require(++cycles < ENDLESS, "cycles never end");
      }
    } else {
      quiesceEachByItself();
    }
    require(asked().wouldFit().isEmpty(), "left although they fit: " + asked().wouldFit());
  }

  private void quiesceEachByItself() {
    int cycles = 0;
    while (engine.cycle()) {
      require(++cycles < ENDLESS, "cycles never end");
    }
    List<Admission> actual = taken();
    checkQuota(actual);
    List<Admission> expected = new ArrayList<>();
    do {
      expected.addAll(admissions(reference.cycle()));
      require(++cycles < 2 * ENDLESS, "cycles of the reference never end");
    } while (reference.looked());
    require(expected.equals(actual), "reference admitted " + expected + ", engine " + actual);
  }
}

package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.reference.ReferenceEngine.Waking;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Tells the naive engine what an engine is told, and fails where the naive one decides otherwise.
 * Decisions are compared from one event to the next: how many cycles they take is up to the engine.
 */
public final class ReferenceJudge implements EngineListener {

  private static final int ENDLESS = 200;

  private final ReferenceEngine reference = Rerun.reference(Waking.HELPED);
  private final List<Decided> actual = new ArrayList<>();
  private boolean deciding;
  private final boolean preempting;
  private int changes;
  private int admissions;
  private int preemptions;

  /**
   * A judge of an engine that knows nothing yet.
   *
   * @param preempting whether somebody may be preempted
   */
  public ReferenceJudge(boolean preempting) {
    this.preempting = preempting;
  }

  @Override
  public void applies(SchedulerEvent event) {
    judge();
    reference.fold(event);
  }

  @Override
  public void cycles() {
    deciding = true;
  }

  @Override
  public void decided(Decision decision) {
    Decided.of(decision).ifPresent(actual::add);
  }

  /** Compares what was decided since the last event. */
  public void judge() {
    if (!deciding) {
      return;
    }
    // whom the engine wakes for a preemption is its own affair: a changed declaration wakes
    // everybody
    if (preempting) {
      reference.fold(
          new SchedulerEvent.FlavorChanged(
              new Flavor("unused", Map.of("change", "" + changes++), List.of(), List.of())));
    }
    List<Decided> expected = new ArrayList<>();
    int vain = 0;
    do {
      List<Decided> next = reference.cycle();
      vain = next.isEmpty() ? vain + 1 : 0;
      expected.addAll(next);
    } while (reference.looked() && vain < ENDLESS);
    assertThat(actual).isEqualTo(expected);
    for (Decided each : actual) {
      if (each instanceof Decided.Admission) {
        admissions++;
      } else {
        preemptions++;
      }
    }
    actual.clear();
    deciding = false;
  }

  /** How many admissions were the same. */
  public int admissions() {
    return admissions;
  }

  /** How many preemptions were the same. */
  public int preemptions() {
    return preemptions;
  }
}

package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.reference.ReferenceEngine.Waking;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Random worlds in which nobody preempts, played to the engine and to the reference. */
class EngineAgainstReferenceTest {

  @Test
  void everyCycleAdmitsTheSameInTheSameOrder() {
    play(true, true, Waking.HELPED);
  }

  @Test
  void aQueueOfItsOwnAdmitsTheSameInTheSameOrderAsIfEverythingWereWoken() {
    play(false, false, Waking.ALL);
  }

  private static void play(boolean cohorts, boolean everyCycle, Waking waking) {
    AtomicLong admissions = new AtomicLong();
    Worlds.play(
        everyCycle ? 1 : 4,
        (seed, length) -> new RandomWorld(seed, cohorts, false).steps(length),
        world -> {
          Rerun rerun = new Rerun(Rerun.reference(waking), everyCycle);
          rerun.play(world);
          admissions.addAndGet(rerun.admissions());
        });
    assertThat(admissions).hasPositiveValue();
  }
}

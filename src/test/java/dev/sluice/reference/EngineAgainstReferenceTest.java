package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.reference.ReferenceEngine.Waking;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Random worlds, played to the engine and to the reference.
 *
 * <p>{@code -Dsluice.property.steps=N} plays N steps (default {@value #STEPS}); {@code
 * -Dsluice.property.seed=N} starts at another world.
 */
class EngineAgainstReferenceTest {

  private static final int STEPS = 60_000;
  private static final int LENGTH = 80;

  @Test
  void everyCycleAdmitsTheSameInTheSameOrder() {
    play(true, true, Waking.HELPED);
  }

  @Test
  void aQueueOfItsOwnAdmitsTheSameInTheSameOrderAsIfEverythingWereWoken() {
    play(false, false, Waking.ALL);
  }

  private static void play(boolean cohorts, boolean everyCycle, Waking waking) {
    long steps = Long.getLong("sluice.property.steps", STEPS) / (everyCycle ? 1 : 4);
    long seed = Long.getLong("sluice.property.seed", 1);
    long admissions = 0;
    long start = System.nanoTime();
    long worlds = 0;
    for (long played = 0; played < steps; played += LENGTH) {
      List<Step> world = new RandomWorld(seed, cohorts).steps(LENGTH);
      Rerun rerun = new Rerun(Rerun.reference(waking), everyCycle);
      try {
        rerun.play(world);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(report(seed, world, waking, everyCycle), e);
      }
      admissions += rerun.admissions();
      seed++;
      worlds++;
    }
    System.out.printf(
        "property: worlds=%d steps=%d admissions=%d seconds=%.1f%n",
        worlds, worlds * LENGTH, admissions, (System.nanoTime() - start) / 1e9);
    assertThat(admissions).isPositive();
  }

  private static String report(long seed, List<Step> world, Waking waking, boolean everyCycle) {
    String kind = failure(world, waking, everyCycle).map(KIND).orElse("");
    List<Step> least = shrink(world, kind, waking, everyCycle);
    StringBuilder text = new StringBuilder("seed " + seed + ", " + least.size() + " steps:\n");
    least.forEach(step -> text.append("  ").append(step).append('\n'));
    failure(least, waking, everyCycle).ifPresent(failure -> text.append(failure));
    return text.toString();
  }

  /** Leaves out whatever can be left out: halves, quarters, …, single steps. */
  private static List<Step> shrink(
      List<Step> world, String kind, Waking waking, boolean everyCycle) {
    List<Step> least = world;
    for (int size = world.size() / 2; size > 0; size /= 2) {
      boolean shorter = true;
      while (shorter) {
        shorter = false;
        for (int from = least.size() - size; from >= 0; from--) {
          List<Step> candidate = new ArrayList<>(least);
          candidate.subList(from, from + size).clear();
          if (failure(candidate, waking, everyCycle).map(KIND).orElse("").equals(kind)) {
            least = candidate;
            shorter = true;
            from = Math.min(from, least.size() - size + 1);
          }
        }
      }
    }
    return least;
  }

  /** What failures have in common that are the same but for details. */
  private static final Function<Throwable, String> KIND =
      failure -> failure.getClass() + ("" + failure.getMessage()).replaceAll("[:\\[].*", "");

  private static Optional<Throwable> failure(List<Step> world, Waking waking, boolean everyCycle) {
    try {
      new Rerun(Rerun.reference(waking), everyCycle).play(world);
      return Optional.empty();
    } catch (AssertionError | RuntimeException e) {
      return Optional.of(e);
    }
  }
}

package dev.sluice.reference;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Plays random worlds one after the other, and makes the first one that fails as small as it gets.
 *
 * <p>{@code -Dsluice.property.steps=N} plays N steps (default {@value #STEPS}); {@code
 * -Dsluice.property.seed=N} starts at another world.
 */
final class Worlds {

  private static final int STEPS = 60_000;
  private static final int LENGTH = 80;

  private Worlds() {}

  /**
   * Plays all.
   *
   * @param part plays only this part of the steps: 4 for a quarter
   * @param make makes the world of a seed, of so many steps
   * @param play plays it, and throws what is wrong
   */
  static void play(
      int part, BiFunction<Long, Integer, List<Step>> make, Consumer<List<Step>> play) {
    long steps = Long.getLong("sluice.property.steps", STEPS) / part;
    long first = Long.getLong("sluice.property.seed", 1);
    long start = System.nanoTime();
    long seed = first;
    for (long played = 0; played < steps; played += LENGTH) {
      List<Step> world = make.apply(seed, LENGTH);
      try {
        play.accept(world);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(report(seed, world, play), e);
      }
      seed++;
    }
    System.out.printf(
        "property: seeds=%d..%d steps=%d seconds=%.1f%n",
        first, seed - 1, (seed - first) * LENGTH, (System.nanoTime() - start) / 1e9);
  }

  private static String report(long seed, List<Step> world, Consumer<List<Step>> play) {
    String kind = failure(world, play).map(KIND).orElse("");
    List<Step> least = shrink(world, kind, play);
    StringBuilder text = new StringBuilder("seed " + seed + ", " + least.size() + " steps:\n");
    least.forEach(step -> text.append("  ").append(step).append('\n'));
    failure(least, play).ifPresent(text::append);
    return text.toString();
  }

  /** Leaves out whatever can be left out: halves, quarters, …, single steps. */
  static List<Step> shrink(List<Step> world, String kind, Consumer<List<Step>> play) {
    List<Step> least = world;
    for (int size = world.size() / 2; size > 0; size /= 2) {
      boolean shorter = true;
      while (shorter) {
        shorter = false;
        for (int from = least.size() - size; from >= 0; from--) {
          List<Step> candidate = new ArrayList<>(least);
          candidate.subList(from, from + size).clear();
          if (failure(candidate, play).map(KIND).orElse("").equals(kind)) {
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

  private static Optional<Throwable> failure(List<Step> world, Consumer<List<Step>> play) {
    try {
      play.accept(world);
      return Optional.empty();
    } catch (AssertionError | RuntimeException e) {
      return Optional.of(e);
    }
  }
}

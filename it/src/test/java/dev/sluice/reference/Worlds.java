package dev.sluice.reference;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.LongStream;

/**
 * Plays random worlds, several at the same time, and makes the first one that fails as small as it
 * gets.
 *
 * <p>{@code -Dsluice.property.factor=N} plays N times as many steps as the test says, {@code
 * -Dsluice.property.steps=N} plays N; {@code -Dsluice.property.seed=N} starts at another world.
 */
final class Worlds {

  static final int LENGTH = 80;

  private Worlds() {}

  /**
   * Plays all.
   *
   * @param <S> a step of a world; any of them can be left out
   * @param what what is compared, for the line that tells how much was played
   * @param most how many steps are played unless a property says otherwise
   * @param make makes the world of a seed, of so many steps
   * @param play plays the world of a seed, and throws what is wrong; at the same time as others
   */
  static <S> void play(
      String what,
      int most,
      BiFunction<Long, Integer, List<S>> make,
      BiConsumer<Long, List<S>> play) {
    play(what, most, LENGTH, make, play);
  }

  /**
   * Plays all.
   *
   * @param <S> a step of a world; any of them can be left out
   * @param length how many steps a world has
   */
  static <S> void play(
      String what,
      int most,
      int length,
      BiFunction<Long, Integer, List<S>> make,
      BiConsumer<Long, List<S>> play) {
    long usual = most * Long.getLong("sluice.property.factor", 1);
    long worlds = (Long.getLong("sluice.property.steps", usual) + length - 1) / length;
    long first = Long.getLong("sluice.property.seed", 1);
    long start = System.nanoTime();
    Optional<Long> failed =
        LongStream.concat(LongStream.range(first, first + worlds), onceDiffered(what))
            .parallel()
            .filter(
                seed ->
                    failure(make.apply(seed, length), world -> play.accept(seed, world))
                        .isPresent())
            .boxed()
            .findAny();
    if (failed.isPresent()) {
      long seed = failed.get();
      throw new AssertionError(
          report(seed, make.apply(seed, length), world -> play.accept(seed, world)));
    }
    System.out.printf(
        "property: %s seeds=%d..%d steps=%d seconds=%.1f%n",
        what, first, first + worlds - 1, worlds * length, (System.nanoTime() - start) / 1e9);
  }

  /** The seeds of worlds in which engines have differed once: they are played each time. */
  private static LongStream onceDiffered(String what) {
    try (InputStream in = Objects.requireNonNull(Worlds.class.getResourceAsStream("seeds.txt"))) {
      return new String(in.readAllBytes(), UTF_8)
          .lines()
          .map(line -> line.split(" ", 2))
          .filter(seedAndProperty -> seedAndProperty[1].equals(what))
          .mapToLong(seedAndProperty -> Long.parseLong(seedAndProperty[0]));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static <S> String report(long seed, List<S> world, Consumer<List<S>> play) {
    String kind = failure(world, play).map(KIND).orElse("");
    List<S> least = shrink(world, kind, play);
    StringBuilder text = new StringBuilder("seed " + seed + ", " + least.size() + " steps:\n");
    least.forEach(step -> text.append("  ").append(step).append('\n'));
    failure(least, play).ifPresent(text::append);
    return text.toString();
  }

  /** Leaves out whatever can be left out: halves, quarters, …, single steps. */
  static <S> List<S> shrink(List<S> world, String kind, Consumer<List<S>> play) {
    List<S> least = world;
    for (int size = world.size() / 2; size > 0; size /= 2) {
      boolean shorter = true;
      while (shorter) {
        shorter = false;
        for (int from = least.size() - size; from >= 0; from--) {
          List<S> candidate = new ArrayList<>(least);
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

  private static <S> Optional<Throwable> failure(List<S> world, Consumer<List<S>> play) {
    try {
      play.accept(world);
      return Optional.empty();
    } catch (AssertionError | RuntimeException e) {
      return Optional.of(e);
    }
  }
}

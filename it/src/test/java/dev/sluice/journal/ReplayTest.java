package dev.sluice.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.model.Decision;
import dev.sluice.journal.ReplayCommand.Replay;
import dev.sluice.reference.ObservedWorlds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was recorded is replayed with the same decisions; another decision is found. */
class ReplayTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir private Path root = Path.of("");

  private long recorded(long seed, int steps, long segmentBytes) throws IOException {
    EngineOptions options = ObservedWorlds.options(seed);
    try (SegmentListener listener =
        new SegmentListener(root, START.plusSeconds(seed), options, segmentBytes)) {
      int unused = ObservedWorlds.play(seed, steps, listener);
      return listener.decisions;
    }
  }

  private Replay.Result replay(Function<Decision, Decision> change) throws IOException {
    return new Replay(root, Instant.MIN, Instant.MAX, change).run();
  }

  @Test
  void worldsAreReplayedWithTheSameDecisions() throws IOException {
    int worlds = 40 * Integer.getInteger("sluice.property.factor", 1);
    long decisions = 0;
    for (int seed = 1; seed <= worlds; seed++) {
      decisions += recorded(seed, 400, seed % 2 == 0 ? 4000 : Long.MAX_VALUE);
    }
    Replay.Result result = replay(Function.identity());
    assertThat(result.difference().map(Replay::lines)).isEmpty();
    assertThat(result.skipped()).isEmpty();
    assertThat(result.decisions()).isEqualTo(decisions);
    assertThat(decisions).isGreaterThan(10L * worlds);
  }

  @Test
  void anotherDecisionIsFoundWithItsContext() throws IOException {
    long decisions = recorded(1, 1000, Long.MAX_VALUE);
    assertThat(decisions).isGreaterThan(20);
    AtomicInteger nth = new AtomicInteger();
    Replay.Result result =
        replay(
            decision ->
                decision instanceof Decision.Admit admit && nth.incrementAndGet() == 5
                    ? new Decision.Admit(
                        admit.id(),
                        admit.version(),
                        admit.clusterQueue(),
                        admit.podSets(),
                        admit.at().plusNanos(1),
                        admit.queuedAt(),
                        admit.considered())
                    : decision);
    assertThat(result.difference())
        .hasValueSatisfying(
            difference -> {
              assertThat(difference.recorded()).isNotEqualTo(difference.made());
              assertThat(difference.context()).hasSize(10);
              assertThat(Replay.lines(difference).getFirst())
                  .contains("decided otherwise after record " + difference.sequence());
            });
  }

  @Test
  void timesLimitWhatIsCompared() throws IOException {
    long decisions = recorded(1, 1000, 4000);
    Replay.Result none = new Replay(root, Instant.MAX.minusSeconds(1), Instant.MAX).run();
    assertThat(none.decisions()).isZero();
    Replay.Result all = new Replay(root, START, Instant.MAX).run();
    assertThat(all.decisions()).isEqualTo(decisions);
    Replay.Result early = new Replay(root, START, START.plusSeconds(20)).run();
    assertThat(early.decisions()).isBetween(1L, decisions - 1);
  }

  @Test
  void damageIsSkipped() throws IOException {
    long first = recorded(1, 150, Long.MAX_VALUE);
    long second = recorded(4, 1000, 6000);
    JournalDirectory directory = new JournalDirectory(root, JournalRecord.types());
    List<Path> segments = directory.segments(directory.sessions().getLast());
    assertThat(segments).hasSizeGreaterThan(2);
    byte[] bytes = Files.readAllBytes(segments.get(1));
    bytes[bytes.length / 2] ^= 1;
    Files.write(segments.get(1), bytes);
    Replay.Result result = replay(Function.identity());
    assertThat(result.difference()).isEmpty();
    assertThat(result.skipped().getFirst()).contains(segments.get(1) + ": damaged at ");
    assertThat(result.skipped()).hasSize(1);
    assertThat(result.decisions()).isBetween(first + 1, first + second - 1);
    Files.write(segments.get(1), Arrays.copyOf(bytes, 0));
    Files.delete(segments.get(1));
    assertThat(replay(Function.identity()).skipped().getFirst())
        .startsWith(segments.get(2) + ": records ")
        .contains("are missing");
  }

  /** Each segment begins with the engine's state. */
  @Test
  void segmentsAreReplayedWithoutThoseBefore() throws IOException {
    for (int seed = 1; seed <= 3; seed++) {
      long decisions = recorded(seed, 1000, 6000);
      JournalDirectory directory = new JournalDirectory(root, JournalRecord.types());
      List<Path> segments = directory.segments(directory.sessions().getLast());
      long replayed = decisions;
      for (Path segment : segments.subList(0, segments.size() - 1)) {
        Files.delete(segment);
        Replay.Result result = replay(Function.identity());
        assertThat(result.difference().map(Replay::lines)).as("seed %s", seed).isEmpty();
        assertThat(result.decisions()).isLessThanOrEqualTo(replayed);
        replayed = result.decisions();
      }
      assertThat(segments).hasSizeGreaterThan(2);
      Files.delete(segments.getLast());
    }
  }
}

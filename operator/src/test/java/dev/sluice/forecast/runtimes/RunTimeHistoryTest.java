package dev.sluice.forecast.runtimes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory.Learned;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RunTimeHistoryTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final RunTimeGroup NARROW = new RunTimeGroup(Level.TEMPLATE, "a");
  private static final RunTimeGroup WIDE = new RunTimeGroup(Level.CLUSTER_QUEUE, "q");

  private final RunTimeHistory history = new RunTimeHistory(RunTimeOptions.DEFAULT);
  private Instant now = START;

  private void run(Duration lasted, End end, RunTimeGroup... groups) {
    now = now.plusSeconds(60);
    history.add(List.of(groups), new FinishedRun(now, lasted, end));
  }

  private void runs(int count, Duration lasted, RunTimeGroup... groups) {
    for (int i = 0; i < count; i++) {
      run(lasted, End.SUCCEEDED, groups);
    }
  }

  private Optional<Learned> learned(RunTimeGroup... groups) {
    return history.learned(List.of(groups), now);
  }

  @Test
  void narrowestGroupWithEnoughRunsSays() {
    runs(4, Duration.ofMinutes(10), NARROW, WIDE);
    runs(2, Duration.ofMinutes(50), WIDE);

    assertThat(learned(NARROW, WIDE).orElseThrow().level()).isEqualTo(Level.CLUSTER_QUEUE);

    runs(1, Duration.ofMinutes(10), NARROW, WIDE);

    assertThat(learned(NARROW, WIDE).orElseThrow().level()).isEqualTo(Level.TEMPLATE);
    assertThat(learned(NARROW, WIDE).orElseThrow().all().quantile(0.5))
        .isEqualTo(Duration.ofMinutes(10));
  }

  @Test
  void nothingIsLearnedFromTooFewOrFromEvictionsAlone() {
    runs(4, Duration.ofMinutes(10), NARROW);
    for (int i = 0; i < 20; i++) {
      run(Duration.ofMinutes(20), End.EVICTED, NARROW);
    }

    assertThat(learned(NARROW)).isEmpty();
  }

  @Test
  void runsBeyondTheWindowAreForgotten() {
    runs(5, Duration.ofMinutes(10), NARROW);
    now = now.plus(RunTimeOptions.DEFAULT.window()).plusSeconds(1);

    assertThat(learned(NARROW)).isEmpty();
  }

  @Test
  void recentRunsCountMore() {
    for (int i = 0; i < 12; i++) {
      run(Duration.ofMinutes(i % 2 == 0 ? 10 : 60), End.SUCCEEDED, NARROW);
    }
    Duration before = learned(NARROW).orElseThrow().all().quantile(0.5);
    now = now.plus(Duration.ofDays(20));
    for (int i = 0; i < 4; i++) {
      run(Duration.ofMinutes(i == 0 ? 10 : 60), End.SUCCEEDED, NARROW);
    }

    assertThat(learned(NARROW).orElseThrow().all().quantile(0.5)).isGreaterThan(before);
    assertThat(learned(NARROW).orElseThrow().all().quantile(0.5)).isEqualTo(Duration.ofMinutes(60));
  }

  @Test
  void changeThrowsAwayWhatCameBefore() {
    runs(20, Duration.ofHours(2), NARROW);
    runs(5, Duration.ofMinutes(10), NARROW);

    Learned learned = learned(NARROW).orElseThrow();
    assertThat(learned.count()).isEqualTo(5);
    assertThat(learned.all().quantile(0.99)).isEqualTo(Duration.ofMinutes(10));
  }

  @Test
  void chanceIsNoChange() {
    int changes = 0;
    for (int seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      double[] values = random.doubles(64).map(_ -> random.nextGaussian()).toArray();
      if (RunTimeHistory.change(values, 5) > 0) {
        changes++;
      }
    }

    assertThat(changes).isLessThanOrEqualTo(2);
  }

  @Test
  void changeOfNoisyRunsIsFoundWithinTwentyRuns() {
    int found = 0;
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      double[] values = new double[44];
      for (int i = 0; i < values.length; i++) {
        values[i] = random.nextGaussian() / 2 + (i < 24 ? 0 : 1.5);
      }
      int change = RunTimeHistory.change(values, 5);
      if (change > 19 && change < 29) {
        found++;
      }
    }

    assertThat(found).isGreaterThan(190);
  }

  @Test
  void failuresAreTold() {
    runs(6, Duration.ofMinutes(30), NARROW);
    run(Duration.ofMinutes(1), End.FAILED, NARROW);
    run(Duration.ofMinutes(1), End.FAILED, NARROW);

    Learned learned = learned(NARROW).orElseThrow();
    assertThat(learned.failedShare()).isBetween(0.24, 0.26);
    assertThat(learned.succeeded().quantile(0.1)).isEqualTo(Duration.ofMinutes(30));
    assertThat(learned.all().quantile(0.1)).isLessThan(Duration.ofMinutes(2));
  }

  @Test
  void groupsAndRunsAreBounded() {
    RunTimeHistory bounded = new RunTimeHistory(new RunTimeOptions(2, Duration.ofDays(30), 3));
    for (int i = 0; i < 1_000; i++) {
      bounded.add(
          List.of(WIDE, new RunTimeGroup(Level.NAME, "n" + i)),
          new FinishedRun(START.plusSeconds(i), Duration.ofMinutes(i % 7), End.SUCCEEDED));
    }

    assertThat(bounded.size()).isEqualTo(3);
    assertThat(bounded.saved())
        .allSatisfy(
            saved ->
                assertThat(saved.runs()).hasSizeLessThanOrEqualTo(RunTimeHistory.RUNS_PER_GROUP));
    assertThat(bounded.saved()).anyMatch(saved -> saved.group().equals(WIDE));
  }

  /** Whoever runs many small jobs of many names makes nobody else's run times unknown. */
  @Test
  void aNamespaceWithManyGroupsForgetsItsOwnFirst() {
    RunTimeGroup quiet = new RunTimeGroup(Level.NAME, "quiet/train");
    RunTimeHistory bounded = new RunTimeHistory(new RunTimeOptions(2, Duration.ofDays(30), 100));
    for (int i = 0; i < 5; i++) {
      bounded.add(
          List.of(quiet, WIDE), new FinishedRun(START, Duration.ofMinutes(10), End.SUCCEEDED));
    }
    for (int i = 0; i < 1_000; i++) {
      bounded.add(
          List.of(new RunTimeGroup(Level.NAME, "noisy/n" + i), WIDE),
          new FinishedRun(START.plusSeconds(i), Duration.ofSeconds(1), End.SUCCEEDED));
    }

    assertThat(bounded.size()).isEqualTo(100);
    assertThat(bounded.learned(List.of(quiet), START.plusSeconds(1_000)).orElseThrow().count())
        .isEqualTo(5);
    assertThat(bounded.saved())
        .as("what is saved in part leaves out the noisy one's oldest")
        .extracting(saved -> saved.group().key())
        .startsWith("noisy/n902", "noisy/n903")
        .endsWith("noisy/n999", "q", "quiet/train");
    RunTimeHistory restored = new RunTimeHistory(new RunTimeOptions(2, Duration.ofDays(30), 50));
    restored.restore(bounded.saved());
    assertThat(restored.size()).isEqualTo(50);
    assertThat(restored.learned(List.of(quiet), START.plusSeconds(1_000))).isPresent();
  }

  @Test
  void whatWasSavedSaysTheSame() {
    Random random = new Random(3);
    for (int i = 0; i < 100; i++) {
      run(
          Duration.ofSeconds(random.nextInt(10_000)),
          End.values()[random.nextInt(3)],
          NARROW,
          WIDE);
    }
    RunTimeHistory other = new RunTimeHistory(RunTimeOptions.DEFAULT);
    other.restore(history.saved());

    assertThat(other.saved()).isEqualTo(history.saved());
    for (double p = 0; p <= 1; p += 0.1) {
      assertThat(other.learned(List.of(NARROW), now).orElseThrow().all().quantile(p))
          .isEqualTo(learned(NARROW).orElseThrow().all().quantile(p));
    }
  }

  @Test
  void generatedSuffixesAreNoPartOfAName() {
    assertThat(RunTimeGroup.stem("train-x7k2p")).isEqualTo("train");
    assertThat(RunTimeGroup.stem("report-28929542")).isEqualTo("report");
    assertThat(RunTimeGroup.stem("sweep-0017")).isEqualTo("sweep");
    assertThat(RunTimeGroup.stem("run_3-zx4bq")).isEqualTo("run");
    assertThat(RunTimeGroup.stem("model-trains")).isEqualTo("model-trains");
    assertThat(RunTimeGroup.stem("12345")).isEqualTo("12345");
    assertThat(RunTimeGroup.stem("a".repeat(200_000) + "-1")).hasSize(200_000);
  }
}

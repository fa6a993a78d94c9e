package dev.sluice.forecast.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.forecast.feed.RunTimeRecorder.CountedRuns;
import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory.SavedGroup;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class SavedRunTimesTest {

  private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
  private static final CountedRuns.Saved COUNTED =
      new CountedRuns.Saved(START.plusMillis(1), Map.of(-7L, START.plusSeconds(3), 8L, START));

  private static SavedRunTimes random(int groups, Random random) {
    List<SavedGroup> all = new ArrayList<>();
    for (int i = 0; i < groups; i++) {
      List<FinishedRun> runs = new ArrayList<>();
      for (int j = random.nextInt(64); j >= 0; j--) {
        runs.add(
            new FinishedRun(
                START.plusSeconds(random.nextInt(3_000_000)),
                Duration.ofSeconds(random.nextInt(1_000_000)),
                End.values()[random.nextInt(3)]));
      }
      Level level = Level.values()[random.nextInt(Level.values().length)];
      all.add(new SavedGroup(new RunTimeGroup(level, "team/gpu/" + random.nextLong()), runs));
    }
    return new SavedRunTimes(COUNTED, all);
  }

  @Test
  void whatIsWrittenIsReadAgain() throws IOException {
    for (int seed = 0; seed < 20; seed++) {
      SavedRunTimes saved = random(seed, new Random(seed));
      assertThat(SavedRunTimes.decode(saved.encode(1 << 20))).isEqualTo(saved);
    }
  }

  @Test
  void timesAreRoundedToSeconds() throws IOException {
    FinishedRun run =
        new FinishedRun(START.plusMillis(400), Duration.ofMillis(1_500), End.SUCCEEDED);
    SavedGroup group = new SavedGroup(new RunTimeGroup(Level.NAME, "a"), List.of(run));

    SavedRunTimes read =
        SavedRunTimes.decode(new SavedRunTimes(COUNTED, List.of(group)).encode(1 << 20));
    assertThat(read.groups().getFirst().runs())
        .containsExactly(new FinishedRun(START, Duration.ofSeconds(2), End.SUCCEEDED));
  }

  @Test
  void theGroupsThatWereUsedLastFitIntoTheLimit() throws IOException {
    SavedRunTimes saved = random(500, new Random(1));
    assertThat(saved.encode(1 << 20).length).isGreaterThan(20_000);

    byte[] bytes = saved.encode(20_000);
    assertThat(bytes.length).isBetween(10_000, 20_000);
    List<SavedGroup> read = SavedRunTimes.decode(bytes).groups();
    assertThat(read).isNotEmpty();
    assertThat(read).isEqualTo(saved.groups().subList(500 - read.size(), 500));
  }

  @Test
  void theLargestNumberOfGroupsFitsIntoAConfigMap() {
    byte[] bytes = random(5_000, new Random(2)).encode(RunTimeStore.MOST_BYTES);
    assertThat(bytes.length).isLessThanOrEqualTo(RunTimeStore.MOST_BYTES);
  }

  @Test
  void otherBytesAreRefusedAndNothingElseHappens() throws IOException {
    byte[] good = random(20, new Random(3)).encode(1 << 20);
    Random random = new Random(4);
    int refused = 0;
    for (int i = 0; i < 2_000; i++) {
      byte[] bad = good.clone();
      bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      try {
        SavedRunTimes.decode(i % 2 == 0 ? bad : Arrays.copyOf(bad, bad.length - 1 - i / 4 % 100));
      } catch (IOException expected) {
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(1_900);
    assertThatThrownBy(() -> SavedRunTimes.decode(new byte[0])).isInstanceOf(IOException.class);
  }

  @Test
  void groupsThatAreNoneAreRefused() throws IOException {
    Random random = new Random(5);
    int refused = 0;
    for (int i = 0; i < 2_000; i++) {
      ByteBuffer rest = ByteBuffer.allocate(216);
      random.nextBytes(rest.array());
      rest.putLong(0).putInt(0).putInt(3);
      try {
        SavedRunTimes.decode(compressed(1, rest.array()));
      } catch (IOException expected) {
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(1_900);
    assertThatThrownBy(() -> SavedRunTimes.decode(compressed(2, new byte[100])))
        .hasMessage("version 2 is not known");
    byte[] negative = ByteBuffer.allocate(16).putLong(0).putInt(0).putInt(-1).array();
    assertThatThrownBy(() -> SavedRunTimes.decode(compressed(1, negative)))
        .hasMessage("the number of groups -1 is out of range");
  }

  private static byte[] compressed(int version, byte[] rest) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(new GZIPOutputStream(bytes))) {
      out.writeInt(version);
      out.write(rest);
    }
    return bytes.toByteArray();
  }
}

package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.app.OperatorCommand.OldGenerationLimit;
import dev.sluice.lab.process.OperatorProcess.JavaCommand;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class OldGenerationLimitTest {

  private static final int MEBIBYTE = 1 << 20;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** A process that makes objects, lets them go, and has nothing to do from then on. */
  static final class Rest {

    private Rest() {}

    /** Prints how many MiB the heap takes when it was collected. */
    public static void main(String[] arguments) throws InterruptedException {
      MemoryPoolMXBean oldGeneration = oldGeneration();
      List<byte[]> start = new ArrayList<>();
      while (oldGeneration.getUsage().getUsed() < 60L * MEBIBYTE) {
        start.add(new byte[MEBIBYTE / 64]);
      }
      start.clear();
      OldGenerationLimit.start(Duration.ofMillis(100));
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (oldGeneration.getUsage().getUsed() > 10L * MEBIBYTE && System.nanoTime() < end) {
        Thread.sleep(20);
      }
      System.out.println(
          ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted() / MEBIBYTE);
    }
  }

  private static MemoryPoolMXBean oldGeneration() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getName().equals("Tenured Gen"))
        .findFirst()
        .orElseThrow();
  }

  /** A process whose objects live long enough to reach the old generation, and die there. */
  static final class Churn {

    private Churn() {}

    /** Prints the most MiB that the old generation took. */
    public static void main(String[] arguments) {
      if (arguments[0].equals("limited")) {
        OldGenerationLimit.start();
      }
      MemoryPoolMXBean oldGeneration = oldGeneration();
      Deque<byte[]> alive = new ArrayDeque<>();
      long most = 0;
      for (int made = 0; made < 4_000; made++) {
        alive.add(new byte[MEBIBYTE / 4]);
        if (alive.size() > 100) {
          alive.remove();
        }
        most = Math.max(most, oldGeneration.getUsage().getCommitted());
        // The machine collects in another thread, which may have to wait for a processor.
        while (oldGeneration.getUsageThreshold() > 0 && oldGeneration.isUsageThresholdExceeded()) {
          Thread.onSpinWait();
        }
      }
      System.out.println(most / MEBIBYTE);
    }
  }

  private static int most(String mode) throws Exception {
    return printed(JavaCommand.of(Churn.class, mode), List.of());
  }

  private static int printed(List<String> program, List<String> options) throws Exception {
    List<String> command = new ArrayList<>(program);
    command.addAll(1, options);
    command.addAll(1, List.of("-XX:+UseSerialGC", "-Xmx512m"));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String written = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(written).isZero();
    return Integer.parseInt(written.strip().lines().reduce("", (first, last) -> last));
  }

  /** 25 MiB live, of a gibibyte that is made; Java alone would let 340 MiB fill. */
  @Test
  void theOldGenerationStaysNearWhatLives() throws Exception {
    assertThat(most("limited")).isLessThan(120);
    assertThat(most("as it is")).isGreaterThan(200);
  }

  @Test
  void whatTheStartLeftGoesBackToTheSystemWhenThereIsNothingToDo() throws Exception {
    List<String> shipped =
        JvmOptions.all().stream()
            .filter(option -> option.matches(".*(HeapSize|NewSize|ShrinkHeap).*"))
            .toList();
    assertThat(shipped).hasSize(4);

    assertThat(printed(JavaCommand.of(Rest.class), shipped)).isLessThan(48);
  }

  @Test
  void whatLivesMayGrowByAThird() {
    assertThat(OldGenerationLimit.threshold(90L << 20, 512L << 20)).isEqualTo(120L << 20);
    assertThat(OldGenerationLimit.threshold(4L << 20, 512L << 20)).isEqualTo(14L << 20);
    assertThat(OldGenerationLimit.threshold(450L << 20, 512L << 20)).isEqualTo(512L << 20);
    assertThat(OldGenerationLimit.threshold(450L << 20, -1)).isEqualTo(600L << 20);
  }

  /** Where the tests run with another collector: nothing is to be found, nothing fails. */
  @Test
  void anotherCollectorIsLeftAlone() {
    assumeThat(ManagementFactory.getMemoryPoolMXBeans())
        .noneMatch(pool -> pool.getName().equals("Tenured Gen"));
    OldGenerationLimit.start();

    assertThat(ManagementFactory.getMemoryPoolMXBeans())
        .filteredOn(MemoryPoolMXBean::isUsageThresholdSupported)
        .allSatisfy(pool -> assertThat(pool.getUsageThreshold()).isZero());
  }

  @Test
  void aGenerationSmallerThanTheFirstThresholdIsWatchedToo() {
    assertThat(OldGenerationLimit.first(0, 32L * MEBIBYTE)).isEqualTo(32L * MEBIBYTE);
    assertThat(OldGenerationLimit.first(0, 500L * MEBIBYTE)).isEqualTo(40L * MEBIBYTE);
    assertThat(OldGenerationLimit.first(0, -1)).isEqualTo(40L * MEBIBYTE);
  }
}

package dev.sluice.bench;

import dev.sluice.bench.EngineScenario.Policies;
import dev.sluice.bench.EngineScenario.Size;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;

/**
 * The engine alone, from a thousand to a million pending and from ten to ten thousand
 * ClusterQueues, as a table in Markdown. Time is that of the engine's thread on a processor, not of
 * the clock, so that other work on the machine disturbs little; each figure is the median of
 * several measurements, with the least and the greatest.
 */
public final class EngineTable {

  private static final int MEASUREMENTS = 5;
  private static final long NANOS = 1_000_000_000L;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private EngineTable() {}

  /**
   * Prints the table.
   *
   * @param args {@code pending queues perCohort shapes [policies]} for one line only; none for all
   */
  public static void main(String[] args) {
    System.out.printf(
        "java=%s maxHeapMiB=%d processors=%d%n%n",
        Runtime.version(),
        Runtime.getRuntime().maxMemory() >> 20,
        Runtime.getRuntime().availableProcessors());
    System.out.println(
        "| pending | ClusterQueues | per cohort | shapes | policies | decisions/s (least–greatest)"
            + " | cycle p99, ms | facts/s while filling | bytes per pending Workload |");
    System.out.println("|---:|---:|---:|---:|---|---:|---:|---:|---:|");
    if (args.length >= 4) {
      int[] line = Arrays.stream(args).limit(4).mapToInt(Integer::parseInt).toArray();
      Policies policies = args.length == 4 ? Policies.NONE : Policies.valueOf(args[4]);
      line(line[0], new Size(line[1], line[2], line[3]), policies);
      return;
    }
    // The first line warms up, and is printed again below.
    line(1_000, new Size(10, 10, 20), Policies.NONE);
    for (int pending : new int[] {1_000, 10_000, 100_000, 1_000_000}) {
      for (int queues : new int[] {10, 100, 1_000, 10_000}) {
        line(pending, new Size(queues, 10, 20), Policies.NONE);
      }
    }
    line(100_000, new Size(1_000, 10, 10_000), Policies.NONE);
    line(100_000, new Size(1_000, 1_000, 20), Policies.NONE);
    for (Policies policies : Policies.values()) {
      for (int perCohort : new int[] {10, 100, 1_000}) {
        line(50_000, new Size(1_000, perCohort, 20), policies);
      }
    }
  }

  private static void line(int pending, Size size, Policies policies) {
    EngineScenario scenario = new EngineScenario(size, policies);
    scenario.fill(size.queues() * 20);
    long empty = used();
    long fillStart = THREADS.getCurrentThreadCpuTime();
    scenario.fill(pending);
    long filled = THREADS.getCurrentThreadCpuTime() - fillStart;
    long perPending = (used() - empty) / pending;
    double[] rates = new double[MEASUREMENTS];
    measure(scenario, 3 * NANOS / 2);
    scenario.takeCycleTimes();
    for (int i = 0; i < MEASUREMENTS; i++) {
      rates[i] = measure(scenario, NANOS / 2);
    }
    Arrays.sort(rates);
    Durations cycles = scenario.takeCycleTimes();
    System.out.printf(
        Locale.ROOT,
        "| %,d | %,d | %,d | %,d | %s | %,.0f (%,.0f–%,.0f) | %.2f | %,.0f | %,d |%n",
        pending,
        size.queues(),
        size.perCohort(),
        size.shapes(),
        policies.name().toLowerCase(Locale.ROOT),
        rates[MEASUREMENTS / 2],
        rates[0],
        rates[MEASUREMENTS - 1],
        cycles.millis(0.99),
        pending * 1e9 / filled,
        perPending);
    if (scenario.running() == 0) {
      throw new IllegalStateException("nothing ran");
    }
  }

  /** Decisions per second of processor time. */
  private static double measure(EngineScenario scenario, long nanos) {
    long start = THREADS.getCurrentThreadCpuTime();
    long decisions = 0;
    long spent = 0;
    while (spent < nanos) {
      for (int i = 0; i < 50; i++) {
        decisions += scenario.round();
      }
      spent = THREADS.getCurrentThreadCpuTime() - start;
    }
    return decisions * 1e9 / spent;
  }

  private static long used() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}

package dev.sluice.bench;

import dev.sluice.bench.EngineScenario.Policies;
import dev.sluice.bench.EngineScenario.Size;
import dev.sluice.core.engine.Engine;
import dev.sluice.core.engine.EngineState;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;

/**
 * What it costs to make a value of the engine's state, and an engine of the value, as a table in
 * Markdown (docs/engine-state.md#costs). Time is that of the thread on a processor; each figure is
 * the median of several measurements. The heap that the value takes beside the engine counts what
 * both share once only.
 */
public final class StateTable {

  private static final int MEASUREMENTS = 9;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private StateTable() {}

  /**
   * Prints the table.
   *
   * @param args {@code pending queues perCohort shapes} for one line only; none for all
   */
  public static void main(String[] args) {
    System.out.println(
        "| pending | ClusterQueues | export, ms | restore, ms | bytes of the value per pending |");
    System.out.println("|---:|---:|---:|---:|---:|");
    if (args.length >= 4) {
      int[] line = Arrays.stream(args).limit(4).mapToInt(Integer::parseInt).toArray();
      line(line[0], new Size(line[1], line[2], line[3]));
      return;
    }
    // The first line warms up, and is printed again below.
    line(10_000, new Size(100, 10, 20));
    line(10_000, new Size(100, 10, 20));
    line(100_000, new Size(1_000, 10, 20));
    line(100_000, new Size(1_000, 10, 10_000));
  }

  private static void line(int pending, Size size) {
    EngineScenario scenario = new EngineScenario(size, Policies.NONE);
    scenario.fill(pending + size.queues() * 20);
    for (int i = 0; i < 50; i++) {
      scenario.round();
    }
    double[] exports = new double[MEASUREMENTS];
    double[] restores = new double[MEASUREMENTS];
    for (int i = 0; i < MEASUREMENTS; i++) {
      long start = THREADS.getCurrentThreadCpuTime();
      EngineState state = scenario.export();
      long exported = THREADS.getCurrentThreadCpuTime();
      Engine engine = Engine.restore(state.options(), state, decision -> {});
      long restored = THREADS.getCurrentThreadCpuTime();
      if (!engine.export().equals(state)) {
        throw new IllegalStateException("the restored engine has another state");
      }
      exports[i] = (exported - start) / 1e6;
      restores[i] = (restored - exported) / 1e6;
    }
    Arrays.sort(exports);
    Arrays.sort(restores);
    long before = used();
    EngineState kept = scenario.export();
    long bytes = used() - before;
    System.out.printf(
        Locale.ROOT,
        "| %,d | %,d | %.1f (%.1f–%.1f) | %.1f (%.1f–%.1f) | %,d |%n",
        pending,
        kept.clusterQueues().size(),
        exports[MEASUREMENTS / 2],
        exports[0],
        exports[MEASUREMENTS - 1],
        restores[MEASUREMENTS / 2],
        restores[0],
        restores[MEASUREMENTS - 1],
        bytes / pending);
  }

  private static long used() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}

package dev.sluice.bench;

import dev.sluice.bench.EngineScenario.Policies;
import dev.sluice.bench.EngineScenario.Size;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.EngineState.LocalQueueExport;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.simulate.Simulation;
import dev.sluice.forecast.simulate.SimulationResult;
import dev.sluice.forecast.starts.StartForecast;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * How long it takes to say what would become of a Workload, as a table in Markdown
 * (docs/simulate.md#costs): the request is one CPU and more of it, so that it waits, or never fits.
 */
public final class SimulationTable {

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int QUESTIONS = 100;
  private static final int WARM_UP = 20;

  private static final RunTimeEstimate AN_HOUR =
      RunTimeEstimate.of(Optional.of(Duration.ofHours(1)), Optional.empty(), Optional.empty());

  private SimulationTable() {}

  /** Prints the table. */
  public static void main(String[] args) {
    System.out.println(
        "| pending | ClusterQueues | in a tree | answer | median, ms | 99 of 100, ms | of the"
            + " processor: median, ms | 99 of 100, ms |");
    System.out.println("|---:|---:|---:|---|---:|---:|---:|---:|");
    for (Size size : List.of(new Size(100, 10, 20), new Size(10, 10, 20))) {
      EngineScenario scenario = new EngineScenario(size, Policies.NONE);
      scenario.fill(10_000 + size.queues() * 20);
      for (int i = 0; i < 50; i++) {
        scenario.round();
      }
      EngineState state = scenario.export();
      for (long cpu : new long[] {0, 1_000, 100_000_000}) {
        line(state, size, cpu);
      }
    }
  }

  private static void line(EngineState state, Size size, long cpu) {
    List<LocalQueueExport> queues = state.localQueues();
    double[] times = new double[QUESTIONS];
    double[] processor = new double[QUESTIONS];
    List<SimulationResult> results = new ArrayList<>();
    for (int i = -WARM_UP; i < QUESTIONS; i++) {
      LocalQueueExport queue = queues.get(Math.floorMod(i, queues.size()));
      PendingWorkload asked = asked(state, queue, cpu, i);
      long used = THREADS.getCurrentThreadCpuTime();
      long start = System.nanoTime();
      long end = start + 2_000_000_000L;
      SimulationResult result =
          Simulation.of(
                  state,
                  asked,
                  RunBound.UNKNOWN,
                  _ -> AN_HOUR,
                  new StartForecast.Options(11, Duration.ofDays(30), Duration.ofSeconds(30), 1),
                  () -> System.nanoTime() < end)
              .orElseThrow();
      if (i >= 0) {
        times[i] = (System.nanoTime() - start) / 1e6;
        processor[i] = (THREADS.getCurrentThreadCpuTime() - used) / 1e6;
        results.add(result);
      }
    }
    Arrays.sort(times);
    Arrays.sort(processor);
    System.out.printf(
        Locale.ROOT,
        "| 10,000 | %d | %d | %s | %.0f | %.0f | %.0f | %.0f |%n",
        size.queues(),
        10,
        results.stream().map(result -> result.feasibility().apiName()).distinct().toList(),
        times[QUESTIONS / 2],
        times[QUESTIONS - 2],
        processor[QUESTIONS / 2],
        processor[QUESTIONS - 2]);
  }

  private static PendingWorkload asked(
      EngineState state, LocalQueueExport queue, long cpu, int number) {
    return new PendingWorkload(
        new WorkloadId("asked-" + number, queue.id().namespace(), "asked"),
        1,
        queue.id().name(),
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", cpu)),
                    NodeConstraints.ANYWHERE,
                    ""))),
        cpu == 1_000 ? -1 : 1_000,
        state.now(),
        state.now(),
        Optional.empty(),
        false,
        Optional.empty());
  }
}

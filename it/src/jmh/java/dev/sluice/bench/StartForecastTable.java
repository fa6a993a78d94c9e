package dev.sluice.bench;

import dev.sluice.bench.EngineScenario.Policies;
import dev.sluice.bench.EngineScenario.Size;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import dev.sluice.forecast.starts.StartForecast;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How long it takes to say when all pending Workloads of one queue start, as a table in Markdown
 * (docs/expected-starts.md#lists): run times are learned, and jobs arrive as often as others end,
 * or not at all.
 */
public final class StartForecastTable {

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int TIMES = 5;
  private static final int MINUTES = 60;

  private StartForecastTable() {}

  /** Knows one distribution of run times, and arrivals. */
  private record Known(RunTimeEstimate learned, List<StartForecast.Arrival> seen)
      implements StartForecast.Knowledge {

    @Override
    public RunTimeEstimate runTime(WorkloadId id) {
      return learned;
    }

    @Override
    public Stream<StartForecast.Arrival> arrivals(Set<String> clusterQueues) {
      return seen.stream();
    }
  }

  /** Prints the table. */
  public static void main(String[] args) {
    System.out.println("| pending | plays | arrivals | processor time, ms: median of 5 | most |");
    System.out.println("|---:|---:|---|---:|---:|");
    for (int pending : new int[] {100, 100, 1_000, 2_000, 10_000}) {
      EngineScenario scenario = new EngineScenario(new Size(1, 1, 20), Policies.NONE);
      scenario.fill(pending + 20);
      EngineState state = scenario.export();
      RunTimeEstimate learned = learned(state.now());
      line(state, new Known(learned, List.of()));
      line(state, new Known(learned, seen(state, learned)));
    }
  }

  private static void line(EngineState state, Known known) {
    int size = state.workloads().workloads().size() + waiting(state).size();
    StartForecast.Options usual = StartForecast.Options.DEFAULT;
    int plays = Math.clamp(100_000 / size, 11, usual.plays());
    StartForecast.Options options =
        new StartForecast.Options(plays, usual.horizon(), usual.stopping(), usual.seed());
    double[] millis = new double[TIMES];
    String assumption = "";
    for (int i = 0; i < TIMES; i++) {
      long used = THREADS.getCurrentThreadCpuTime();
      assumption =
          StartForecast.of(state, known, options, StartForecast.Wanted.ALL)
              .values()
              .iterator()
              .next()
              .assumptions()
              .getFirst();
      millis[i] = (THREADS.getCurrentThreadCpuTime() - used) / 1e6;
    }
    Arrays.sort(millis);
    System.out.printf(
        Locale.ROOT,
        "| %,d | %d | %s | %.0f | %.0f |%n",
        waiting(state).size(),
        plays,
        assumption,
        millis[TIMES / 2],
        millis[TIMES - 1]);
  }

  private static List<PendingWorkload> waiting(EngineState state) {
    return state.clusterQueues().stream()
        .flatMap(queue -> queue.pending().classes().stream())
        .flatMap(each -> each.workloads().stream())
        .toList();
  }

  private static RunTimeEstimate learned(Instant now) {
    RunTimeHistory history = new RunTimeHistory(RunTimeOptions.DEFAULT);
    List<RunTimeGroup> group = List.of(new RunTimeGroup(Level.CLUSTER_QUEUE, "any"));
    Random random = new Random(1);
    for (int i = 0; i < 64; i++) {
      Duration lasted = Duration.ofSeconds(random.nextInt(2 * MINUTES * 60));
      history.add(group, new FinishedRun(now, lasted, FinishedRun.End.SUCCEEDED));
    }
    return RunTimeEstimate.of(Optional.empty(), history.learned(group, now), Optional.empty());
  }

  /** As many came in an hour as run at the same time, because a run lasts an hour on average. */
  private static List<StartForecast.Arrival> seen(EngineState state, RunTimeEstimate learned) {
    List<PendingWorkload> waiting = waiting(state);
    int running = Math.max(1, state.workloads().workloads().size());
    Duration gap = Duration.ofMinutes(MINUTES).dividedBy(running);
    List<StartForecast.Arrival> seen = new ArrayList<>();
    for (int i = StartForecast.MOST_ARRIVALS; i > 0; i--) {
      PendingWorkload like = waiting.get(i % waiting.size());
      Instant at = state.now().minus(gap.multipliedBy(i));
      seen.add(new StartForecast.Arrival(like.requeued(like.version(), at), learned));
    }
    return seen;
  }
}

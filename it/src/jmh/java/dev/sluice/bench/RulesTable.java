package dev.sluice.bench;

import dev.sluice.bench.EngineScenario.Policies;
import dev.sluice.bench.EngineScenario.Size;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * How many decisions a second the engine makes with rules about time in use, beside the same
 * cluster without them (docs/preemption.md, docs/backfill.md, docs/reservations.md). Prints a table
 * in Markdown. Both are measured in turns, since a machine isn't always as fast: the median counts.
 * A turn is a number of rounds, not a time: so all versions of the engine are measured in the same
 * states, and none reaches a reservation sooner because it is faster.
 */
public final class RulesTable {

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int QUEUES = 100;
  private static final int PENDING = 10_000;
  private static final int WARM_UP = 8;
  private static final int TURNS = 15;
  private static final int ROUNDS_PER_TURN = 1_000;

  /** Rules, and what they are compared with. */
  private record Pair(String name, Policies without, Policies with) {}

  private static final List<Pair> PAIRS =
      List.of(
          new Pair("rules of preemption", Policies.ALL, Policies.RULED),
          new Pair("rules of preemption that protect nobody", Policies.ALL, Policies.LENIENT),
          new Pair("reservations of every tenth queue", Policies.NONE, Policies.RESERVED),
          new Pair("reservations far ahead", Policies.NONE, Policies.AHEAD),
          new Pair("reservations while they last", Policies.NONE, Policies.LASTING),
          new Pair("back-fill, `HeadOnly`", Policies.STRICT, Policies.PLANNED));

  private RulesTable() {}

  /**
   * Prints the table.
   *
   * @param args how each line that is wanted begins; none for all
   */
  public static void main(String[] args) {
    System.out.println("| rules | decisions/s without | with | change | ends/s without | with |");
    System.out.println("|---|---:|---:|---:|---:|---:|");
    for (Pair pair : PAIRS) {
      if (args.length > 0 && Arrays.stream(args).noneMatch(pair.name()::startsWith)) {
        continue;
      }
      EngineScenario without = filled(pair.without());
      EngineScenario with = filled(pair.with());
      List<Speed> before = new ArrayList<>();
      List<Speed> after = new ArrayList<>();
      for (int i = -WARM_UP; i < TURNS; i++) {
        Speed first = speed(without);
        Speed second = speed(with);
        if (i >= 0) {
          before.add(first);
          after.add(second);
        }
      }
      double decisions = median(before, Speed::decisions);
      double ruled = median(after, Speed::decisions);
      System.out.printf(
          Locale.ROOT,
          "| %s | %,.0f | %,.0f | %+.0f %% | %,.0f | %,.0f |%n",
          pair.name(),
          decisions,
          ruled,
          100 * (ruled / decisions - 1),
          median(before, Speed::ends),
          median(after, Speed::ends));
    }
  }

  /**
   * What happens in a second.
   *
   * @param decisions admissions and preemptions
   * @param ends Workloads that end, each of which lets others start: where more are preempted for
   *     it, more decisions follow from one
   */
  private record Speed(double decisions, double ends) {}

  private static double median(List<Speed> all, ToDoubleFunction<Speed> what) {
    double[] sorted = all.stream().mapToDouble(what).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  private static EngineScenario filled(Policies policies) {
    EngineScenario scenario = new EngineScenario(new Size(QUEUES, 10, 20), policies);
    scenario.fill(PENDING + QUEUES * 10);
    return scenario;
  }

  /** By the processor's time of this thread: other programs don't count. */
  private static Speed speed(EngineScenario scenario) {
    long start = THREADS.getCurrentThreadCpuTime();
    long decisions = 0;
    for (int i = 0; i < ROUNDS_PER_TURN; i++) {
      decisions += scenario.round();
    }
    long took = THREADS.getCurrentThreadCpuTime() - start;
    return new Speed(
        decisions * 1e9 / took,
        (double) ROUNDS_PER_TURN * EngineScenario.ENDS_PER_ROUND * 1e9 / took);
  }
}

package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.trace.Trace;
import dev.sluice.forecast.trace.TraceFormat;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The same jobs under BestEffortFIFO, StrictFIFO and back-fill: what is used, and how long the
 * largest wait (docs/backfill.md#measured). {@code -Dsluice.backfill.trace=FILE.swf} plays the jobs
 * of a trace in addition.
 */
class BackfillAimsTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private record Arrival(long at, int size, long lasts, long limit) {}

  private record Jobs(String name, int capacity, List<Arrival> arrivals) {}

  private record Outcome(double use, double medianWait, double largestWait, int late, int before) {}

  private enum Way {
    BEST_EFFORT(QueueingStrategy.BEST_EFFORT_FIFO, 0),
    STRICT(QueueingStrategy.STRICT_FIFO, 0),
    HEAD_ONLY(QueueingStrategy.STRICT_FIFO, 1),
    DEPTH_10(QueueingStrategy.STRICT_FIFO, 10);

    private final QueueingStrategy strategy;
    private final int depth;

    Way(QueueingStrategy strategy, int depth) {
      this.strategy = strategy;
      this.depth = depth;
    }
  }

  /**
   * Many small jobs and some that need most of the queue; limits are up to three times too long.
   */
  private static Jobs synthetic(int count, double load) {
    Random random = new Random(7);
    int capacity = 100;
    List<Arrival> arrivals = new ArrayList<>();
    double at = 0;
    for (int i = 0; i < count; i++) {
      int size = random.nextInt(100) < 4 ? 60 + random.nextInt(31) : 1 + random.nextInt(12);
      long lasts = (long) Math.exp(6.5 + 0.9 * random.nextGaussian()) + 5;
      arrivals.add(new Arrival((long) at, size, lasts, limit(random, lasts)));
      at += size * (double) lasts / capacity / load * -Math.log(1 - random.nextDouble());
    }
    return new Jobs("synthetic", capacity, arrivals);
  }

  private static long limit(Random random, long lasts) {
    return (long) Math.ceil(lasts * (1 + 2 * random.nextDouble()));
  }

  private static Jobs ofTrace(Path file, double load) throws IOException {
    Random random = new Random(7);
    try (InputStream in = Files.newInputStream(file)) {
      Trace trace = Trace.read(in, TraceFormat.SWF);
      Instant first = trace.jobs().getFirst().submittedAt();
      List<Arrival> arrivals = new ArrayList<>();
      for (var job : trace.jobs()) {
        long lasts = Math.max(1, job.lasted().toSeconds());
        arrivals.add(
            new Arrival(
                (long) (Duration.between(first, job.submittedAt()).toSeconds() / load),
                (int) (job.amounts().getOrDefault("cpu", 0L) / 1000),
                lasts,
                job.limit().map(Duration::toSeconds).orElseGet(() -> limit(random, lasts))));
      }
      int capacity = arrivals.stream().mapToInt(Arrival::size).max().orElseThrow();
      return new Jobs("trace, load " + load, capacity, arrivals);
    }
  }

  private static Outcome play(Jobs jobs, Way way) {
    SchedulerFixture scheduler = new SchedulerFixture();
    scheduler.flavor("f");
    scheduler.queue(
        "q",
        "",
        way.strategy,
        QueueRules.DEFAULT.withBackfill(
            way.depth == 0
                ? Optional.empty()
                : Optional.of(new BackfillRules(way.depth, UnknownRunTime.REFUSE))),
        SchedulerFixture.quota("f", jobs.capacity()));
    Engine engine = scheduler.engine;
    PriorityQueue<Map.Entry<Long, Integer>> ends = new PriorityQueue<>(Map.Entry.comparingByKey());
    Map<Integer, Long> waits = new HashMap<>();
    long until = jobs.arrivals().getLast().at();
    double used = 0;
    int late = 0;
    int before = 0;
    int next = 0;
    while (next < jobs.arrivals().size() || !ends.isEmpty()) {
      long arrives =
          next < jobs.arrivals().size() ? jobs.arrivals().get(next).at() : Long.MAX_VALUE;
      long now = ends.isEmpty() ? arrives : Math.min(arrives, ends.peek().getKey());
      engine.apply(new SchedulerEvent.TimePassed(START.plusSeconds(now)));
      while (!ends.isEmpty() && ends.peek().getKey() == now) {
        engine.apply(
            new SchedulerEvent.WorkloadReleased(
                id(ends.remove().getValue()), scheduler.nextVersion()));
      }
      while (next < jobs.arrivals().size() && jobs.arrivals().get(next).at() == now) {
        submit(scheduler, next, jobs.arrivals().get(next));
        next++;
      }
      int decided = scheduler.decisions.size();
      boolean more = true;
      while (more) {
        more = engine.cycle();
        for (BackfillEvent event : engine.statistics().backfill()) {
          late += event.kind() == BackfillEvent.Kind.LATE ? 1 : 0;
          before += event.kind() == BackfillEvent.Kind.BACKFILLED ? 1 : 0;
        }
      }
      for (Decision each :
          List.copyOf(scheduler.decisions.subList(decided, scheduler.decisions.size()))) {
        int number = Integer.parseInt(each.id().name());
        Arrival job = jobs.arrivals().get(number);
        waits.put(number, now - job.at());
        ends.add(Map.entry(now + job.lasts(), number));
        used += job.size() * (double) Math.max(0, Math.min(until, now + job.lasts()) - now);
        engine.apply(new SchedulerEvent.AdmissionWritten(each.id(), scheduler.nextVersion()));
      }
    }
    assertThat(waits).hasSize(jobs.arrivals().size());
    List<Long> all = waits.values().stream().sorted().toList();
    List<Long> largest =
        waits.entrySet().stream()
            .filter(each -> 2 * jobs.arrivals().get(each.getKey()).size() >= jobs.capacity())
            .map(Map.Entry::getValue)
            .sorted(Comparator.naturalOrder())
            .toList();
    return new Outcome(
        used / until / jobs.capacity(),
        all.get(all.size() / 2),
        largest.get((int) Math.ceil(0.95 * largest.size()) - 1),
        late,
        before);
  }

  private static void submit(SchedulerFixture scheduler, int number, Arrival job) {
    Instant at = START.plusSeconds(job.at()).plusMillis(number % 1000);
    scheduler.engine.apply(
        new SchedulerEvent.RunBounded(id(number), RunBound.of(Duration.ofSeconds(job.limit()))));
    scheduler.engine.apply(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                id(number),
                scheduler.nextVersion(),
                "q",
                SchedulerFixture.shape(job.size()),
                0,
                at,
                at,
                Optional.empty(),
                false,
                Optional.empty())));
  }

  private static WorkloadId id(int number) {
    return new WorkloadId("uid-" + number, "ns", "" + number);
  }

  private static Map<Way, Outcome> measure(Jobs jobs) {
    Map<Way, Outcome> outcomes = new HashMap<>();
    for (Way way : Way.values()) {
      long began = System.nanoTime();
      Outcome outcome = play(jobs, way);
      outcomes.put(way, outcome);
      System.out.printf(
          "backfill: %s %s use=%.3f median=%.0fs largest95=%.0fs late=%d before=%d (%d ms)%n",
          jobs.name(),
          way,
          outcome.use(),
          outcome.medianWait(),
          outcome.largestWait(),
          outcome.late(),
          outcome.before(),
          (System.nanoTime() - began) / 1_000_000);
    }
    return outcomes;
  }

  private static Outcome of(Map<Way, Outcome> outcomes, Way way) {
    return Objects.requireNonNull(outcomes.get(way));
  }

  @Test
  void backfillUsesWhatStrictFifoLeavesIdleAndStarvesNobody() throws IOException {
    Map<Way, Outcome> outcomes =
        measure(synthetic(Integer.getInteger("sluice.backfill.jobs", 1_500), 0.85));
    for (Way way : List.of(Way.HEAD_ONLY, Way.DEPTH_10)) {
      assertThat(of(outcomes, way).late()).as("late under %s", way).isZero();
      assertThat(of(outcomes, way).use()).isGreaterThan(of(outcomes, Way.STRICT).use());
      assertThat(of(outcomes, way).largestWait())
          .isLessThan(of(outcomes, Way.BEST_EFFORT).largestWait() / 2);
    }
    String file = System.getProperty("sluice.backfill.trace", "");
    if (!file.isEmpty()) {
      for (double load : new double[] {1.0, 1.5, 1.8}) {
        measure(ofTrace(Path.of(file), load));
      }
    }
  }
}

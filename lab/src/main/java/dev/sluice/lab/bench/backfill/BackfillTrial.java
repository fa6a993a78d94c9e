package dev.sluice.lab.bench.backfill;

import dev.sluice.core.engine.EngineListener;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.PlannedStart.LateCause;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.trace.TraceJob;
import dev.sluice.forecast.whatif.PlayInput;
import dev.sluice.forecast.whatif.PlayInput.Happening;
import dev.sluice.forecast.whatif.TracePast;
import dev.sluice.forecast.whatif.WhatIf;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * The same jobs in one queue under each order, all with a limit that nobody exceeds: what is used,
 * how long jobs wait, and which planned starts were late (docs/backfill.md#measured).
 */
final class BackfillTrial {

  /** How a queue orders its Workloads. */
  enum Order {
    BEST_EFFORT_FIFO("BestEffortFIFO", QueueingStrategy.BEST_EFFORT_FIFO, 0),
    STRICT_FIFO("StrictFIFO", QueueingStrategy.STRICT_FIFO, 0),
    HEAD_ONLY("HeadOnly", QueueingStrategy.STRICT_FIFO, 1),
    DEPTH_10("Depth(10)", QueueingStrategy.STRICT_FIFO, 10);

    private final String title;
    private final QueueingStrategy strategy;
    private final int depth;

    Order(String title, QueueingStrategy strategy, int depth) {
      this.title = title;
      this.strategy = strategy;
      this.depth = depth;
    }

    String title() {
      return title;
    }

    private ClusterQueueSpec of(ClusterQueueSpec queue) {
      return queue.with(
          strategy,
          queue
              .rules()
              .withBackfill(
                  depth == 0
                      ? Optional.empty()
                      : Optional.of(new BackfillRules(depth, UnknownRunTime.REFUSE))));
    }
  }

  /**
   * What became of the jobs.
   *
   * @param use the used part of the resource that is needed most, until the last submission
   * @param waits how long jobs waited, in seconds, the shortest first
   * @param largestWaits the same of the largest jobs
   * @param late how many planned starts were late, by cause
   * @param moved how often a planned start moved, by cause
   * @param millis how long the play took
   */
  record Outcome(
      double use,
      double[] waits,
      double[] largestWaits,
      Map<LateCause, Integer> late,
      Map<LateCause, Integer> moved,
      long millis) {}

  private final List<TraceJob> jobs;
  private final Map<String, Long> quota;

  /**
   * A trial.
   *
   * @param jobs the jobs, by their time of submission; those without a limit get one from one to
   *     three times as long as they last
   * @param quota what the queue has of the resources of the jobs
   */
  BackfillTrial(List<TraceJob> jobs, Map<String, Long> quota) {
    this.jobs = List.copyOf(jobs);
    this.quota = Map.copyOf(quota);
  }

  Outcome play(Order order) {
    Map<LateCause, Integer> late = new EnumMap<>(LateCause.class);
    Map<LateCause, Integer> moved = new EnumMap<>(LateCause.class);
    EngineListener backfillListener =
        new EngineListener() {
          @Override
          public void cycled(CycleStatistics statistics) {
            for (BackfillEvent event : statistics.backfill()) {
              LateCause cause = event.cause().orElse(LateCause.OTHER);
              switch (event.kind()) {
                case LATE -> late.merge(cause, 1, Integer::sum);
                case MOVED -> moved.merge(cause, 1, Integer::sum);
                default -> {}
              }
            }
          }
        };
    long began = System.nanoTime();
    PlayInput playInput = input(order);
    WhatIf.Played played = WhatIf.play(playInput, List.of(), backfillListener);
    return outcome(
        playInput, played.starts(), late, moved, (System.nanoTime() - began) / 1_000_000);
  }

  private PlayInput input(Order order) {
    List<SchedulerEvent> cluster = new ArrayList<>();
    for (SchedulerEvent event : TracePast.oneQueue(quota)) {
      cluster.add(
          event instanceof SchedulerEvent.ClusterQueueChanged(var queue)
              ? new SchedulerEvent.ClusterQueueChanged(order.of(queue))
              : event);
    }
    PlayInput past = TracePast.of(jobs, cluster, 1);
    Random random = new Random(7);
    List<Happening> happenings = new ArrayList<>();
    List<Happening.Arrival> arrivals =
        past.happenings().stream()
            .filter(Happening.Arrival.class::isInstance)
            .map(Happening.Arrival.class::cast)
            .toList();
    for (int i = 0; i < jobs.size(); i++) {
      Happening.Arrival arrival = arrivals.get(i);
      TraceJob job = jobs.get(i);
      double drawn = job.lasted().toSeconds() * (1 + 2 * random.nextDouble());
      Duration limit = job.limit().orElse(Duration.ofSeconds((long) Math.ceil(drawn)));
      happenings.add(
          new Happening.DeclarationEvent(
              arrival.at(),
              new SchedulerEvent.RunBounded(
                  arrival.workload().id(),
                  RunBound.of(limit.compareTo(job.lasted()) < 0 ? job.lasted() : limit))));
      happenings.add(arrival);
    }
    // The play ends when all have ended.
    return new PlayInput(
        past.state(),
        past.begin(),
        past.begin().plus(Duration.ofDays(36_500)),
        happenings,
        past.runTimes(),
        past.running(),
        past.stopping(),
        past.remarks());
  }

  private Outcome outcome(
      PlayInput playInput,
      Map<WorkloadId, List<Instant>> starts,
      Map<LateCause, Integer> late,
      Map<LateCause, Integer> moved,
      long millis) {
    Instant last = jobs.getLast().submittedAt();
    double span = Duration.between(playInput.begin(), last).toMillis();
    double most = jobs.stream().mapToDouble(this::share).max().orElse(0);
    List<Double> waits = new ArrayList<>();
    List<Double> largestWaits = new ArrayList<>();
    Map<String, Double> used = new HashMap<>();
    for (int i = 0; i < jobs.size(); i++) {
      TraceJob job = jobs.get(i);
      Happening.Arrival arrival = (Happening.Arrival) playInput.happenings().get(2 * i + 1);
      List<Instant> started = starts.getOrDefault(arrival.workload().id(), List.of());
      if (started.isEmpty()) {
        throw new IllegalStateException("job " + job.id() + " didn't start");
      }
      Instant start = started.getFirst();
      double wait = Duration.between(job.submittedAt(), start).toMillis() / 1_000.0;
      waits.add(wait);
      if (share(job) >= most / 2) {
        largestWaits.add(wait);
      }
      Instant end = start.plus(job.lasted());
      double counted =
          Math.max(0, Duration.between(start, end.isBefore(last) ? end : last).toMillis());
      job.amounts()
          .forEach((resource, amount) -> used.merge(resource, amount * counted, Double::sum));
    }
    double use =
        quota.entrySet().stream()
            .mapToDouble(each -> used.getOrDefault(each.getKey(), 0.0) / each.getValue() / span)
            .max()
            .orElse(0);
    return new Outcome(use, sorted(waits), sorted(largestWaits), late, moved, millis);
  }

  /** The largest part of a resource that a job needs. */
  private double share(TraceJob job) {
    return job.amounts().entrySet().stream()
        .mapToDouble(each -> (double) each.getValue() / quota.getOrDefault(each.getKey(), 1L))
        .max()
        .orElse(0);
  }

  private static double[] sorted(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
    Arrays.sort(sorted);
    return sorted;
  }
}

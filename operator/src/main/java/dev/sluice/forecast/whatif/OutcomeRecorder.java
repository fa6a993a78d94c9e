package dev.sluice.forecast.whatif;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.WorkloadExport;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.play.Play.PlayListener;
import dev.sluice.forecast.whatif.PlayOutcome.Course;
import dev.sluice.forecast.whatif.PlayOutcome.ResourceUse;
import dev.sluice.forecast.whatif.PlayOutcome.Waits;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Sums up what happens in a play. Not thread-safe. */
final class OutcomeRecorder implements PlayListener {

  /** Of how many parts a course over time consists. */
  static final int PARTS = 120;

  /** Stands for the ClusterQueue of a LocalQueue that leads to none. */
  private static final String NOWHERE = "-";

  private static final String CPU = "cpu";
  private static final double MILLIS_PER_HOUR = 3_600_000;

  /** A Workload that arrived. */
  private static final class Tracked {
    private final PendingWorkload workload;
    private final String clusterQueue;
    private final Instant since;
    private @Nullable Instant started;

    private Tracked(PendingWorkload workload, String clusterQueue, Instant since) {
      this.workload = workload;
      this.clusterQueue = clusterQueue;
      this.since = since;
    }
  }

  /** Quota that a Workload has. */
  private record Held(String clusterQueue, Map<FlavorResource, Long> amounts, Instant since) {}

  /** What a ClusterQueue has and uses of a flavor and resource, and the sums over time. */
  private static final class Meter {
    private long nominal;
    private long used;
    private double usedSum;
    private double nominalSum;
    private double borrowedSum;
    private double lost;
    private double cost;
    private final double[] usedParts = new double[PARTS];
  }

  private final Instant begin;
  private final Instant end;
  private final double partMillis;
  private final Map<LocalQueueId, String> clusterQueueOf = new HashMap<>();
  private final Map<WorkloadId, Tracked> tracked = new LinkedHashMap<>();
  private final Map<WorkloadId, Held> held = new HashMap<>();
  private final Map<String, SortedMap<FlavorResource, Meter>> meters = new TreeMap<>();
  private final Map<String, Map<String, Long>> preemptions = new TreeMap<>();
  private final Map<WorkloadId, List<Instant>> starts = new LinkedHashMap<>();

  /** What a unit of quota costs for an hour, by flavor and resource. */
  private final Map<String, Map<String, BigDecimal>> prices = new HashMap<>();

  private Instant now;

  OutcomeRecorder(EngineState state, Instant begin, Instant end) {
    this.begin = begin;
    this.end = end;
    this.now = begin;
    this.partMillis = Math.max(1.0, millis(begin, end)) / PARTS;
    prices.putAll(state.workloads().budgets().prices());
    state.localQueues().forEach(queue -> queue.spec().ifPresent(this::localQueue));
    state.clusterQueues().forEach(queue -> queue.spec().ifPresent(this::clusterQueue));
    for (WorkloadExport workload : state.workloads().workloads()) {
      workload
          .reservation()
          .ifPresent(
              reservation -> {
                Map<FlavorResource, Long> amounts = new HashMap<>();
                reservation
                    .holder()
                    .reserved()
                    .forEach(
                        each ->
                            amounts.merge(
                                state.specs().pairs().get(each.pair()), each.amount(), Long::sum));
                hold(
                    workload.id(),
                    new Held(
                        reservation.clusterQueue(), amounts, reservation.holder().reservedAt()));
              });
    }
  }

  /** Begins to track a Workload that waits. */
  void waits(PendingWorkload workload, Instant since) {
    tracked.putIfAbsent(
        workload.id(),
        new Tracked(
            workload,
            clusterQueueOf.getOrDefault(workload.localQueue(), NOWHERE),
            since.isAfter(begin) ? since : workload.queuedAt()));
  }

  /** Follows what is declared, at a time. */
  void declared(SchedulerEvent event, Instant at) {
    pass(at);
    switch (event) {
      case SchedulerEvent.LocalQueueChanged(var queue) -> localQueue(queue);
      case SchedulerEvent.LocalQueueRemoved(var id) -> clusterQueueOf.remove(id);
      case SchedulerEvent.ClusterQueueChanged(var queue) -> clusterQueue(queue);
      case SchedulerEvent.ClusterQueueRemoved(var name) ->
          metersOf(name).values().forEach(meter -> meter.nominal = 0);
      case SchedulerEvent.PricesChanged(var flavor, var perHour) -> prices.put(flavor, perHour);
      default -> {}
    }
  }

  private void localQueue(LocalQueueSpec queue) {
    clusterQueueOf.put(queue.id(), queue.clusterQueue());
  }

  private void clusterQueue(ClusterQueueSpec queue) {
    metersOf(queue.name()).values().forEach(meter -> meter.nominal = 0);
    queue
        .groups()
        .forEach(
            group ->
                group
                    .flavors()
                    .forEach(
                        flavor ->
                            flavor
                                .quotas()
                                .forEach(
                                    (resource, quota) ->
                                        meter(
                                                    queue.name(),
                                                    new FlavorResource(flavor.flavor(), resource))
                                                .nominal =
                                            quota.nominal())));
  }

  private SortedMap<FlavorResource, Meter> metersOf(String clusterQueue) {
    return meters.computeIfAbsent(clusterQueue, _ -> new TreeMap<>());
  }

  private Meter meter(String clusterQueue, FlavorResource flavorResource) {
    return metersOf(clusterQueue).computeIfAbsent(flavorResource, _ -> new Meter());
  }

  @Override
  public void started(Decision.Admit admit, int run) {
    pass(admit.at());
    Map<FlavorResource, Long> amounts = new HashMap<>();
    for (PodSetAssignment each : admit.podSets()) {
      each.usage()
          .forEach(
              (resource, amount) -> {
                String flavor = each.flavors().get(resource);
                if (flavor != null) {
                  amounts.merge(new FlavorResource(flavor, resource), amount, Long::sum);
                }
              });
    }
    hold(admit.id(), new Held(admit.clusterQueue(), amounts, admit.at()));
    starts.computeIfAbsent(admit.id(), _ -> new ArrayList<>()).add(admit.at());
    Tracked known = tracked.get(admit.id());
    if (known != null && known.started == null) {
      known.started = admit.at();
    }
  }

  private void hold(WorkloadId id, Held heldQuota) {
    held.put(id, heldQuota);
    heldQuota.amounts.forEach((pair, amount) -> meter(heldQuota.clusterQueue, pair).used += amount);
  }

  @Override
  public void preempted(WorkloadId id, String reason, Instant at) {
    Held heldQuota = held.get(id);
    if (heldQuota == null) {
      return;
    }
    preemptions
        .computeIfAbsent(heldQuota.clusterQueue, _ -> new TreeMap<>())
        .merge(reason, 1L, Long::sum);
    double hours = millis(heldQuota.since, at) / MILLIS_PER_HOUR;
    heldQuota.amounts.forEach(
        (pair, amount) -> meter(heldQuota.clusterQueue, pair).lost += amount * hours);
  }

  @Override
  public void released(WorkloadId id, Instant at) {
    pass(at);
    Held heldQuota = held.remove(id);
    if (heldQuota != null) {
      heldQuota.amounts.forEach(
          (pair, amount) -> meter(heldQuota.clusterQueue, pair).used -= amount);
    }
  }

  @Override
  public void left(WorkloadId id, Instant at) {
    Tracked known = tracked.get(id);
    if (known != null && known.started == null) {
      // it gave up: how long it would have waited isn't known
      tracked.remove(id);
    }
  }

  /** Adds what was used since the last time. */
  private void pass(Instant to) {
    double from = Math.max(0, millis(begin, now));
    double until = Math.min(millis(begin, to), millis(begin, end));
    if (until <= from) {
      return;
    }
    for (SortedMap<FlavorResource, Meter> ofQueue : meters.values()) {
      for (Map.Entry<FlavorResource, Meter> each : ofQueue.entrySet()) {
        Meter meter = each.getValue();
        double passed = until - from;
        meter.cost += meter.used * passed / MILLIS_PER_HOUR * price(each.getKey());
        meter.usedSum += meter.used * passed;
        meter.nominalSum += meter.nominal * passed;
        meter.borrowedSum += Math.max(0, meter.used - meter.nominal) * passed;
        if (meter.used != 0) {
          spread(meter.usedParts, from, until, meter.used);
        }
      }
    }
    now = to;
  }

  private double price(FlavorResource flavorResource) {
    BigDecimal price =
        prices.getOrDefault(flavorResource.flavor(), Map.of()).get(flavorResource.resource());
    return price == null ? 0 : price.doubleValue();
  }

  /** Adds a value to the parts between two times, by how much of each part lies between. */
  private void spread(double[] parts, double from, double until, double value) {
    for (int i = (int) Math.min(PARTS - 1, from / partMillis); i < PARTS; i++) {
      double covered = Math.min(until, (i + 1) * partMillis) - Math.max(from, i * partMillis);
      if (covered <= 0) {
        return;
      }
      parts[i] += value * covered / partMillis;
    }
  }

  /** When each Workload started. */
  Map<WorkloadId, List<Instant>> starts() {
    return starts;
  }

  /** What became of the work until the end. */
  PlayOutcome outcome() {
    pass(end);
    return new PlayOutcome(begin, end, waits(), uses(), preemptions, courses());
  }

  private List<Waits> waits() {
    SortedMap<String, SortedMap<Long, List<Tracked>>> grouped = new TreeMap<>();
    for (Tracked each : tracked.values()) {
      grouped
          .computeIfAbsent(each.clusterQueue, _ -> new TreeMap<>())
          .computeIfAbsent(each.workload.priority(), _ -> new ArrayList<>())
          .add(each);
    }
    List<Waits> waits = new ArrayList<>();
    waits.add(waits(PlayOutcome.ALL, null, List.copyOf(tracked.values())));
    grouped.forEach(
        (queue, byPriority) -> {
          waits.add(
              waits(queue, null, byPriority.values().stream().flatMap(List::stream).toList()));
          if (byPriority.size() > 1) {
            byPriority.forEach((priority, of) -> waits.add(waits(queue, priority, of)));
          }
        });
    return waits;
  }

  private Waits waits(String queue, @Nullable Long priority, List<Tracked> of) {
    double[] seconds = of.stream().mapToDouble(each -> waitMillis(each) / 1_000).sorted().toArray();
    List<Double> percentiles = new ArrayList<>();
    for (int i = 0; i <= 100; i++) {
      percentiles.add(at(seconds, i / 100.0));
    }
    long started = of.stream().filter(each -> each.started != null).count();
    return new Waits(
        queue,
        priority,
        started,
        of.size() - started,
        at(seconds, 0.5),
        at(seconds, 0.9),
        at(seconds, 1),
        percentiles);
  }

  private double waitMillis(Tracked one) {
    return Math.max(0, millis(one.since, one.started == null ? end : one.started));
  }

  /** The smallest of the sorted values that this share of them doesn't exceed; 0 of none. */
  private static double at(double[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
  }

  private List<ResourceUse> uses() {
    double span = Math.max(1, millis(begin, end));
    Map<String, Double> all = new HashMap<>();
    meters
        .values()
        .forEach(
            ofQueue ->
                ofQueue.forEach(
                    (pair, meter) -> all.merge(pair.resource(), meter.usedSum, Double::sum)));
    List<ResourceUse> uses = new ArrayList<>();
    meters.forEach(
        (queue, ofQueue) -> {
          SortedMap<String, Meter> byResource = new TreeMap<>();
          ofQueue.forEach(
              (pair, meter) ->
                  add(byResource.computeIfAbsent(pair.resource(), _ -> new Meter()), meter));
          byResource.forEach(
              (resource, sum) -> {
                double unit = CPU.equals(resource) ? 1_000 : 1;
                double total = all.getOrDefault(resource, 0.0);
                uses.add(
                    new ResourceUse(
                        queue,
                        resource,
                        sum.usedSum / span / unit,
                        sum.nominalSum / span / unit,
                        sum.borrowedSum / span / unit,
                        sum.lost / unit,
                        total == 0 ? 0 : sum.usedSum / total,
                        sum.cost));
              });
        });
    return uses;
  }

  private static void add(Meter sumMeter, Meter meter) {
    sumMeter.usedSum += meter.usedSum;
    sumMeter.nominalSum += meter.nominalSum;
    sumMeter.borrowedSum += meter.borrowedSum;
    sumMeter.lost += meter.lost;
    sumMeter.cost += meter.cost;
    for (int i = 0; i < PARTS; i++) {
      sumMeter.usedParts[i] += meter.usedParts[i];
    }
  }

  private Map<String, Course> courses() {
    Map<String, double[]> waiting = new HashMap<>();
    for (Tracked each : tracked.values()) {
      double from = Math.max(0, millis(begin, each.since));
      double until = millis(begin, each.started == null ? end : each.started);
      spread(waiting.computeIfAbsent(each.clusterQueue, _ -> new double[PARTS]), from, until, 1);
    }
    Map<String, Course> courses = new TreeMap<>();
    meters.forEach(
        (queue, ofQueue) -> {
          SortedMap<String, List<Double>> used = new TreeMap<>();
          SortedMap<String, Meter> byResource = new TreeMap<>();
          ofQueue.forEach(
              (pair, meter) ->
                  add(byResource.computeIfAbsent(pair.resource(), _ -> new Meter()), meter));
          byResource.forEach(
              (resource, sum) ->
                  used.put(
                      resource,
                      Arrays.stream(sum.usedParts)
                          .map(value -> CPU.equals(resource) ? value / 1_000 : value)
                          .boxed()
                          .toList()));
          courses.put(
              queue,
              new Course(
                  Arrays.stream(waiting.getOrDefault(queue, new double[PARTS])).boxed().toList(),
                  used));
        });
    return Collections.unmodifiableMap(courses);
  }

  private static double millis(Instant from, Instant to) {
    return Duration.between(from, to).toNanos() / 1e6;
  }
}

package dev.sluice.metrics;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingTotals;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.GaugeSet.Family;
import dev.sluice.metrics.MetricsScrape.GaugeSource;
import dev.sluice.workload.record.CachedWorkload;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Gauges of pending Workloads that the scheduler sums up when it is asked, at each scrape. A
 * scheduler that doesn't answer in time leaves them out.
 */
public final class PendingGauges implements GaugeSource {

  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);
  private static final String QUEUE = "cluster_queue";

  private static final Family HASHES =
      Family.of(
          "kueue_pending_scheduling_hashes",
          "Different requests among pending workloads",
          QUEUE,
          "status");
  private static final Family RESOURCES =
      Family.of(
          "kueue_cluster_queue_resource_pending",
          "Requests of pending workloads",
          QUEUE,
          "resource");
  private static final Family OLDEST =
      Family.of(
          "sluice_oldest_pending_workload_seconds",
          "How long the pending workload that waits longest is queued; 0 if none is",
          QUEUE);
  private static final Family SKIPS =
      Family.of(
          "kueue_admission_cycle_preemption_skips",
          "Heads with preemption targets that the last cycle skipped",
          QUEUE);

  private final SchedulerViews views;
  private final Supplier<CompletableFuture<Map<String, PendingTotals>>> pending;
  private final Supplier<ReplicaRole> role;
  private final InstantSource clock;
  private final Options options;
  private final CustomLabels customLabels;
  private final PendingWorkloads workloads;
  private volatile Map<String, Integer> preemptionSkips = Map.of();

  /**
   * What is reported.
   *
   * @param resources whether requests are
   * @param hashes whether the number of different requests is
   */
  public record Options(boolean resources, boolean hashes) {}

  /** The pending Workloads one by one, for labels that come from them. */
  public interface PendingWorkloads {

    /** Asks the scheduler for the pending Workloads of a ClusterQueue. */
    CompletableFuture<Optional<List<PendingPosition>>> in(String clusterQueue);

    /** The Workload as it was read last. */
    Optional<CachedWorkload> find(WorkloadId id);
  }

  /**
   * Creates the gauges.
   *
   * @param pending asks the scheduler about the pending Workloads of all ClusterQueues
   * @param workloads asked only if labels come from Workloads
   */
  public PendingGauges(
      SchedulerViews views,
      Supplier<CompletableFuture<Map<String, PendingTotals>>> pending,
      Supplier<ReplicaRole> role,
      InstantSource clock,
      Options options,
      CustomLabels customLabels,
      PendingWorkloads workloads) {
    this.views = views;
    this.pending = pending;
    this.role = role;
    this.clock = clock;
    this.options = options;
    this.customLabels = customLabels;
    this.workloads = workloads;
  }

  /** A cycle ended that skipped these numbers of heads with preemption targets, by ClusterQueue. */
  public void preemptionSkips(Map<String, Integer> skipped) {
    preemptionSkips = Map.copyOf(skipped);
  }

  @Override
  public MetricSnapshots collect() {
    GaugeSet gauges = new GaugeSet(role.get(), customLabels);
    Optional<Map<String, PendingTotals>> summaries = summaries();
    for (ClusterQueueView queue : views.clusterQueues()) {
      String name = queue.name();
      gauges.set(SKIPS, preemptionSkips.getOrDefault(name, 0), name);
      summaries.map(known -> known.get(name)).ifPresent(summary -> collect(gauges, name, summary));
    }
    if (customLabels.hasWorkloadLabels()) {
      byWorkloadLabels(gauges);
    }
    return gauges.snapshots();
  }

  /** The numbers of pending Workloads, by the labels that come from them. */
  private void byWorkloadLabels(GaugeSet gauges) {
    Map<ClusterQueueView, CompletableFuture<Optional<List<PendingPosition>>>> answers =
        new LinkedHashMap<>();
    views.clusterQueues().forEach(queue -> answers.put(queue, workloads.in(queue.name())));
    answers.forEach(
        (queue, answer) ->
            answered(answer)
                .flatMap(known -> known)
                .ifPresent(pending -> byWorkloadLabels(gauges, queue, pending)));
  }

  private void byWorkloadLabels(
      GaugeSet gauges, ClusterQueueView queue, List<PendingPosition> pending) {
    Map<List<String>, Integer> active = new HashMap<>();
    Map<List<String>, Integer> inadmissible = new HashMap<>();
    for (PendingPosition position : pending) {
      List<String> values =
          workloads
              .find(position.id())
              .map(customLabels::workloadValues)
              .orElseGet(customLabels::valuesOfNoWorkload);
      boolean waits = position.inadmissible() || !queue.problems().isEmpty();
      (waits ? inadmissible : active).merge(values, 1, Integer::sum);
    }
    String name = queue.name();
    WorkloadLabelGauges.set(gauges, QueueGauges.PENDING, customLabels, active, name, "active");
    WorkloadLabelGauges.set(
        gauges, QueueGauges.PENDING, customLabels, inadmissible, name, "inadmissible");
  }

  private void collect(GaugeSet gauges, String queue, PendingTotals summary) {
    if (options.hashes()) {
      gauges.set(HASHES, summary.activeHashes(), queue, "active");
      gauges.set(HASHES, summary.inadmissibleHashes(), queue, "inadmissible");
    }
    double waited =
        summary
            .oldest()
            .map(since -> SchedulerMetrics.seconds(Duration.between(since, clock.instant())))
            .orElse(0.0);
    gauges.set(OLDEST, waited, queue);
    if (options.resources()) {
      summary
          .requests()
          .forEach(
              (resource, amount) ->
                  gauges.set(RESOURCES, QueueGauges.amount(resource, amount), queue, resource));
    }
  }

  private Optional<Map<String, PendingTotals>> summaries() {
    return answered(pending.get());
  }

  private static <T> Optional<T> answered(CompletableFuture<T> answer) {
    try {
      return Optional.of(answer.orTimeout(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS).join());
    } catch (CompletionException e) {
      return Optional.empty();
    }
  }

  /**
   * Numbers of Workloads by the values of the labels that come from Workloads. The values of a
   * Workload without labels always have a series, so that a queue without Workloads has one.
   */
  static final class WorkloadLabelGauges {

    private final CustomLabels customLabels;
    private final Map<String, Map<List<String>, Integer>> byClusterQueue = new HashMap<>();
    private final Map<LocalQueueId, Map<List<String>, Integer>> byLocalQueue = new HashMap<>();

    /** The admitted Workloads that {@code counter} counts. */
    WorkloadLabelGauges(CustomLabels customLabels, WorkloadCounter counter) {
      this.customLabels = customLabels;
      counter
          .admitted()
          .forEach(
              (group, count) -> {
                byClusterQueue
                    .computeIfAbsent(group.clusterQueue(), any -> new HashMap<>())
                    .merge(group.labels(), count, Integer::sum);
                byLocalQueue
                    .computeIfAbsent(group.queue(), any -> new HashMap<>())
                    .merge(group.labels(), count, Integer::sum);
              });
    }

    /** Adds the number of a ClusterQueue: {@code total}, or its parts if labels tell them apart. */
    void admitted(GaugeSet gauges, Family family, String clusterQueue, int total) {
      if (customLabels.hasWorkloadLabels()) {
        set(
            gauges,
            family,
            customLabels,
            byClusterQueue.getOrDefault(clusterQueue, Map.of()),
            clusterQueue);
      } else {
        gauges.set(family, total, clusterQueue);
      }
    }

    /** The same of a LocalQueue. */
    void admitted(GaugeSet gauges, Family family, LocalQueueId id, int total) {
      if (customLabels.hasWorkloadLabels()) {
        set(
            gauges,
            family,
            customLabels,
            byLocalQueue.getOrDefault(id, Map.of()),
            id.name(),
            id.namespace());
      } else {
        gauges.set(family, total, id.name(), id.namespace());
      }
    }

    /**
     * Adds a series for each set of values, and one for the values of a Workload without labels.
     */
    static void set(
        GaugeSet gauges,
        Family family,
        CustomLabels customLabels,
        Map<List<String>, Integer> counts,
        String... labels) {
      List<String> none = customLabels.valuesOfNoWorkload();
      if (!counts.containsKey(none)) {
        gauges.setOfWorkloads(family, 0, none, labels);
      }
      counts.forEach((values, count) -> gauges.setOfWorkloads(family, count, values, labels));
    }
  }
}

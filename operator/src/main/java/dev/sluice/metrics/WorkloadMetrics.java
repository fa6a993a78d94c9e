package dev.sluice.metrics;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.QueueGauges.CohortPath;
import dev.sluice.workload.record.CachedWorkload;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.core.metrics.StatefulMetric;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Counters and histograms of Workload transitions, by ClusterQueue, LocalQueue and cohort.
 * Thread-safe.
 */
public final class WorkloadMetrics {

  private static final String QUEUE = "cluster_queue";
  private static final String PRIORITY_CLASS = "priority_class";
  private static final String REASON = "reason";
  private static final String CAUSE = "underlying_cause";

  private final SchedulerViews schedulerViews;
  private final Supplier<ReplicaRole> role;
  private final Predicate<LocalQueueId> reported;
  private final MetricFamilies metricFamilies;
  private final CustomLabels customLabels;
  private final List<StatefulMetric<?, ?>> byQueue = new ArrayList<>();
  private final List<StatefulMetric<?, ?>> byLocalQueue = new ArrayList<>();

  private final Pair<Counter> reserved;
  private final Pair<Histogram> reservedWait;
  private final Pair<Counter> admitted;
  private final Pair<Histogram> admittedWait;
  private final Histogram admissionDuration;
  private final Pair<Histogram> checksWait;
  private final Pair<Histogram> readyWait;
  private final Pair<Histogram> admittedUntilReady;
  private final Pair<Histogram> recoveryPair;
  private final Histogram readyToEvicted;
  private final Pair<Counter> finished;
  private final Pair<Histogram> execution;
  private final Pair<Counter> evicted;
  private final Counter evictedOnce;
  private final Histogram evictionLatency;
  private final Counter replacedSlices;
  private final Counter preempted;
  private final Counter recomputed;
  private final Counter ruleUses;
  private final Counter costRuleUses;
  private final Counter cohortAdmitted;
  private final Counter backfilled;
  private final Counter plannedStarts;
  private final Counter plannedStartMoves;

  /**
   * A family by ClusterQueue and the same family by LocalQueue.
   *
   * @param ofWorkloads whether the one by LocalQueue takes the labels of Workloads, too
   */
  private record Pair<M>(M cluster, M local, boolean ofWorkloads) {}

  /**
   * Registers the metrics.
   *
   * @param schedulerViews the existing queues and cohorts
   * @param role the current role of this replica
   * @param reported selects the LocalQueues that have series of their own
   * @param customLabels further labels
   */
  public WorkloadMetrics(
      PrometheusRegistry registry,
      SchedulerViews schedulerViews,
      Supplier<ReplicaRole> role,
      Predicate<LocalQueueId> reported,
      CustomLabels customLabels) {
    this.customLabels = customLabels;
    this.schedulerViews = schedulerViews;
    this.role = role;
    this.reported = reported;
    metricFamilies = new MetricFamilies(registry, customLabels);
    reserved =
        counters(
            false,
            "kueue_quota_reserved_workloads_total",
            "kueue_local_queue_quota_reserved_workloads_total",
            "Quota reservations",
            PRIORITY_CLASS);
    reservedWait =
        histograms(
            false,
            "kueue_quota_reserved_wait_time_seconds",
            "kueue_local_queue_quota_reserved_wait_time_seconds",
            "From queueing to reservation",
            14,
            14);
    admitted =
        counters(
            true,
            "kueue_admitted_workloads_total",
            "kueue_local_queue_admitted_workloads_total",
            "Admissions",
            PRIORITY_CLASS);
    admittedWait =
        histograms(
            true,
            "kueue_admission_wait_time_seconds",
            "kueue_local_queue_admission_wait_time_seconds",
            "From queueing to admission",
            16,
            14);
    admissionDuration =
        ofQueue(
            metricFamilies.histogram(
                "kueue_admission_duration_seconds",
                "From queueing to admission, of Workloads of all classes",
                MetricFamilies.waits(16),
                QUEUE));
    checksWait =
        histograms(
            false,
            "kueue_admission_checks_wait_time_seconds",
            "kueue_local_queue_admission_checks_wait_time_seconds",
            "From reservation to admission",
            14,
            14);
    readyWait =
        histograms(
            false,
            "kueue_ready_wait_time_seconds",
            "kueue_local_queue_ready_wait_time_seconds",
            "From queueing to pods that are ready",
            14,
            14);
    admittedUntilReady =
        histograms(
            false,
            "kueue_admitted_until_ready_wait_time_seconds",
            "kueue_local_queue_admitted_until_ready_wait_time_seconds",
            "From admission to pods that are ready",
            14,
            14);
    recoveryPair =
        histograms(
            false,
            "kueue_workload_recovery_wait_time_seconds",
            "kueue_local_queue_workload_recovery_wait_time_seconds",
            "From lost to regained pods",
            14,
            14);
    readyToEvicted =
        ofQueue(
            metricFamilies.histogram(
                "kueue_pods_ready_to_evicted_time_seconds",
                "From pods that are ready to eviction",
                MetricFamilies.waits(14),
                QUEUE,
                REASON,
                CAUSE));
    finished =
        counters(
            false,
            "kueue_finished_workloads_total",
            "kueue_local_queue_finished_workloads_total",
            "Workloads that finished",
            PRIORITY_CLASS);
    execution =
        histograms(
            false,
            "kueue_execution_time_seconds",
            "kueue_local_queue_execution_time_seconds",
            "Time spent admitted, at the end",
            16,
            16);
    evicted =
        counters(
            false,
            "kueue_evicted_workloads_total",
            "kueue_local_queue_evicted_workloads_total",
            "Evictions",
            REASON,
            CAUSE,
            PRIORITY_CLASS);
    evictedOnce =
        ofQueue(
            metricFamilies.counter(
                "kueue_evicted_workloads_once_total",
                "Workloads that were evicted, once for each reason",
                QUEUE,
                REASON,
                CAUSE,
                PRIORITY_CLASS));
    evictionLatency =
        ofQueue(
            metricFamilies.histogram(
                "kueue_workload_eviction_latency_seconds",
                "From eviction to the release of the quota",
                MetricFamilies.waits(14),
                QUEUE,
                REASON));
    preempted =
        ofQueue(
            metricFamilies.counter(
                "kueue_preempted_workloads_total",
                "Workloads preempted, by the queue they were preempted for",
                "preempting_cluster_queue",
                REASON));
    recomputed =
        ofQueue(
            metricFamilies.counter(
                "kueue_preemption_target_recomputations_total",
                "Heads evaluated anew because others preempt the same workloads",
                QUEUE,
                "result"));
    ruleUses =
        ofQueue(
            metricFamilies.counter(
                "sluice_preemption_rule_uses_total",
                "Heads that a rule kept from preempting, or let preempt",
                QUEUE,
                "rule"));
    costRuleUses =
        ofQueue(
            metricFamilies.counter(
                "sluice_flavor_cost_rule_uses_total",
                "Heads for whose flavors a rule of cost mattered",
                QUEUE,
                "rule"));
    backfilled =
        ofQueue(
            metricFamilies.counter(
                "sluice_backfilled_workloads_total",
                "Workloads that started before a head that didn't fit",
                QUEUE));
    plannedStarts =
        ofQueue(
            metricFamilies.counter(
                "sluice_planned_starts_total",
                "Workloads that started after their start was planned, on time or late",
                QUEUE,
                "result"));
    plannedStartMoves =
        ofQueue(
            metricFamilies.counter(
                "sluice_planned_start_moves_total",
                "Planned starts that moved to a later time",
                QUEUE,
                CAUSE));
    replacedSlices =
        ofQueue(
            metricFamilies.counter(
                "kueue_replaced_workload_slices_total",
                "Slices of elastic jobs that other slices replaced",
                QUEUE));
    cohortAdmitted =
        metricFamilies.counter(
            "kueue_cohort_subtree_admitted_workloads_total",
            "Admissions anywhere below a cohort",
            "cohort",
            PRIORITY_CLASS);
  }

  /** The values of the further labels that come from Workloads, for this one. */
  List<String> labelsOf(CachedWorkload workload) {
    return customLabels.workloadValues(workload);
  }

  /**
   * A Workload reserved quota.
   *
   * @param waited time since it was created or requeued
   */
  public void quotaReserved(QueueRef queue, Duration waited) {
    count(reserved, queue, queue.priorityClass());
    observe(reservedWait, queue, waited);
  }

  /**
   * A Workload was admitted.
   *
   * @param waited time since it was created or requeued
   * @param sinceReserved time since it reserved quota
   */
  public void admitted(QueueRef queue, Duration waited, Duration sinceReserved) {
    count(admitted, queue, queue.priorityClass());
    observe(admittedWait, queue, waited);
    admissionDuration
        .labelValues(values(QUEUE, role.get(), queue.clusterQueue()))
        .observe(SchedulerMetrics.seconds(waited));
    observe(checksWait, queue, sinceReserved);
    String nearest =
        schedulerViews.clusterQueue(queue.clusterQueue()).map(ClusterQueueView::cohort).orElse("");
    for (String cohort : CohortPath.from(nearest, schedulerViews)) {
      cohortAdmitted.labelValues(values("cohort", role.get(), cohort, queue.priorityClass())).inc();
    }
  }

  /**
   * The pods of a Workload became ready, for the first time since its admission.
   *
   * @param waited time since it was created or requeued
   * @param sinceAdmitted time since its admission
   */
  public void podsReady(QueueRef queue, Duration waited, Duration sinceAdmitted) {
    observe(readyWait, queue, waited);
    observe(admittedUntilReady, queue, sinceAdmitted);
  }

  /** The pods of a Workload are ready again, this long after some of them were not any more. */
  public void podsRecovered(QueueRef queue, Duration waited) {
    observe(recoveryPair, queue, waited);
  }

  /**
   * A Workload was evicted after its pods had become ready.
   *
   * @param sinceReady time since its pods became ready
   */
  public void evictedAfterReady(QueueRef queue, String reason, String cause, Duration sinceReady) {
    readyToEvicted
        .labelValues(values(QUEUE, role.get(), queue.clusterQueue(), reason, cause))
        .observe(SchedulerMetrics.seconds(sinceReady));
  }

  /**
   * A Workload finished.
   *
   * @param executed total time that it was admitted; empty if it never was
   */
  public void finished(QueueRef queue, Optional<Duration> executed) {
    count(finished, queue, queue.priorityClass());
    executed.ifPresent(time -> observe(execution, queue, time));
  }

  /**
   * An admitted Workload was evicted.
   *
   * @param reason the eviction's base reason
   * @param cause the underlying cause; empty if the reason is sufficient
   * @param first whether this is the Workload's first eviction with this reason and cause
   */
  public void evicted(QueueRef queue, String reason, String cause, boolean first) {
    count(evicted, queue, reason, cause, queue.priorityClass());
    if (first) {
      String name = queue.clusterQueue();
      evictedOnce
          .labelValues(values(QUEUE, role.get(), name, reason, cause, queue.priorityClass()))
          .inc();
    }
  }

  /** The quota of an evicted Workload was released. */
  public void quotaReleased(QueueRef queue, String reason, Duration sinceEviction) {
    evictionLatency
        .labelValues(values(QUEUE, role.get(), queue.clusterQueue(), reason))
        .observe(SchedulerMetrics.seconds(sinceEviction));
  }

  /** A Workload was preempted for a Workload of another, or the same, ClusterQueue. */
  public void preempted(String preemptingClusterQueue, String reason) {
    preempted.labelValues(values(QUEUE, role.get(), preemptingClusterQueue, reason)).inc();
  }

  /** A head of a ClusterQueue was evaluated anew because others preempt the same Workloads. */
  public void recomputed(CycleStatistics.Recomputation recomputation) {
    recomputed
        .labelValues(
            values(QUEUE, role.get(), recomputation.clusterQueue(), recomputation.result().text()))
        .inc();
  }

  /** A rule kept a head of a ClusterQueue from preempting, or let it preempt. */
  public void ruleUsed(CycleStatistics.RuleUse use) {
    ruleUses.labelValues(values(QUEUE, role.get(), use.clusterQueue(), use.rule().text())).inc();
  }

  /** A rule of cost mattered for the flavors of a head of a ClusterQueue. */
  public void costRuleUsed(CycleStatistics.CostRuleUse use) {
    costRuleUses
        .labelValues(values(QUEUE, role.get(), use.clusterQueue(), use.rule().text()))
        .inc();
  }

  /** Something happened to a Workload of a queue with back-fill. */
  public void backfill(BackfillEvent event) {
    String queue = event.clusterQueue();
    switch (event.kind()) {
      case BACKFILLED -> backfilled.labelValues(values(QUEUE, role.get(), queue)).inc();
      case KEPT -> plannedStarts.labelValues(values(QUEUE, role.get(), queue, "on_time")).inc();
      case LATE -> plannedStarts.labelValues(values(QUEUE, role.get(), queue, "late")).inc();
      case MOVED ->
          plannedStartMoves
              .labelValues(
                  values(
                      QUEUE,
                      role.get(),
                      queue,
                      event.cause().map(PlannedStart.LateCause::text).orElse("")))
              .inc();
    }
  }

  /** A slice of an elastic job was replaced by another one. */
  public void sliceReplaced(QueueRef queue) {
    replacedSlices.labelValues(values(QUEUE, role.get(), queue.clusterQueue())).inc();
  }

  /** A ClusterQueue was deleted: its series end. */
  public void clusterQueueRemoved(String name) {
    byQueue.forEach(metric -> metric.removeIf(labels -> labels.get(0).equals(name)));
  }

  /** A LocalQueue was deleted: its series end. */
  public void localQueueRemoved(LocalQueueId id) {
    byLocalQueue.forEach(
        metric ->
            metric.removeIf(
                labels -> labels.get(0).equals(id.name()) && labels.get(1).equals(id.namespace())));
  }

  /**
   * A Cohort object was deleted: its series end. A cohort that queues still name is counted anew.
   */
  public void cohortRemoved(String name) {
    cohortAdmitted.removeIf(labels -> labels.get(0).equals(name));
  }

  /** Removes series of what doesn't exist: a late transition of a Workload may begin them again. */
  public void forgetRemoved() {
    byQueue.forEach(
        m -> m.removeIf(labels -> schedulerViews.clusterQueue(labels.get(0)).isEmpty()));
    byLocalQueue.forEach(m -> m.removeIf(labels -> gone(labels.get(0), labels.get(1))));
    cohortAdmitted.removeIf(labels -> schedulerViews.cohort(labels.get(0)).isEmpty());
  }

  private boolean gone(String name, String namespace) {
    LocalQueueId id = new LocalQueueId(namespace, name);
    return schedulerViews.localQueue(id).isEmpty() || !reported.test(id);
  }

  private void count(Pair<Counter> pair, QueueRef queue, String... labels) {
    ReplicaRole now = role.get();
    pair.cluster().labelValues(clusterLabels(now, queue, labels)).inc();
    if (reported.test(queue.localQueue())) {
      pair.local().labelValues(localLabels(pair, now, queue, labels)).inc();
    }
  }

  private void observe(Pair<Histogram> pair, QueueRef queue, Duration duration) {
    ReplicaRole now = role.get();
    double seconds = SchedulerMetrics.seconds(duration);
    pair.cluster().labelValues(clusterLabels(now, queue, queue.priorityClass())).observe(seconds);
    if (reported.test(queue.localQueue())) {
      pair.local()
          .labelValues(localLabels(pair, now, queue, queue.priorityClass()))
          .observe(seconds);
    }
  }

  private String[] clusterLabels(ReplicaRole role, QueueRef queue, String... labels) {
    return values(QUEUE, role, joined(List.of(queue.clusterQueue()), labels));
  }

  private String[] localLabels(Pair<?> pair, ReplicaRole role, QueueRef queue, String... labels) {
    LocalQueueId id = queue.localQueue();
    String[] own = MetricFamilies.values(role, joined(List.of(id.name(), id.namespace()), labels));
    List<String> further =
        new ArrayList<>(
            customLabels.values(List.of("name", "namespace"), List.of(id.name(), id.namespace())));
    further.addAll(pair.ofWorkloads() ? queue.workloadLabels() : List.of());
    return joined(List.of(own), further.toArray(String[]::new));
  }

  /** The label values of a family whose first label, {@code source}, names an object. */
  private String[] values(String source, ReplicaRole role, String... own) {
    return joined(
        List.of(MetricFamilies.values(role, own)),
        customLabels.values(List.of(source), List.of(own[0])).toArray(String[]::new));
  }

  private Pair<Counter> counters(
      boolean ofWorkloads, String name, String localName, String help, String... labels) {
    MetricFamilies local = ofWorkloads ? metricFamilies.ofWorkloads() : metricFamilies;
    return new Pair<>(
        ofQueue(metricFamilies.counter(name, help, joined(List.of(QUEUE), labels))),
        ofLocalQueue(local.counter(localName, help, joined(List.of("name", "namespace"), labels))),
        ofWorkloads);
  }

  private Pair<Histogram> histograms(
      boolean ofWorkloads,
      String name,
      String localName,
      String help,
      int bounds,
      int localBounds) {
    MetricFamilies local = ofWorkloads ? metricFamilies.ofWorkloads() : metricFamilies;
    return new Pair<>(
        ofQueue(
            metricFamilies.histogram(
                name, help, MetricFamilies.waits(bounds), QUEUE, PRIORITY_CLASS)),
        ofLocalQueue(
            local.histogram(
                localName,
                help,
                MetricFamilies.waits(localBounds),
                "name",
                "namespace",
                PRIORITY_CLASS)),
        ofWorkloads);
  }

  private <M extends StatefulMetric<?, ?>> M ofQueue(M metric) {
    byQueue.add(metric);
    return metric;
  }

  private <M extends StatefulMetric<?, ?>> M ofLocalQueue(M metric) {
    byLocalQueue.add(metric);
    return metric;
  }

  private static String[] joined(List<String> first, String... rest) {
    List<String> all = new ArrayList<>(first);
    all.addAll(List.of(rest));
    return all.toArray(String[]::new);
  }

  /**
   * The queue and priority class that a measurement belongs to.
   *
   * @param clusterQueue the ClusterQueue
   * @param localQueue the LocalQueue
   * @param priorityClass the priority class of the Workload; empty if it has none
   * @param workloadLabels the values of the further labels that come from Workloads, in their order
   */
  public record QueueRef(
      String clusterQueue,
      LocalQueueId localQueue,
      String priorityClass,
      List<String> workloadLabels) {

    /** Copies the list. */
    public QueueRef {
      workloadLabels = List.copyOf(workloadLabels);
    }

    /** One of a Workload whose labels are not asked for. */
    public QueueRef(String clusterQueue, LocalQueueId localQueue, String priorityClass) {
      this(clusterQueue, localQueue, priorityClass, List.of());
    }
  }
}

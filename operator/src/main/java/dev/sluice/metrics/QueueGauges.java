package dev.sluice.metrics;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.GaugeSet.Family;
import dev.sluice.metrics.MetricsScrape.GaugeSource;
import dev.sluice.metrics.PendingGauges.WorkloadLabelGauges;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Gauges of queues and cohorts, computed from the scheduler's published views at each scrape.
 * Therefore they cost nothing between scrapes, deleted queues have no series, and all series have
 * the current role of the replica.
 */
public final class QueueGauges implements GaugeSource {

  /** Where labels come from Workloads, {@link PendingGauges} reports it. */
  static final Family PENDING =
      Family.of("kueue_pending_workloads", "Pending workloads", "cluster_queue", "status");

  private static final String ORCHESTRATOR = "dynamic_quota_orchestrator";
  private static final Family RESERVING =
      Family.of("kueue_reserving_active_workloads", "Workloads that hold quota", "cluster_queue");
  private static final Family ADMITTED =
      Family.of("kueue_admitted_active_workloads", "Admitted workloads", "cluster_queue");
  private static final Family FINISHED =
      Family.of("kueue_finished_workloads", "Finished workloads that exist", "cluster_queue");
  private static final Family STATUS =
      Family.of("kueue_cluster_queue_status", "1 for its status", "cluster_queue", "status");
  private static final Family UNADMITTED =
      Family.of(
          "kueue_unadmitted_workloads",
          "Workloads that are not admitted, by reason",
          "cluster_queue",
          "reason",
          "underlying_cause");
  private static final Family INFO =
      Family.of(
          "kueue_cluster_queue_info",
          "Where the queue is; always 1",
          "cluster_queue",
          "parent_cohort",
          "root_cohort");
  private static final Family INFO_ORCHESTRATED =
      Family.of(
          "kueue_cluster_queue_info",
          "Where the queue is; always 1",
          "cluster_queue",
          "parent_cohort",
          "root_cohort",
          ORCHESTRATOR);
  private static final Family NOMINAL = resource("kueue_cluster_queue_nominal_quota", "Own quota");
  private static final Family BORROWING =
      resource("kueue_cluster_queue_borrowing_limit", "What may be borrowed");
  private static final Family LENDING =
      resource("kueue_cluster_queue_lending_limit", "What may be lent");
  private static final Family RESERVED =
      resource("kueue_cluster_queue_resource_reservation", "Reserved quota");
  private static final Family USED =
      resource("kueue_cluster_queue_resource_usage", "Quota of admitted workloads");
  private static final Family USED_ALWAYS =
      resource("kueue_cluster_queue_usage", "The same as kueue_cluster_queue_resource_usage");
  private static final Family USAGE_RATIO =
      Family.of(
          "sluice_cluster_queue_usage_ratio",
          "Quota of admitted workloads as a part of the own quota",
          "cohort",
          "cluster_queue",
          "flavor",
          "resource");
  private static final Family SHARE =
      Family.of(
          "kueue_cluster_queue_weighted_share",
          "Fair share in thousandths, divided by the weight",
          "cluster_queue",
          "cohort");
  private static final Family COHORT_SHARE =
      Family.of(
          "kueue_cohort_weighted_share",
          "Fair share in thousandths, divided by the weight",
          "cohort");
  private static final Family COHORT_QUOTA =
      Family.of("kueue_cohort_subtree_quota", "Quota below", "cohort", "flavor", "resource");
  private static final Family COHORT_RESERVED =
      Family.of(
          "kueue_cohort_subtree_resource_reservations",
          "Reserved quota below",
          "cohort",
          "flavor",
          "resource");
  private static final Family COHORT_ADMITTED =
      Family.of(
          "kueue_cohort_subtree_admitted_active_workloads", "Admitted workloads below", "cohort");
  private static final Family COHORT_INFO =
      Family.of(
          "kueue_cohort_info",
          "Where the cohort is; always 1",
          "cohort",
          "parent_cohort",
          "root_cohort");
  private static final Family COHORT_INFO_ORCHESTRATED =
      Family.of(
          "kueue_cohort_info",
          "Where the cohort is; always 1",
          "cohort",
          "parent_cohort",
          "root_cohort",
          ORCHESTRATOR);
  private static final Family LOCAL_PENDING =
      local("kueue_local_queue_pending_workloads", "Pending", "status");
  private static final Family LOCAL_RESERVING =
      local("kueue_local_queue_reserving_active_workloads", "Workloads that hold quota");
  private static final Family LOCAL_ADMITTED =
      local("kueue_local_queue_admitted_active_workloads", "Admitted workloads");
  private static final Family LOCAL_FINISHED =
      local("kueue_local_queue_finished_workloads", "Finished workloads that exist");
  private static final Family LOCAL_STATUS =
      local("kueue_local_queue_status", "1 for its status", "active");
  private static final Family LOCAL_RESERVED =
      local("kueue_local_queue_resource_reservation", "Reserved quota", "flavor", "resource");
  private static final Family LOCAL_USED =
      local(
          "kueue_local_queue_resource_usage", "Quota of admitted workloads", "flavor", "resource");
  private static final Family LOCAL_PAST_USE =
      local(
          "kueue_local_queue_admission_fair_sharing_usage",
          "Past use that orders admission, weighted",
          "cluster_queue");
  private static final Family LOCAL_UNADMITTED =
      local(
          "kueue_local_queue_unadmitted_workloads",
          "Workloads that are not admitted, by reason",
          "cluster_queue",
          "reason",
          "underlying_cause");

  private final SchedulerViews schedulerViews;
  private final WorkloadCounter workloadCounter;
  private final Supplier<ReplicaRole> role;
  private final Predicate<LocalQueueId> reported;
  private final Options options;

  /**
   * Optional gauges.
   *
   * @param resources quotas, limits and reservations of ClusterQueues by flavor and resource; their
   *     usage is always reported
   * @param cohorts the position of queues and cohorts in the hierarchy
   * @param customLabels further labels
   * @param orchestrators whose quotas count; empty where quotas don't follow capacity
   */
  public record Options(
      boolean resources,
      boolean cohorts,
      CustomLabels customLabels,
      Optional<Orchestrators> orchestrators) {

    /** Options of a program whose quotas don't follow capacity. */
    public Options(boolean resources, boolean cohorts, CustomLabels customLabels) {
      this(resources, cohorts, customLabels, Optional.empty());
    }

    /** Options without further labels. */
    public Options(boolean resources, boolean cohorts) {
      this(resources, cohorts, CustomLabels.NONE, Optional.empty());
    }
  }

  /** Names of the orchestrators whose quotas count. */
  public interface Orchestrators {

    /** That of a ClusterQueue; empty if its specification counts. */
    String ofClusterQueue(String name);

    /** That of a Cohort; empty if its specification counts. */
    String ofCohort(String name);
  }

  /**
   * Creates the gauges.
   *
   * @param reported selects the LocalQueues that have series of their own
   */
  public QueueGauges(
      SchedulerViews schedulerViews,
      WorkloadCounter workloadCounter,
      Supplier<ReplicaRole> role,
      Predicate<LocalQueueId> reported,
      Options options) {
    this.schedulerViews = schedulerViews;
    this.workloadCounter = workloadCounter;
    this.role = role;
    this.reported = reported;
    this.options = options;
  }

  @Override
  public MetricSnapshots collect() {
    GaugeSet gaugeSet = new GaugeSet(role.get(), options.customLabels());
    Map<String, Integer> finished = new HashMap<>();
    Map<LocalQueueId, Integer> finishedLocally = new HashMap<>();
    workloadCounter(gaugeSet, finished, finishedLocally);
    WorkloadLabelGauges admitted = new WorkloadLabelGauges(options.customLabels(), workloadCounter);
    Map<String, Map<List<String>, Integer>> admittedBelow = new HashMap<>();
    for (ClusterQueueView queue : schedulerViews.clusterQueues()) {
      clusterQueue(gaugeSet, queue, finished.getOrDefault(queue.name(), 0));
      admitted.admitted(gaugeSet, ADMITTED, queue.name(), queue.admitted());
      List<String> labels = options.customLabels().clusterQueueValues(queue.name());
      CohortPath.from(queue.cohort(), schedulerViews)
          .forEach(
              cohort ->
                  admittedBelow
                      .computeIfAbsent(cohort, any -> new HashMap<>())
                      .merge(labels, queue.admitted(), Integer::sum));
    }
    for (CohortView cohort : schedulerViews.cohorts()) {
      cohort(gaugeSet, cohort);
      admittedBelow
          .getOrDefault(cohort.name(), Map.of(options.customLabels().valuesOfNoClusterQueue(), 0))
          .forEach(
              (labels, count) ->
                  gaugeSet.setOfQueues(COHORT_ADMITTED, count, labels, cohort.name()));
    }
    for (LocalQueueView queue : schedulerViews.localQueues()) {
      if (reported.test(queue.id())) {
        localQueue(gaugeSet, queue, finishedLocally.getOrDefault(queue.id(), 0));
        admitted.admitted(gaugeSet, LOCAL_ADMITTED, queue.id(), queue.admitted());
      }
    }
    return gaugeSet.snapshots();
  }

  private void workloadCounter(
      GaugeSet gaugeSet,
      Map<String, Integer> finished,
      Map<LocalQueueId, Integer> finishedLocally) {
    Map<List<String>, Integer> unadmitted = new HashMap<>();
    workloadCounter
        .counts()
        .forEach(
            (group, count) -> {
              String cluster = clusterQueue(group);
              if (group.finished()) {
                finished.merge(cluster, count, Integer::sum);
                finishedLocally.merge(group.queue(), count, Integer::sum);
                return;
              }
              unadmitted.merge(
                  List.of(cluster, group.reason(), group.cause()), count, Integer::sum);
            });
    unadmitted.forEach(
        (labels, count) -> {
          if (schedulerViews.clusterQueue(labels.get(0)).isPresent()) {
            gaugeSet.set(UNADMITTED, count, labels.toArray(String[]::new));
          }
        });
    localUnadmitted(gaugeSet);
  }

  private void localUnadmitted(GaugeSet gaugeSet) {
    Map<List<String>, Integer> unadmitted = new HashMap<>();
    workloadCounter
        .counts()
        .forEach(
            (group, count) -> {
              LocalQueueId id = group.queue();
              if (!group.finished()
                  && schedulerViews.localQueue(id).isPresent()
                  && reported.test(id)) {
                List<String> labels =
                    List.of(
                        id.name(),
                        id.namespace(),
                        clusterQueue(group),
                        group.reason(),
                        group.cause());
                unadmitted.merge(labels, count, Integer::sum);
              }
            });
    unadmitted.forEach(
        (labels, count) -> gaugeSet.set(LOCAL_UNADMITTED, count, labels.toArray(String[]::new)));
  }

  private String clusterQueue(WorkloadCounter.Group group) {
    return group.clusterQueue().isEmpty()
        ? schedulerViews.localQueue(group.queue()).map(LocalQueueView::clusterQueue).orElse("")
        : group.clusterQueue();
  }

  private void clusterQueue(GaugeSet gaugeSet, ClusterQueueView queue, int finished) {
    String name = queue.name();
    if (!options.customLabels().hasWorkloadLabels()) {
      gaugeSet.set(PENDING, queue.pendingActive(), name, "active");
      gaugeSet.set(PENDING, queue.pendingInadmissible(), name, "inadmissible");
    }
    gaugeSet.set(RESERVING, queue.reserving(), name);
    gaugeSet.set(FINISHED, finished, name);
    String status = status(queue);
    for (String each : List.of("pending", "active", "terminating")) {
      gaugeSet.set(STATUS, each.equals(status) ? 1 : 0, name, each);
    }
    if (options.cohorts()) {
      options
          .orchestrators()
          .ifPresentOrElse(
              of ->
                  gaugeSet.set(
                      INFO_ORCHESTRATED,
                      1,
                      name,
                      queue.cohort(),
                      queue.rootCohort(),
                      of.ofClusterQueue(name)),
              () -> gaugeSet.set(INFO, 1, name, queue.cohort(), queue.rootCohort()));
    }
    queue.usage().forEach(usage -> usage(gaugeSet, queue, usage));
    if (options.resources()) {
      queue.usage().forEach(usage -> resources(gaugeSet, queue, usage));
      queue
          .dominantResourceShare()
          .ifPresent(
              dominantResourceShare ->
                  gaugeSet.set(SHARE, value(dominantResourceShare), name, queue.cohort()));
    }
  }

  private static void usage(GaugeSet gaugeSet, ClusterQueueView queue, FlavorUsage usage) {
    String[] labels = {queue.cohort(), queue.name(), usage.flavor(), usage.resource()};
    gaugeSet.set(USED_ALWAYS, amount(usage.resource(), usage.admitted()), labels);
    if (usage.nominal() > 0) {
      gaugeSet.set(USAGE_RATIO, (double) usage.admitted() / usage.nominal(), labels);
    }
  }

  private static void resources(GaugeSet gaugeSet, ClusterQueueView queue, FlavorUsage usage) {
    String[] labels = {queue.cohort(), queue.name(), usage.flavor(), usage.resource()};
    String resource = usage.resource();
    gaugeSet.set(NOMINAL, amount(resource, usage.nominal()), labels);
    gaugeSet.set(BORROWING, amount(resource, usage.borrowingLimit()), labels);
    gaugeSet.set(LENDING, amount(resource, usage.lendingLimit()), labels);
    gaugeSet.set(RESERVED, amount(resource, usage.reserved()), labels);
    gaugeSet.set(USED, amount(resource, usage.admitted()), labels);
  }

  private static String status(ClusterQueueView queue) {
    boolean terminating =
        queue.problems().stream().anyMatch(problem -> problem.reason().equals("Terminating"));
    return terminating ? "terminating" : queue.problems().isEmpty() ? "active" : "pending";
  }

  private void cohort(GaugeSet gaugeSet, CohortView cohort) {
    String name = cohort.name();
    cohort
        .dominantResourceShare()
        .ifPresent(
            dominantResourceShare ->
                gaugeSet.set(COHORT_SHARE, value(dominantResourceShare), name));
    for (FlavorUsage usage : cohort.usage()) {
      String resource = usage.resource();
      if (usage.nominal() > 0) {
        gaugeSet.set(
            COHORT_QUOTA, amount(resource, usage.nominal()), name, usage.flavor(), resource);
      }
      if (usage.reserved() > 0) {
        gaugeSet.set(
            COHORT_RESERVED, amount(resource, usage.reserved()), name, usage.flavor(), resource);
      }
    }
    if (options.cohorts()) {
      options
          .orchestrators()
          .ifPresentOrElse(
              of ->
                  gaugeSet.set(
                      COHORT_INFO_ORCHESTRATED,
                      1,
                      name,
                      cohort.parent(),
                      cohort.root(),
                      of.ofCohort(name)),
              () -> gaugeSet.set(COHORT_INFO, 1, name, cohort.parent(), cohort.root()));
    }
  }

  private static void localQueue(GaugeSet gaugeSet, LocalQueueView queue, int finished) {
    String name = queue.id().name();
    String namespace = queue.id().namespace();
    gaugeSet.set(LOCAL_PENDING, queue.pendingActive(), name, namespace, "active");
    gaugeSet.set(LOCAL_PENDING, queue.pendingInadmissible(), name, namespace, "inadmissible");
    gaugeSet.set(LOCAL_RESERVING, queue.reserving(), name, namespace);
    gaugeSet.set(LOCAL_FINISHED, finished, name, namespace);
    String active = queue.problems().isEmpty() ? "True" : "False";
    for (String each : List.of("True", "False", "Unknown")) {
      gaugeSet.set(LOCAL_STATUS, each.equals(active) ? 1 : 0, name, namespace, each);
    }
    queue
        .usageOverTime()
        .ifPresent(
            past ->
                gaugeSet.set(LOCAL_PAST_USE, past.amount(), name, namespace, queue.clusterQueue()));
    for (FlavorUsage usage : queue.usage()) {
      String resource = usage.resource();
      String[] labels = {name, namespace, usage.flavor(), resource};
      gaugeSet.set(LOCAL_RESERVED, amount(resource, usage.reserved()), labels);
      gaugeSet.set(LOCAL_USED, amount(resource, usage.admitted()), labels);
    }
  }

  private static double value(DominantResourceShare dominantResourceShare) {
    return dominantResourceShare.isInfinite() ? Double.NaN : dominantResourceShare.value();
  }

  /** An amount in the unit of the metrics: cores for cpu. */
  static double amount(String resource, long amount) {
    if (amount == ResourceAmounts.UNLIMITED) {
      return Double.POSITIVE_INFINITY;
    }
    return resource.equals("cpu") ? amount / 1000.0 : amount;
  }

  private static Family resource(String name, String help) {
    return Family.of(name, help, "cohort", "cluster_queue", "flavor", "resource");
  }

  private static Family local(String name, String help, String... labels) {
    String[] all = new String[labels.length + 2];
    all[0] = "name";
    all[1] = "namespace";
    System.arraycopy(labels, 0, all, 2, labels.length);
    return Family.of(name, help, all);
  }

  /** The way from a cohort up to its root. */
  public static final class CohortPath {

    private CohortPath() {}

    /**
     * The cohort and those above it, the nearest first; a cohort in a cycle is returned once. An
     * empty name has none.
     */
    public static Set<String> from(String cohort, SchedulerViews views) {
      Set<String> path = new LinkedHashSet<>();
      String next = cohort;
      while (!next.isEmpty() && path.add(next)) {
        Optional<CohortView> view = views.cohort(next);
        next = view.map(CohortView::parent).orElse("");
      }
      return path;
    }
  }
}

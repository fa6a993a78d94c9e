package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.v1beta2.QueueingStrategy;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.model.InactiveReason;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.dashboard.QuotaLoans.Loan;
import dev.sluice.dashboard.Viewer.Kind;
import dev.sluice.workload.record.CachedWorkload;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Cohorts, queues and the numbers of Workloads, as far as a viewer may see them. */
final class OverviewDocument {

  private final DashboardSources sources;

  OverviewDocument(DashboardSources sources) {
    this.sources = sources;
  }

  /** The document for a viewer. */
  ObjectNode of(Viewer viewer) {
    ObjectNode document = JsonMappers.JSON.createObjectNode();
    boolean queues = viewer.sees(Kind.CLUSTER_QUEUES);
    List<ClusterQueueView> clusterQueues =
        queues
            ? sources.views().clusterQueues().stream()
                .sorted(Comparator.comparing(ClusterQueueView::name))
                .toList()
            : List.of();
    List<CohortView> cohorts =
        queues && viewer.sees(Kind.COHORTS)
            ? sources.views().cohorts().stream()
                .sorted(Comparator.comparing(CohortView::name))
                .toList()
            : List.of();
    QuotaLoans loans = new QuotaLoans(clusterQueues, cohorts);
    ArrayNode cohortNodes = document.putArray("cohorts");
    cohorts.forEach(cohort -> describe(cohortNodes.addObject(), cohort, loans));
    ArrayNode queueNodes = document.putArray("clusterQueues");
    clusterQueues.forEach(queue -> describe(queueNodes.addObject(), queue, loans));
    ArrayNode localNodes = document.putArray("localQueues");
    Predicate<String> localNamespaces = viewer.namespaces(Kind.LOCAL_QUEUES);
    sources.views().localQueues().stream()
        .filter(queue -> localNamespaces.test(queue.id().namespace()))
        .sorted(Comparator.comparing(LocalQueueView::id))
        .forEach(queue -> describe(localNodes.addObject(), queue, queues));
    count(document.putObject("workloads"), viewer.namespaces(Kind.WORKLOADS));
    return document;
  }

  private void describe(ObjectNode node, CohortView cohort, QuotaLoans loans) {
    node.put("name", cohort.name());
    if (!cohort.parent().isEmpty()) {
      node.put("parent", cohort.parent());
    }
    if (cohort.root().isEmpty()) {
      node.put("cycle", true);
    }
    share(node, cohort.dominantResourceShare());
    ArrayNode usage = node.putArray("usage");
    cohort
        .usage()
        .forEach(
            pair -> describe(usage.addObject(), pair, loans.ofCohort(cohort.name(), pair), true));
  }

  private void describe(ObjectNode node, ClusterQueueView queue, QuotaLoans loans) {
    node.put("name", queue.name());
    if (!queue.cohort().isEmpty()) {
      node.put("cohort", queue.cohort());
    }
    sources
        .caches()
        .clusterQueues()
        .find(queue.name())
        .map(object -> object.getSpec())
        .ifPresent(
            spec -> {
              if (spec.queueingStrategy() != null) {
                node.put(
                    "strategy",
                    spec.queueingStrategy() == QueueingStrategy.STRICT_FIFO
                        ? "StrictFIFO"
                        : "BestEffortFIFO");
              }
            });
    problems(node, queue.problems());
    node.put("pending", queue.pendingActive() + queue.pendingInadmissible())
        .put("inadmissible", queue.pendingInadmissible())
        .put("reserving", queue.reserving())
        .put("admitted", queue.admitted());
    share(node, queue.dominantResourceShare());
    ArrayNode usage = node.putArray("usage");
    queue
        .usage()
        .forEach(
            pair ->
                describe(usage.addObject(), pair, loans.ofClusterQueue(queue.name(), pair), true));
  }

  private static void describe(ObjectNode node, LocalQueueView queue, boolean limits) {
    node.put("namespace", queue.id().namespace())
        .put("name", queue.id().name())
        .put("clusterQueue", queue.clusterQueue());
    problems(node, queue.problems());
    node.put("pending", queue.pendingActive() + queue.pendingInadmissible())
        .put("inadmissible", queue.pendingInadmissible())
        .put("reserving", queue.reserving())
        .put("admitted", queue.admitted());
    ArrayNode usage = node.putArray("usage");
    queue
        .usage()
        .forEach(
            pair -> {
              describe(usage.addObject(), pair, Loan.NONE, limits);
            });
  }

  private static void problems(ObjectNode node, List<InactiveReason> problems) {
    for (InactiveReason problem : problems) {
      node.withArray("problems")
          .addObject()
          .put("reason", problem.reason())
          .put("message", problem.message());
    }
  }

  private static void share(ObjectNode node, Optional<DominantResourceShare> share) {
    share.ifPresent(
        known ->
            node.putObject("share")
                .put("value", known.isInfinite() ? -1 : known.value() / 1000)
                .put("weight", known.weight()));
  }

  /** Amounts are in thousandths for cpu; what has no limit is left out. */
  private static void describe(ObjectNode node, FlavorUsage usage, Loan loan, boolean limits) {
    node.put("flavor", usage.flavor()).put("resource", usage.resource());
    if (limits) {
      amount(node, "nominal", usage.nominal());
      amount(node, "borrowingLimit", usage.borrowingLimit());
      amount(node, "lendingLimit", usage.lendingLimit());
      node.put("borrowed", loan.borrowed()).put("lent", loan.lent());
    }
    node.put("used", usage.reserved());
    amount(node, "admitted", usage.admitted());
  }

  private static void amount(ObjectNode node, String name, long amount) {
    if (amount != ResourceAmounts.UNLIMITED) {
      node.put(name, amount);
    }
  }

  private void count(ObjectNode node, Predicate<String> namespaces) {
    Map<WorkloadState, Integer> counts = new TreeMap<>();
    for (CachedWorkload workload : sources.workloads().all()) {
      if (namespaces.test(workload.id().namespace())) {
        counts.merge(WorkloadState.of(workload), 1, Integer::sum);
      }
    }
    for (WorkloadState state : WorkloadState.values()) {
      node.put(state.text(), counts.getOrDefault(state, 0));
    }
  }
}

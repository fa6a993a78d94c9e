package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.queueing.QuotaSchedule;
import dev.sluice.api.v1beta2.ClusterQueue.QueueingStrategy;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.dashboard.OverviewDocument.QuotaLoans.Loan;
import dev.sluice.dashboard.Viewer.Kind;
import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
    backfill(node, queue.name());
    quotaFactor(node, queue.name());
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

  /** How many Workloads have a planned start, where others may start before them. */
  private void backfill(ObjectNode node, String queue) {
    sources
        .caches()
        .clusterQueues()
        .find(queue)
        .flatMap(
            object ->
                QueueAnnotations.ofClusterQueue(object.getMetadata().getAnnotations())
                    .rules()
                    .backfill())
        .ifPresent(
            rules ->
                node.putObject("backfill")
                    .put("depth", rules.depth())
                    .put("unknownRunTime", QueueAnnotations.nameOf(rules.unknown())));
  }

  /** What the amounts are multiplied by at this time of day, and until when. */
  private void quotaFactor(ObjectNode node, String queue) {
    sources
        .caches()
        .clusterQueues()
        .find(queue)
        .flatMap(object -> QuotaSchedule.of(object.getMetadata().getAnnotations()))
        .map(schedule -> schedule.at(sources.clock().instant()))
        .ifPresent(
            standing -> {
              node.put("quotaFactor", standing.factor());
              standing.until().ifPresent(until -> node.put("quotaFactorUntil", until.toString()));
            });
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

  /**
   * What each ClusterQueue and cohort borrows and lends. What is borrowed follows from usage: it is
   * what exceeds the nominal quota. A loan has no single lender, so what is lent is divided among
   * the members of the same cohort that have idle quota, in proportion to it, and no more than they
   * may lend. The sums agree: what members borrow from each other is what members and cohort lend.
   */
  static final class QuotaLoans {

    /** Borrowed and lent amounts of one pair; 0 where nothing is. */
    record Loan(long borrowed, long lent) {
      static final Loan NONE = new Loan(0, 0);
    }

    private record NodePair(boolean cohort, String name, FlavorResource pair) {}

    private record Member(boolean cohort, String name, FlavorUsage usage) {
      long idle() {
        long idle = Math.max(0, ResourceAmounts.subtract(usage.nominal(), usage.reserved()));
        return Math.min(idle, usage.lendingLimit());
      }

      long borrowed() {
        return Math.max(0, ResourceAmounts.subtract(usage.reserved(), usage.nominal()));
      }
    }

    private final Map<NodePair, Loan> loans = new HashMap<>();
    private final Map<String, List<Member>> members = new HashMap<>();
    private final Map<String, CohortView> cohorts = new HashMap<>();

    /** The loans at the time of these views. */
    QuotaLoans(Collection<ClusterQueueView> queues, Collection<CohortView> cohorts) {
      cohorts.forEach(cohort -> this.cohorts.put(cohort.name(), cohort));
      for (ClusterQueueView queue : queues) {
        add(queue.cohort(), false, queue.name(), queue.usage());
      }
      for (CohortView cohort : cohorts) {
        if (!cohort.parent().isEmpty() && !cohort.root().isEmpty()) {
          add(cohort.parent(), true, cohort.name(), cohort.usage());
        }
      }
      for (CohortView cohort : cohorts) {
        if (cohort.root().equals(cohort.name())) {
          divide(cohort, Map.of());
        }
      }
    }

    private void add(String cohort, boolean isCohort, String name, List<FlavorUsage> usage) {
      for (FlavorUsage pair : usage) {
        Member member = new Member(isCohort, name, pair);
        if (!cohort.isEmpty()) {
          members.computeIfAbsent(cohort, any -> new ArrayList<>()).add(member);
          loans.put(node(member), new Loan(member.borrowed(), 0));
        }
      }
    }

    private static FlavorResource pair(FlavorUsage usage) {
      return new FlavorResource(usage.flavor(), usage.resource());
    }

    private static NodePair node(Member member) {
      return new NodePair(member.cohort(), member.name(), pair(member.usage()));
    }

    /** Divides what the members of a cohort lend; {@code lent} is what the cohort lends itself. */
    private void divide(CohortView cohort, Map<FlavorResource, Long> lent) {
      Map<FlavorResource, List<Member>> byPair = new HashMap<>();
      for (Member member : members.getOrDefault(cohort.name(), List.of())) {
        byPair.computeIfAbsent(pair(member.usage()), any -> new ArrayList<>()).add(member);
      }
      Map<String, Map<FlavorResource, Long>> lentByCohort = new HashMap<>();
      Set<String> below = new HashSet<>();
      byPair.forEach(
          (pair, all) -> {
            long outside =
                loans.getOrDefault(new NodePair(true, cohort.name(), pair), Loan.NONE).borrowed();
            long borrowed = 0;
            double idle = ownIdle(cohort, pair, all);
            for (Member member : all) {
              borrowed = ResourceAmounts.add(borrowed, member.borrowed());
              idle += member.idle();
            }
            long toDivide =
                Math.max(
                    0,
                    ResourceAmounts.subtract(
                        ResourceAmounts.add(borrowed, lent.getOrDefault(pair, 0L)), outside));
            for (Member member : all) {
              long share =
                  idle <= 0
                      ? 0
                      : Math.min(member.idle(), Math.round(toDivide * (member.idle() / idle)));
              loans.put(node(member), new Loan(member.borrowed(), share));
              if (member.cohort()) {
                lentByCohort
                    .computeIfAbsent(member.name(), any -> new HashMap<>())
                    .put(pair, share);
              }
            }
          });
      for (Member member : members.getOrDefault(cohort.name(), List.of())) {
        CohortView child = member.cohort() ? cohorts.get(member.name()) : null;
        if (child != null && below.add(member.name())) {
          divide(child, lentByCohort.getOrDefault(member.name(), Map.of()));
        }
      }
    }

    /** The quota of the cohort itself, which is always there for its members. */
    private static double ownIdle(CohortView cohort, FlavorResource pair, List<Member> all) {
      double nominal =
          cohort.usage().stream()
              .filter(usage -> pair(usage).equals(pair))
              .mapToDouble(FlavorUsage::nominal)
              .sum();
      double ofMembers = all.stream().mapToDouble(member -> member.usage().nominal()).sum();
      return Math.max(0, nominal - ofMembers);
    }

    /** What a ClusterQueue borrows and lends of a pair. */
    Loan ofClusterQueue(String name, FlavorUsage usage) {
      return loans.getOrDefault(new NodePair(false, name, pair(usage)), Loan.NONE);
    }

    /** What a cohort borrows from, and lends to, the cohorts beside and above it. */
    Loan ofCohort(String name, FlavorUsage usage) {
      return loans.getOrDefault(new NodePair(true, name, pair(usage)), Loan.NONE);
    }
  }
}

package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries.BackfillReport;
import dev.sluice.core.engine.SchedulerQueries.Holder;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.visibility.ExplanationText;
import dev.sluice.visibility.ExplanationText.BackfillText;
import dev.sluice.visibility.StartText;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.EvictionCount;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.status.PodsReady;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** All that a Workload's page shows. */
final class WorkloadDocument {

  private record Moment(Instant at, String what, String reason, String message) {}

  private final WorkloadRows rows;

  WorkloadDocument(WorkloadRows rows) {
    this.rows = rows;
  }

  /**
   * The document.
   *
   * @param waiting what the scheduler says, if the Workload is pending
   * @param start when it is expected to start, if it is pending and that is known
   * @param namespaces the namespaces whose Workloads may be named
   */
  ObjectNode of(
      CachedWorkload workload,
      Optional<PendingReport> waiting,
      Optional<StartEstimate> start,
      Predicate<String> namespaces) {
    ObjectNode document = JsonMappers.JSON.createObjectNode();
    rows.describe(document, workload);
    document.put("uid", workload.id().uid());
    document.put("active", workload.spec().active()).put("deleting", workload.deleting());
    workload
        .spec()
        .priorityClass()
        .ifPresent(priority -> document.put("priorityClass", priority.name()));
    WorkloadState.of(workload)
        .condition(workload)
        .ifPresent(condition -> document.put("message", condition.message()));
    podSets(document.putArray("podSets"), workload);
    conditions(document.putArray("conditions"), workload);
    checks(document.putArray("checks"), workload);
    timeline(document.putArray("timeline"), workload);
    for (EvictionCount eviction : workload.status().history().evictions()) {
      document
          .withArray("evictions")
          .addObject()
          .put("reason", eviction.reason())
          .put("cause", eviction.underlyingCause())
          .put("count", eviction.count());
    }
    workload
        .status()
        .requeueState()
        .ifPresent(
            requeue -> {
              ObjectNode node = document.putObject("requeue").put("count", requeue.count());
              requeue.requeueAt().ifPresent(at -> node.put("at", at.toString()));
            });
    if (!workload.status().remotePlacement().cluster().isEmpty()) {
      document.put("workerCluster", workload.status().remotePlacement().cluster());
    }
    workload
        .status()
        .remotePlacement()
        .nominated()
        .forEach(name -> document.withArray("nominated").add(name));
    workload.closedGates().forEach(gate -> document.withArray("closedGates").add(gate));
    waiting.ifPresent(
        known -> {
          ObjectNode node = document.putObject("waiting");
          explain(node, known, namespaces);
          known
              .backfill()
              .ifPresent(backfill -> plan(node.putObject("plan"), backfill, namespaces));
          start.ifPresent(estimate -> StartsDocument.describe(node, estimate));
        });
    return document;
  }

  private static void podSets(ArrayNode nodes, CachedWorkload workload) {
    for (PodSet podSet : workload.spec().podSets()) {
      ObjectNode node = nodes.addObject().put("name", podSet.name()).put("count", podSet.count());
      podSet.minCount().ifPresent(fewest -> node.put("minCount", fewest));
      ObjectNode perPod = node.putObject("perPod");
      podSet
          .template()
          .containers()
          .forEach(
              container ->
                  container
                      .resources()
                      .requests()
                      .forEach(
                          (resource, amount) ->
                              perPod.put(resource, perPod.path(resource).asLong() + amount)));
      assignment(workload, podSet.name()).ifPresent(found -> describe(node, found));
    }
  }

  private static Optional<Assignment> assignment(CachedWorkload workload, String podSet) {
    return workload.status().admission().stream()
        .flatMap(admission -> admission.podSetAssignments().stream())
        .filter(assignment -> assignment.name().equals(podSet))
        .findFirst();
  }

  private static void describe(ObjectNode node, Assignment assignment) {
    ObjectNode assigned = node.putObject("assigned").put("count", assignment.count());
    ObjectNode flavors = assigned.putObject("flavors");
    assignment.flavors().forEach(flavors::put);
    ObjectNode usage = assigned.putObject("usage");
    assignment.resourceUsage().forEach(usage::put);
    assignment
        .topology()
        .ifPresent(
            topology -> {
              ObjectNode places = assigned.putObject("topology");
              topology.levels().forEach(level -> places.withArray("levels").add(level));
              topology
                  .domains()
                  .forEach(
                      domain -> {
                        ObjectNode place = places.withArray("domains").addObject();
                        domain.values().forEach(value -> place.withArray("values").add(value));
                        place.put("pods", domain.count());
                      });
            });
  }

  private static void conditions(ArrayNode nodes, CachedWorkload workload) {
    for (Condition condition : workload.status().conditions()) {
      nodes
          .addObject()
          .put("type", condition.type())
          .put("status", condition.status())
          .put("reason", condition.reason())
          .put("message", condition.message())
          .put("at", condition.lastTransitionTime().toString());
    }
  }

  private static void checks(ArrayNode nodes, CachedWorkload workload) {
    for (CheckState check : workload.status().admissionChecks()) {
      nodes
          .addObject()
          .put("name", check.name())
          .put("state", check.state())
          .put("message", check.message())
          .put("at", check.lastTransitionTime().toString());
    }
  }

  /**
   * What is known of the past: an object keeps the last change of each condition, not all of them.
   */
  private static void timeline(ArrayNode nodes, CachedWorkload workload) {
    List<Moment> moments = new ArrayList<>();
    moments.add(new Moment(workload.createdAt(), "Created", "", ""));
    for (Condition condition : workload.status().conditions()) {
      if (PodsReady.saysNothing(condition.type(), condition.reason(), workload.admitted())) {
        continue;
      }
      String what =
          condition.status().equals("True") ? condition.type() : "Not " + condition.type();
      moments.add(
          new Moment(
              condition.lastTransitionTime(), what, condition.reason(), condition.message()));
    }
    for (CheckState check : workload.status().admissionChecks()) {
      moments.add(
          new Moment(
              check.lastTransitionTime(), "Check " + check.name(), check.state(), check.message()));
    }
    moments.stream()
        .filter(moment -> moment.at().isAfter(Instant.EPOCH))
        .sorted(Comparator.comparing(Moment::at))
        .forEach(
            moment ->
                nodes
                    .addObject()
                    .put("at", moment.at().toString())
                    .put("what", moment.what())
                    .put("reason", moment.reason())
                    .put("message", moment.message()));
  }

  /** What is planned for it, and whether it may start before others; hidden ones aren't named. */
  private static void plan(ObjectNode node, BackfillReport report, Predicate<String> namespaces) {
    BackfillReport shown = report.shown(namespaces);
    node.put("text", BackfillText.line(shown));
    shown.own().ifPresent(own -> StartsDocument.plan(node, own));
    shown
        .first()
        .ifPresent(
            first ->
                node.putObject("behind")
                    .put("namespace", first.id().namespace())
                    .put("name", first.id().name())
                    .put("plannedStart", first.at().toString()));
    shown.startsBeforeUntil().ifPresent(until -> node.put("startsBeforeUntil", until.toString()));
  }

  private void explain(ObjectNode node, PendingReport waiting, Predicate<String> namespaces) {
    node.put("clusterQueue", waiting.clusterQueue())
        .put("positionInClusterQueue", waiting.position().inClusterQueue())
        .put("positionInLocalQueue", waiting.position().inLocalQueue())
        .put("inadmissible", waiting.position().inadmissible())
        .put("priority", waiting.position().priority());
    waiting
        .explanation()
        .ifPresent(
            explanation ->
                node.put("reason", explanation.reason().apiReason())
                    .put("message", ExplanationText.message(explanation)));
    ArrayNode holders = node.putArray("holders");
    int hidden = 0;
    for (Holder holder : waiting.holders()) {
      if (!namespaces.test(holder.id().namespace())) {
        hidden++;
        continue;
      }
      ObjectNode described = holders.addObject();
      rows.putOwner(described, holder.id());
      described
          .put("namespace", holder.id().namespace())
          .put("name", holder.id().name())
          .put("clusterQueue", holder.clusterQueue())
          .put("flavor", holder.pair().flavor())
          .put("resource", holder.pair().resource())
          .put("amount", holder.amount());
    }
    node.put("hiddenHolders", hidden);
    waiting
        .earlierLocalQueues()
        .filter(earlier -> namespaces.test(earlier.first().namespace()))
        .ifPresent(
            earlier ->
                node.putObject("turn")
                    .put("used", ExplanationText.used(earlier.used()))
                    .put("first", earlier.first().namespace() + "/" + earlier.first().name())
                    .put("usedByFirst", ExplanationText.used(earlier.usedByFirst()))
                    .put("others", earlier.others()));
  }

  /** When pending Workloads are expected to start (docs/expected-starts.md). */
  static final class StartsDocument {

    /** A time line has so many rows. */
    private static final int MOST = 20;

    private final WorkloadRows rows;

    StartsDocument(WorkloadRows rows) {
      this.rows = rows;
    }

    /**
     * What is planned in a queue: the first pending Workloads of which a time is known, expected or
     * planned. Workloads of hidden namespaces are left out.
     */
    ObjectNode of(
        List<PendingPosition> positions,
        Map<WorkloadId, StartEstimate> starts,
        List<PlannedStart> plannedStarts,
        Predicate<String> namespaces,
        Instant now) {
      ObjectNode document = JsonMappers.JSON.createObjectNode().put("now", now.toString());
      ArrayNode items = document.putArray("items");
      Map<WorkloadId, PlannedStart> plans =
          plannedStarts.stream().collect(Collectors.toMap(PlannedStart::id, Function.identity()));
      for (PendingPosition position : positions) {
        if (items.size() == MOST) {
          break;
        }
        StartEstimate start = starts.get(position.id());
        PlannedStart plan = plans.get(position.id());
        if (((start != null && start.range().isPresent()) || plan != null)
            && namespaces.test(position.id().namespace())) {
          ObjectNode item =
              items
                  .addObject()
                  .put("position", position.inClusterQueue())
                  .put("namespace", position.id().namespace())
                  .put("name", position.id().name());
          rows.putOwner(item, position.id());
          if (start != null) {
            describe(item, start);
          }
          if (plan != null) {
            plan(item.putObject("plan"), plan);
          }
        }
      }
      return document;
    }

    /** Adds when a Workload starts at the latest, as it was planned. */
    static void plan(ObjectNode node, PlannedStart start) {
      node.put("plannedStart", start.at().toString()).put("promised", start.promised().toString());
      start.lateBy().forEach(cause -> node.withArray("lateBy").add(cause.text()));
    }

    /** Adds an estimate to what is shown of a Workload. */
    static void describe(ObjectNode node, StartEstimate estimate) {
      ObjectNode start = node.putObject("start").put("basis", estimate.basis().apiName());
      estimate
          .range()
          .ifPresent(
              range -> {
                start
                    .put("earliest", range.earliest().toString())
                    .put("expected", range.expected().toString());
                range.latest().ifPresent(latest -> start.put("latest", latest.toString()));
              });
      start.put("text", StartText.line(estimate));
    }
  }
}

package dev.sluice.server.endpoints;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.GoDuration;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.budget.Budgets.Hours;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.forecast.simulate.SimulationResult;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.jobs.controller.JobSimulator;
import dev.sluice.queues.status.BudgetStatus;
import dev.sluice.visibility.ExplanationText;
import dev.sluice.visibility.StartText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What would become of a job, as the document of docs/simulate.md#what-is-answered. Names no
 * Workload of a namespace that may not be seen.
 */
public final class SimulationDocument {

  /** Domains of a pod set that are told. */
  private static final int MOST_DOMAINS = 8;

  private SimulationDocument() {}

  /**
   * The document.
   *
   * @param visible whether the Workloads of a namespace may be named
   */
  public static ObjectNode of(SimulationResult result, Predicate<String> visible) {
    ObjectNode body = JsonMappers.JSON.createObjectNode();
    body.put("feasible", result.feasibility().apiName())
        .put("computedAt", result.computedAt().toString());
    body.putArray("text").add(headline(result));
    result
        .admission()
        .ifPresentOrElse(
            admit -> admitted(body, result, admit),
            () -> {
              PendingReport report = result.pendingReport();
              ExplainEndpoint.describe(body, ExplainEndpoint.shown(report, visible));
              attempts(body, report.explanation().map(Explanation::attempts).orElse(List.of()));
              ExplainEndpoint.hidden(body, Optional.of(report), visible);
            });
    targets(body, result, visible);
    result
        .bill()
        .cost()
        .ifPresent(
            cost -> {
              cost(body, cost);
              List<String> flavors = result.bill().expectedFlavors();
              if (!flavors.isEmpty()) {
                flavors.forEach(body.putArray("costFlavors")::add);
              }
              body.withArray("text")
                  .add(
                      "it would cost %s%s"
                          .formatted(
                              ExplanationText.cost(cost),
                              flavors.isEmpty()
                                  ? ""
                                  : " in flavor "
                                      + String.join(", ", flavors)
                                      + ", if it gets that"));
            });
    result.bill().budgets().forEach(budget -> budget(body, budget, result.computedAt()));
    result.start().ifPresent(estimate -> ExplainEndpoint.describe(body, estimate));
    return body;
  }

  /** What remains of a budget when the job has quota. */
  private static void budget(ObjectNode body, BudgetAccount.OfBudget budget, Instant now) {
    ObjectNode node = body.withArray("budgets").addObject().put("name", budget.spec().name());
    ArrayNode limits = node.putArray("limits");
    for (BudgetStatus.LimitBalance balance : BudgetStatus.balances(budget, now)) {
      String resource = balance.limit().resource();
      String remaining = Hours.text(resource, balance.remaining());
      String allowed = Hours.text(resource, balance.allowed());
      ObjectNode limit = limits.addObject();
      limit.put("resource", balance.limit().isCost() ? "cost" : resource);
      balance.limit().flavors().stream().sorted().forEach(limit.withArray("flavors")::add);
      limit.put("limit", allowed).put("remaining", remaining);
      body.withArray("text")
          .add(
              "%s of %s %s would be left of Budget %s%s"
                  .formatted(
                      remaining,
                      allowed,
                      Hours.unit(resource),
                      budget.spec().name(),
                      budget.spec().reserves() ? "" : ", which counts what is used"));
    }
  }

  /** The lines for people. */
  public static List<String> text(ObjectNode document) {
    List<String> lines = new ArrayList<>();
    document.path("text").forEach(line -> lines.add(line.asText()));
    return lines;
  }

  private static String headline(SimulationResult result) {
    String queue = result.pendingReport().clusterQueue();
    return switch (result.feasibility()) {
      case NOW -> "Now: it would get quota in ClusterQueue " + queue;
      case AFTER_PREEMPTION -> "AfterPreemption: it would preempt others in ClusterQueue " + queue;
      case LATER -> "Later: it would wait in ClusterQueue " + queue;
      case NEVER -> "Never: it would not get quota, as things are";
    };
  }

  private static void admitted(ObjectNode body, SimulationResult result, Decision.Admit admit) {
    PendingPosition position = result.pendingReport().position();
    body.put("clusterQueue", admit.clusterQueue())
        .put("localQueue", position.queueName())
        .put("priority", position.priority())
        .put("positionInClusterQueue", position.inClusterQueue())
        .put("positionInLocalQueue", position.inLocalQueue());
    ArrayNode podSets = body.putArray("podSets");
    ArrayNode text = body.withArray("text");
    for (PodSetAssignment assignment : admit.podSets()) {
      ObjectNode podSet =
          podSets.addObject().put("name", assignment.name()).put("count", assignment.count());
      assignment.flavors().forEach(podSet.putObject("flavors")::put);
      assignment.topology().assignment().ifPresent(places -> places(podSet, places));
      text.add(line(assignment));
    }
    result
        .lender()
        .ifPresent(
            cohort -> {
              body.put("borrowsFrom", cohort);
              text.add("it would borrow quota from cohort " + cohort);
            });
    attempts(body, admit.considered());
  }

  private static void places(ObjectNode podSet, TopologyAssignment assignment) {
    ObjectNode topology = podSet.putObject("topology");
    assignment.levels().forEach(topology.putArray("levels")::add);
    ArrayNode domains = topology.putArray("domains");
    for (TopologyAssignment.Domain domain : assignment.domains()) {
      ObjectNode each = domains.addObject().put("count", domain.count());
      domain.values().forEach(each.putArray("values")::add);
    }
  }

  private static String line(PodSetAssignment assignment) {
    String flavors =
        assignment.flavors().entrySet().stream()
            .collect(
                Collectors.groupingBy(
                    Map.Entry::getValue,
                    TreeMap::new,
                    Collectors.mapping(Map.Entry::getKey, Collectors.joining(", "))))
            .entrySet()
            .stream()
            .map(flavor -> flavor.getValue() + " of flavor " + flavor.getKey())
            .collect(Collectors.joining("; "));
    return "pod set "
        + assignment.name()
        + ": "
        + assignment.count()
        + (assignment.count() == 1 ? " pod" : " pods")
        + (flavors.isEmpty() ? "" : ", " + flavors)
        + assignment.topology().assignment().map(SimulationDocument::line).orElse("");
  }

  private static String line(TopologyAssignment assignment) {
    int domains = assignment.domains().size();
    String first =
        assignment.domains().stream()
            .limit(MOST_DOMAINS)
            .map(domain -> String.join("/", domain.values()) + " (" + domain.count() + ")")
            .collect(Collectors.joining(", "));
    return " in "
        + first
        + (domains > MOST_DOMAINS ? " and " + (domains - MOST_DOMAINS) + " more" : "");
  }

  private static void attempts(ObjectNode body, List<FlavorAttempt> attempts) {
    for (FlavorAttempt attempt : attempts) {
      ObjectNode node =
          body.withArray("attempts")
              .addObject()
              .put("podSet", attempt.podSet())
              .put("flavor", attempt.flavor())
              .put("mode", attempt.mode().name());
      ArrayNode rejections = node.putArray("rejections");
      attempt.flavorRejections().stream().map(ExplanationText::obstacle).forEach(rejections::add);
      attempt.cost().ifPresent(cost -> cost(node, cost));
    }
  }

  private static void cost(ObjectNode node, FlavorAttempt.Cost cost) {
    node.put("costPerHour", cost.perHour().toPlainString());
    cost.toFinish().ifPresent(sum -> node.put("costToFinish", sum.toPlainString()));
  }

  /** Adds which worker clusters would be asked, if any, in the order in which they are. */
  public static void add(ObjectNode document, JobSimulator.Workers workers) {
    if (workers.isAsked()) {
      workers.names().forEach(document.putArray("workers")::add);
      document.withArray("text").add(workers.text());
    }
  }

  /**
   * The lines for somebody whose rights aren't known: Workloads are counted, and not named, those
   * of the own namespace included.
   */
  public static List<String> withoutNames(SimulationResult result) {
    return text(of(result, namespace -> false)).stream()
        .map(
            line ->
                line.replace(ExplainEndpoint.NOT_READ, "")
                    .replace(ExplainEndpoint.OTHER, "another Workload"))
        .toList();
  }

  /**
   * What somebody is warned of who creates a job: that it never starts, or when, if that isn't
   * expected within {@code longest}. Empty where it starts before, or nobody can tell.
   */
  public static List<String> warning(SimulationResult result, Duration longest) {
    return switch (result.feasibility()) {
      case NOW, AFTER_PREEMPTION -> List.of();
      case NEVER -> withoutNames(result);
      case LATER ->
          result
              .start()
              .filter(start -> isLater(start, result.computedAt().plus(longest)))
              .map(start -> List.of(StartText.line(start)))
              .orElse(List.of());
    };
  }

  private static boolean isLater(StartEstimate start, Instant time) {
    return start.range().filter(range -> range.expected().isAfter(time)).isPresent();
  }

  private static void targets(ObjectNode body, SimulationResult result, Predicate<String> visible) {
    int hidden = 0;
    for (Decision.Target target : result.targets()) {
      if (!visible.test(target.id().namespace())) {
        hidden++;
        continue;
      }
      ObjectNode node =
          body.withArray("preempts")
              .addObject()
              .put("namespace", target.id().namespace())
              .put("name", target.id().name())
              .put("reason", target.reason().apiReason());
      String line = "it would preempt " + target.id() + " (" + target.reason().apiReason() + ")";
      Optional<Duration> grace = target.rules().checkpointGrace();
      grace.ifPresent(time -> node.put("checkpointGraceSeconds", time.toSeconds()));
      body.withArray("text")
          .add(
              line
                  + grace
                      .map(
                          time ->
                              ", which has up to %s to save its work"
                                  .formatted(GoDuration.format(time)))
                      .orElse(""));
    }
    if (hidden > 0) {
      body.put("hiddenTargets", hidden);
      body.withArray("text")
          .add(
              "it would preempt "
                  + hidden
                  + (hidden == 1 ? " Workload" : " Workloads")
                  + ExplainEndpoint.NOT_READ);
    }
  }
}

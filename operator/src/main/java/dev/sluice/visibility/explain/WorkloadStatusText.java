package dev.sluice.visibility.explain;

import dev.sluice.api.KueueConstants;
import dev.sluice.workload.record.CachedWorkload;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The status of a Workload and its reason, in one sentence that changes only when the status
 * changes.
 */
final class WorkloadStatusText {

  private static final int NAMED = 3;

  private WorkloadStatusText() {}

  /**
   * The sentence.
   *
   * @param below a message of a check that is shown separately and left out of the sentence
   * @param ahead the Workloads before it, in queue order
   * @param strict whether its ClusterQueue uses StrictFIFO
   * @param usageHolders the Workloads that hold the quota it requests, largest first
   */
  static String of(
      GenericKubernetesResource workload,
      String below,
      List<CachedWorkload> ahead,
      boolean strict,
      List<UsageHolder> usageHolders) {
    if (JsonPaths.isTrue(workload, "Finished")) {
      return "it has finished: " + conditionMessage(workload, "Finished");
    }
    if (JsonPaths.isTrue(workload, "QuotaReserved")) {
      return holding(workload, below);
    }
    if (Boolean.FALSE.equals(workload.get("spec", "active"))) {
      return "it is deactivated, until spec.active is set to true"
          + (JsonPaths.isTrue(workload, "Evicted")
              ? ": " + conditionMessage(workload, "Evicted")
              : "");
    }
    String gates = gates(workload);
    if (!gates.isEmpty()) {
      return "it is not in line: "
          + gates
          + " in the annotation "
          + KueueConstants.ADMISSION_GATED_BY
          + " of its job keeps it out until it is taken off";
    }
    if (JsonPaths.condition(workload, "Requeued")
        .filter(found -> "DRAResourcesUnresolved".equals(found.get("reason")))
        .isPresent()) {
      return "it is not in line until its devices can be counted: "
          + message(workload, "QuotaReserved");
    }
    if (JsonPaths.is(workload, "Requeued", "False")) {
      return sentBack(workload);
    }
    return waiting(workload, ahead, strict, usageHolders);
  }

  private static String gates(GenericKubernetesResource workload) {
    Map<String, String> annotations = workload.getMetadata().getAnnotations();
    return annotations == null
        ? ""
        : annotations.getOrDefault(KueueConstants.ADMISSION_GATED_BY, "").strip();
  }

  private static String holding(GenericKubernetesResource workload, String below) {
    String queue = JsonPaths.text(workload, "status", "admission", "clusterQueue");
    if (JsonPaths.isTrue(workload, "Evicted")) {
      return "it has to stop, and holds quota of ClusterQueue %s until it has: %s"
          .formatted(queue, conditionMessage(workload, "Evicted"));
    }
    if (JsonPaths.isTrue(workload, "Admitted")) {
      String cluster = JsonPaths.text(workload, "status", "clusterName");
      return "it is admitted by ClusterQueue "
          + queue
          + (cluster.isEmpty() ? "" : ", and runs in worker cluster " + cluster);
    }
    List<String> checks = new ArrayList<>();
    for (Map<?, ?> check : JsonPaths.maps(workload.get("status", "admissionChecks"))) {
      String state = JsonPaths.string(check.get("state"), "Pending");
      if (!state.equals("Ready")) {
        String message = JsonPaths.string(check.get("message"), "");
        checks.add(
            "%s is %s%s"
                .formatted(
                    JsonPaths.string(check.get("name"), ""),
                    state,
                    message.isEmpty() || message.equals(below) ? "" : " (" + message + ")"));
      }
    }
    return "it holds quota of ClusterQueue %s and waits for admission checks: %s%s"
        .formatted(
            queue,
            checks.isEmpty() ? conditionMessage(workload, "Admitted") : String.join(", ", checks),
            offers(workload));
  }

  private static String offers(GenericKubernetesResource workload) {
    return workload.get("status", "nominatedClusterNames") instanceof List<?> names
            && !names.isEmpty()
        ? "; it is offered to worker clusters "
            + names.stream().map(Object::toString).collect(Collectors.joining(", "))
            + ", of which none has admitted it yet"
        : "";
  }

  private static String sentBack(GenericKubernetesResource workload) {
    String until = JsonPaths.text(workload, "status", "requeueState", "requeueAt");
    String count = JsonPaths.text(workload, "status", "requeueState", "count");
    return "it was sent back (%s) and is not in line %s%s"
        .formatted(
            conditionMessage(
                workload, JsonPaths.isTrue(workload, "Evicted") ? "Evicted" : "Requeued"),
            until.isEmpty() ? "until it is let in again" : "before " + until,
            count.isEmpty() ? "" : ", return number " + count);
  }

  private static String waiting(
      GenericKubernetesResource workload,
      List<CachedWorkload> ahead,
      boolean strict,
      List<UsageHolder> usageHolders) {
    String reason =
        JsonPaths.condition(workload, "QuotaReserved")
            .map(found -> JsonPaths.string(found.get("reason"), ""))
            .orElse("");
    return switch (reason) {
      case "", "PendingEvaluation" -> behind(ahead, strict);
      case "ExceedsMaxQuota", "NoMatchingFlavor", "Misconfigured" ->
          "it can't be admitted as it is: " + conditionMessage(workload, "QuotaReserved");
      case "WaitingForQuota" ->
          "it waits for quota: " + message(workload, "QuotaReserved") + held(usageHolders);
      default -> "it waits: " + conditionMessage(workload, "QuotaReserved");
    };
  }

  private static String behind(List<CachedWorkload> ahead, boolean strict) {
    if (ahead.isEmpty()) {
      return "it is next, and was not evaluated yet";
    }
    CachedWorkload first = ahead.getFirst();
    return "it waits behind %d other%s%s; the first is %s/%s, priority %d%s"
        .formatted(
            ahead.size(),
            ahead.size() == 1 ? "" : "s",
            strict ? ", which nobody overtakes in a StrictFIFO queue" : "",
            first.id().namespace(),
            first.id().name(),
            first.spec().priority(),
            first
                .status()
                .condition("QuotaReserved")
                .map(why -> ", which waits itself: " + joined(why.reason(), why.message()))
                .orElse(""));
  }

  private static String held(List<UsageHolder> usageHolders) {
    if (usageHolders.isEmpty()) {
      return "";
    }
    return "; what it lacks is held by "
        + String.join(", ", usageHolders.stream().limit(NAMED).map(UsageHolder::inShort).toList())
        + (usageHolders.size() > NAMED ? " and others" : "");
  }

  private static String conditionMessage(GenericKubernetesResource workload, String type) {
    String reason =
        JsonPaths.condition(workload, type)
            .map(found -> JsonPaths.string(found.get("reason"), ""))
            .orElse("");
    return joined(reason, message(workload, type));
  }

  private static String joined(String reason, String message) {
    return message.isEmpty() ? reason : reason + ", " + message;
  }

  private static String message(GenericKubernetesResource workload, String type) {
    return JsonPaths.condition(workload, type)
        .map(found -> JsonPaths.string(found.get("message"), ""))
        .orElse("");
  }
}

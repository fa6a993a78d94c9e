package dev.sluice.cli.explain;

import dev.sluice.api.Keys;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Where a Workload stands and why, in one sentence that only changes when that does. */
final class Standing {

  private static final int NAMED = 3;

  private Standing() {}

  /**
   * The sentence.
   *
   * @param ahead those in line before it, first one first
   * @param strict whether nobody in its ClusterQueue overtakes
   * @param holders who holds what it wants, most first
   */
  static String of(
      GenericKubernetesResource workload,
      List<GenericKubernetesResource> ahead,
      boolean strict,
      List<Holder> holders) {
    return of(workload, "", ahead, strict, holders);
  }

  /**
   * The same for one whose checks may have told something.
   *
   * @param below a message that is told apart, and not in the sentence
   */
  static String of(
      GenericKubernetesResource workload,
      String below,
      List<GenericKubernetesResource> ahead,
      boolean strict,
      List<Holder> holders) {
    if (Objects.isTrue(workload, "Finished")) {
      return "it has finished: " + told(workload, "Finished");
    }
    if (Objects.isTrue(workload, "QuotaReserved")) {
      return holding(workload, below);
    }
    if (Boolean.FALSE.equals(workload.get("spec", "active"))) {
      return "it is deactivated, until spec.active is set to true"
          + (Objects.isTrue(workload, "Evicted") ? ": " + told(workload, "Evicted") : "");
    }
    String gates = gates(workload);
    if (!gates.isEmpty()) {
      return "it is not in line: "
          + gates
          + " in the annotation "
          + Keys.ADMISSION_GATED_BY
          + " of its job keeps it out until it is taken off";
    }
    if (Objects.is(workload, "Requeued", "False")) {
      return sentBack(workload);
    }
    return waiting(workload, ahead, strict, holders);
  }

  /** Whether it stands in line: nothing keeps it out. */
  static boolean inLine(GenericKubernetesResource workload) {
    return Objects.waits(workload)
        && gates(workload).isEmpty()
        && !Objects.is(workload, "Requeued", "False");
  }

  private static String gates(GenericKubernetesResource workload) {
    Map<String, String> annotations = workload.getMetadata().getAnnotations();
    return annotations == null ? "" : annotations.getOrDefault(Keys.ADMISSION_GATED_BY, "").strip();
  }

  private static String holding(GenericKubernetesResource workload, String below) {
    String queue = Objects.text(workload, "status", "admission", "clusterQueue");
    if (Objects.isTrue(workload, "Evicted")) {
      return "it has to stop, and holds quota of ClusterQueue %s until it has: %s"
          .formatted(queue, told(workload, "Evicted"));
    }
    if (Objects.isTrue(workload, "Admitted")) {
      String cluster = Objects.text(workload, "status", "clusterName");
      return "it is admitted by ClusterQueue "
          + queue
          + (cluster.isEmpty() ? "" : ", and runs in worker cluster " + cluster);
    }
    List<String> checks = new ArrayList<>();
    for (Map<?, ?> check : Objects.maps(workload.get("status", "admissionChecks"))) {
      String state = Objects.string(check.get("state"), "Pending");
      if (!state.equals("Ready")) {
        String message = Objects.string(check.get("message"), "");
        checks.add(
            "%s is %s%s"
                .formatted(
                    Objects.string(check.get("name"), ""),
                    state,
                    message.isEmpty() || message.equals(below) ? "" : " (" + message + ")"));
      }
    }
    return "it holds quota of ClusterQueue %s and waits for admission checks: %s%s"
        .formatted(
            queue,
            checks.isEmpty() ? told(workload, "Admitted") : String.join(", ", checks),
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
    String until = Objects.text(workload, "status", "requeueState", "requeueAt");
    String count = Objects.text(workload, "status", "requeueState", "count");
    return "it was sent back (%s) and is not in line %s%s"
        .formatted(
            told(workload, Objects.isTrue(workload, "Evicted") ? "Evicted" : "Requeued"),
            until.isEmpty() ? "until it is let in again" : "before " + until,
            count.isEmpty() ? "" : ", return number " + count);
  }

  private static String waiting(
      GenericKubernetesResource workload,
      List<GenericKubernetesResource> ahead,
      boolean strict,
      List<Holder> holders) {
    String reason =
        Objects.condition(workload, "QuotaReserved")
            .map(found -> Objects.string(found.get("reason"), ""))
            .orElse("");
    return switch (reason) {
      case "", "PendingEvaluation" -> behind(ahead, strict);
      case "ExceedsMaxQuota", "NoMatchingFlavor", "Misconfigured" ->
          "it can't be admitted as it is: " + told(workload, "QuotaReserved");
      case "WaitingForQuota" ->
          "it waits for quota: " + message(workload, "QuotaReserved") + held(holders);
      default -> "it waits: " + told(workload, "QuotaReserved");
    };
  }

  private static String behind(List<GenericKubernetesResource> ahead, boolean strict) {
    if (ahead.isEmpty()) {
      return "it is next, and was not evaluated yet";
    }
    GenericKubernetesResource first = ahead.getFirst();
    Optional<Map<?, ?>> why = Objects.condition(first, "QuotaReserved");
    return "it waits behind %d other%s%s; the first is %s, priority %d%s"
        .formatted(
            ahead.size(),
            ahead.size() == 1 ? "" : "s",
            strict ? ", whom nobody overtakes in a StrictFIFO queue" : "",
            Objects.fullName(first),
            Objects.priority(first),
            why.isPresent() ? ", which waits itself: " + told(first, "QuotaReserved") : "");
  }

  private static String held(List<Holder> holders) {
    if (holders.isEmpty()) {
      return "";
    }
    return "; what it lacks is held by "
        + String.join(", ", holders.stream().limit(NAMED).map(Holder::inShort).toList())
        + (holders.size() > NAMED ? " and others" : "");
  }

  private static String told(GenericKubernetesResource workload, String type) {
    String reason =
        Objects.condition(workload, type)
            .map(found -> Objects.string(found.get("reason"), ""))
            .orElse("");
    String message = message(workload, type);
    return message.isEmpty() ? reason : reason + ", " + message;
  }

  private static String message(GenericKubernetesResource workload, String type) {
    return Objects.condition(workload, type)
        .map(found -> Objects.string(found.get("message"), ""))
        .orElse("");
  }
}

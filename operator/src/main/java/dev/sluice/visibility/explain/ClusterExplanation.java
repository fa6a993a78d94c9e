package dev.sluice.visibility.explain;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.Quantities;
import dev.sluice.kube.client.ApiReader;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.PodsReady;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Explains a Workload from the objects of the API server: its conditions, its queues, and the
 * Workloads that hold quota of its ClusterQueue. Objects that the user may not read are left out,
 * and a line says so.
 */
final class ClusterExplanation {

  private static final int HOLDERS = 5;
  private static final List<String> TOLD =
      List.of(
          "Finished",
          "Evicted",
          "Preempted",
          "Admitted",
          "QuotaReserved",
          "PodsReady",
          "Requeued",
          "DeactivationTarget");

  private final QueueObjectReader objects;
  private final InstantSource clock;

  ClusterExplanation(ApiReader api, InstantSource clock) {
    this.objects = new QueueObjectReader(api);
    this.clock = clock;
  }

  /** The explanation line by line; empty if the Workload does not exist. */
  Optional<List<String>> lines(String namespace, String name) {
    return objects.get("workloads", namespace, name).map(this::lines);
  }

  private List<String> lines(GenericKubernetesResource workload) {
    List<String> lines = new ArrayList<>();
    lines.add("Workload " + JsonPaths.fullName(workload));
    if (JsonPaths.waits(workload)) {
      waiting(workload, lines);
    } else {
      WorkerClusterAnswers answers = WorkerClusterAnswers.of(workload, objects);
      lines.add(queues(workload));
      lines.add(
          "  why: "
              + WorkloadStatusText.of(workload, answers.message(), List.of(), false, List.of()));
      lines.addAll(answers.lines());
      lines.addAll(conditions(workload));
    }
    lines.addAll(objects.remarks());
    return lines;
  }

  private void waiting(GenericKubernetesResource workload, List<String> lines) {
    Optional<GenericKubernetesResource> localQueue = localQueue(workload, lines);
    if (localQueue.isEmpty()) {
      lines.add(
          "  why: "
              + (JsonPaths.condition(workload, "QuotaReserved").isEmpty()
                  ? "it is in no queue"
                  : WorkloadStatusText.of(workload, "", List.of(), false, List.of())));
      lines.addAll(conditions(workload));
      return;
    }
    QueueContext context = new QueueContext(objects, workload, localQueue.get(), clock.instant());
    List<UsageHolder> usageHolders = UsageHolder.inTheWay(workload, context.holding());
    lines.add(
        "  why: "
            + WorkloadStatusText.of(workload, "", context.ahead(), context.strict(), usageHolders)
            + context.earlierLocalQueues());
    lines.addAll(conditions(workload));
    lines.addAll(context.lines());
    usageHolders.stream().limit(HOLDERS).map(UsageHolder::line).forEach(lines::add);
  }

  /** The LocalQueue of a pending Workload, which is described in a line. */
  private Optional<GenericKubernetesResource> localQueue(
      GenericKubernetesResource workload, List<String> lines) {
    String namespace = workload.getMetadata().getNamespace();
    String queue = JsonPaths.text(workload, "spec", "queueName");
    if (queue.isEmpty()) {
      lines.add("  has no queue name: it is not queued");
      return Optional.empty();
    }
    Optional<Optional<GenericKubernetesResource>> read =
        objects.permitted(
            "LocalQueue " + queue + " can't be read",
            () -> objects.get("localqueues", namespace, queue));
    if (read.isEmpty()) {
      lines.add("  LocalQueue " + queue);
      return Optional.empty();
    }
    Optional<GenericKubernetesResource> found = read.get();
    if (found.isEmpty()) {
      lines.add("  LocalQueue " + queue + " does not exist in namespace " + namespace);
      return found;
    }
    lines.add(
        "  LocalQueue "
            + queue
            + " of ClusterQueue "
            + JsonPaths.text(found.get(), "spec", "clusterQueue"));
    JsonPaths.conditionLine(found.get(), "Active", "False")
        .ifPresent(line -> lines.add("  LocalQueue " + line));
    return found;
  }

  /** The queues of a Workload that is not pending. */
  private static String queues(GenericKubernetesResource workload) {
    String queue = JsonPaths.text(workload, "spec", "queueName");
    String admittedBy = JsonPaths.text(workload, "status", "admission", "clusterQueue");
    String local = queue.isEmpty() ? "  has no queue name" : "  LocalQueue " + queue;
    if (admittedBy.isEmpty()) {
      return local;
    }
    return local
        + (JsonPaths.isTrue(workload, "Finished") ? ", had" : ", holds")
        + " quota of ClusterQueue "
        + admittedBy;
  }

  private static List<String> conditions(GenericKubernetesResource workload) {
    List<String> lines = new ArrayList<>();
    if (Boolean.FALSE.equals(workload.get("spec", "active"))) {
      lines.add("  spec.active is false: it is not queued until it is set to true");
    }
    boolean admitted = JsonPaths.isTrue(workload, "Admitted");
    for (String type : TOLD) {
      JsonPaths.condition(workload, type)
          .filter(
              it -> !PodsReady.saysNothing(type, JsonPaths.string(it.get("reason"), ""), admitted))
          .map(JsonPaths::line)
          .ifPresent(lines::add);
    }
    if (lines.isEmpty()) {
      lines.add("  no condition yet: it was not evaluated");
    }
    return lines;
  }

  /**
   * Answers of the worker clusters for a pending Workload, from the message of its MultiKueue
   * check.
   *
   * @param message message of the check; empty if there are no answers
   * @param lines one line per cluster
   */
  private record WorkerClusterAnswers(String message, List<String> lines) {

    private static final WorkerClusterAnswers NONE = new WorkerClusterAnswers("", List.of());

    /**
     * Reads the answers from the Workload's checks; empty if the clusters' names cannot be read.
     */
    static WorkerClusterAnswers of(GenericKubernetesResource workload, QueueObjectReader objects) {
      for (Map<?, ?> check : JsonPaths.maps(workload.get("status", "admissionChecks"))) {
        String message = JsonPaths.string(check.get("message"), "");
        if (JsonPaths.string(check.get("state"), "Pending").equals("Pending")
            && message.contains(": ")) {
          List<String> lines = lines(message, names(objects));
          if (!lines.isEmpty()) {
            return new WorkerClusterAnswers(message, lines);
          }
        }
      }
      return NONE;
    }

    private static List<String> names(QueueObjectReader objects) {
      return objects
          .permitted("MultiKueueClusters can't be read", () -> objects.list("multikueueclusters"))
          .orElse(List.of())
          .stream()
          .map(it -> it.getMetadata().getName())
          .toList();
    }

    /** The answers in a message; each starts with one of these cluster names. */
    static List<String> lines(String message, List<String> names) {
      if (names.isEmpty()) {
        return List.of();
      }
      String any = names.stream().map(Pattern::quote).collect(Collectors.joining("|"));
      Matcher starts = Pattern.compile("(?:^|; )(?=(?:" + any + "): )").matcher(message);
      List<String> lines = new ArrayList<>();
      int from = -1;
      while (starts.find()) {
        if (from >= 0) {
          lines.add("  worker cluster " + message.substring(from, starts.start()));
        }
        from = starts.end();
      }
      if (from >= 0) {
        lines.add("  worker cluster " + message.substring(from));
      }
      return lines;
    }
  }

  /**
   * The status of a Workload and its reason, in one sentence that changes only when the status
   * changes.
   */
  private static final class WorkloadStatusText {

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

  /**
   * A Workload that holds quota that a pending Workload requests.
   *
   * @param name namespace and name
   * @param clusterQueue the ClusterQueue whose quota it holds
   * @param usage its usage of the requested resources, in amounts
   * @param weight how many times its usage would satisfy the request; for comparison
   */
  private record UsageHolder(
      String name, String clusterQueue, Map<String, Long> usage, double weight) {

    /**
     * The Workloads of {@code holding} that hold quota which {@code waiting} requests, largest
     * weight first.
     */
    static List<UsageHolder> inTheWay(
        GenericKubernetesResource waiting, List<CachedWorkload> holding) {
      Map<String, Long> wanted = JsonPaths.requests(waiting);
      return holding.stream()
          .flatMap(each -> each.status().admission().stream().map(it -> of(each, it, wanted)))
          .filter(usageHolder -> !usageHolder.usage().isEmpty())
          .sorted(
              Comparator.comparingDouble(UsageHolder::weight)
                  .reversed()
                  .thenComparing(UsageHolder::name))
          .toList();
    }

    private static UsageHolder of(
        CachedWorkload holding, CachedWorkload.Admission admission, Map<String, Long> wanted) {
      Map<String, Long> usage = new TreeMap<>();
      double weight = 0;
      for (CachedWorkload.Assignment podSet : admission.podSetAssignments()) {
        for (Map.Entry<String, String> used : podSet.resourceUsage().entrySet()) {
          long amount = Quantities.amount(used.getKey(), used.getValue());
          long request = wanted.getOrDefault(used.getKey(), 0L);
          if (amount > 0 && (wanted.isEmpty() || request > 0)) {
            usage.merge(used.getKey(), amount, Long::sum);
            weight += request > 0 ? (double) amount / request : 1;
          }
        }
      }
      return new UsageHolder(
          holding.id().namespace() + "/" + holding.id().name(),
          admission.clusterQueue(),
          usage,
          weight);
    }

    /** Name and usage. */
    String inShort() {
      return name + " (" + amounts() + ")";
    }

    /** A full line of text. */
    String line() {
      return "  held by " + name + " in ClusterQueue " + clusterQueue + ": " + amounts();
    }

    private String amounts() {
      return String.join(
          ", ",
          usage.entrySet().stream()
              .map(each -> each.getKey() + " " + Quantities.format(each.getKey(), each.getValue()))
              .toList());
    }
  }
}

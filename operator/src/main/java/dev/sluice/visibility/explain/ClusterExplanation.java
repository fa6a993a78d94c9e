package dev.sluice.visibility.explain;

import dev.sluice.kube.client.ApiReader;
import dev.sluice.workload.status.PodsReady;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
}

package dev.sluice.visibility.explain;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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

  private final KubernetesClient client;

  ClusterExplanation(KubernetesClient client) {
    this.client = client;
  }

  /** The explanation line by line; empty if the Workload does not exist. */
  Optional<List<String>> lines(String namespace, String name) {
    GenericKubernetesResource workload =
        client
            .genericKubernetesResources(kind("Workload", "workloads", true))
            .inNamespace(namespace)
            .withName(name)
            .get();
    return Optional.ofNullable(workload).map(this::lines);
  }

  private List<String> lines(GenericKubernetesResource workload) {
    List<String> lines = new ArrayList<>();
    String namespace = workload.getMetadata().getNamespace();
    String queue = JsonPaths.text(workload, "spec", "queueName");
    lines.add("Workload " + JsonPaths.fullName(workload));
    String clusterQueue = queues(lines, workload, namespace, queue);
    int why = lines.size();
    conditions(workload).forEach(lines::add);
    if (!JsonPaths.waits(workload)) {
      WorkerClusterAnswers answers = WorkerClusterAnswers.of(workload, client);
      lines.add(
          why,
          "  why: "
              + WorkloadStatusText.of(workload, answers.message(), List.of(), false, List.of()));
      lines.addAll(why + 1, answers.lines());
      return lines;
    }
    QueueContext queueContext = new QueueContext(client, clusterQueue, namespace, queue);
    List<UsageHolder> usageHolders = UsageHolder.inTheWay(workload, queueContext.holding());
    lines.add(
        why,
        "  why: "
            + WorkloadStatusText.of(
                workload, queueContext.ahead(workload), queueContext.strict(), usageHolders)
            + queueContext.turn(workload));
    lines.addAll(queueContext.lines(workload));
    usageHolders.stream().limit(HOLDERS).map(UsageHolder::line).forEach(lines::add);
    return lines;
  }

  private String queues(
      List<String> lines, GenericKubernetesResource workload, String namespace, String queue) {
    String admittedBy = JsonPaths.text(workload, "status", "admission", "clusterQueue");
    if (!admittedBy.isEmpty()) {
      lines.add("  LocalQueue " + queue + ", holds quota of ClusterQueue " + admittedBy);
      return admittedBy;
    }
    if (queue.isEmpty()) {
      lines.add("  has no queue name: it is not queued");
      return "";
    }
    GenericKubernetesResource local =
        client
            .genericKubernetesResources(kind("LocalQueue", "localqueues", true))
            .inNamespace(namespace)
            .withName(queue)
            .get();
    if (local == null) {
      lines.add("  LocalQueue " + queue + " does not exist in namespace " + namespace);
      return "";
    }
    String clusterQueue = JsonPaths.text(local, "spec", "clusterQueue");
    lines.add("  LocalQueue " + queue + " of ClusterQueue " + clusterQueue);
    JsonPaths.conditionLine(local, "Active", "False")
        .ifPresent(line -> lines.add("  LocalQueue " + line));
    return clusterQueue;
  }

  private static List<String> conditions(GenericKubernetesResource workload) {
    List<String> lines = new ArrayList<>();
    if (Boolean.FALSE.equals(workload.get("spec", "active"))) {
      lines.add("  spec.active is false: it is not queued until it is set to true");
    }
    for (String type : TOLD) {
      JsonPaths.condition(workload, type).map(JsonPaths::line).ifPresent(lines::add);
    }
    if (lines.isEmpty()) {
      lines.add("  no condition yet: it was not evaluated");
    }
    return lines;
  }

  /** A kind of the project's API, for a client without typed classes. */
  static ResourceDefinitionContext kind(String kind, String plural, boolean namespaced) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(ApiVersions.GROUP)
        .withVersion(ApiVersions.V1BETA2)
        .withKind(kind)
        .withPlural(plural)
        .withNamespaced(namespaced)
        .build();
  }
}

package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.demo.MultiClusterScenario.ScenarioClusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One Job of the multi-cluster scenario, with its state in the manager and in the workers. */
final class ClusterJob {

  private final ScenarioClusters clusters;
  private final String name;

  ClusterJob(ScenarioClusters clusters, String name) {
    this.clusters = clusters;
    this.name = name;
  }

  String name() {
    return name;
  }

  /** The manager's Job. */
  Optional<JsonNode> here() {
    return clusters.manager().named(AuditedKind.JOB, name).stream().findFirst();
  }

  /** The manager's Workload of the Job. */
  Optional<JsonNode> workload() {
    return clusters.manager().recorder().current(AuditedKind.WORKLOAD).stream()
        .filter(this::isOwn)
        .findFirst();
  }

  private boolean isOwn(JsonNode workload) {
    return workload.at("/metadata/ownerReferences/0/name").asText().equals(name)
        && workload.at("/metadata/namespace").asText().equals(MultiClusterScenario.NAMESPACE);
  }

  /** Every recorded state of the manager's Workload. */
  List<JsonNode> workloadHistory() {
    return clusters.manager().recorder().history().stream()
        .filter(
            objectChange ->
                objectChange.kind() == AuditedKind.WORKLOAD && isOwn(objectChange.object()))
        .map(objectChange -> objectChange.object())
        .toList();
  }

  /** The worker that it runs in, according to the manager; empty if there is none. */
  String cluster() {
    return workload().map(it -> it.at("/status/clusterName").asText()).orElse("");
  }

  /** The number of active pods in the manager's status. */
  int activeHere() {
    return here().map(it -> it.at("/status/active").asInt()).orElse(0);
  }

  /** The number of its pods that run in a worker. */
  int runningIn(String worker) {
    return clusters.runs().pods(MultiClusterScenario.NAMESPACE, name, worker);
  }

  /** The workers in which it ever had a pod. */
  List<String> ranIn() {
    return clusters.workers().values().stream()
        .filter(worker -> worker.podsEver(name) > 0)
        .map(ScenarioMember::name)
        .toList();
  }

  boolean isComplete() {
    return here().filter(it -> ScenarioClusters.isTrue(it, "Complete")).isPresent()
        && workload().filter(it -> ScenarioClusters.isTrue(it, "Finished")).isPresent();
  }

  /**
   * A fault unless the manager's status at some time showed this many running pods, and later as
   * many ended ones.
   */
  Optional<String> faultOfStatus(int pods) {
    List<JsonNode> history =
        clusters.manager().recorder().history().stream()
            .filter(objectChange -> objectChange.kind() == AuditedKind.JOB)
            .map(objectChange -> objectChange.object())
            .filter(it -> it.at("/metadata/name").asText().equals(name))
            .toList();
    boolean live = history.stream().anyMatch(it -> it.at("/status/active").asInt() == pods);
    int succeeded = history.isEmpty() ? 0 : history.getLast().at("/status/succeeded").asInt();
    if (!live) {
      return Optional.of("%s never told of %d active pods".formatted(name, pods));
    }
    return succeeded == pods
        ? Optional.empty()
        : Optional.of("%s tells of %d pods that succeeded".formatted(name, succeeded));
  }

  /** Its objects left in workers, by kind and cluster. */
  List<String> leftInWorkers() {
    List<String> left = new ArrayList<>();
    String workload = workload().map(it -> it.at("/metadata/name").asText()).orElse("");
    for (ScenarioMember worker : clusters.workers().values()) {
      if (!worker.named(AuditedKind.JOB, name).isEmpty()) {
        left.add("Job " + name + " in " + worker.name());
      }
      if (!worker.named(AuditedKind.WORKLOAD, workload).isEmpty()) {
        left.add("Workload " + workload + " in " + worker.name());
      }
      if (!worker.pods(name).isEmpty()) {
        left.add("pods of " + name + " in " + worker.name());
      }
    }
    return left;
  }
}

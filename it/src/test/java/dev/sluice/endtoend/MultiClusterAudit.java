package dev.sluice.endtoend;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.DuplicateRunDetector;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.audit.WatchRecorder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Watches manager and workers by ways that are never cut, and tells in the end what went wrong. It
 * shares nothing with the operator.
 */
final class MultiClusterAudit implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final DuplicateRunDetector runs = new DuplicateRunDetector();
  private final WatchRecorder manager;
  private final List<AutoCloseable> watches = new ArrayList<>();

  /** Statuses of Jobs that ended in a worker, by name. */
  private final Map<String, Set<JsonNode>> ended = new ConcurrentHashMap<>();

  MultiClusterAudit(KubernetesClient manager, MultiClusterLoad multiClusterLoad) {
    this.manager = new WatchRecorder(manager, InstantSource.system()).start();
    for (MultiClusterLoad.Worker worker : multiClusterLoad.workers()) {
      watches.add(
          watch(
              worker,
              AuditedKind.POD,
              (pod, gone) ->
                  runs.seen(worker.name(), new ObjectChange(0, AuditedKind.POD, gone, pod))));
      watches.add(watch(worker, AuditedKind.JOB, (job, gone) -> note(job)));
    }
  }

  /** Is shown an object, and whether it is gone. */
  private interface Eye {
    void see(JsonNode object, boolean gone);
  }

  private static AutoCloseable watch(MultiClusterLoad.Worker worker, AuditedKind kind, Eye eye) {
    return worker
        .client()
        .genericKubernetesResources(kind.context())
        .inNamespace(MultiClusterLoad.NAMESPACE)
        .inform(
            new ResourceEventHandler<GenericKubernetesResource>() {
              @Override
              public void onAdd(GenericKubernetesResource object) {
                eye.see(JSON.valueToTree(object), false);
              }

              @Override
              public void onUpdate(
                  GenericKubernetesResource before, GenericKubernetesResource after) {
                eye.see(JSON.valueToTree(after), false);
              }

              @Override
              public void onDelete(GenericKubernetesResource object, boolean unknown) {
                eye.see(JSON.valueToTree(object), true);
              }
            });
  }

  private void note(JsonNode job) {
    if (isTrue(job, "Complete") || isTrue(job, "Failed")) {
      ended
          .computeIfAbsent(job.at("/metadata/name").asText(), any -> ConcurrentHashMap.newKeySet())
          .add(job.path("status"));
    }
  }

  /** How many Jobs are complete in the manager. */
  long complete() {
    return manager.current(AuditedKind.JOB).stream().filter(it -> isTrue(it, "Complete")).count();
  }

  /** Jobs that ran in more than one cluster one after the other. */
  Set<String> endedTwice() {
    Set<String> twice = new HashSet<>();
    ended.forEach(
        (job, statuses) -> {
          if (statuses.stream().map(it -> it.path("completionTime")).distinct().count() > 1) {
            twice.add(job);
          }
        });
    return twice;
  }

  /** All that is wrong, once nothing happens any more. */
  List<String> faults(int jobs) {
    List<String> faults = new ArrayList<>(runs.violations());
    manager.gap().ifPresent(faults::add);
    List<JsonNode> here = manager.current(AuditedKind.JOB);
    if (here.size() != jobs) {
      faults.add("the manager has " + here.size() + " Jobs");
    }
    for (JsonNode job : here) {
      fault(job).ifPresent(faults::add);
    }
    faults.addAll(endsTakenBack());
    if (manager.history().stream().anyMatch(it -> it.kind() == AuditedKind.POD)) {
      faults.add("the manager had a pod");
    }
    return faults;
  }

  private Optional<String> fault(JsonNode job) {
    String name = job.at("/metadata/name").asText();
    JsonNode status = job.path("status");
    if (!isTrue(job, "Complete")) {
      return Optional.of(name + " is not complete: " + status);
    }
    int completions = job.at("/spec/completions").asInt();
    if (status.path("succeeded").asInt() != completions || status.path("active").asInt() != 0) {
      return Optional.of(name + " ended with " + status);
    }
    boolean asInWorker =
        ended.getOrDefault(name, Set.of()).stream()
            .anyMatch(
                it ->
                    it.path("completionTime").equals(status.path("completionTime"))
                        && it.path("conditions").equals(status.path("conditions")));
    return asInWorker
        ? Optional.empty()
        : Optional.of(name + " has another status than in its worker: " + status);
  }

  /** Workloads that were finished, and then weren't; and Jobs with several. */
  private List<String> endsTakenBack() {
    List<String> faults = new ArrayList<>();
    Set<String> finished = new HashSet<>();
    Map<String, String> workloads = new HashMap<>();
    for (ObjectChange objectChange : manager.history()) {
      JsonNode metadata = objectChange.object().path("metadata");
      String uid = metadata.path("uid").asText();
      if (objectChange.kind() == AuditedKind.WORKLOAD) {
        String job = metadata.at("/ownerReferences/0/uid").asText();
        if (!workloads.computeIfAbsent(job, any -> uid).equals(uid)) {
          faults.add("a second Workload: " + metadata.path("name").asText());
        }
        if (isTrue(objectChange.object(), "Finished")) {
          finished.add(uid);
        } else if (finished.contains(uid)) {
          faults.add("not finished any more: " + metadata.path("name").asText());
        }
      }
    }
    return faults;
  }

  /** What workers still have, as their API servers say. */
  static List<String> leftovers(MultiClusterLoad multiClusterLoad) {
    List<String> left = new ArrayList<>();
    for (MultiClusterLoad.Worker worker : multiClusterLoad.workers()) {
      for (AuditedKind kind : List.of(AuditedKind.JOB, AuditedKind.WORKLOAD, AuditedKind.POD)) {
        worker
            .client()
            .genericKubernetesResources(kind.context())
            .inNamespace(MultiClusterLoad.NAMESPACE)
            .list()
            .getItems()
            .forEach(
                it ->
                    left.add(
                        "%s %s in %s"
                            .formatted(it.getKind(), it.getMetadata().getName(), worker.name())));
      }
    }
    return left;
  }

  private static boolean isTrue(JsonNode object, String type) {
    for (JsonNode condition : object.path("status").path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText().equals("True");
      }
    }
    return false;
  }

  @Override
  public void close() throws Exception {
    manager.close();
    for (AutoCloseable watch : watches) {
      watch.close();
    }
  }
}

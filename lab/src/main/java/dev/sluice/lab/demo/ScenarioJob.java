package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.audit.AuditedKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One Job of the scenario, with its history. */
final class ScenarioJob {

  private static final String SELECTOR = "nodeSelector";
  private static final String OWN_KEYS = "kueue.x-k8s.io/";

  private final ScenarioCluster cluster;
  private final String name;
  private final String uid;

  ScenarioJob(ScenarioCluster cluster, String name, String uid) {
    this.cluster = cluster;
    this.name = name;
    this.uid = uid;
  }

  String name() {
    return name;
  }

  /** The update that unsuspended a Job, and the Job before it. */
  record Start(JsonNode before, JsonNode after) {

    /** The value of the node selector that distinguishes the flavors. */
    String instanceType() {
      return after.at("/spec/template/spec/nodeSelector/instance-type").asText();
    }

    long revision() {
      return after.at("/metadata/resourceVersion").asLong();
    }

    /** The fault of the start, if it should have selected these nodes; empty if there is none. */
    Optional<String> fault(String instanceType) {
      JsonNode selector = after.at("/spec/template/spec/" + SELECTOR);
      if (selector.size() != 1 || !instanceType().equals(instanceType)) {
        return Optional.of("started with node selector " + selector);
      }
      if (!before.at("/spec/suspend").asBoolean()) {
        return Optional.of("was not suspended before");
      }
      if (!before.at("/spec/template/spec/" + SELECTOR).isMissingNode()) {
        return Optional.of("had a node selector before it was unsuspended");
      }
      JsonNode was = withoutQueueFields(before.at("/spec/template"));
      JsonNode is = withoutQueueFields(after.at("/spec/template"));
      return was.equals(is)
          ? Optional.empty()
          : Optional.of("the template changed from %s to %s".formatted(was, is));
    }

    /** A template without selector and without the queue's labels and annotations. */
    private static JsonNode withoutQueueFields(JsonNode template) {
      JsonNode copy = template.deepCopy();
      if (copy.path("spec") instanceof ObjectNode spec) {
        spec.remove(SELECTOR);
      }
      for (String map : List.of("labels", "annotations")) {
        if (copy.path("metadata").path(map) instanceof ObjectNode keys) {
          List<String> own = new ArrayList<>();
          keys.fieldNames().forEachRemaining(own::add);
          own.stream().filter(key -> key.startsWith(OWN_KEYS)).forEach(keys::remove);
          if (keys.isEmpty() && copy.path("metadata") instanceof ObjectNode metadata) {
            metadata.remove(map);
          }
        }
      }
      return copy;
    }
  }

  /** Waits for its start. */
  Start awaitStart() {
    return cluster.await("the start of Job " + name, this::start);
  }

  /** Its first start, if it was started. */
  Optional<Start> start() {
    List<JsonNode> history = cluster.recorder().historyOf(AuditedKind.JOB, uid);
    for (int i = 1; i < history.size(); i++) {
      if (!history.get(i).at("/spec/suspend").asBoolean()) {
        return Optional.of(new Start(history.get(i - 1), history.get(i)));
      }
    }
    return Optional.empty();
  }

  /** Waits until it is complete. */
  void awaitCompletion() {
    cluster.await(
        "the completion of Job " + name,
        () ->
            cluster
                .current(AuditedKind.JOB, uid)
                .filter(job -> isTrue(job, "Complete"))
                .filter(job -> workload().map(w -> isTrue(w, "Finished")).orElse(true)));
  }

  /** Waits until its Workload has a condition with the reason why it is pending. */
  JsonNode awaitReason() {
    return cluster.await("a reason why Job " + name + " waits", this::reason);
  }

  /** The condition with the reason why it is pending. */
  Optional<JsonNode> reason() {
    return workload()
        .flatMap(w -> condition(w, "QuotaReserved"))
        .filter(condition -> condition.path("status").asText().equals("False"));
  }

  /** Waits until its Workload holds quota. */
  void awaitAdmission() {
    cluster.await(
        "the admission of Job " + name, () -> workload().filter(w -> isTrue(w, "Admitted")));
  }

  /** Whether it is suspended and has no pod. */
  boolean waits() {
    return cluster
            .current(AuditedKind.JOB, uid)
            .filter(job -> job.at("/spec/suspend").asBoolean())
            .isPresent()
        && cluster.ownedBy(AuditedKind.POD, uid).isEmpty();
  }

  /** Whether the Job and all its dependents are gone. */
  boolean isGone() {
    return cluster.current(AuditedKind.JOB, uid).isEmpty()
        && cluster.ownedBy(AuditedKind.POD, uid).isEmpty()
        && cluster.ownedBy(AuditedKind.WORKLOAD, uid).isEmpty();
  }

  /** Whether it was suspended when it was first seen. */
  boolean wasCreatedSuspended() {
    List<JsonNode> history = cluster.recorder().historyOf(AuditedKind.JOB, uid);
    return !history.isEmpty() && history.getFirst().at("/spec/suspend").asBoolean();
  }

  /** The revision at which the first of its pods ended, or the Job was deleted. */
  Optional<Long> firstEnd() {
    return cluster.recorder().history().stream()
        .filter(
            objectChange ->
                switch (objectChange.kind()) {
                  case POD ->
                      objectChange
                              .object()
                              .at("/metadata/ownerReferences/0/uid")
                              .asText()
                              .equals(uid)
                          && objectChange.object().at("/status/phase").asText().equals("Succeeded");
                  case JOB ->
                      objectChange.object().at("/metadata/uid").asText().equals(uid)
                          && objectChange.object().at("/metadata").has("deletionTimestamp");
                  case WORKLOAD, CLUSTER_QUEUE, LOCAL_QUEUE, COHORT -> false;
                })
        .map(objectChange -> objectChange.revision())
        .findFirst();
  }

  /** The present Workload of the Job. */
  Optional<JsonNode> workload() {
    return cluster.ownedBy(AuditedKind.WORKLOAD, uid).stream().findFirst();
  }

  private static boolean isTrue(JsonNode object, String type) {
    return condition(object, type)
        .filter(condition -> condition.path("status").asText().equals("True"))
        .isPresent();
  }

  private static Optional<JsonNode> condition(JsonNode object, String type) {
    for (JsonNode condition : object.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return Optional.of(condition);
      }
    }
    return Optional.empty();
  }
}

package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.MultiKueueRules.Entry;
import dev.sluice.jobs.kind.MultiKueueRules.RemoteScaling;
import dev.sluice.jobs.kind.MultiKueueRules.StatusRules;
import dev.sluice.kube.json.JsonMergePatch;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Converts jobs between manager and worker, as JSON. Pure functions that do not modify their
 * arguments.
 */
final class RemoteJobFactory {

  private RemoteJobFactory() {}

  /**
   * Result of copying a status.
   *
   * @param patch the merge patch of the manager's job; empty when nothing changes
   * @param heldBack whether the rest must wait until the manager's job is unsuspended
   */
  record StatusUpdate(ObjectNode patch, boolean heldBack) {}

  /** The remote job to create: suspended, with the name of its Workload if it has only one. */
  static ObjectNode copy(
      MultiKueueKind kind, JsonNode job, String workload, OriginLabel originLabel) {
    ObjectNode copy = JsonNodeFactory.instance.objectNode();
    copy.put("apiVersion", kind.apiVersion()).put("kind", kind.kind());
    ObjectNode metadata = copy.putObject("metadata");
    for (String field : List.of("name", "namespace", "labels", "annotations")) {
      if (job.path("metadata").has(field)) {
        metadata.set(field, job.path("metadata").path(field).deepCopy());
      }
    }
    if (metadata.path("annotations") instanceof ObjectNode annotations) {
      annotations.remove(
          List.of(LocalClusterAnnotations.MAY_RUN_HERE, LocalClusterAnnotations.REMOTE_STATUS));
    }
    copy.set("spec", job.path("spec").deepCopy());
    kind.managedBy().forEach(path -> remove(copy, path));
    kind.dropped().fields().forEach(path -> remove(copy, path));
    kind.dropped().entries().forEach(entry -> remove(copy, entry));
    if (!kind.suspend().isEmpty()) {
      parent(copy, kind.suspend()).put(last(kind.suspend()), true);
    }
    if (kind.pods().areMade()) {
      metadata
          .withObjectProperty("annotations")
          .put(KueueConstants.MULTIKUEUE_ORIGIN_UID, job.path("metadata").path("uid").asText());
    }
    originLabel.apply(copy);
    if (!kind.hasWorkloadPerGroup()) {
      originLabel.name(copy, workload);
    }
    return copy;
  }

  /** The status patch of the manager's job for the present state of the remote job. */
  static StatusUpdate withRemoteStatus(
      MultiKueueKind kind, JsonNode local, JsonNode remote, Instant now) {
    StatusRules rules = kind.status();
    if (rules.heldBack()
        && at(local, kind.suspend()).asBoolean()
        && !at(remote, kind.suspend()).asBoolean()
        && !ended(kind, remote)) {
      return new StatusUpdate(
          isTrue(local, "Suspended") ? nothing() : status(suspended(local, now)), true);
    }
    ObjectNode wanted =
        remote.path("status") instanceof ObjectNode status ? status.deepCopy() : nothing();
    for (String count : rules.growing()) {
      int present = local.path("status").path(count).asInt();
      if (present > wanted.path(count).asInt()) {
        wanted.put(count, present);
      }
    }
    ObjectNode changes = JsonMergePatch.between(local.path("status"), wanted);
    return new StatusUpdate(changes.isEmpty() ? nothing() : status(changes), false);
  }

  /** The status patch that removes all mentions of pods; empty when there are none. */
  static ObjectNode withoutPodCounts(MultiKueueKind kind, JsonNode local, Instant now) {
    StatusRules rules = kind.status();
    JsonNode present = local.path("status");
    boolean mentionsPods =
        rules.pods().stream().anyMatch(field -> reports(present.path(field)))
            || rules.podConditions().stream().anyMatch(type -> isTrue(local, type));
    if (!mentionsPods || !at(local, kind.suspend()).asBoolean()) {
      return nothing();
    }
    ObjectNode changes =
        rules.heldBack() && !isTrue(local, "Suspended") ? suspended(local, now) : nothing();
    rules.pods().stream().filter(present::has).forEach(changes::putNull);
    if (rules.podConditions().stream().anyMatch(type -> isTrue(local, type))) {
      ArrayNode conditions = changes.putArray("conditions");
      for (JsonNode condition : present.path("conditions")) {
        if (!rules.podConditions().contains(condition.path("type").asText())) {
          conditions.add(condition.deepCopy());
        }
      }
    }
    return status(changes);
  }

  private static boolean reports(JsonNode field) {
    return switch (field.getNodeType()) {
      case MISSING, NULL -> false;
      case NUMBER -> field.asInt() != 0;
      case STRING -> !field.asText().isEmpty();
      default -> !field.isEmpty();
    };
  }

  /** The patch that copies the pushed fields to the remote job; empty when they are equal. */
  static ObjectNode pushed(MultiKueueKind kind, JsonNode local, JsonNode remote) {
    ObjectNode patch = nothing();
    for (List<String> path : kind.pushed()) {
      JsonNode wanted = at(local, path);
      JsonNode known = at(remote, path);
      if (!wanted.equals(known)) {
        parent(patch, path).set(last(path), change(known, wanted));
      }
    }
    return patch;
  }

  /** A patch that also gives the remote job of an elastic job the size of the manager's job. */
  static ObjectNode resized(
      MultiKueueKind kind, JsonNode local, JsonNode remote, ObjectNode patch) {
    if (!(remote instanceof ObjectNode before)) {
      return patch;
    }
    ObjectNode after = JsonMergePatch.applied(before, patch);
    kind.rules().resize(local, after);
    return JsonMergePatch.between(before, after);
  }

  /**
   * The patch by which the manager's job tells the size of a remote job that scales itself. A pod
   * set counts with the pods for which the copy of the Workload has quota, as long as they are more
   * than the remote job wants: they may still run. A copy that the worker has made smaller is
   * followed first, whatever the job wants by now: only another slice gets it more quota again.
   */
  static ObjectNode followed(
      MultiKueueKind kind,
      JsonNode local,
      JsonNode remote,
      JsonNode copy,
      CachedWorkload workload) {
    RemoteScaling scaling = kind.rules().scaling();
    Map<String, Integer> granted = new LinkedHashMap<>();
    for (JsonNode podSet : copy.path("spec").path("podSets")) {
      granted.put(podSet.path("name").asText(), podSet.path("count").asInt());
    }
    boolean behind =
        workload.spec().podSets().stream()
            .anyMatch(
                podSet -> granted.getOrDefault(podSet.name(), podSet.count()) < podSet.count());
    Map<String, Integer> counts = new LinkedHashMap<>(scaling.remoteCounts(local, remote));
    counts.replaceAll(
        (podSet, wanted) -> {
          int has = granted.getOrDefault(podSet, wanted);
          return behind ? has : Math.max(wanted, has);
        });
    ObjectNode patch = nothing();
    Map<String, String> own = scaling.sizeAnnotations(scaling.remoteCounts(local, local));
    scaling
        .sizeAnnotations(counts)
        .forEach(
            (annotation, size) -> {
              List<String> path = List.of("metadata", "annotations", annotation);
              JsonNode told = at(local, path);
              boolean known =
                  told.isMissingNode()
                      ? size.equals(own.get(annotation))
                      : size.equals(told.asText());
              if (!known) {
                parent(patch, path).put(annotation, size);
              }
            });
    return patch;
  }

  /** Whether a remote job that scales itself wants more pods than a Workload has. */
  static boolean outgrows(
      MultiKueueKind kind, JsonNode local, JsonNode remote, CachedWorkload workload) {
    Map<String, Integer> counts = kind.rules().scaling().remoteCounts(local, remote);
    return workload.spec().podSets().stream()
        .anyMatch(podSet -> counts.getOrDefault(podSet.name(), 0) > podSet.count());
  }

  /** The patch by which the remote job of an elastic job gets its next slice. */
  static ObjectNode handedOver(
      MultiKueueKind kind,
      JsonNode local,
      ObjectNode remote,
      String workload,
      OriginLabel originLabel) {
    ObjectNode after = remote.deepCopy();
    originLabel.name(after, workload);
    kind.rules().resize(local, after);
    return JsonMergePatch.between(remote, after);
  }

  private static JsonNode change(JsonNode known, JsonNode wanted) {
    if (wanted.isMissingNode()) {
      return JsonNodeFactory.instance.nullNode();
    }
    return known.isObject() && wanted.isObject()
        ? JsonMergePatch.between(known, wanted)
        : wanted.deepCopy();
  }

  /** The object with a merge patch applied to it. */
  static ObjectNode appliedTo(ObjectNode object, ObjectNode patch) {
    return JsonMergePatch.applied(object, patch);
  }

  /** The patch that replaces the status of an object; empty when the status is equal. */
  static ObjectNode statusPatch(JsonNode object, JsonNode status) {
    ObjectNode changes = JsonMergePatch.between(object.path("status"), status);
    return changes.isEmpty() ? nothing() : status(changes);
  }

  /**
   * Whether the manager's controller of a job with this end finishes the Workload with the same
   * reason and message.
   */
  static boolean finishesAs(MultiKueueKind kind, JsonNode job, PlacementAction.Finish finish) {
    return kind.status().ends().stream()
        .anyMatch(
            type ->
                JobConditions.whenTrue(job, type)
                    .filter(end -> finish.reason().equals(reasonOf(type)))
                    .filter(end -> finish.message().equals(end.path("message").asText()))
                    .isPresent());
  }

  private static String reasonOf(String end) {
    return end.equals("Failed") ? "Failed" : "Succeeded";
  }

  /** Whether the job has ended. */
  static boolean ended(MultiKueueKind kind, JsonNode job) {
    return kind.status().ends().stream().anyMatch(type -> isTrue(job, type));
  }

  private static ObjectNode suspended(JsonNode local, Instant now) {
    ObjectNode changes = nothing();
    ArrayNode conditions = changes.putArray("conditions");
    for (JsonNode condition : local.path("status").path("conditions")) {
      if (!condition.path("type").asText().equals("Suspended")) {
        conditions.add(condition.deepCopy());
      }
    }
    String time = now.truncatedTo(ChronoUnit.SECONDS).toString();
    conditions
        .addObject()
        .put("type", "Suspended")
        .put("status", "True")
        .put("reason", "MultiKueueAdapter")
        .put("message", "The job is not released in this cluster yet")
        .put("lastProbeTime", time)
        .put("lastTransitionTime", time);
    return changes;
  }

  private static boolean isTrue(JsonNode job, String type) {
    for (JsonNode condition : job.path("status").path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText().equals("True");
      }
    }
    return false;
  }

  /** The field at the end of a path. */
  static JsonNode at(JsonNode object, List<String> path) {
    JsonNode found = object;
    for (String field : path) {
      found = found.path(field);
    }
    return found;
  }

  private static void remove(ObjectNode object, List<String> path) {
    if (at(object, path.subList(0, path.size() - 1)) instanceof ObjectNode parent) {
      parent.remove(last(path));
    }
  }

  private static void remove(ObjectNode object, Entry entry) {
    if (at(object, entry.list()) instanceof ArrayNode list) {
      for (int i = list.size() - 1; i >= 0; i--) {
        if (list.get(i).path(entry.field()).asText().equals(entry.value())) {
          list.remove(i);
        }
      }
      if (list.isEmpty()) {
        remove(object, entry.list());
      }
    }
  }

  private static ObjectNode parent(ObjectNode object, List<String> path) {
    ObjectNode found = object;
    for (String field : path.subList(0, path.size() - 1)) {
      found = found.withObjectProperty(field);
    }
    return found;
  }

  private static String last(List<String> path) {
    return path.getLast();
  }

  private static ObjectNode nothing() {
    return JsonNodeFactory.instance.objectNode();
  }

  private static ObjectNode status(ObjectNode changes) {
    ObjectNode patch = nothing();
    patch.set("status", changes);
    return patch;
  }
}

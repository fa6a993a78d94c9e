package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.placement.RemoteStatusAnnotation;
import java.util.List;

/**
 * The status of a job that runs in a worker while a controller of this cluster owns the one here,
 * because it might have run here: it is kept in an annotation, until it is an end. Pure functions.
 */
final class RemoteStatus {

  private static final List<String> PODS = List.of("active", "ready", "terminating");

  private RemoteStatus() {}

  /**
   * Whether the job might have run here, so that its status belongs to a controller of this
   * cluster. Only kinds that tell when they have ended can be so.
   */
  static boolean isFor(MultiKueueKind kind, JsonNode job) {
    return !kind.status().ends().isEmpty()
        && job.path("metadata")
            .path("annotations")
            .path(LocalClusterAnnotations.MAY_RUN_HERE)
            .asText()
            .equals("true");
  }

  /** The job with the status that was last told, and as one that nothing holds back. */
  static ObjectNode effective(MultiKueueKind kind, ObjectNode job) {
    ObjectNode shown = job.deepCopy();
    shown.set(
        "status",
        RemoteStatusAnnotation.of(job)
            .<JsonNode>map(it -> it)
            .orElseGet(JsonNodeFactory.instance::objectNode));
    ObjectNode parent = shown;
    for (String field : kind.suspend().subList(0, kind.suspend().size() - 1)) {
      parent = parent.withObjectProperty(field);
    }
    parent.put(kind.suspend().getLast(), false);
    return shown;
  }

  /** Whether no pod is left of it. */
  static boolean isIdle(JsonNode status) {
    return PODS.stream().allMatch(count -> status.path(count).asInt() == 0);
  }

  /** Has the job tell this status. */
  static ObjectNode annotated(JsonNode status) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch
        .putObject("metadata")
        .putObject("annotations")
        .put(LocalClusterAnnotations.REMOTE_STATUS, status.toString());
    return patch;
  }

  /** Has the job tell none. */
  static ObjectNode withoutStatus() {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch
        .putObject("metadata")
        .putObject("annotations")
        .putNull(LocalClusterAnnotations.REMOTE_STATUS);
    return patch;
  }
}

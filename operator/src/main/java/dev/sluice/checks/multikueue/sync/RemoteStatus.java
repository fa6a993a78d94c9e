package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.placement.RemoteStatusAnnotation;
import java.util.List;

/**
 * The status of a remote job whose local job's status is owned by a controller of the manager,
 * because the job might have run in the manager: the remote status is kept in an annotation until
 * the job has ended. Pure functions.
 */
final class RemoteStatus {

  private static final List<String> PODS = List.of("active", "ready", "terminating");

  private RemoteStatus() {}

  /**
   * Whether a controller of the manager owns the job's status, because the job might have run in
   * the manager. Applies only to kinds whose status says when the job has ended.
   */
  static boolean isFor(MultiKueueKind kind, JsonNode job) {
    return !kind.status().ends().isEmpty()
        && job.path("metadata")
            .path("annotations")
            .path(LocalClusterAnnotations.MAY_RUN_HERE)
            .asText()
            .equals("true");
  }

  /** The job with the last remote status applied, and not suspended. */
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

  /** Whether the status counts no pods. */
  static boolean isIdle(JsonNode status) {
    return PODS.stream().allMatch(count -> status.path(count).asInt() == 0);
  }

  /** The patch that writes the remote status to the annotation. */
  static ObjectNode annotated(JsonNode status) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch
        .putObject("metadata")
        .putObject("annotations")
        .put(LocalClusterAnnotations.REMOTE_STATUS, status.toString());
    return patch;
  }

  /** The patch that removes the annotation. */
  static ObjectNode withoutStatus() {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch
        .putObject("metadata")
        .putObject("annotations")
        .putNull(LocalClusterAnnotations.REMOTE_STATUS);
    return patch;
  }
}

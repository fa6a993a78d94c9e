package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;

/**
 * Computes the status of a gated local pod from the remote pod of the same name. Pure functions;
 * each returns a merge patch of the local pod, empty when nothing changes. A local pod that has
 * ended is never changed.
 */
final class PodStatuses {

  private static final String SCHEDULED = "PodScheduled";

  /** Status fields that belong to the worker's API server and scheduler. */
  private static final List<String> WORKER_FIELDS =
      List.of("observedGeneration", "nominatedNodeName", "resize", "resourceClaimStatuses");

  private static final Set<String> READINESS = Set.of("Ready", "ContainersReady");
  private static final String CONTAINERS = "containerStatuses";

  private PodStatuses() {}

  /**
   * Copies the status of the remote pod; until the remote pod is scheduled, the local pod is shown
   * as waiting for a node.
   */
  static ObjectNode synced(JsonNode local, JsonNode there, Instant now) {
    if (ended(local)) {
      return nothing();
    }
    if (isStopped(there)) {
      return gated(local, now);
    }
    ObjectNode wanted =
        there.path("status") instanceof ObjectNode status ? status.deepCopy() : nothing();
    wanted.remove(WORKER_FIELDS);
    keep(local, "qosClass", wanted);
    ArrayNode conditions = wanted.putArray("conditions");
    boolean scheduled = isTrue(there, SCHEDULED);
    for (JsonNode condition : there.path("status").path("conditions")) {
      if (condition instanceof ObjectNode valid && (scheduled || !isOf(valid, SCHEDULED))) {
        ObjectNode copy = valid.deepCopy();
        copy.remove("observedGeneration");
        conditions.add(copy);
      }
    }
    if (!scheduled) {
      conditions.add(waiting(local, now));
    }
    return between(local, wanted);
  }

  /** The pod runs nowhere any more and may run again. */
  static ObjectNode gated(JsonNode local, Instant now) {
    if (ended(local) || !hasRun(local)) {
      return nothing();
    }
    ObjectNode wanted = nothing();
    wanted.put("phase", "Pending");
    keep(local, "qosClass", wanted);
    wanted.putArray("conditions").add(waiting(local, now));
    return between(local, wanted);
  }

  /** The pod has run and is gone for good; the exit state of its containers is unknown. */
  static ObjectNode gone(JsonNode local, String message, Instant now) {
    if (ended(local)) {
      return nothing();
    }
    ObjectNode wanted =
        local.path("status") instanceof ObjectNode status ? status.deepCopy() : nothing();
    wanted.put("phase", "Failed").put("reason", "DeletedInWorkerCluster").put("message", message);
    String time = seconds(now);
    for (JsonNode condition : wanted.path("conditions")) {
      if (READINESS.contains(condition.path("type").asText()) && isTrue(condition)) {
        ((ObjectNode) condition)
            .put("status", "False")
            .put("reason", "PodFailed")
            .put("lastTransitionTime", time);
      }
    }
    for (JsonNode container : wanted.path(CONTAINERS)) {
      if (container instanceof ObjectNode status && !status.path("state").has("terminated")) {
        status.put("ready", false).put("started", false);
        ObjectNode end = status.putObject("state").putObject("terminated");
        end.put("exitCode", 137).put("reason", "ContainerStatusUnknown");
        end.put("message", "The container was not seen to end");
      }
    }
    return between(local, wanted);
  }

  /** Whether the pod has ended. */
  static boolean ended(JsonNode pod) {
    String phase = pod.path("status").path("phase").asText();
    return phase.equals("Succeeded") || phase.equals("Failed");
  }

  /** Whether a local pod has the status of a remote pod that was bound to a node. */
  static boolean hasRun(JsonNode pod) {
    return isTrue(pod, SCHEDULED)
        || !pod.path("status").path(CONTAINERS).isEmpty()
        || pod.path("status").path("phase").asText().equals("Running");
  }

  /** Whether the pod ended because Sluice in the worker stopped it; such an end is not copied. */
  private static boolean isStopped(JsonNode there) {
    return ended(there) && isTrue(there, "TerminationTarget");
  }

  /** The condition that the pod waits for its scheduling gates. */
  private static ObjectNode waiting(JsonNode local, Instant now) {
    for (JsonNode condition : local.path("status").path("conditions")) {
      if (isOf(condition, SCHEDULED) && !isTrue(condition)) {
        return condition.deepCopy();
      }
    }
    ObjectNode condition = nothing();
    condition.put("type", SCHEDULED).put("status", "False").put("reason", "SchedulingGated");
    condition.put("message", "Scheduling is blocked due to non-empty scheduling gates");
    return condition.put("lastTransitionTime", seconds(now));
  }

  private static void keep(JsonNode local, String field, ObjectNode wanted) {
    JsonNode present = local.path("status").path(field);
    if (present.isMissingNode()) {
      wanted.remove(field);
    } else {
      wanted.set(field, present.deepCopy());
    }
  }

  private static boolean isOf(JsonNode condition, String type) {
    return condition.path("type").asText().equals(type);
  }

  private static boolean isTrue(JsonNode condition) {
    return condition.path("status").asText().equals("True");
  }

  private static boolean isTrue(JsonNode pod, String type) {
    for (JsonNode condition : pod.path("status").path("conditions")) {
      if (isOf(condition, type)) {
        return isTrue(condition);
      }
    }
    return false;
  }

  private static ObjectNode between(JsonNode local, ObjectNode wanted) {
    return RemoteJobFactory.statusPatch(local, wanted);
  }

  private static String seconds(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private static ObjectNode nothing() {
    return JsonNodeFactory.instance.objectNode();
  }
}

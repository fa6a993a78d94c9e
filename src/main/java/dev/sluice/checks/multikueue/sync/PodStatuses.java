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
 * The status of a gated pod here, by how the pod in a worker is doing that stands for it. Pure
 * functions; what they return is a merge patch of the pod here, empty when nothing changes. A pod
 * that has ended here is never changed.
 */
final class PodStatuses {

  private static final String SCHEDULED = "PodScheduled";

  /** What the worker's API server and scheduler say to themselves. */
  private static final List<String> THEIR_OWN =
      List.of("observedGeneration", "nominatedNodeName", "resize", "resourceClaimStatuses");

  private static final Set<String> READINESS = Set.of("Ready", "ContainersReady");
  private static final String CONTAINERS = "containerStatuses";

  private PodStatuses() {}

  /** It is doing as the one there; until that is scheduled, it is what waits for a node here. */
  static ObjectNode synced(JsonNode local, JsonNode there, Instant now) {
    if (ended(local)) {
      return nothing();
    }
    if (isStopped(there)) {
      return gated(local, now);
    }
    ObjectNode wanted =
        there.path("status") instanceof ObjectNode status ? status.deepCopy() : nothing();
    wanted.remove(THEIR_OWN);
    keep(local, "qosClass", wanted);
    ArrayNode conditions = wanted.putArray("conditions");
    boolean scheduled = isTrue(there, SCHEDULED);
    for (JsonNode condition : there.path("status").path("conditions")) {
      if (scheduled || !isOf(condition, SCHEDULED)) {
        ObjectNode copy = condition.deepCopy();
        copy.remove("observedGeneration");
        conditions.add(copy);
      }
    }
    if (!scheduled) {
      conditions.add(waiting(local, now));
    }
    return between(local, wanted);
  }

  /** It runs nowhere any more, and may run again. */
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

  /** It has run, and is gone for good: nobody knows how its containers ended. */
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
      if (!container.path("state").has("terminated")) {
        ObjectNode status = (ObjectNode) container;
        status.put("ready", false).put("started", false);
        ObjectNode end = status.putObject("state").putObject("terminated");
        end.put("exitCode", 137).put("reason", "ContainerStatusUnknown");
        end.put("message", "The container was not seen to end");
      }
    }
    return between(local, wanted);
  }

  /** Whether it has come to its end. */
  static boolean ended(JsonNode pod) {
    String phase = pod.path("status").path("phase").asText();
    return phase.equals("Succeeded") || phase.equals("Failed");
  }

  /** Whether a pod of the manager tells of one that was on a node of a worker. */
  static boolean hasRun(JsonNode pod) {
    return isTrue(pod, SCHEDULED)
        || !pod.path("status").path(CONTAINERS).isEmpty()
        || pod.path("status").path("phase").asText().equals("Running");
  }

  /** Ended because Sluice in the worker stopped it: that is no end of it here. */
  private static boolean isStopped(JsonNode there) {
    return ended(there) && isTrue(there, "TerminationTarget");
  }

  /** The condition that says that it waits for its gates. */
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

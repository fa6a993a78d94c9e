package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The Workload of group sample, in the words of a test. */
final class GivenGroupWorkload {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final ObjectNode object = JSON.createObjectNode();

  private GivenGroupWorkload() {
    ObjectNode metadata = object.putObject("metadata");
    metadata.put("name", "sample").put("namespace", "team").put("uid", "uid-of-sample");
    metadata.put("resourceVersion", "200").put("creationTimestamp", "2026-03-01T10:05:00Z");
    metadata.putArray("finalizers").add(KueueConstants.RESOURCE_IN_USE);
    metadata.putObject("annotations").put(KueueConstants.IS_GROUP_WORKLOAD, "true");
    metadata.putArray("ownerReferences");
    object.putObject("spec").put("queueName", "training").put("active", true).putArray("podSets");
    object.putObject("status").putArray("conditions");
  }

  /** One of a pod set per role, owned by nobody yet. */
  static GivenGroupWorkload workload(String role, int count) {
    return new GivenGroupWorkload().and(role, count);
  }

  /** With another role. */
  GivenGroupWorkload and(String role, int count) {
    ObjectNode podSet = object.withArray("/spec/podSets").addObject();
    podSet.put("name", role).put("count", count).putObject("template").putObject("spec");
    return this;
  }

  /** Owned by these pods, none of which controls it. */
  GivenGroupWorkload ownedBy(GivenPod... pods) {
    ArrayNode owners = object.withArray("/metadata/ownerReferences");
    for (GivenPod pod : pods) {
      owners
          .addObject()
          .put("apiVersion", "v1")
          .put("kind", "Pod")
          .put("name", pod.view().name())
          .put("uid", pod.view().job().ref().uid());
    }
    return this;
  }

  /** With this spec in the template of every pod set. */
  GivenGroupWorkload template(JsonNode spec) {
    for (JsonNode podSet : object.withArray("/spec/podSets")) {
      ((ObjectNode) podSet.path("template")).set("spec", spec.deepCopy());
    }
    return this;
  }

  /** Controlled by something. */
  GivenGroupWorkload controlledBy(String kind) {
    return controlledBy(kind, "other", "uid-of-other");
  }

  /** Controlled by this. */
  GivenGroupWorkload controlledBy(String kind, String name, String uid) {
    object
        .withArray("/metadata/ownerReferences")
        .addObject()
        .put("apiVersion", "v1")
        .put("kind", kind)
        .put("name", name)
        .put("uid", uid)
        .put("controller", true);
    return this;
  }

  /** Not made for a group. */
  GivenGroupWorkload ofSomethingElse() {
    object.withObject("/metadata/annotations").remove(KueueConstants.IS_GROUP_WORKLOAD);
    return this;
  }

  GivenGroupWorkload condition(String type, String status, String reason, String message) {
    object
        .withArray("/status/conditions")
        .addObject()
        .put("type", type)
        .put("status", status)
        .put("reason", reason)
        .put("message", message)
        .put("lastTransitionTime", "2026-03-01T11:00:00Z");
    return this;
  }

  /** With quota in ClusterQueue research, all roles on this flavor. */
  GivenGroupWorkload reserved(String flavor) {
    ObjectNode admission = object.withObject("/status/admission");
    admission.put("clusterQueue", "research");
    for (JsonNode podSet : object.withArray("/spec/podSets")) {
      ObjectNode assignment = admission.withArrayProperty("podSetAssignments").addObject();
      assignment.put("name", podSet.path("name").asText());
      assignment.put("count", podSet.path("count").asInt());
      assignment.putObject("flavors").put("cpu", flavor);
      assignment
          .putObject("resourceUsage")
          .put("cpu", Integer.toString(podSet.path("count").asInt()));
    }
    return condition("QuotaReserved", "True", "QuotaReserved", "");
  }

  GivenGroupWorkload admitted(String flavor) {
    return reserved(flavor).condition("Admitted", "True", "Admitted", "");
  }

  GivenGroupWorkload evicted(String reason, String message) {
    return condition("Evicted", "True", reason, message);
  }

  GivenGroupWorkload inactive() {
    object.withObject("/spec").put("active", false);
    return this;
  }

  GivenGroupWorkload deleting() {
    object.withObject("/metadata").put("deletionTimestamp", "2026-03-01T11:30:00Z");
    return this;
  }

  GivenGroupWorkload reclaimable(String role, int count) {
    object
        .withObject("/status")
        .withArrayProperty("reclaimablePods")
        .addObject()
        .put("name", role)
        .put("count", count);
    return this;
  }

  /** With an admission check in this state that gives pods of a role an annotation and a zone. */
  GivenGroupWorkload check(String name, String state, String role, String value) {
    ObjectNode update =
        object
            .withArray("/status/admissionChecks")
            .addObject()
            .put("name", name)
            .put("state", state)
            .put("lastTransitionTime", "2026-03-01T11:00:00Z")
            .putArray("podSetUpdates")
            .addObject();
    update.put("name", role);
    update.putObject("annotations").put("check", value);
    update.putObject("nodeSelector").put("zone", value);
    return this;
  }

  CachedWorkload get() {
    try {
      return new WorkloadParser().parse(object.toString().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

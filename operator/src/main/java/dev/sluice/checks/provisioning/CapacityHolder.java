package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.kube.client.ObjectPath;

/**
 * The cached part of an object that asks for nodes: a placeholder pod, or a CapacityBuffer. Others
 * may write its status: whatever is missing or of the wrong type counts as absent.
 *
 * @param path where the object is
 * @param uid its UID
 * @param workloadUid the UID of the object that controls it; empty if none does
 * @param workload the name of that object
 * @param purpose what it was made for
 * @param state whether its nodes are there
 */
record CapacityHolder(
    ObjectPath path,
    String uid,
    String workloadUid,
    String workload,
    Purpose purpose,
    State state) {

  /** Annotation: the check that it was made for. */
  static final String CHECK = "sluice.dev/admission-check";

  /** Annotation: the pod set whose pods it keeps places for. */
  static final String POD_SET = "sluice.dev/pod-set";

  /** The resource of placeholder pods. */
  static final String PODS = "pods";

  /** The resource of buffers. */
  static final String BUFFERS = "capacitybuffers";

  /**
   * What a holder was made for.
   *
   * @param digest of the reservation and of what was asked for
   * @param pods for how many pods its spec asks
   */
  record Purpose(String check, String podSet, String digest, long pods) {}

  /**
   * How far a holder is.
   *
   * @param deleting whether it has a deletion timestamp
   * @param ready whether its nodes are there
   * @param over whether it can't become ready any more
   */
  record State(boolean deleting, boolean ready, boolean over) {}

  /** Reads a placeholder pod. */
  static CapacityHolder ofPod(JsonNode pod) {
    String phase = text(pod.path("status"), "phase");
    boolean over = phase.equals("Failed") || phase.equals("Succeeded");
    boolean ready = !text(pod.path("spec"), "nodeName").isEmpty() && !over;
    return of(pod, "v1", PODS, 1, new State(isDeleting(pod), ready, over));
  }

  /** Reads a CapacityBuffer. */
  static CapacityHolder ofBuffer(JsonNode buffer) {
    JsonNode status = buffer.path("status");
    boolean provisioned = false;
    for (JsonNode condition : status.path("conditions")) {
      String type = text(condition, "type");
      provisioned |=
          (type.equals("Provisioning") || type.equals("Ready"))
              && text(condition, "status").equals("True");
    }
    long wanted = buffer.path("spec").path("replicas").asLong(0);
    boolean complete = status.path("replicas").asLong(0) >= wanted;
    String apiVersion = text(buffer, "apiVersion");
    State state = new State(isDeleting(buffer), provisioned && complete, false);
    return of(buffer, apiVersion, BUFFERS, wanted, state);
  }

  private static CapacityHolder of(
      JsonNode object, String apiVersion, String plural, long pods, State state) {
    JsonNode metadata = object.path("metadata");
    JsonNode annotations = metadata.path("annotations");
    return new CapacityHolder(
        new ObjectPath(apiVersion, text(metadata, "namespace"), plural, text(metadata, "name")),
        text(metadata, "uid"),
        CachedRequest.controllerOf(object, "uid"),
        CachedRequest.controllerOf(object, "name"),
        new Purpose(
            text(annotations, CHECK),
            text(annotations, POD_SET),
            text(annotations, CachedRequest.DIGEST),
            pods),
        state);
  }

  private static boolean isDeleting(JsonNode object) {
    return object.path("metadata").hasNonNull("deletionTimestamp");
  }

  private static String text(JsonNode holder, String field) {
    JsonNode value = holder.path(field);
    return value.isTextual() ? value.asText() : "";
  }

  /** Whether it was made for a check of a Workload, and nothing controls it any more. */
  boolean isOrphan() {
    return workloadUid.isEmpty()
        && !purpose.check().isEmpty()
        && !purpose.digest().isEmpty()
        && !state.deleting();
  }

  /** The name of the object. */
  String name() {
    return path.name();
  }
}

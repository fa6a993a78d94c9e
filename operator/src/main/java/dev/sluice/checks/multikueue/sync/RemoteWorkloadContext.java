package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.checks.controller.CheckStateWriter;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A Workload with its remote copies, as known at the time of one reconciliation.
 *
 * @param kinds the known job kinds
 * @param key key of the Workload
 * @param workload the manager's Workload; empty if it was deleted
 * @param check the name of its MultiKueue check; empty if it has none
 * @param copies the copies by worker, as last seen
 * @param now the current time
 * @param reconcileState what is kept for the Workload between reconciliations
 */
record RemoteWorkloadContext(
    MultiKueueKinds kinds,
    Key key,
    Optional<CachedWorkload> workload,
    Optional<String> check,
    Map<String, JsonNode> copies,
    Instant now,
    ReconcileState reconcileState) {

  private static final String KIND = ", Kind=";

  /** The manager's Workload; must exist. */
  CachedWorkload local() {
    return workload.orElseThrow();
  }

  /** The ClusterQueue whose quota the Workload holds; empty if it holds none. */
  String clusterQueue() {
    return workload
        .flatMap(it -> it.status().admission())
        .map(CachedWorkload.Admission::clusterQueue)
        .orElse("");
  }

  /** The state of its check, if it has one. */
  Optional<CheckState> checkState() {
    return check.flatMap(
        name ->
            local().status().admissionChecks().stream()
                .filter(state -> state.name().equals(name))
                .findFirst());
  }

  /** The state of its check in the form that placement uses. */
  ManagerState.Check quotaState() {
    return switch (checkState().map(CheckState::state).orElse(CheckState.PENDING)) {
      case CheckState.READY -> ManagerState.Check.READY;
      case CheckState.RETRY -> ManagerState.Check.RETRY;
      case CheckState.REJECTED -> ManagerState.Check.REJECTED;
      default -> ManagerState.Check.PENDING;
    };
  }

  /** Kind and name of its job, according to the manager's Workload. */
  Optional<Owner> owner() {
    return workload.flatMap(
        it ->
            named(
                    it.annotations().getOrDefault(KueueConstants.JOB_OWNER_GVK, ""),
                    it.annotations().getOrDefault(KueueConstants.JOB_OWNER_NAME, ""))
                .or(
                    () ->
                        it.owner()
                            .flatMap(owner -> find(owner.apiVersion(), owner.kind(), owner.name())))
                .or(
                    () ->
                        group(
                            it.annotations().getOrDefault(KueueConstants.IS_GROUP_WORKLOAD, ""))));
  }

  /**
   * Kind and name of its job, according to the manager's Workload or, if that was deleted, to a
   * worker's copy.
   */
  Optional<Owner> owner(JsonNode copy) {
    JsonNode annotations = copy.path("metadata").path("annotations");
    return owner()
        .or(
            () ->
                named(
                    annotations.path(KueueConstants.JOB_OWNER_GVK).asText(),
                    annotations.path(KueueConstants.JOB_OWNER_NAME).asText()))
        .or(() -> controller(copy))
        .or(() -> group(annotations.path(KueueConstants.IS_GROUP_WORKLOAD).asText()));
  }

  /** The pod group as owner, if the Workload belongs to one. */
  private Optional<Owner> group(String isGroupValue) {
    return isGroupValue.equals("true")
        ? kinds
            .find(MultiKueueKinds.POD.apiVersion(), MultiKueueKinds.POD.kind())
            .map(pods -> new Owner(pods, ""))
        : Optional.empty();
  }

  private Optional<Owner> controller(JsonNode copy) {
    for (JsonNode reference : copy.path("metadata").path("ownerReferences")) {
      if (reference.path("controller").asBoolean()) {
        return find(
            reference.path("apiVersion").asText(),
            reference.path("kind").asText(),
            reference.path("name").asText());
      }
    }
    return Optional.empty();
  }

  /**
   * The owner that annotations name, where the owner reference is not enough: {@code group/version,
   * Kind=Kind}.
   */
  private Optional<Owner> named(String gvk, String name) {
    int comma = gvk.indexOf(KIND);
    return comma < 0 || name.isEmpty()
        ? Optional.empty()
        : find(gvk.substring(0, comma), gvk.substring(comma + KIND.length()), name);
  }

  private Optional<Owner> find(String apiVersion, String kind, String name) {
    return kinds.find(apiVersion, kind).map(known -> new Owner(known, name));
  }

  /**
   * The job of a Workload.
   *
   * @param name empty for a pod group, which is found by the name of its Workload
   */
  record Owner(MultiKueueKind kind, String name) {

    boolean isGroup() {
      return name.isEmpty();
    }

    String path(String namespace) {
      return kind.path(namespace, name);
    }
  }

  /** A patch of the status that changes only the message of the MultiKueue check. */
  ObjectNode checksWithMessage(String message) {
    return CheckStateWriter.patchOfMessage(local(), check.orElse(""), message);
  }

  /** The manager's Workload as it is when its check is Ready and it runs in this worker. */
  CachedWorkload runningIn(String cluster, String message) {
    return CheckStateWriter.patched(
        local(),
        check.orElse(""),
        new CheckStateWriter.Answer(CheckState.READY, message),
        cluster,
        now);
  }

  /** A patch of the status that changes the state of the MultiKueue check. */
  ObjectNode checksWith(String state, String message) {
    return CheckStateWriter.patch(
        local(), check.orElse(""), new CheckStateWriter.Answer(state, message), now);
  }

  /**
   * Adds the object's resource version to a patch, so that the API server rejects the patch if the
   * object has changed since it was read.
   */
  static ObjectNode at(JsonNode object, ObjectNode patch) {
    ObjectNode guarded = patch.deepCopy();
    guarded
        .withObjectProperty("metadata")
        .put("resourceVersion", object.path("metadata").path("resourceVersion").asText());
    return guarded;
  }
}

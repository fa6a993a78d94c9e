package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.CachedWorkload.CheckState;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is known of one Workload when something is to be done about it.
 *
 * @param kinds the kinds of jobs that are known
 * @param key which
 * @param workload the manager's; empty when it is gone
 * @param check the name of its check; empty when it has none
 * @param copies what workers have of it, or had when last seen, by worker
 * @param now the time
 */
record WorkloadGroup(
    MultiKueueKinds kinds,
    Key key,
    Optional<CachedWorkload> workload,
    Optional<String> check,
    Map<String, JsonNode> copies,
    Instant now) {

  private static final String KIND = ", Kind=";

  /** The manager's Workload, of which something is to be written. */
  CachedWorkload local() {
    return workload.orElseThrow();
  }

  /** The ClusterQueue whose quota it holds; empty when it holds none. */
  String clusterQueue() {
    return workload
        .flatMap(it -> it.status().admission())
        .map(CachedWorkload.Admission::clusterQueue)
        .orElse("");
  }

  /** The state of its check, if it has one. */
  Optional<CheckState> state() {
    return check.flatMap(
        name ->
            local().status().admissionChecks().stream()
                .filter(state -> state.name().equals(name))
                .findFirst());
  }

  /** The same as plans know it. */
  ManagerState.Check quotaState() {
    return switch (state().map(CheckState::state).orElse(CheckState.PENDING)) {
      case CheckState.READY -> ManagerState.Check.READY;
      case CheckState.RETRY -> ManagerState.Check.RETRY;
      case CheckState.REJECTED -> ManagerState.Check.REJECTED;
      default -> ManagerState.Check.PENDING;
    };
  }

  /** The kind of its job, and the name, by what the manager's Workload says. */
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

  /** The same by what the manager's Workload or, when it is gone, a worker's copy says. */
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

  /** A group of pods, if the Workload says that it is of one. */
  private Optional<Owner> group(String said) {
    return said.equals("true")
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

  /** By annotations, where the owner reference isn't enough: {@code group/version, Kind=Kind}. */
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
   * A job.
   *
   * @param name empty for a group of pods, which is found by the name of its Workload
   */
  record Owner(MultiKueueKind kind, String name) {

    boolean isGroup() {
      return name.isEmpty();
    }

    String path(String namespace) {
      return kind.path(namespace, name);
    }
  }

  /** The checks with this one's message changed, and nothing else. */
  List<CheckState> checksWithMessage(String message) {
    return local().status().admissionChecks().stream()
        .map(
            known ->
                known.name().equals(check.orElse(""))
                    ? new CheckState(
                        known.name(),
                        known.state(),
                        message,
                        known.lastTransitionTime(),
                        known.requeueAfterSeconds(),
                        known.retryCount(),
                        known.podSetUpdates())
                    : known)
        .toList();
  }

  /** The checks with this one's state changed. */
  List<CheckState> checksWith(String state, String message) {
    return local().status().admissionChecks().stream()
        .map(
            known ->
                known.name().equals(check.orElse(""))
                    ? new CheckState(
                        known.name(),
                        state,
                        message,
                        now.truncatedTo(ChronoUnit.SECONDS),
                        -1,
                        known.retryCount(),
                        List.of())
                    : known)
        .toList();
  }

  /** Whether an object is the same as when it was last seen. */
  static ObjectNode at(JsonNode object, ObjectNode patch) {
    ObjectNode guarded = patch.deepCopy();
    guarded
        .withObjectProperty("metadata")
        .put("resourceVersion", object.path("metadata").path("resourceVersion").asText());
    return guarded;
  }
}

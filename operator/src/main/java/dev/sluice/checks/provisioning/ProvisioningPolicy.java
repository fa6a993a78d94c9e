package dev.sluice.checks.provisioning;

import dev.sluice.api.ApiVersions;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckParametersReference;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig.ProvisioningRequestConfigSpec;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig.ProvisioningRequestNodeSelector;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig.ProvisioningRequestRetryStrategy;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.CreateRequest;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.DeleteRequest;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.Keep;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.NameTaken;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.SetState;
import dev.sluice.checks.provisioning.RequestManifest.RequestNames;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.CachedWorkload.PodSetUpdate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Decides about one check of a Workload that has not finished and is not evicted
 * (docs/provisioning.md#states-and-retries).
 */
final class ProvisioningPolicy {

  /** Why a check waits in a cluster without ProvisioningRequests. */
  static final String NOT_SERVED =
      "The cluster has no ProvisioningRequests: "
          + RequestManifest.PLURAL
          + "."
          + RequestManifest.GROUP
          + "/"
          + RequestManifest.VERSION
          + " is not served";

  /** Why a check that was Ready isn't any more. */
  static final String QUOTA_LOST = "The quota that it was Ready for was taken back";

  private static final String CONSUMED_REQUEST =
      RequestManifest.GROUP + "/consume-provisioning-request";
  private static final String CLASS_NAME = RequestManifest.GROUP + "/provisioning-class-name";

  /** Twice as long so many times exceeds any limit of the pause. */
  private static final int MOST_DOUBLINGS = 31;

  private final CachedWorkload workload;
  private final CheckState check;
  private final Input input;

  /**
   * What a decision depends on, besides the Workload.
   *
   * @param parameters the parameters of the check
   * @param served whether the API server serves ProvisioningRequests
   * @param replaces whether a request of an earlier reservation is replaced even if it can serve
   * @param request the request that has the name of the present attempt
   */
  record Input(
      ParameterResolution parameters,
      boolean served,
      boolean replaces,
      Optional<CachedRequest> request) {}

  private ProvisioningPolicy(CachedWorkload workload, CheckState check, Input input) {
    this.workload = workload;
    this.check = check;
    this.input = input;
  }

  /** The decision about a check of a Workload. */
  static ProvisioningDecision decide(CachedWorkload workload, CheckState check, Input input) {
    ProvisioningPolicy policy = new ProvisioningPolicy(workload, check, input);
    if (!workload.quotaReserved()) {
      return endsWithQuota(check) ? policy.pending(QUOTA_LOST) : new Keep();
    }
    return switch (check.state()) {
      case CheckState.PENDING -> policy.pending();
      case CheckState.READY -> policy.ready();
      default -> new Keep();
    };
  }

  /**
   * Whether a check of a Workload without quota begins anew: it was Ready for nodes of what is
   * taken back, as by a stop of the queue, and the next reservation, which may be of another
   * flavor, would be admitted with it at once.
   */
  static boolean endsWithQuota(CheckState check) {
    return check.is(CheckState.READY);
  }

  /** The number of the present attempt; 1 for the first. */
  static int attempt(CheckState check) {
    return (int) Math.min(Integer.MAX_VALUE, Math.max(0, check.retryCount()) + 1L);
  }

  /** The name of the request of the present attempt. */
  static String requestName(CachedWorkload workload, CheckState check) {
    return RequestNames.request(workload.id().name(), check.name(), attempt(check));
  }

  /** When the quota was reserved: the same for as long as the Workload keeps it. */
  static String reservation(CachedWorkload workload) {
    return workload
        .status()
        .condition("QuotaReserved")
        .map(Condition::lastTransitionTime)
        .map(Object::toString)
        .orElse("");
  }

  /**
   * Whether a request says that the operator made it for this Workload. Whoever may create requests
   * may say so.
   */
  static boolean belongsTo(CachedWorkload workload, CachedRequest request) {
    return request.managed() && request.controller().equals(workload.id().uid());
  }

  /**
   * Whether a request was made for an earlier Workload of the same name: it goes with that
   * Workload.
   */
  static boolean isLeftBehind(CachedWorkload workload, CachedRequest request) {
    return request.managed()
        && request.controllerName().equals(workload.id().name())
        && !request.controller().equals(workload.id().uid());
  }

  private ProvisioningDecision pending() {
    if (workload.admitted()) {
      return whileItRuns(input.request().filter(it -> belongsTo(workload, it)));
    }
    if (input.parameters().config().isEmpty()) {
      return pending(
          input.served()
              ? "The parameters of the check can't be used: " + input.parameters().problem()
              : NOT_SERVED);
    }
    ProvisioningRequestConfigSpec config = input.parameters().config().get();
    List<PodSet> podSets = ManagedPodSets.of(workload, config);
    if (podSets.isEmpty()) {
      return SetState.of(CheckState.READY, "No pod set needs a ProvisioningRequest");
    }
    if (!input.served()) {
      return pending(NOT_SERVED);
    }
    if (input.request().isEmpty()) {
      return new CreateRequest(requestName(workload, check));
    }
    CachedRequest request = input.request().get();
    if (isLeftBehind(workload, request)) {
      return pending("An earlier " + named(request) + " is being deleted");
    }
    if (!belongsTo(workload, request)) {
      return new NameTaken(taken(request));
    }
    if (request.deleting()) {
      return pending("An earlier " + named(request) + " is being deleted");
    }
    if (isStale(request)) {
      return new DeleteRequest(request, "it was made for an earlier reservation");
    }
    return isOutdated(request, config, podSets)
        ? new DeleteRequest(request, "its class, its parameters or its pods are others now")
        : answer(request, config, podSets);
  }

  /**
   * The pods run, so it is too late to ask for their nodes, and to take an answer for a failure:
   * only nodes that are taken away matter. This is also the case of a check that the queue requires
   * since it admitted the Workload.
   */
  private ProvisioningDecision whileItRuns(Optional<CachedRequest> request) {
    return workload.spec().active()
            && request.filter(it -> it.has(CachedRequest.CAPACITY_REVOKED)).isPresent()
        ? revoked(request.get())
        : new Keep();
  }

  /** What the autoscaler's conditions mean, in the order of their weight. */
  private ProvisioningDecision answer(
      CachedRequest request, ProvisioningRequestConfigSpec config, List<PodSet> podSets) {
    if (hasFailed(request)) {
      return failed(request, config.retryStrategy());
    }
    if (request.has(CachedRequest.CAPACITY_REVOKED)) {
      return revoked(request);
    }
    return request.has(CachedRequest.PROVISIONED)
        ? provisioned(request, config, podSets)
        : pending(progress(request));
  }

  /**
   * A check that is Ready stays so, unless what it stands for was taken away, or was for another
   * reservation: its additions bind the pods to the nodes of that request.
   */
  private ProvisioningDecision ready() {
    // a reservation may have been faster than what ends the check with the quota
    Optional<CachedRequest> request = input.request().filter(it -> belongsTo(workload, it));
    if (isOfEarlierReservation(workload, check) && !serves(request)) {
      return pending("The nodes of an earlier reservation can't serve this one");
    }
    if (request.isEmpty() || !workload.spec().active()) {
      return new Keep();
    }
    if (!workload.admitted() && hasFailed(request.get())) {
      return failed(
          request.get(),
          input
              .parameters()
              .config()
              .map(ProvisioningRequestConfigSpec::retryStrategy)
              .orElse(ProvisioningRequestRetryStrategy.DEFAULT));
    }
    return whileItRuns(request);
  }

  /** Whether a check is Ready since before the quota was reserved, and nothing runs yet. */
  static boolean isOfEarlierReservation(CachedWorkload workload, CheckState check) {
    return check.is(CheckState.READY)
        && !workload.admitted()
        && workload
            .status()
            .condition("QuotaReserved")
            .filter(it -> check.lastTransitionTime().isBefore(it.lastTransitionTime()))
            .isPresent();
  }

  /** Whether the nodes of a request are what would be requested now, as far as can be said. */
  private boolean serves(Optional<CachedRequest> request) {
    if (input.parameters().config().isEmpty() || !input.served()) {
      return true;
    }
    ProvisioningRequestConfigSpec config = input.parameters().config().get();
    List<PodSet> podSets = ManagedPodSets.of(workload, config);
    return podSets.isEmpty()
        || request.filter(it -> !it.deleting() && !isOutdated(it, config, podSets)).isPresent();
  }

  /**
   * Made for an earlier reservation, and not to serve this one: it has failed, or the Workload was
   * evicted since, so that its pods may have used the nodes.
   */
  private boolean isStale(CachedRequest request) {
    boolean isOver = hasFailed(request) || request.has(CachedRequest.CAPACITY_REVOKED);
    return !request.reservation().isEmpty()
        && !request.reservation().equals(reservation(workload))
        && (isOver || input.replaces() && (request.digest().isEmpty() || wasEvictedSince(request)));
  }

  /** The next reservation resets the condition, so that its time is after the eviction. */
  private boolean wasEvictedSince(CachedRequest request) {
    return workload
        .status()
        .condition("Evicted")
        .filter(
            evicted -> evicted.lastTransitionTime().toString().compareTo(request.reservation()) > 0)
        .isPresent();
  }

  /** Whether something else would be requested now. */
  private boolean isOutdated(
      CachedRequest request, ProvisioningRequestConfigSpec config, List<PodSet> podSets) {
    return !request.className().equals(config.provisioningClassName())
        || !request.digest().isEmpty()
            && !request.digest().equals(RequestManifest.digest(workload, config, podSets));
  }

  private static boolean hasFailed(CachedRequest request) {
    return request.has(CachedRequest.FAILED) || request.has(CachedRequest.BOOKING_EXPIRED);
  }

  private ProvisioningDecision failed(
      CachedRequest request, ProvisioningRequestRetryStrategy retry) {
    String condition =
        request.has(CachedRequest.FAILED) ? CachedRequest.FAILED : CachedRequest.BOOKING_EXPIRED;
    String message = told(request, condition);
    int attempt = attempt(check);
    if (attempt > retry.backoffLimitCount()) {
      return SetState.of(
          CheckState.REJECTED, message + "; it was the last attempt, number " + attempt);
    }
    return new SetState(
        CheckState.RETRY,
        message + "; attempt " + (attempt + 1) + " follows",
        pause(retry, attempt - 1),
        List.of());
  }

  /** Seconds before the attempt that follows so many retries. */
  static int pause(ProvisioningRequestRetryStrategy retry, int retries) {
    long doubled =
        (long) Math.max(0, retry.backoffBaseSeconds()) << Math.min(retries, MOST_DOUBLINGS);
    return (int) Math.min(doubled, Math.max(0, retry.backoffMaxSeconds()));
  }

  private ProvisioningDecision revoked(CachedRequest request) {
    return SetState.of(CheckState.REJECTED, told(request, CachedRequest.CAPACITY_REVOKED));
  }

  private ProvisioningDecision provisioned(
      CachedRequest request, ProvisioningRequestConfigSpec config, List<PodSet> podSets) {
    Map<String, String> annotations = new TreeMap<>();
    annotations.put(CONSUMED_REQUEST, request.name());
    annotations.put(CLASS_NAME, request.className());
    Map<String, String> nodeSelector = new TreeMap<>();
    List<String> unusable = new ArrayList<>();
    for (ProvisioningRequestNodeSelector entry : nodeSelectors(config)) {
      String value = request.details().get(entry.valueFromProvisioningClassDetail());
      if (value == null || !KubernetesNames.isLabelValue(value)) {
        unusable.add(entry.valueFromProvisioningClassDetail());
      } else {
        nodeSelector.put(entry.key(), value);
      }
    }
    String message = request.message(CachedRequest.PROVISIONED);
    return new SetState(
        CheckState.READY,
        unusable.isEmpty()
            ? message
            : (message.isEmpty() ? "" : message + "; ")
                + "no label values in provisioningClassDetails of "
                + named(request)
                + ": "
                + String.join(", ", unusable),
        -1,
        podSets.stream()
            .map(it -> new PodSetUpdate(it.name(), Map.of(), annotations, nodeSelector, List.of()))
            .toList());
  }

  private static List<ProvisioningRequestNodeSelector> nodeSelectors(
      ProvisioningRequestConfigSpec config) {
    return config.podSetUpdates() == null ? List.of() : config.podSetUpdates().nodeSelector();
  }

  private static String progress(CachedRequest request) {
    String estimate = request.message(CachedRequest.PROVISIONED);
    String accepted = request.message(CachedRequest.ACCEPTED);
    if (!estimate.isEmpty()) {
      return estimate;
    }
    if (!accepted.isEmpty()) {
      return accepted;
    }
    return request.has(CachedRequest.ACCEPTED)
        ? named(request) + " is accepted"
        : named(request) + " waits for an autoscaler to accept it";
  }

  private static String told(CachedRequest request, String condition) {
    String message = request.message(condition);
    return named(request) + ": " + condition + (message.isEmpty() ? "" : ": " + message);
  }

  /** Why a name can't be used that an object has which is not the Workload's. */
  static String taken(CachedRequest request) {
    return named(request)
        + " exists and is not one that was made for this workload; it is left alone";
  }

  private static String named(CachedRequest request) {
    return RequestManifest.KIND + " \"" + request.name() + "\"";
  }

  private ProvisioningDecision pending(String message) {
    return SetState.of(CheckState.PENDING, message);
  }

  /**
   * The parameters of a check, or what is wrong with them.
   *
   * @param config empty if something is wrong
   * @param problem for people; empty if nothing is wrong
   */
  record ParameterResolution(Optional<ProvisioningRequestConfigSpec> config, String problem) {

    private static final String KIND = "ProvisioningRequestConfig";

    /**
     * Finds the parameters of a check.
     *
     * @param configs finds a ProvisioningRequestConfig by name
     */
    static ParameterResolution of(
        @Nullable AdmissionCheckSpec check,
        Function<String, Optional<ProvisioningRequestConfig>> configs) {
      AdmissionCheckParametersReference reference = check == null ? null : check.parameters();
      if (reference == null) {
        return wrong(
            "spec.parameters: is missing; allowed: a " + KIND + " of " + ApiVersions.GROUP);
      }
      if (!ApiVersions.GROUP.equals(reference.apiGroup()) || !KIND.equals(reference.kind())) {
        return wrong(
            "spec.parameters: \""
                + reference.kind()
                + "."
                + reference.apiGroup()
                + "\" is not understood; allowed: a "
                + KIND
                + " of "
                + ApiVersions.GROUP);
      }
      String named = KIND + " \"" + reference.name() + "\"";
      Optional<ProvisioningRequestConfig> config = configs.apply(reference.name());
      if (config.isEmpty()) {
        return wrong("spec.parameters.name: " + named + " does not exist");
      }
      ProvisioningRequestConfigSpec spec = config.get().getSpec();
      return spec == null || spec.provisioningClassName() == null
          ? wrong(named + ": spec.provisioningClassName: is missing")
          : new ParameterResolution(Optional.of(spec), "");
    }

    private static ParameterResolution wrong(String problem) {
      return new ParameterResolution(Optional.empty(), problem);
    }
  }

  /** What is to be done about one check of a Workload. */
  sealed interface ProvisioningDecision {

    /** Nothing. */
    record Keep() implements ProvisioningDecision {}

    /** The request doesn't exist, and is to be created. */
    record CreateRequest(String name) implements ProvisioningDecision {}

    /**
     * The request can't serve: it is deleted before a new one is created.
     *
     * @param reason why, for the log
     */
    record DeleteRequest(CachedRequest request, String reason) implements ProvisioningDecision {}

    /**
     * The name of the request is taken by an object of somebody else, who is not told of changes of
     * that object: the check waits, and is looked at again.
     */
    record NameTaken(String message) implements ProvisioningDecision {}

    /**
     * The check is to have this state.
     *
     * @param state one of the states of {@link CheckState}
     * @param requeueAfterSeconds the pause before the next attempt; -1 for none
     * @param podSetUpdates additions to the pods
     */
    record SetState(
        String state, String message, int requeueAfterSeconds, List<PodSetUpdate> podSetUpdates)
        implements ProvisioningDecision {

      /** A state without additions to the pods. */
      static SetState of(String state, String message) {
        return new SetState(state, message, -1, List.of());
      }
    }
  }
}

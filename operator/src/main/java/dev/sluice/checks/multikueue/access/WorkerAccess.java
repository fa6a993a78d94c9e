package dev.sluice.checks.multikueue.access;

/** Result of resolving the access to a worker cluster. */
public sealed interface WorkerAccess {

  /** The cluster can be reached with these credentials. */
  record Usable(WorkerCredentials workerCredentials) implements WorkerAccess {}

  /** The worker cluster is the manager itself; no connection is needed. */
  record Here() implements WorkerAccess {}

  /**
   * The access is refused.
   *
   * @param reason the reason as the API spells it
   * @param message the field, its problem, and what is allowed; contains no secret
   */
  record Refused(ClusterReason reason, String message) implements WorkerAccess {}

  /** The object that holds the access was not read yet. */
  record Unknown() implements WorkerAccess {}

  /** Reason of the condition {@code Active} of a MultiKueueCluster. */
  enum ClusterReason {
    /** The cluster is connected. */
    ACTIVE("Active"),
    /** The cluster does not answer, or answers with an error. */
    CLIENT_CONNECTION_FAILED("ClientConnectionFailed"),
    /** The kubeconfig is missing or malformed. */
    BAD_KUBE_CONFIG("BadKubeConfig"),
    /** The kubeconfig would run code, read files, or skip the verification of the server. */
    INSECURE_KUBE_CONFIG("InsecureKubeConfig"),
    /** The ClusterProfile is missing, or does not say how to reach the cluster. */
    BAD_CLUSTER_PROFILE("BadClusterProfile"),
    /** The credentials are valid, but no client can be built from them. */
    BAD_REST_CONFIG("BadRestConfig"),
    /** ClusterProfiles are disabled. */
    CLUSTER_PROFILE_FEATURE_DISABLED("MultiKueueClusterProfileFeatureDisabled");

    private final String text;

    ClusterReason(String text) {
      this.text = text;
    }

    /** The reason as the API spells it. */
    public String text() {
      return text;
    }
  }

  /** Thrown when credentials for a worker cluster must be refused. */
  final class InvalidAccessException extends Exception {

    private static final long serialVersionUID = 1L;

    private final ClusterReason reason;
    private final String explanation;

    private InvalidAccessException(ClusterReason reason, String explanation) {
      super(explanation);
      this.reason = reason;
      this.explanation = explanation;
    }

    /** The field is missing or malformed. */
    static InvalidAccessException bad(String field, String what, String allowed) {
      return of(ClusterReason.BAD_KUBE_CONFIG, field, what, allowed);
    }

    /** The field requests something insecure. */
    static InvalidAccessException insecure(String field, String what, String allowed) {
      return of(ClusterReason.INSECURE_KUBE_CONFIG, field, what, allowed);
    }

    /** The field requests something that the client does not support. */
    static InvalidAccessException unsupported(String field, String what, String allowed) {
      return of(ClusterReason.BAD_REST_CONFIG, field, what, allowed);
    }

    static InvalidAccessException of(
        ClusterReason reason, String field, String what, String allowed) {
      return new InvalidAccessException(reason, field + ": " + what + "; allowed: " + allowed);
    }

    WorkerAccess.Refused refusal() {
      return new WorkerAccess.Refused(reason, explanation);
    }
  }
}

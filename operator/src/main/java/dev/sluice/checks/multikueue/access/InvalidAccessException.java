package dev.sluice.checks.multikueue.access;

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

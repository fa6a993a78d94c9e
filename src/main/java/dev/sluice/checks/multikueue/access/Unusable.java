package dev.sluice.checks.multikueue.access;

/** Ends the reading of an access that has to be refused. */
final class Unusable extends Exception {

  private static final long serialVersionUID = 1L;

  private final ClusterReason reason;
  private final String explanation;

  private Unusable(ClusterReason reason, String explanation) {
    super(explanation);
    this.reason = reason;
    this.explanation = explanation;
  }

  /** It is not what it should be. */
  static Unusable bad(String field, String what, String allowed) {
    return of(ClusterReason.BAD_KUBE_CONFIG, field, what, allowed);
  }

  /** It asks for what nobody may have. */
  static Unusable insecure(String field, String what, String allowed) {
    return of(ClusterReason.INSECURE_KUBE_CONFIG, field, what, allowed);
  }

  /** It asks for what no client here can do. */
  static Unusable unsupported(String field, String what, String allowed) {
    return of(ClusterReason.BAD_REST_CONFIG, field, what, allowed);
  }

  static Unusable of(ClusterReason reason, String field, String what, String allowed) {
    return new Unusable(reason, field + ": " + what + "; allowed: " + allowed);
  }

  Access.Refused refusal() {
    return new Access.Refused(reason, explanation);
  }
}

package dev.sluice.checks.multikueue.access;

/** Reason of the condition {@code Active} of a MultiKueueCluster. */
public enum ClusterReason {
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

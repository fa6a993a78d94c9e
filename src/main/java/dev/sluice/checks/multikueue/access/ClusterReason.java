package dev.sluice.checks.multikueue.access;

/** Why the condition {@code Active} of a MultiKueueCluster is as it is. */
public enum ClusterReason {
  /** The cluster is connected. */
  ACTIVE("Active"),
  /** It doesn't answer, or not as it should. */
  CLIENT_CONNECTION_FAILED("ClientConnectionFailed"),
  /** The kubeconfig isn't there, or isn't one. */
  BAD_KUBE_CONFIG("BadKubeConfig"),
  /** The kubeconfig would run code, read files, or skip the verification of the server. */
  INSECURE_KUBE_CONFIG("InsecureKubeConfig"),
  /** The ClusterProfile isn't there, or doesn't say how to reach the cluster. */
  BAD_CLUSTER_PROFILE("BadClusterProfile"),
  /** The access is described well, but no client can be made of it. */
  BAD_REST_CONFIG("BadRestConfig"),
  /** ClusterProfiles are switched off. */
  CLUSTER_PROFILE_FEATURE_DISABLED("MultiKueueClusterProfileFeatureDisabled");

  private final String text;

  ClusterReason(String text) {
    this.text = text;
  }

  /** The word of the API. */
  public String text() {
    return text;
  }
}

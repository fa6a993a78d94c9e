package dev.sluice.api;

/** Names of the API group and of its versions. */
public final class ApiVersions {

  /** The API group of all kinds. */
  public static final String GROUP = "kueue.x-k8s.io";

  /** The group of kinds that are of this program alone. */
  public static final String SLUICE_GROUP = "sluice.dev";

  /** The version of that group. */
  public static final String SLUICE_VERSION = "v1alpha1";

  /** The version that is stored, and that the operator reads and writes. */
  public static final String V1BETA2 = "v1beta2";

  /** The version of kinds that are alpha, and off by default. */
  public static final String V1ALPHA1 = "v1alpha1";

  /** The version before; served and converted. */
  public static final String V1BETA1 = "v1beta1";

  /** The oldest version served, for flavors, cluster queues and local queues. */
  public static final String V1ALPHA2 = "v1alpha2";

  private ApiVersions() {}
}

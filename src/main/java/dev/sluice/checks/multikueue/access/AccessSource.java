package dev.sluice.checks.multikueue.access;

import dev.sluice.api.v1beta2.ClusterSource;
import dev.sluice.api.v1beta2.KubeConfig;
import dev.sluice.api.v1beta2.LocationType;
import io.fabric8.kubernetes.api.model.Secret;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** Finds the access to a worker cluster where its MultiKueueCluster says that it is. */
public final class AccessSource {

  /** Where in a Secret the kubeconfig is. */
  public static final String SECRET_KEY = "kubeconfig";

  private static final String FIELD = "clusterSource.kubeConfig.location";

  private final String namespace;
  private final Function<String, Optional<Secret>> secrets;
  private final BooleanSupplier listed;
  private final KubeconfigFiles files;

  /**
   * A source.
   *
   * @param namespace where the Secrets are: the operator's own
   * @param secrets finds a Secret of that namespace by its name
   * @param listed whether all Secrets were listed, so that what isn't found doesn't exist
   */
  public AccessSource(
      String namespace,
      Function<String, Optional<Secret>> secrets,
      BooleanSupplier listed,
      KubeconfigFiles files) {
    this.namespace = namespace;
    this.secrets = secrets;
    this.listed = listed;
    this.files = files;
  }

  /** The access as it is now. */
  public Access of(ClusterSource source) {
    KubeConfig kubeConfig = source.kubeConfig();
    if (kubeConfig != null) {
      return kubeConfig.locationType() == LocationType.PATH
          ? files.read(kubeConfig.location())
          : secret(kubeConfig.location());
    }
    return new Access.Refused(
        ClusterReason.CLUSTER_PROFILE_FEATURE_DISABLED,
        "clusterSource.clusterProfileRef: needs the feature gate MultiKueueClusterProfile, which is"
            + " off; allowed: kubeConfig");
  }

  private Access secret(String name) {
    Optional<Secret> secret = secrets.apply(name);
    String found = "Secret \"" + namespace + "/" + name + "\"";
    if (secret.isEmpty()) {
      return listed.getAsBoolean()
          ? bad(found + " does not exist", "a Secret with the key " + SECRET_KEY)
          : new Access.Unknown();
    }
    String data = secret.get().getData() == null ? null : secret.get().getData().get(SECRET_KEY);
    if (data == null) {
      return bad(found + " has no key " + SECRET_KEY, "a Secret with that key");
    }
    return KubeconfigRules.read(
        new String(Base64.getDecoder().decode(data), StandardCharsets.UTF_8));
  }

  private static Access bad(String what, String allowed) {
    return Unusable.bad(FIELD, what, allowed).refusal();
  }
}

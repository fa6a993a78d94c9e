package dev.sluice.checks.multikueue.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.v1beta2.MultiKueueCluster.ClusterProfileReference;
import dev.sluice.api.v1beta2.MultiKueueCluster.ClusterSource;
import dev.sluice.api.v1beta2.MultiKueueCluster.KubeConfig;
import dev.sluice.api.v1beta2.MultiKueueCluster.LocationType;
import dev.sluice.checks.multikueue.access.WorkerAccess.ClusterReason;
import dev.sluice.checks.multikueue.access.WorkerAccess.InvalidAccessException;
import io.fabric8.kubernetes.api.model.Secret;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** Resolves the access to a worker cluster from the source that its MultiKueueCluster names. */
public final class WorkerCredentialsResolver {

  /** The key of the kubeconfig in a Secret. */
  public static final String SECRET_KEY = "kubeconfig";

  private static final String FIELD = "clusterSource.kubeConfig.location";

  private final String namespace;
  private final Function<String, Optional<Secret>> secrets;
  private final BooleanSupplier listed;
  private final KubeconfigFiles files;
  private final Optional<Profiles> profiles;

  /**
   * ClusterProfiles of the operator's own namespace.
   *
   * @param validator validates a profile
   * @param found finds a profile by name
   * @param listed whether the profiles were listed
   */
  public record Profiles(
      ClusterProfileValidator validator,
      Function<String, Optional<JsonNode>> found,
      BooleanSupplier listed) {}

  /**
   * Creates a resolver.
   *
   * @param namespace the operator's own namespace, which holds the Secrets
   * @param secrets finds a Secret of that namespace by name
   * @param listed whether all Secrets were listed, so that a Secret that is not found does not
   *     exist
   * @param files reads kubeconfig files
   * @param profiles ClusterProfiles; empty when they are disabled
   */
  public WorkerCredentialsResolver(
      String namespace,
      Function<String, Optional<Secret>> secrets,
      BooleanSupplier listed,
      KubeconfigFiles files,
      Optional<Profiles> profiles) {
    this.namespace = namespace;
    this.secrets = secrets;
    this.listed = listed;
    this.files = files;
    this.profiles = profiles;
  }

  /** The access at the time of the call. */
  public WorkerAccess of(ClusterSource source) {
    KubeConfig kubeConfig = source.kubeConfig();
    if (kubeConfig != null && kubeConfig.location() == null) {
      return bad("there is no location", "a location");
    }
    if (kubeConfig != null) {
      if (kubeConfig.location().equals(LocalClusterAnnotations.LOCATION)) {
        return new WorkerAccess.Here();
      }
      return kubeConfig.locationType() == LocationType.PATH
          ? files.read(kubeConfig.location())
          : secret(kubeConfig.location());
    }
    ClusterProfileReference profile = source.clusterProfileRef();
    if (profile == null) {
      return bad("is missing", "kubeConfig or clusterProfileRef");
    }
    if (profiles.isPresent()) {
      return profile(profiles.get(), profile.name());
    }
    return new WorkerAccess.Refused(
        ClusterReason.CLUSTER_PROFILE_FEATURE_DISABLED,
        "clusterSource.clusterProfileRef: needs the feature gate MultiKueueClusterProfile, which is"
            + " off; allowed: kubeConfig");
  }

  private WorkerAccess profile(Profiles known, String name) {
    String full = namespace + "/" + name;
    return known
        .found()
        .apply(name)
        .map(profile -> known.validator().read(full, profile))
        .orElseGet(
            () ->
                known.listed().getAsBoolean()
                    ? new WorkerAccess.Refused(
                        ClusterReason.BAD_CLUSTER_PROFILE,
                        "clusterSource.clusterProfileRef.name: ClusterProfile \""
                            + full
                            + "\" does not exist; allowed: a ClusterProfile of"
                            + " multicluster.x-k8s.io/v1alpha1 in that namespace")
                    : new WorkerAccess.Unknown());
  }

  private WorkerAccess secret(String name) {
    Optional<Secret> secret = secrets.apply(name);
    String found = "Secret \"" + namespace + "/" + name + "\"";
    if (secret.isEmpty()) {
      return listed.getAsBoolean()
          ? bad(found + " does not exist", "a Secret with the key " + SECRET_KEY)
          : new WorkerAccess.Unknown();
    }
    String data = secret.get().getData() == null ? null : secret.get().getData().get(SECRET_KEY);
    if (data == null) {
      return bad(found + " has no key " + SECRET_KEY, "a Secret with that key");
    }
    try {
      return KubeconfigValidator.read(
          new String(Base64.getDecoder().decode(data), StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      return bad(found + " has a key " + SECRET_KEY + " that is not base64", "a kubeconfig");
    }
  }

  private static WorkerAccess bad(String what, String allowed) {
    return InvalidAccessException.bad(FIELD, what, allowed).refusal();
  }
}

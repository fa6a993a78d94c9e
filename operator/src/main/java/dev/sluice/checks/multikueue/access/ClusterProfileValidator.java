package dev.sluice.checks.multikueue.access;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.MultiKueue.AccessProvider;
import dev.sluice.checks.multikueue.access.KubeconfigTree.Entry;
import dev.sluice.checks.multikueue.access.WorkerAccess.ClusterReason;
import dev.sluice.checks.multikueue.access.WorkerAccess.InvalidAccessException;
import dev.sluice.checks.multikueue.access.WorkerCredentials.ExecPlugin;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Validates ClusterProfiles: the profile gives the address of the cluster, the operator's own
 * configuration gives the login program. A user who may write a profile cannot choose the program.
 */
public final class ClusterProfileValidator {

  private static final String EXEC_EXTENSION = "client.authentication.k8s.io/exec";
  private static final List<String> VERSIONS =
      List.of("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1");

  /** Fields that list ways to reach a cluster: the current name and the former one. */
  private static final List<String> LISTS = List.of("accessProviders", "credentialProviders");

  private final List<AccessProvider> providers;

  /** Creates a validator for the configured login programs. */
  public ClusterProfileValidator(List<AccessProvider> providers) {
    this.providers = List.copyOf(providers);
  }

  /**
   * The access that a ClusterProfile gives: {@link WorkerAccess.Usable} or {@link
   * WorkerAccess.Refused}.
   *
   * @param name name of the profile, for messages
   */
  public WorkerAccess read(String name, JsonNode profile) {
    try {
      return new WorkerAccess.Usable(credentials(profile));
    } catch (InvalidAccessException e) {
      WorkerAccess.Refused refused = e.refusal();
      boolean ours = refused.reason() == ClusterReason.BAD_REST_CONFIG;
      return new WorkerAccess.Refused(
          ours ? refused.reason() : ClusterReason.BAD_CLUSTER_PROFILE,
          "ClusterProfile \"" + name + "\": " + refused.message());
    }
  }

  private WorkerCredentials credentials(JsonNode profile) throws InvalidAccessException {
    List<String> offered = new ArrayList<>();
    for (String list : LISTS) {
      for (JsonNode way : profile.path("status").path(list)) {
        String wayName = way.path("name").asText();
        Optional<AccessProvider> provider =
            providers.stream().filter(known -> known.name().equals(wayName)).findFirst();
        if (provider.isPresent()) {
          String path = "status." + list + "[" + wayName + "].cluster";
          return credentials(provider.get(), new Entry(path, way.path("cluster")));
        }
        offered.add(wayName);
      }
    }
    String configured =
        String.join(", ", providers.stream().map(provider -> provider.name()).toList());
    throw InvalidAccessException.bad(
        "status.accessProviders",
        offered.isEmpty() ? "is empty" : String.join(", ", offered) + " is not configured",
        configured.isEmpty()
            ? "names in multiKueue.clusterProfile.accessProviders of the configuration, which has"
                + " none"
            : configured);
  }

  private static WorkerCredentials credentials(AccessProvider provider, Entry cluster)
      throws InvalidAccessException {
    String field = "multiKueue.clusterProfile.accessProviders[" + provider.name() + "].execConfig";
    if (!VERSIONS.contains(provider.apiVersion())) {
      throw InvalidAccessException.unsupported(
          field + ".apiVersion",
          "\"" + provider.apiVersion() + "\" is not supported",
          String.join(", ", VERSIONS));
    }
    if (provider.interactiveMode().equals("Always")) {
      throw InvalidAccessException.unsupported(
          field + ".interactiveMode",
          "Always needs a terminal, which the operator hasn't",
          "Never, IfAvailable");
    }
    return new WorkerCredentials(
        KubeconfigValidator.endpoint(cluster),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.of(
            new ExecPlugin(
                provider.command(), provider.args(), provider.env(), info(provider, cluster))),
        Optional.empty());
  }

  /** Fields of a cluster that login programs are told. */
  private static final List<String> CLUSTER_INFO =
      List.of(
          "server",
          "certificate-authority-data",
          "tls-server-name",
          "proxy-url",
          "disable-compression");

  private static ObjectNode info(AccessProvider provider, Entry cluster) {
    ObjectNode info = JsonNodeFactory.instance.objectNode();
    info.put("apiVersion", provider.apiVersion()).put("kind", "ExecCredential");
    ObjectNode spec = info.putObject("spec").put("interactive", false);
    if (provider.provideClusterInfo()) {
      ObjectNode clusterInfo = spec.putObject("cluster");
      for (String field : CLUSTER_INFO) {
        if (cluster.fields().hasNonNull(field)) {
          clusterInfo.set(field, cluster.fields().path(field).deepCopy());
        }
      }
      execExtension(cluster.fields())
          .ifPresent(config -> clusterInfo.set("config", config.deepCopy()));
    }
    return info;
  }

  /**
   * The extension of the cluster entry that is meant for the login program; extensions are a list
   * of names and values, or a map.
   */
  private static Optional<JsonNode> execExtension(JsonNode cluster) {
    JsonNode extensions = cluster.path("extensions");
    for (JsonNode each : extensions) {
      if (each.path("name").asText().equals(EXEC_EXTENSION)) {
        return Optional.of(each.path("extension"));
      }
    }
    return Optional.of(extensions.path(EXEC_EXTENSION)).filter(it -> !it.isMissingNode());
  }
}

package dev.sluice.testing;

import dev.sluice.install.InstallManifests;
import dev.sluice.lab.controlplane.ApiClients;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Has the API servers of tests write down what operators ask for. With {@code
 * -Dsluice.permissions.audit=DIRECTORY} all of them do, and every {@link LocalOperator} has the
 * service account of an installed one, by which its requests are told from those of the tests; it
 * may do everything there, because it installs, too.
 */
public final class AuditedOperators {

  private static final Duration VALIDITY = Duration.ofDays(1);

  private static final String POLICY =
      """
      apiVersion: audit.k8s.io/v1
      kind: Policy
      omitStages: [RequestReceived]
      rules:
      - level: Metadata
        users: ["%s"]
      - level: None
      """
          .formatted(InstallManifests.user(InstallManifests.NAMESPACE));

  private AuditedOperators() {}

  /** Where all API servers write; empty if they don't. */
  static Optional<Path> directory() {
    return Optional.ofNullable(System.getProperty("sluice.permissions.audit"))
        .map(Path::of)
        .map(Path::toAbsolutePath);
  }

  /** The arguments of an API server that writes the requests of operators to this file. */
  static List<String> apiServerArguments(Path log) {
    try {
      Files.createDirectories(log.getParent());
      Path policy = log.resolveSibling(log.getFileName() + ".policy.yaml");
      Files.writeString(policy, POLICY);
      return List.of("--audit-policy-file=" + policy, "--audit-log-path=" + log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The log of the API server of a class that asked for one. */
  public static Path log(String controlPlane) {
    return directory()
        .orElse(Path.of("target", "audit").toAbsolutePath())
        .resolve(controlPlane + ".log");
  }

  /** The kubeconfig of the operator's service account in a cluster. */
  static Path kubeconfig(Path administrator) {
    try (KubernetesClient client = ApiClients.patient(administrator)) {
      for (HasMetadata object : account()) {
        client.resource(object).fieldManager("test").forceConflicts().serverSideApply();
      }
      Config config = client.getConfiguration();
      Map<String, Object> kubeconfig =
          Map.of(
              "apiVersion",
              "v1",
              "kind",
              "Config",
              "current-context",
              "a",
              "clusters",
              List.of(
                  Map.of(
                      "name",
                      "a",
                      "cluster",
                      Map.of(
                          "server",
                          config.getMasterUrl(),
                          "certificate-authority-data",
                          config.getCaCertData()))),
              "users",
              List.of(Map.of("name", "a", "user", Map.of("token", token(client)))),
              "contexts",
              List.of(Map.of("name", "a", "context", Map.of("cluster", "a", "user", "a"))));
      Path file = Files.createTempFile("operator", ".kubeconfig");
      file.toFile().deleteOnExit();
      return Files.writeString(file, new KubernetesSerialization().asYaml(kubeconfig));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<HasMetadata> account() {
    return List.of(
        new NamespaceBuilder()
            .withNewMetadata()
            .withName(InstallManifests.NAMESPACE)
            .endMetadata()
            .build(),
        new ServiceAccountBuilder()
            .withNewMetadata()
            .withName(InstallManifests.SERVICE_ACCOUNT)
            .withNamespace(InstallManifests.NAMESPACE)
            .endMetadata()
            .build(),
        new ClusterRoleBindingBuilder()
            .withNewMetadata()
            .withName("sluice-audited")
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "cluster-admin")
            .addNewSubject(
                "", "ServiceAccount", InstallManifests.SERVICE_ACCOUNT, InstallManifests.NAMESPACE)
            .build());
  }

  private static String token(KubernetesClient client) {
    return client
        .serviceAccounts()
        .inNamespace(InstallManifests.NAMESPACE)
        .withName(InstallManifests.SERVICE_ACCOUNT)
        .tokenRequest(
            new TokenRequestBuilder()
                .withNewSpec()
                .withExpirationSeconds(VALIDITY.toSeconds())
                .endSpec()
                .build())
        .getStatus()
        .getToken();
  }
}

package dev.sluice.lab.process;

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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * The service account that an installed operator has. With it, an operator of the laboratory is
 * told apart from the people and programs around it, and installs the same registrations of
 * webhooks.
 */
public final class OperatorAccount {

  /** The name that the API server gives to it. */
  public static final String USER = InstallManifests.user(InstallManifests.NAMESPACE);

  private static final Duration VALIDITY = Duration.ofDays(1);
  private static final String NAME = "sluice";

  private OperatorAccount() {}

  /**
   * Makes the account where there is none, lets it do everything, because it is to install, and
   * writes a kubeconfig with a token of it that is good for a day.
   *
   * @param administrator the kubeconfig of somebody who may do this
   * @param file is created, and readable for its owner only
   */
  public static void create(Path administrator, Path file) {
    try (KubernetesClient client = ApiClients.patient(administrator)) {
      for (HasMetadata object : account()) {
        client.resource(object).fieldManager("laboratory").forceConflicts().serverSideApply();
      }
      write(file, kubeconfig(client, token(client, InstallManifests.SERVICE_ACCOUNT)));
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
            .withName("sluice-laboratory")
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "cluster-admin")
            .addNewSubject(
                "", "ServiceAccount", InstallManifests.SERVICE_ACCOUNT, InstallManifests.NAMESPACE)
            .build());
  }

  /**
   * A kubeconfig of the account that a manager of several clusters has in a worker cluster, good
   * for a day; the account is made if need be.
   *
   * @param worker somebody who may do this, in a cluster that has the operator's namespace
   */
  public static String kubeconfigForManager(KubernetesClient worker) {
    for (HasMetadata object : InstallManifests.workerAccount()) {
      worker.resource(object).fieldManager("laboratory").forceConflicts().serverSideApply();
    }
    return kubeconfig(worker, token(worker, InstallManifests.WORKER_ACCOUNT));
  }

  /** A token of a service account in the operator's namespace, good for a day. */
  public static String token(KubernetesClient client, String account) {
    return client
        .serviceAccounts()
        .inNamespace(InstallManifests.NAMESPACE)
        .withName(account)
        .tokenRequest(
            new TokenRequestBuilder()
                .withNewSpec()
                .withExpirationSeconds(VALIDITY.toSeconds())
                .endSpec()
                .build())
        .getStatus()
        .getToken();
  }

  /** The authority that signs the certificates of an operator that makes its own, as PEM. */
  public static String certificateAuthority(KubernetesClient client) {
    String authority =
        client
            .secrets()
            .inNamespace(InstallManifests.NAMESPACE)
            .withName("kueue-webhook-server-cert")
            .require()
            .getData()
            .getOrDefault("ca.crt", "");
    return new String(Base64.getDecoder().decode(authority), StandardCharsets.UTF_8);
  }

  /** The text of a kubeconfig for the cluster of a client, with a token of somebody else. */
  public static String kubeconfig(KubernetesClient client, String token) {
    Config config = client.getConfiguration();
    // as other kubeconfigs write it; the client adds a slash
    String server = config.getMasterUrl().replaceFirst("/$", "");
    Map<String, Object> cluster =
        Map.of("server", server, "certificate-authority-data", config.getCaCertData());
    return new KubernetesSerialization()
        .asYaml(
            Map.of(
                "apiVersion",
                "v1",
                "kind",
                "Config",
                "current-context",
                NAME,
                "clusters",
                List.of(Map.of("name", NAME, "cluster", cluster)),
                "users",
                List.of(Map.of("name", NAME, "user", Map.of("token", token))),
                "contexts",
                List.of(Map.of("name", NAME, "context", Map.of("cluster", NAME, "user", NAME)))));
  }

  private static void write(Path file, String text) throws IOException {
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(file, text);
  }
}

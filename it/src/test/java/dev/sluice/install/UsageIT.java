package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** People ask the API server what was used, with the role of docs/ledger.md. */
@ControlPlaneTest(
    exclusive = true,
    controllers = false,
    apiServerArguments = "--enable-aggregator-routing=true")
@Tag(BuildBreadth.NIGHTLY)
class UsageIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Duration INTERVAL = Duration.ofSeconds(2);
  private static final String ROOT = "/apis/visibility.kueue.x-k8s.io/v1beta2";

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by the test
  private Path directory;

  @SuppressWarnings("NullAway.Init") // set by the test
  private KubectlPlugin plugin;

  @Test
  void theDocumentedRoleMayAskThroughTheApiServer(TestCluster cluster) throws Exception {
    plugin = new KubectlPlugin(cluster.kubeconfig());
    cluster.applyText(
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: usage-viewer}
        rules: [{apiGroups: [visibility.kueue.x-k8s.io], resources: [usage], verbs: [list]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: usage-eraser}
        rules:
        - {apiGroups: [visibility.kueue.x-k8s.io], resources: [usage], verbs: [deletecollection]}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: usage-viewer}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: usage-viewer}
        subjects: [{kind: User, name: anna, apiGroup: rbac.authorization.k8s.io}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: usage-viewer, namespace: "${namespace}"}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: usage-viewer}
        subjects: [{kind: User, name: tina, apiGroup: rbac.authorization.k8s.io}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: usage-eraser, namespace: "${namespace}"}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: usage-eraser}
        subjects: [{kind: User, name: tom, apiGroup: rbac.authorization.k8s.io}]
        """);
    String everywhere = ROOT + "/usage";
    String here = ROOT + "/namespaces/" + cluster.namespace() + "/usage";
    try (ShippedOperator operator = new ShippedOperator(cluster, directory)) {
      operator.start("ledger: {enable: true, directory: \"" + directory.resolve("ledger") + "\"}");

      answers("anna", "get", everywhere, "\"kind\":\"Usage\"");
      answers("tina", "get", here, "\"kind\":\"Usage\"");
      answers("tom", "delete", here, "\"deleted\":0");
      isRefused("tina", "get", everywhere);
      isRefused("tina", "delete", here);
      isRefused("tom", "get", here);
      assertThat(operator.isAlive()).isTrue();
    }
  }

  private void answers(String user, String verb, String path, String text) {
    await("the answer to " + user)
        .atMost(LIMIT)
        .pollInterval(INTERVAL) // a user may ask twice a second
        .untilAsserted(
            () ->
                assertThat(plugin.kubectl(verb, "--raw", path, "--as=" + user))
                    .contains(text)
                    .endsWith("exit 0"));
  }

  private void isRefused(String user, String verb, String path) throws Exception {
    assertThat(plugin.kubectl(verb, "--raw", path, "--as=" + user))
        .containsIgnoringCase("forbidden")
        .endsWith("exit 1");
  }
}

package dev.sluice.checks.multikueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.ServedApi;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.LogLines;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A worker cluster comes, goes and comes back, as seen in the manager's API. */
@ControlPlaneTest(exclusive = true, controllers = false)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ResourceLock(AdditionalControlPlane.PLACE_B)
@Tag(BuildBreadth.NIGHTLY)
class WorkerClustersIT {

  private static final String NAMESPACE = "kueue-system";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @SuppressWarnings("NullAway.Init") // made before all tests
  private AdditionalControlPlane worker;

  @SuppressWarnings("NullAway.Init")
  private ServedApi workerApi;

  @SuppressWarnings("NullAway.Init")
  private LocalOperator operator;

  @SuppressWarnings("NullAway.Init")
  private LogLines log;

  @SuppressWarnings("NullAway.Init")
  private KubernetesClient manager;

  @BeforeAll
  void start(TestCluster cluster) throws Exception {
    log = new LogLines();
    manager = cluster.client();
    worker = AdditionalControlPlane.startWithoutControllers("worker");
    workerApi = ServedApi.withoutAdmission(worker.client());
    operator =
        LocalOperator.start(
            "manager",
            cluster.kubeconfig(),
            "featureGates: {MultiKueueKubeConfigPathValidation: false}\n");
  }

  @AfterAll
  void stop() {
    operator.close();
    workerApi.close();
    worker.close();
    log.close();
  }

  private void secret(String kubeconfig) {
    manager
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName("onsite-kubeconfig")
                .withNamespace(NAMESPACE)
                .endMetadata()
                .withStringData(Map.of("kubeconfig", kubeconfig))
                .build())
        .fieldManager("test")
        .forceConflicts()
        .serverSideApply();
  }

  private void awaitCluster(String status, String reason, String message) {
    awaitCluster("onsite", status, reason, message);
  }

  private void awaitCluster(String name, String status, String reason, String message) {
    eventually(
        () -> {
          MultiKueueCluster cluster =
              manager.resources(MultiKueueCluster.class).withName(name).require();
          assertThat(cluster.getStatus()).isNotNull();
          assertActive(cluster.getStatus().conditions(), status, reason, message);
        });
  }

  private void awaitCheck(String status, String reason, String message) {
    eventually(
        () -> {
          AdmissionCheck check =
              manager.resources(AdmissionCheck.class).withName("clusters").require();
          assertThat(check.getStatus()).isNotNull();
          assertActive(check.getStatus().conditions(), status, reason, message);
        });
  }

  private static void assertActive(
      List<Condition> conditions, String status, String reason, String message) {
    assertThat(conditions)
        .singleElement()
        .satisfies(
            condition -> {
              assertThat(condition.getType()).isEqualTo("Active");
              assertThat(condition.getStatus()).isEqualTo(status);
              assertThat(condition.getReason()).isEqualTo(reason);
              assertThat(condition.getMessage()).containsPattern(message);
            });
  }

  private static void eventually(ThrowingRunnable assertion) {
    await().atMost(LIMIT).pollInterval(Duration.ofMillis(250)).untilAsserted(assertion);
  }

  /** A kubeconfig of the worker's, with a token in place of a certificate. */
  private String withToken(String token) {
    return worker
        .kubeconfig()
        .replaceAll("client-certificate-data: .*", "token: " + token)
        .replaceAll(" *client-key-data: .*\n", "");
  }

  private String newToken() {
    worker
        .client()
        .load(
            new ByteArrayInputStream(
                """
                apiVersion: v1
                kind: ServiceAccount
                metadata: {name: manager, namespace: default}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRoleBinding
                metadata: {name: manager}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
                subjects: [{kind: ServiceAccount, name: manager, namespace: default}]
                """
                    .getBytes(StandardCharsets.UTF_8)))
        .serverSideApply();
    return worker
        .client()
        .serviceAccounts()
        .inNamespace("default")
        .withName("manager")
        .tokenRequest(new TokenRequestBuilder().withNewSpec().endSpec().build())
        .getStatus()
        .getToken();
  }

  @Test
  void clusterAndCheckFollowTheWorker(TestCluster cluster) throws Exception {
    cluster.apply(WorkerClustersIT.class, "worker-clusters.yaml");

    // no Secret yet
    awaitCluster(
        "False", "BadKubeConfig", "Secret \"kueue-system/onsite-kubeconfig\" does not exist");
    awaitCheck(
        "False",
        "NoUsableClusters",
        "Missing clusters: \\[remote\\], Inactive clusters: \\[onsite\\]");

    // connected
    secret(worker.kubeconfig());
    awaitCluster("True", "Active", "^Connected$");
    awaitCheck("True", "SomeActiveClusters", "^Missing clusters: \\[remote\\]$");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: MultiKueueConfig
        metadata: {name: clusters}
        spec: {clusters: [onsite]}
        """);
    awaitCheck("True", "Active", "All clusters are active");

    // the worker's API server goes, and comes back
    worker.controlPlane().crash(Program.API_SERVER);
    awaitCluster("False", "ClientConnectionFailed", "; failed attempts: [1-9], next attempt at 20");
    awaitCheck("False", "NoUsableClusters", "Inactive clusters: \\[onsite\\]");
    awaitCluster("False", "ClientConnectionFailed", "; failed attempts: [2-9], next attempt at 20");
    worker.controlPlane().startAgain(Program.API_SERVER);
    awaitCluster("True", "Active", "^Connected$");
    awaitCheck("True", "Active", "");

    // a kubeconfig that isn't allowed ends the connection
    secret(
        worker
            .kubeconfig()
            .replaceAll("certificate-authority-data: .*", "insecure-skip-tls-verify: true"));
    awaitCluster("False", "InsecureKubeConfig", "insecure-skip-tls-verify: true is not allowed");
    awaitCheck("False", "NoUsableClusters", "");

    // rotated: to a token that the worker doesn't know, and to one that it does
    secret(withToken("not-a-token"));
    awaitCluster("False", "ClientConnectionFailed", "HTTP 401 .*; failed attempts: [1-9]");
    String token = newToken();
    secret(withToken(token));
    awaitCluster("True", "Active", "^Connected$");
    awaitCheck("True", "Active", "");

    assertThat(log.text())
        .contains("cluster=onsite connected=true")
        .doesNotContain(token)
        .doesNotContain("not-a-token");
  }

  @Test
  void aKubeconfigInAFileIsReadAgainWhenItChanges(TestCluster cluster, @TempDir Path directory)
      throws Exception {
    Path file = directory.resolve("kubeconfig");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: MultiKueueCluster
        metadata: {name: filed}
        spec:
          clusterSource:
            kubeConfig: {locationType: Path, location: "%s"}
        """
            .formatted(file));
    awaitCluster("filed", "False", "BadKubeConfig", "file \".*\" does not exist");

    Files.writeString(file, worker.kubeconfig());
    awaitCluster("filed", "True", "Active", "^Connected$");

    Files.writeString(
        file, worker.kubeconfig().replaceAll("client-certificate-data: .*", "tokenFile: /token"));
    awaitCluster("filed", "False", "InsecureKubeConfig", "tokenFile: \"/token\" is a file");

    eventually(
        () ->
            assertThat(manager.events().v1().events().inAnyNamespace().list().getItems())
                .filteredOn(event -> event.getReason().equals("DeprecatedPathUsage"))
                .filteredOn(event -> event.getRegarding().getName().equals("filed"))
                .singleElement()
                .satisfies(
                    event -> {
                      assertThat(event.getType()).isEqualTo("Warning");
                      assertThat(event.getRegarding().getKind()).isEqualTo("MultiKueueCluster");
                      assertThat(event.getRegarding().getName()).isEqualTo("filed");
                    }));
  }

  /** The worker's kubeconfig with files in place of its data, and further fields. */
  private String inFiles(Path directory, String cluster, String user) throws IOException {
    for (String field : List.of("client-certificate", "client-key")) {
      Matcher data = Pattern.compile(field + "-data: *\"?([^\"\\s]+)").matcher(worker.kubeconfig());
      assertThat(data.find()).isTrue();
      Files.write(directory.resolve(field), Base64.getDecoder().decode(data.group(1)));
    }
    return worker
        .kubeconfig()
        .replaceAll("( *)(client-certificate)-data: .*", "$1$2: $2\n$1" + user)
        .replaceAll("( *)(client-key)-data: .*", "$1$2: $2")
        .replaceAll("( *)(server: .*)", "$1$2\n$1" + cluster);
  }

  @Test
  void aWorkerIsReachedThroughAProxyByAnotherNameAndAsAnotherUser(
      TestCluster cluster, @TempDir Path directory) throws Exception {
    Path file = directory.resolve("kubeconfig");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: MultiKueueCluster
        metadata: {name: detour}
        spec:
          clusterSource:
            kubeConfig: {locationType: Path, location: "%s"}
        """
            .formatted(file));
    try (ConnectProxy proxy = ConnectProxy.start()) {
      String way = "proxy-url: http://me:hunter2@127.0.0.1:" + proxy.port();
      String name = "tls-server-name: kubernetes.default.svc";
      String boss = "as: boss\n    as-uid: '7'\n    as-groups: ['system:masters']";

      // the certificate has the address, but not this name
      Files.writeString(file, inFiles(directory, "tls-server-name: other.example", boss));
      awaitCluster("detour", "False", "ClientConnectionFailed", "failed attempts: [1-9]");

      // nobody may be a user without rights
      Files.writeString(file, inFiles(directory, name, "as: nobody"));
      awaitCluster(
          "detour", "False", "ClientConnectionFailed", "HTTP 403 .*User \"nobody\" cannot list");

      assertThat(proxy.asked()).isEmpty();
      Files.writeString(file, inFiles(directory, way + "\n    " + name, boss));
      awaitCluster("detour", "True", "Active", "^Connected$");
      assertThat(proxy.asked())
          .isNotEmpty()
          .allSatisfy(
              request ->
                  assertThat(request)
                      .startsWith("CONNECT 127.0.0.1:")
                      .containsPattern("(?i)proxy-authorization: Basic bWU6aHVudGVyMg=="));
    }
    assertThat(log.text()).doesNotContain("hunter2");
  }
}

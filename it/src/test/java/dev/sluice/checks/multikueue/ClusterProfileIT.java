package dev.sluice.checks.multikueue;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.ServedApi;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.LogLines;
import dev.sluice.testing.MultiCluster;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A worker that is found by a ClusterProfile, and logged in to by a program. */
@ControlPlaneTest(exclusive = true, controllers = false)
@ResourceLock(AdditionalControlPlane.PLACE_A)
@Tag(BuildBreadth.NIGHTLY)
class ClusterProfileIT {

  @TempDir private Path directory = Path.of("");

  @SuppressWarnings("NullAway.Init") // made before each test
  private LogLines log;

  @SuppressWarnings("NullAway.Init") // made before each test
  private KubernetesClient manager;

  @SuppressWarnings("NullAway.Init") // made before each test
  private AdditionalControlPlane worker;

  @SuppressWarnings("NullAway.Init") // made before each test
  private ServedApi workerApi;

  @SuppressWarnings("NullAway.Init") // made before each test
  private LocalOperator operator;

  @BeforeEach
  void start(TestCluster cluster) throws Exception {
    log = new LogLines();
    manager = cluster.client();
    worker = AdditionalControlPlane.startWithoutControllers("profiled");
    workerApi = ServedApi.withoutAdmission(worker.client());
    operator =
        LocalOperator.start(
            "manager",
            cluster.kubeconfig(),
            """
            featureGates: {MultiKueueClusterProfile: true}
            multiKueue:
              clusterProfile:
                accessProviders:
                - name: shell
                  execConfig:
                    apiVersion: client.authentication.k8s.io/v1
                    command: %s/login
                    interactiveMode: Never
            """
                .formatted(directory));
  }

  @AfterEach
  void stop() {
    operator.close();
    workerApi.close();
    worker.close();
    log.close();
  }

  private void awaitCluster(String status, String reason, String message) {
    eventually(
        () -> {
          MultiKueueCluster cluster =
              manager.resources(MultiKueueCluster.class).withName("site").require();
          assertThat(cluster.getStatus()).isNotNull();
          assertThat(cluster.getStatus().conditions())
              .singleElement()
              .satisfies(
                  condition -> {
                    assertThat(condition.getStatus()).isEqualTo(status);
                    assertThat(condition.getReason()).isEqualTo(reason);
                    assertThat(condition.getMessage()).containsPattern(message);
                  });
        });
  }

  private String inKubeconfig(String field) {
    Matcher matcher = Pattern.compile(field + ": *\"?([^\"\\s]+)").matcher(worker.kubeconfig());
    assertThat(matcher.find()).as(field).isTrue();
    return matcher.group(1);
  }

  private void profile(String provider) {
    MultiCluster.applyTo(
        manager,
        """
        apiVersion: multicluster.x-k8s.io/v1alpha1
        kind: ClusterProfile
        metadata: {name: site, namespace: kueue-system}
        spec: {displayName: site, clusterManager: {name: test}}
        """);
    manager
        .genericKubernetesResources("multicluster.x-k8s.io/v1alpha1", "ClusterProfile")
        .inNamespace("kueue-system")
        .withName("site")
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"accessProviders": [{"name": "%s", "cluster": {"server": "%s",
              "certificate-authority-data": "%s"}}]}}
            """
                .formatted(
                    provider, inKubeconfig("server"), inKubeconfig("certificate-authority-data")));
  }

  private void login(String script) throws Exception {
    Path file = directory.resolve("login");
    Path made = directory.resolve("new");
    Files.writeString(made, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.move(made, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private String newToken() {
    MultiCluster.applyTo(
        worker.client(),
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
        """);
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
  void aWorkerIsFoundByItsProfileAndTheProgramLogsIn() throws Exception {
    MultiCluster.applyTo(
        manager,
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: MultiKueueCluster
        metadata: {name: site}
        spec: {clusterSource: {clusterProfileRef: {name: site}}}
        """);

    // nobody serves profiles; then there is none; then one of an unknown way
    awaitCluster("False", "BadClusterProfile", "\"kueue-system/site\" does not exist");
    AnyFields.define(manager, "multicluster.x-k8s.io", "v1alpha1", "ClusterProfile");
    profile("other");
    awaitCluster("False", "BadClusterProfile", "other is not configured; allowed: shell");

    // a program that isn't there, and one that fails
    profile("shell");
    awaitCluster("False", "ClientConnectionFailed", "login\" can't be run.*; failed attempts: 1");
    login("exit 4");
    awaitCluster("False", "ClientConnectionFailed", "login\" ended with 4; failed attempts: ");

    String token = newToken();
    login(
        """
        echo "$KUBERNETES_EXEC_INFO" > %s/told
        echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
          "status": {"token": "%s"}}'
        """
            .formatted(directory, token));
    awaitCluster("True", "Active", "^Connected$");

    assertThat(Files.readString(directory.resolve("told")))
        .contains("\"server\":\"" + inKubeconfig("server") + "\"");
    assertThat(log.text()).contains("cluster=site connected=true").doesNotContain(token);

    // without its profile it can't be used any more
    manager
        .genericKubernetesResources("multicluster.x-k8s.io/v1alpha1", "ClusterProfile")
        .inNamespace("kueue-system")
        .withName("site")
        .delete();
    awaitCluster("False", "BadClusterProfile", "\"kueue-system/site\" does not exist");
  }
}

package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The definitions and the plain manifest, applied to a real API server. */
@ControlPlaneTest(exclusive = true)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PlainManifestIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  @BeforeAll
  void install(TestCluster cluster) throws IOException {
    ServerSideApply apply = new ServerSideApply(cluster.client());
    apply.definitions();
    apply.apply(manifest());
  }

  @Test
  void thePodsAreAllowedInANamespaceThatIsRestricted(TestCluster cluster) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              var status =
                  cluster
                      .client()
                      .apps()
                      .deployments()
                      .inNamespace(InstallManifests.NAMESPACE)
                      .withName("kueue-controller-manager")
                      .get()
                      .getStatus();
              assertThat(status.getConditions())
                  .as("%s", status)
                  .noneMatch(it -> it.getType().equals("ReplicaFailure"));
              assertThat(status.getUpdatedReplicas()).isEqualTo(2);
            });
  }

  @Test
  void applyingAgainChangesNothing(TestCluster cluster) {
    ServerSideApply apply = new ServerSideApply(cluster.client());

    await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(versions(apply)).isNotEmpty().isEqualTo(versions(apply)));
  }

  /** No operator runs here, so that only the policy can refuse. */
  @Test
  void whatAJobTellsOfAnotherClusterIsWrittenByTheOperatorOnly(TestCluster cluster) {
    String policy = "kueue-remote-status";
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> createJobWithRemoteStatus(cluster.client(), cluster))
                    .hasMessageContaining(policy)
                    .hasMessageContaining("may be written by the operator only"));

    Config config = new ConfigBuilder(cluster.client().getConfiguration()).build();
    config.setImpersonateUsername(InstallManifests.user(InstallManifests.NAMESPACE));
    config.setImpersonateGroups("system:masters");
    try (KubernetesClient operator = new KubernetesClientBuilder().withConfig(config).build()) {
      assertThatCode(() -> createJobWithRemoteStatus(operator, cluster)).doesNotThrowAnyException();
    }
  }

  /** No operator runs here, so that whatever would be asked about can't be written. */
  @Test
  void theOperatorsOwnWritesAreNotAskedAbout(TestCluster cluster) {
    String asked = "failed calling webhook \"vjob.kb.io\"";
    Job job = cluster.client().resource(job("own-writes", cluster)).create();
    Config config = new ConfigBuilder(cluster.client().getConfiguration()).build();
    config.setImpersonateUsername(InstallManifests.user(InstallManifests.NAMESPACE));
    config.setImpersonateGroups("system:masters");
    try (KubernetesClient operator = new KubernetesClientBuilder().withConfig(config).build()) {
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> suspend(cluster.client(), job))
                      .hasMessageContaining(asked));
      assertThatCode(() -> suspend(operator, job)).doesNotThrowAnyException();
    }
  }

  private static void suspend(KubernetesClient client, Job job) {
    client
        .resource(job)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"q\"}},"
                + "\"spec\":{\"suspend\":true}}");
  }

  private static Job job(String name, TestCluster cluster) {
    return new JobBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(cluster.namespace())
        .endMetadata()
        .withNewSpec()
        .withNewTemplate()
        .withNewSpec()
        .withRestartPolicy("Never")
        .addNewContainer()
        .withName("main")
        .withImage("example")
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  private static void createJobWithRemoteStatus(KubernetesClient client, TestCluster cluster) {
    client
        .resource(
            new JobBuilder()
                .withNewMetadata()
                .withName("forged")
                .withNamespace(cluster.namespace())
                .addToAnnotations(LocalClusterAnnotations.REMOTE_STATUS, "{}")
                .endMetadata()
                .withNewSpec()
                .withNewTemplate()
                .withNewSpec()
                .withRestartPolicy("Never")
                .addNewContainer()
                .withName("main")
                .withImage("example")
                .endContainer()
                .endSpec()
                .endTemplate()
                .endSpec()
                .build())
        .dryRun()
        .create();
  }

  private static Map<String, String> versions(ServerSideApply apply) throws IOException {
    Map<String, String> versions = new TreeMap<>();
    for (HasMetadata object : apply.apply(manifest())) {
      versions.put(
          object.getKind() + " " + object.getMetadata().getName(),
          object.getMetadata().getResourceVersion());
    }
    return versions;
  }

  @ParameterizedTest
  @CsvSource({
    "create, kueue.x-k8s.io, workloads",
    "patch, kueue.x-k8s.io, workloads/status",
    "patch, batch, jobs",
    "watch, batch, jobs",
    "delete, batch, jobs",
    "patch, '', pods",
    "delete, '', pods",
    "watch, '', pods",
    "patch, '', pods/status",
    "update, '', pods/finalizers",
    "watch, apps, statefulsets",
    "watch, '', nodes",
    "create, events.k8s.io, events"
  })
  void theOperatorMayDoItsWork(String verb, String group, String resource, TestCluster cluster) {
    assertThat(allowed(cluster, operator(verb, group, resource, "default", ""))).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "create, batch, jobs",
    "update, '', pods/status",
    "create, '', pods/exec",
    "patch, apps, statefulsets",
    "delete, apps, statefulsets",
    "get, apps, deployments",
    "get, '', secrets",
    "patch, '', nodes",
    "update, kueue.x-k8s.io, workloads/status",
    "patch, kueue.x-k8s.io, cohorts",
    "patch, kueue.x-k8s.io, localqueues",
    "delete, kueue.x-k8s.io, clusterqueues",
    "escalate, rbac.authorization.k8s.io, clusterroles",
    "patch, apps, deployments"
  })
  void theOperatorMayDoNoMore(String verb, String group, String resource, TestCluster cluster) {
    assertThat(allowed(cluster, operator(verb, group, resource, "default", ""))).isFalse();
  }

  @Test
  void ofSecretsAndWebhooksTheOperatorMayTouchItsOwn(TestCluster cluster) {
    String own = InstallManifests.NAMESPACE;
    String webhooks = "mutatingwebhookconfigurations";
    String admission = "admissionregistration.k8s.io";

    assertThat(allowed(cluster, operator("get", "", "secrets", own, "kueue-webhook-server-cert")))
        .isTrue();
    assertThat(allowed(cluster, operator("get", "", "secrets", own, "kubeconfig-of-a-worker")))
        .isTrue();
    assertThat(allowed(cluster, operator("update", "", "secrets", own, "kubeconfig-of-a-worker")))
        .isFalse();
    assertThat(allowed(cluster, operator("get", "", "secrets", cluster.namespace(), "another")))
        .isFalse();
    assertThat(
            allowed(
                cluster,
                operator("patch", admission, webhooks, "", "kueue-mutating-webhook-configuration")))
        .isTrue();
    assertThat(allowed(cluster, operator("patch", admission, webhooks, "", "another"))).isFalse();
  }

  /** Changes of 0.20, section 7: administrators have all kinds that they set up. */
  @Test
  void rolesForPeopleGatherWhatTheyNeed(TestCluster cluster) {
    KubernetesClient client = cluster.client();
    String administrator = cluster.name("administrator");
    String user = cluster.name("user");
    String namespace = cluster.namespace();
    cluster.create(
        new ClusterRoleBindingBuilder()
            .withNewMetadata()
            .withName(administrator)
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "kueue-batch-admin-role")
            .addNewSubject("rbac.authorization.k8s.io", "User", administrator, null)
            .build());
    cluster.create(
        new RoleBindingBuilder()
            .withNewMetadata()
            .withName(user)
            .withNamespace(namespace)
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "kueue-batch-user-role")
            .addNewSubject("rbac.authorization.k8s.io", "User", user, null)
            .build());
    String own = "kueue.x-k8s.io";

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(may(client, administrator, "create", own, "clusterqueues", "")).isTrue();
              assertThat(may(client, user, "create", "batch", "jobs", namespace)).isTrue();
              assertThat(may(client, user, "get", own, "workloads", namespace)).isTrue();
            });
    for (String resource :
        List.of(
            "admissionchecks",
            "multikueueclusters",
            "multikueueconfigs",
            "provisioningrequestconfigs",
            "workloadpriorityclasses")) {
      assertThat(may(client, administrator, "create", own, resource, "")).as(resource).isTrue();
      assertThat(may(client, user, "get", own, resource, "")).as(resource).isFalse();
    }
    assertThat(may(client, user, "create", own, "localqueues", namespace)).isFalse();
    assertThat(may(client, user, "patch", own, "workloads", namespace)).isFalse();
    assertThat(may(client, user, "create", "batch", "jobs", "default")).isFalse();
    assertThat(may(client, administrator, "patch", own, "workloads/status", "")).isFalse();
  }

  private static boolean may(
      KubernetesClient client,
      String user,
      String verb,
      String group,
      String resource,
      String namespace) {
    return allowed(client, review(user, verb, group, resource, namespace, ""));
  }

  private static SubjectAccessReview operator(
      String verb, String group, String resource, String namespace, String name) {
    return review(
        InstallManifests.user(InstallManifests.NAMESPACE), verb, group, resource, namespace, name);
  }

  private static SubjectAccessReview review(
      String user, String verb, String group, String resource, String namespace, String name) {
    String[] parts = resource.split("/", 2);
    return new SubjectAccessReviewBuilder()
        .withNewSpec()
        .withUser(user)
        .withNewResourceAttributes()
        .withVerb(verb)
        .withGroup(group)
        .withResource(parts[0])
        .withSubresource(parts.length > 1 ? parts[1] : "")
        .withNamespace(namespace)
        .withName(name)
        .endResourceAttributes()
        .endSpec()
        .build();
  }

  private static boolean allowed(TestCluster cluster, SubjectAccessReview review) {
    return allowed(cluster.client(), review);
  }

  private static boolean allowed(KubernetesClient client, SubjectAccessReview review) {
    return Boolean.TRUE.equals(client.resource(review).create().getStatus().getAllowed());
  }

  private static String manifest() throws IOException {
    return Files.readString(Path.of(InstallFiles.PLAIN));
  }
}

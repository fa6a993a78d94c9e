package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What deploy/queued-jobs.yaml refuses where there is no operator and no webhook. */
@ControlPlaneTest(exclusive = true, controllers = false)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QueuedJobsPolicyIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final PatchContext DRY_MERGE =
      new PatchContext.Builder()
          .withPatchType(PatchType.JSON_MERGE)
          .withDryRun(List.of("All"))
          .build();
  private static final String QUEUE = "kueue.x-k8s.io/queue-name: main";
  private static final String MUST_BE_SUSPENDED =
      "spec.suspend must be true for a job that names a queue";
  private static final String JOB =
      """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: %s, labels: {%s}}
      spec:
        suspend: %s
        template:
          spec:
            restartPolicy: Never
            containers: [{name: main, image: none}]
      """;

  @BeforeAll
  void apply(TestCluster cluster) throws Exception {
    new ServerSideApply(cluster.client())
        .apply(Files.readString(Path.of(InstallFiles.QUEUED_JOBS)));
    cluster.applyText("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default}\n");
    cluster.applyText(JOB.formatted("probe", QUEUE, true));
    KubernetesClient client = cluster.client();
    // a policy counts some moments after it was written
    await()
        .atMost(LIMIT)
        .until(
            () ->
                refusal(
                        () ->
                            client
                                .batch()
                                .v1()
                                .jobs()
                                .inNamespace(cluster.namespace())
                                .withName("probe")
                                .patch(DRY_MERGE, "{\"spec\": {\"suspend\": false}}"))
                    .contains(MUST_BE_SUSPENDED));
  }

  @Test
  void aJobThatNamesAQueueIsStartedByTheOperatorOnly(TestCluster cluster) {
    KubernetesClient client = cluster.client();
    cluster.applyText(JOB.formatted("queued", QUEUE, true));

    assertThat(refusal(() -> cluster.applyText(JOB.formatted("at-once", QUEUE, false))))
        .contains(MUST_BE_SUSPENDED);
    assertThat(refusal(() -> patch(client, cluster, "queued", "{\"spec\": {\"suspend\": false}}")))
        .contains(MUST_BE_SUSPENDED);
    assertThat(
            refusal(
                () ->
                    patch(
                        client,
                        cluster,
                        "queued",
                        """
                        {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": null}},
                         "spec": {"suspend": false}}
                        """)))
        .as("not by leaving the queue in the same request")
        .contains(MUST_BE_SUSPENDED);
    try (KubernetesClient operator = operator(client)) {
      patch(operator, cluster, "queued", "{\"spec\": {\"suspend\": false}}");
    }
    patch(client, cluster, "queued", "{\"metadata\": {\"annotations\": {\"note\": \"it runs\"}}}");
    patch(client, cluster, "queued", "{\"spec\": {\"suspend\": true}}");
    assertThat(refusal(() -> patch(client, cluster, "queued", "{\"spec\":{\"suspend\":false}}")))
        .contains(MUST_BE_SUSPENDED);
  }

  @Test
  void unrelatedWorkIsUntouched(TestCluster cluster) {
    KubernetesClient client = cluster.client();

    cluster.applyText(JOB.formatted("unqueued", "", false));
    cluster.applyText(JOB.formatted("later", "", true));
    patch(client, cluster, "later", "{\"spec\": {\"suspend\": false}}");
    cluster.applyText(
        JOB.formatted("child", QUEUE, false)
            .replace(
                "metadata: {name: child,",
                "metadata: {name: child, ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2,"
                    + " kind: JobSet, name: set, uid: u1, controller: true}],"));
    assertThat(
            refusal(
                () ->
                    cluster.applyText(
                        JOB.formatted("of-cron", QUEUE, false)
                            .replace(
                                "metadata: {name: of-cron,",
                                "metadata: {name: of-cron, ownerReferences: [{apiVersion: batch/v1,"
                                    + " kind: CronJob, name: c, uid: u2, controller: true}],"))))
        .contains(MUST_BE_SUSPENDED);
  }

  /** A client that is the operator's service account, and may do everything besides. */
  private static KubernetesClient operator(KubernetesClient client) {
    Config config = new ConfigBuilder(client.getConfiguration()).build();
    config.setImpersonateUsername(InstallManifests.user(InstallManifests.NAMESPACE));
    config.setImpersonateGroups("system:masters");
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  private static void patch(
      KubernetesClient client, TestCluster cluster, String job, String patch) {
    client.batch().v1().jobs().inNamespace(cluster.namespace()).withName(job).patch(MERGE, patch);
  }

  /** Why the API server refuses; empty if it doesn't. */
  private static String refusal(Runnable request) {
    try {
      request.run();
      return "";
    } catch (KubernetesClientException e) {
      return String.valueOf(e.getMessage());
    }
  }
}

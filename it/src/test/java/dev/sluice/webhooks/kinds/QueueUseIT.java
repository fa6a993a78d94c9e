package dev.sluice.webhooks.kinds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who may use a queue and a class, as a real API server asks; bob tries all ways around it. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Tag(BuildBreadth.NIGHTLY)
class QueueUseIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);

  private static final String JOB =
      """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: %s, labels: {%s}}
      spec:
        suspend: true
        template:
          spec:
            restartPolicy: Never
            containers: [{name: main, image: none, resources: {requests: {cpu: 1m}}}]
      """;

  private static KubernetesClient as(TestCluster cluster, String user) {
    Config config = new ConfigBuilder(cluster.client().getConfiguration()).build();
    config.setImpersonateUsername(user);
    config.setImpersonateGroups("system:authenticated");
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  private static GenericKubernetesResource create(
      KubernetesClient client, TestCluster cluster, String text) {
    return client
        .resource(Serialization.unmarshal(text, GenericKubernetesResource.class))
        .inNamespace(cluster.namespace())
        .create();
  }

  private static void refused(KubernetesClient client, TestCluster cluster, String text) {
    assertThatThrownBy(() -> create(client, cluster, text))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("user \"bob\" may not use")
        .hasMessageContaining("sluice.dev/allowed-users");
  }

  private static void patch(
      KubernetesClient client, TestCluster cluster, String job, String patch) {
    client
        .batch()
        .v1()
        .jobs()
        .inNamespace(cluster.namespace())
        .withName(job)
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  private static String pod(String name, String metadata) {
    return """
    apiVersion: v1
    kind: Pod
    metadata: {name: %s, %s}
    spec:
      automountServiceAccountToken: false
      containers: [{name: main, image: none, resources: {requests: {cpu: 1m}}}]
    """
        .formatted(name, metadata);
  }

  private static String workload(String name, String field) {
    return """
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: Workload
    metadata: {name: %s}
    spec:
      %s
      podSets:
      - name: main
        count: 1
        template:
          spec:
            restartPolicy: Never
            containers: [{name: main, image: none, resources: {requests: {cpu: 1m}}}]
    """
        .formatted(name, field);
  }

  private static void queues(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: %1$s}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: %1$s}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: %1$s, resources: [{name: cpu, nominalQuota: 10}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: open, namespace: %2$s}
        spec: {clusterQueue: %1$s}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: gold, namespace: %2$s, annotations: {sluice.dev/allowed-users: ann}}
        spec: {clusterQueue: %1$s}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: short, namespace: %2$s, annotations: {sluice.dev/max-run-time: 1h}}
        spec: {clusterQueue: %1$s}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: %1$s, annotations: {sluice.dev/allowed-users: ann}}
        value: 1000
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenants, namespace: %2$s}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
        subjects:
        - {apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}
        - {apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}
        """
            .formatted(cluster.name("rights"), cluster.namespace()));
  }

  @Test
  void onlyWhoIsNamedGetsAtAQueueAndAClass(TestCluster cluster) {
    String queue = "kueue.x-k8s.io/queue-name: gold";
    String open = "kueue.x-k8s.io/queue-name: open";
    String high = "kueue.x-k8s.io/priority-class: " + cluster.name("rights");
    try (LocalOperator _ =
            LocalOperator.start(
                "operator-of-rights",
                cluster.kubeconfig(),
                "integrations: {frameworks: [batch/job, pod, statefulset]}");
        KubernetesClient ann = as(cluster, "ann");
        KubernetesClient bob = as(cluster, "bob")) {
      queues(cluster);
      await("the queue is known")
          .atMost(LIMIT)
          .ignoreException(KubernetesClientException.class)
          .untilAsserted(
              () ->
                  assertThatThrownBy(
                          () ->
                              bob.resource(
                                      Serialization.unmarshal(
                                          JOB.formatted("probe", queue + ", " + high),
                                          GenericKubernetesResource.class))
                                  .inNamespace(cluster.namespace())
                                  .dryRun()
                                  .create())
                      .hasMessageContaining("may not use LocalQueue")
                      .hasMessageContaining("may not use WorkloadPriorityClass"));

      // jobs, when created and when changed
      refused(bob, cluster, JOB.formatted("stranger", queue));
      create(bob, cluster, JOB.formatted("plain", open));
      assertThatThrownBy(
              () ->
                  patch(
                      bob,
                      cluster,
                      "plain",
                      "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"gold\"}}}"))
          .hasMessageContaining("may not use LocalQueue");
      assertThatThrownBy(
              () ->
                  patch(
                      bob,
                      cluster,
                      "plain",
                      "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/priority-class\":\""
                          + cluster.name("rights")
                          + "\"}}}"))
          .hasMessageContaining("may not use WorkloadPriorityClass");
      create(ann, cluster, JOB.formatted("owned", queue + ", " + high));
      admitted(cluster, "Job", "owned");

      // pods, alone and in the group of another one
      refused(bob, cluster, pod("alone", "labels: {" + queue + "}"));
      String group =
          "annotations: {kueue.x-k8s.io/pod-group-total-count: '2'}, labels:"
              + " {kueue.x-k8s.io/pod-group-name: owned-group, ";
      create(ann, cluster, pod("first", group + queue + "}"));
      refused(bob, cluster, pod("second", group + queue + "}"));
      create(ann, cluster, pod("second", group + queue + "}"));
      admittedWorkload(cluster, "owned-group");
      refused(bob, cluster, pod("third", group + open + "}"));

      // Workloads made by hand, and one of another's
      refused(bob, cluster, workload("by-hand", "queueName: gold"));
      refused(bob, cluster, workload("by-hand", "priority: 1000"));
      create(ann, cluster, workload("prepared", "queueName: gold"));
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  refused(
                      bob,
                      cluster,
                      JOB.formatted(
                          "thief", open + ", kueue.x-k8s.io/prebuilt-workload-name: prepared")));

      // nor one that runs longer than its queue allows
      assertThatThrownBy(
              () ->
                  create(
                      bob,
                      cluster,
                      workload("endless", "queueName: short\n  maximumExecutionTimeSeconds: 7200")))
          .hasMessageContaining("must be from 1 to 3600, the longest run time of LocalQueue");
      GenericKubernetesResource limited =
          create(bob, cluster, workload("limited", "queueName: short"));
      assertThat(limited.<Number>get("spec", "maximumExecutionTimeSeconds").intValue())
          .isEqualTo(3_600);

      // what a controller of the cluster makes for who may
      create(
          ann,
          cluster,
          """
          apiVersion: apps/v1
          kind: StatefulSet
          metadata: {name: served, labels: {%s}}
          spec:
            replicas: 1
            serviceName: served
            selector: {matchLabels: {app: served}}
            template:
              metadata: {labels: {app: served}}
              spec:
                containers: [{name: main, image: none, resources: {requests: {cpu: 1m}}}]
          """
              .formatted(queue));
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          cluster
                              .client()
                              .pods()
                              .inNamespace(cluster.namespace())
                              .withName("served-0")
                              .get())
                      .isNotNull());
    }
  }

  private static void admitted(TestCluster cluster, String kind, String name) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        cluster
                            .client()
                            .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
                            .inNamespace(cluster.namespace())
                            .list()
                            .getItems())
                    .filteredOn(
                        workload ->
                            workload.getMetadata().getOwnerReferences().stream()
                                .anyMatch(
                                    owner ->
                                        owner.getKind().equals(kind)
                                            && owner.getName().equals(name)))
                    .singleElement()
                    .satisfies(QueueUseIT::isAdmitted));
  }

  private static void admittedWorkload(TestCluster cluster, String name) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        cluster
                            .client()
                            .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
                            .inNamespace(cluster.namespace())
                            .withName(name)
                            .get())
                    .isNotNull()
                    .satisfies(QueueUseIT::isAdmitted));
  }

  private static void isAdmitted(GenericKubernetesResource workload) {
    JsonNode conditions =
        Serialization.jsonMapper().valueToTree(workload.getAdditionalProperties().get("status"));
    assertThat(conditions.path("conditions"))
        .anySatisfy(
            condition -> {
              assertThat(condition.path("type").asText()).isEqualTo("Admitted");
              assertThat(condition.path("status").asText()).isEqualTo("True");
            });
  }
}

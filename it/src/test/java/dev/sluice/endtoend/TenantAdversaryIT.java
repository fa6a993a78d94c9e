package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedJobSet;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A user who may edit one namespace, with the role of batch users besides, tries to run more than
 * quota allows (docs/security.md#cluster-users-in-a-namespace).
 */
@OperatorTest(configuration = TenantAdversaryIT.CONFIGURATION)
class TenantAdversaryIT {

  static final String CONFIGURATION =
      "integrations: {frameworks: [batch/job, pod, statefulset, jobset.x-k8s.io/jobset]}";

  private static final String JOB = "batch/v1/Job";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private TestCluster cluster;
  private QueuedJobs api;
  private KubernetesClient tenant;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot"));
    own.applyText(
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: {name: resizes}
        rules: [{apiGroups: [""], resources: [pods/resize], verbs: [get, patch, update]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenant-edits}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "tenant-${suffix}"}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenant-queues}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kueue-batch-user-role}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "tenant-${suffix}"}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenant-resizes}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: resizes}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "tenant-${suffix}"}]
        """);
    Config config = new ConfigBuilder(own.client().getConfiguration()).build();
    config.setImpersonateUsername(own.name("tenant"));
    config.setImpersonateGroups("system:authenticated");
    tenant = new KubernetesClientBuilder().withConfig(config).build();
  }

  @AfterEach
  void leave() {
    tenant.close();
  }

  private String patchPod(String name, String json) {
    return patch("v1", "Pod", name, json);
  }

  /** What the API server answers the tenant who merges JSON; empty if it is done. */
  private String patch(String version, String kind, String name, String json) {
    try {
      tenant
          .genericKubernetesResources(version, kind)
          .inNamespace(cluster.namespace())
          .withName(name)
          .patch(MERGE, json.replace('\'', '"'));
      return "";
    } catch (KubernetesClientException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private void assertRefused(String pod, String json, String message) {
    assertRefused("v1", "Pod", pod, json, message);
  }

  /** A policy counts some moments after it was written, and RBAC likewise. */
  private void assertRefused(
      String version, String kind, String name, String json, String message) {
    await(json)
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(patch(version, kind, name, json)).contains(message));
  }

  private void submit(String yaml) {
    tenant.resource(yaml).inNamespace(cluster.namespace()).create();
  }

  private static String name(JsonNode object) {
    return object.at("/metadata/name").asText();
  }

  private static boolean isGated(JsonNode pod) {
    return !pod.at("/spec/schedulingGates").isEmpty();
  }

  private List<JsonNode> running() {
    return api.pods().stream()
        .filter(pod -> pod.at("/status/phase").asText().equals("Running"))
        .toList();
  }

  private void awaitRunning(int pods) {
    await(pods + " pods run")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(running()).hasSize(pods));
  }

  private JsonNode gated() {
    return await("a pod that waits at its gate")
        .atMost(LIMIT)
        .until(
            () -> api.pods().stream().filter(TenantAdversaryIT::isGated).toList(),
            pods -> !pods.isEmpty())
        .getFirst();
  }

  private static String pod(String name, String labels, String annotations) {
    return """
    apiVersion: v1
    kind: Pod
    metadata:
      name: %s
      labels: {kueue.x-k8s.io/queue-name: lq%s}
      annotations: {sluice.dev/run-for: "30m"%s}
    spec:
      automountServiceAccountToken: false
      restartPolicy: Never
      containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
    """
        .formatted(name, labels, annotations);
  }

  @Test
  void gatesOfAnElasticJobAreOpenedByTheOperatorOnly() {
    api.givenQueues(2);
    submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: grows
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec:
          parallelism: 2
          completions: 100
          template:
            metadata: {annotations: {sluice.dev/run-for: "30m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    awaitRunning(2);
    api.patch(JOB, "grows", "{'spec': {'parallelism': 6}}");
    String waiting = name(gated());
    String runs = name(running().getFirst());

    assertRefused(
        waiting,
        "{'spec': {'schedulingGates': null}}",
        "spec.schedulingGates: kueue.x-k8s.io/elastic-job may be removed by the operator only");
    for (String label :
        List.of(
            "batch.kubernetes.io/job-name",
            "batch.kubernetes.io/controller-uid",
            "kueue.x-k8s.io/podset")) {
      assertRefused(
          runs,
          "{'metadata': {'labels': {'%s': 'other'}}}".formatted(label),
          "may be changed by its controller only");
    }
    assertRefused(
        runs, "{'metadata': {'ownerReferences': null}}", "may be changed by controllers of");
    assertThat(patchPod(runs, "{'metadata': {'labels': {'mine': 'yes'}}}")).isEmpty();

    // The operator opens gates itself when there is quota, and no more than that.
    api.setQuota(6);
    awaitRunning(6);
    api.awaitUsage("6");
  }

  @Test
  void aPodStaysManagedAndGatedUntilItHasQuota() {
    api.givenQueues(1);
    submit(pod("first", "", ""));
    awaitRunning(1);
    submit(pod("second", "", ""));
    String waiting = name(gated());

    assertRefused(
        waiting, "{'spec': {'schedulingGates': null}}", "may be removed by the operator only");
    assertRefused(
        waiting,
        "{'metadata': {'labels': {'kueue.x-k8s.io/managed': null}}}",
        "may be changed by the operator only, while the pod lives");
    assertRefused(
        "first",
        "{'metadata': {'labels': {'kueue.x-k8s.io/managed': null}}}",
        "may be changed by the operator only, while the pod lives");
    assertThat(running()).extracting(TenantAdversaryIT::name).containsExactly("first");
    tenant.pods().inNamespace(cluster.namespace()).withName("first").delete();
    await("the second runs")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(running())
                    .extracting(TenantAdversaryIT::name)
                    .containsExactly("second"));
  }

  @Test
  void aGroupOfOneHasOnePodWhateverParentItsPodsName() {
    api.givenQueues(1);
    for (int i = 0; i < 3; i++) {
      submit(
          pod(
              "member-" + i,
              ", kueue.x-k8s.io/managed: 'true', kueue.x-k8s.io/pod-group-name: one",
              ", kueue.x-k8s.io/pod-group-total-count: '1',"
                  + " kueue.x-k8s.io/pod-suspending-parent: statefulset"));
    }
    awaitRunning(1);
    for (JsonNode pod : api.pods()) {
      if (isGated(pod)) {
        assertRefused(
            name(pod),
            "{'spec': {'schedulingGates': null}}",
            "may be removed by the operator only");
      } else {
        assertRefused(
            name(pod),
            "{'metadata': {'annotations': {'kueue.x-k8s.io/role-hash': 'other'}}}",
            "may be changed by the operator only, while the pod lives");
      }
    }
    assertThat(running()).hasSize(1);
    api.awaitUsage("1");
  }

  @Test
  void theJobBelowAnAdmittedOneKeepsItsSize() {
    PlayedDefinitions.install(cluster.client(), new PlayedJobSet().kind());
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedJobSet())) {
      api.givenQueues(1);
      cluster.applyText(
          """
          apiVersion: jobset.x-k8s.io/v1alpha2
          kind: JobSet
          metadata: {name: set, labels: {kueue.x-k8s.io/queue-name: lq}}
          spec:
            replicatedJobs:
            - name: one
              template:
                spec:
                  parallelism: 1
                  completions: 1
                  template:
                    metadata: {annotations: {sluice.dev/run-for: "30m"}}
                    spec:
                      restartPolicy: Never
                      containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
          """);
      awaitRunning(1);
      for (String change :
          List.of(
              "{'spec': {'parallelism': 50}}",
              "{'metadata': {'ownerReferences': null}}",
              "{'metadata': {'ownerReferences': null}, 'spec': {'parallelism': 50}}")) {
        assertRefused(
            "batch/v1", "Job", "set-one-0", change, "may be changed by controllers of the cluster");
      }
      assertThat(patch("batch/v1", "Job", "set-one-0", "{'metadata': {'labels': {'mine': 'y'}}}"))
          .isEmpty();
      assertThat(running()).hasSize(1);
    }
  }

  private static String job(String name, String metadata, String env) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: %s
      %s
    spec:
      parallelism: 1
      completions: 100
      template:
        metadata: {annotations: {sluice.dev/run-for: "30m"}}
        spec:
          restartPolicy: Never
          containers:
          - {name: main, image: none, resources: {requests: {cpu: "1"}}, env: [{name: E, value: "%s"}]}
    """
        .formatted(name, metadata, env);
  }

  /** The API server could store neither its eviction nor the request for a checkpoint. */
  @Test
  void aJobThatLeavesNoRoomForItsEvictionIsNotQueued() {
    api.givenQueues(1);
    String queue = "labels: {kueue.x-k8s.io/queue-name: lq}";
    submit(job("large", queue, "v".repeat(1_100_000)));
    String parameter = "provreq.kueue.x-k8s.io/p: " + "v".repeat(262_000);
    submit(job("annotated", queue + "\n  annotations: {" + parameter + "}", "v"));
    for (String refused : List.of("large", "annotated")) {
      await(refused)
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          cluster
                              .client()
                              .v1()
                              .events()
                              .inNamespace(cluster.namespace())
                              .list()
                              .getItems()
                              .stream()
                              .filter(it -> it.getInvolvedObject().getName().equals(refused)))
                      .extracting(it -> it.getReason() + ": " + it.getMessage())
                      .anySatisfy(
                          it ->
                              assertThat(it)
                                  .startsWith("ErrWorkloadCompose: ")
                                  .contains("must have at most")));
    }
    submit(job("honest", queue, "v"));
    awaitRunning(1);
    assertThat(api.workloads())
        .extracting(it -> it.at("/metadata/ownerReferences/0/name").asText())
        .containsExactly("honest");
  }

  /** Neither its suspension nor the deletion of a pod could be stored beside as many labels. */
  @Test
  void whatRunsCannotGrowUntilItsEndFindsNoRoom() {
    api.givenQueues(2);
    submit(job("padded", "labels: {kueue.x-k8s.io/queue-name: lq}", "v".repeat(1_000_000)));
    submit(
        pod("single", "", "")
            .replace(
                "image: none",
                "image: none, env: [{name: E, value: %s}]".formatted("v".repeat(1_000_000))));
    awaitRunning(2);
    assertThat(pad("batch/v1", "Job", "padded")).contains("so that its end can be stored");
    assertThat(pad("v1", "Pod", "single")).contains("so that its end can be stored");
    for (String urgent : List.of("one", "two")) {
      submit(pod(urgent, ", kueue.x-k8s.io/priority-class: " + cluster.name("high"), ""));
    }
    await("what is urgent runs")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(running())
                    .extracting(TenantAdversaryIT::name)
                    .containsExactlyInAnyOrder("one", "two"));
  }

  /** Adds labels until they are refused. */
  private String pad(String version, String kind, String name) {
    String answer = "";
    for (int block = 0; answer.isEmpty() && block < 12; block++) {
      StringBuilder labels = new StringBuilder("'l%d': 'v'".formatted(block));
      for (int i = 0; i < 500; i++) {
        labels.append(", 'l%d-%d': '%s'".formatted(block, i, "v".repeat(60)));
      }
      answer = patch(version, kind, name, "{'metadata': {'labels': {%s}}}".formatted(labels));
    }
    return answer;
  }

  /** Each size that it grows to is a Workload of its own, which was admitted a moment ago. */
  @Test
  void aJobThatGrowsAgainAndAgainEndsAtItsTimeLimit() {
    api.givenQueues(2);
    submit(
        job(
            "grows",
            """
            labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/max-exec-time-seconds: "30"}
              annotations: {kueue.x-k8s.io/elastic-job: "true"}
            """,
            "v"));
    awaitRunning(1);
    for (int size = 2; api.workloads().size() < 100 && !isSuspended("grows"); size = 3 - size) {
      api.patch(JOB, "grows", "{'spec': {'parallelism': %d}}".formatted(size));
      int pods = size;
      await("size " + size)
          .atMost(LIMIT)
          .until(() -> running().size() == pods || isSuspended("grows"));
    }
    assertThat(isSuspended("grows")).isTrue();
    assertThat(api.workloads().size()).as("sizes that it grew to").isGreaterThan(2);
  }

  private boolean isSuspended(String job) {
    return api.get(JOB, job).at("/spec/suspend").asBoolean();
  }
}

package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.jobs.kinds.argo.Workflow;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedWorkflow;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Workflows of Argo that wait at Kube Queue's suspend template, on a real control plane. The
 * workflow controller is played; its definition is installed while the operator runs.
 */
@OperatorTest(configuration = "kubeQueue: {enabled: true, sources: []}")
@Tag(BuildBreadth.NIGHTLY)
class WorkflowsIT {

  private static final String WORKFLOW = "argoproj.io/v1alpha1/Workflow";
  private static final String UNIT = "scheduling.x-k8s.io/v1alpha1/QueueUnit";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static String workflow(String name, String runFor, String loop) {
    return """
    apiVersion: argoproj.io/v1alpha1
    kind: Workflow
    metadata: {name: %1$s}
    spec:
      entrypoint: main
      templates:
      - name: main
        steps:
        - [{name: hold, template: kube-queue-suspend}]
        - [{name: a, template: work %3$s}, {name: b, template: work}]
        - [{name: c, template: work}]
      - {name: kube-queue-suspend, suspend: {}}
      - name: work
        metadata: {annotations: {sluice.dev/run-for: %2$s}}
        container: {image: none, resources: {requests: {cpu: 750m}}}
    """
        .formatted(name, runFor, loop);
  }

  private static String phase(QueuedJobs api, String unit) {
    return api.find(UNIT, unit).map(it -> it.at("/status/phase").asText()).orElse("absent");
  }

  private static void awaitPhase(QueuedJobs api, String unit, String phase) {
    await(unit + " " + phase)
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(phase(api, unit)).isEqualTo(phase));
  }

  private static List<String> pods(QueuedJobs api) {
    return api.pods().stream().map(pod -> pod.at("/metadata/name").asText()).sorted().toList();
  }

  /** Ends a pod, however often others write its status at the same time. */
  private static void end(TestCluster cluster, String pod) {
    await("end of " + pod)
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(
            () ->
                cluster
                        .client()
                        .pods()
                        .inNamespace(cluster.namespace())
                        .withName(pod)
                        .editStatus(
                            it -> {
                              it.getStatus().setPhase("Succeeded");
                              return it;
                            })
                    != null);
  }

  @Test
  void aWorkflowWaitsAtItsTemplateRunsAndIsStoppedBetweenItsSteps(TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1).withLabel("pool", "spot"));
    api.givenQueues(0);
    QuotaFixture.givenQuotas(cluster, "video");
    QuotaFixture.givenLocalQueue(cluster, "video");
    PlayedDefinitions.install(cluster.client(), Workflow.KIND);
    try (KindPlayer argo = new KindPlayer(cluster.client(), new PlayedWorkflow())) {
      cluster.applyText(workflow("first", "10m", ""));
      awaitPhase(api, "first", "Running");
      await("pods").atMost(LIMIT).until(() -> pods(api).equals(List.of("first-a", "first-b")));
      JsonNode first = api.get(WORKFLOW, "first");
      assertThat(first.at("/status/nodes/first-hold/phase").asText()).isEqualTo("Succeeded");
      assertThat(first.at("/status/nodes/first-hold/finishedAt").asText()).endsWith("Z");
      assertThat(api.pods())
          .allSatisfy(
              pod -> assertThat(pod.at("/spec/nodeSelector/pool").asText()).isEqualTo("spot"));

      // 1.5 of 2 CPUs are taken
      cluster.applyText(workflow("second", "1s", ""));
      awaitPhase(api, "second", "Enqueued");
      await("message")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(api.get(UNIT, "second").at("/status/message").asText())
                      .contains("0.5 available of 2"));
      assertThat(api.get(WORKFLOW, "second").at("/status/nodes/second-hold/phase").asText())
          .isEqualTo("Running");

      // stopped: what runs goes on, nothing more begins, and quota is kept until then
      api.patch(UNIT, "first", "{'spec': {'active': false}}");
      awaitPhase(api, "first", "Preempted");
      await("suspended")
          .atMost(LIMIT)
          .until(() -> api.get(WORKFLOW, "first").at("/spec/suspend").asBoolean());
      end(cluster, "first-a");
      assertThat(phase(api, "second")).isEqualTo("Enqueued");
      end(cluster, "first-b");
      api.awaitCondition(
          QueuedJobs.WORKLOAD, api.workloadOf(WORKFLOW, "second"), "Finished", "True");
      awaitPhase(api, "second", "Succeed");
      assertThat(pods(api))
          .containsExactly("first-a", "first-b", "second-a", "second-b", "second-c");

      // and goes on where it was
      api.patch(UNIT, "first", "{'spec': {'active': true}}");
      await("pod").atMost(LIMIT).until(() -> pods(api).contains("first-c"));
      assertThat(api.get(WORKFLOW, "first").at("/spec").has("suspend")).isFalse();
      end(cluster, "first-c");
      awaitPhase(api, "first", "Succeed");
      assertThat(api.get(WORKFLOW, "first").at("/status/phase").asText()).isEqualTo("Succeeded");

      // nobody knows how often its loop runs
      cluster.applyText(workflow("endless", "1s", ", withParam: \"[1]\""));
      String endless = api.workloadOf(WORKFLOW, "endless");
      await("reason")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(api.message(QueuedJobs.WORKLOAD, endless, "QuotaReserved"))
                      .contains("a loop or a recursion has no limit"));
      api.patch(
          WORKFLOW,
          "endless",
          "{'metadata': {'annotations': {'kube-queue/min-resources': 'cpu: 2'}}}");
      awaitPhase(api, "endless", "Succeed");
    }
  }

  /** docs/queueing-policies.md#who-may-use-a-queue-or-a-class: no webhook knows who made it. */
  @Test
  void aWorkflowGetsNothingInAQueueThatIsNotForEverybody(TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1).withLabel("pool", "spot"));
    api.givenQueues(0);
    QuotaFixture.givenQuotas(cluster, "video");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata:
          name: gold
          annotations: {sluice.dev/allowed-users: ann}
        spec: {clusterQueue: "root-video-${suffix}"}
        """);
    PlayedDefinitions.install(cluster.client(), Workflow.KIND);
    try (KindPlayer argo = new KindPlayer(cluster.client(), new PlayedWorkflow())) {
      cluster.applyText(
          workflow("held", "1s", "")
              .replace("{name: held}", "{name: held, labels: {kueue.x-k8s.io/queue-name: gold}}"));
      await("event")
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          cluster
                              .client()
                              .v1()
                              .events()
                              .inNamespace(cluster.namespace())
                              .withField("involvedObject.name", "held")
                              .list()
                              .getItems())
                      .anySatisfy(
                          event -> {
                            assertThat(event.getReason()).isEqualTo("QuotaNotAvailable");
                            assertThat(event.getMessage())
                                .isEqualTo(
                                    "not everybody may use LocalQueue %s/gold, and nobody judges who names it in a Workflow"
                                        .formatted(cluster.namespace()));
                          }));
      assertThat(api.workloads()).isEmpty();

      api.patch(
          "kueue.x-k8s.io/v1beta2/LocalQueue",
          "gold",
          "{'metadata': {'annotations': {'sluice.dev/allowed-users': null}}}");
      awaitPhase(api, "held", "Succeed");
    }
  }
}

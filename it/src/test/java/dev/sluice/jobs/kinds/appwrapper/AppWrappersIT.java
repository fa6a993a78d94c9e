package dev.sluice.jobs.kinds.appwrapper;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedAppWrapper;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** AppWrappers in a queue of a real control plane; their own controller is played. */
@OperatorTest(
    configuration =
        "integrations: {frameworks: [batch/job, pod, workload.codeflare.dev/appwrapper]}")
@Tag(BuildBreadth.NIGHTLY)
class AppWrappersIT {

  private static final String WRAPPER = "workload.codeflare.dev/v1beta2/AppWrapper";
  private static final String JOB = "batch/v1/Job";

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("node"), 1).withLabel("pool", "spot"));
    PlayedDefinitions.install(own.client(), new PlayedAppWrapper().kind());
  }

  /** A Job of two pods, which names a queue itself, and a Pod; each pod asks for one CPU. */
  private void submit(String name, String annotations) {
    String template =
        """
        metadata: {labels: {app: a}, annotations: {%s}}, spec: {restartPolicy: Never,
         containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]}"""
            .formatted(annotations)
            .replace("\n", " ");
    cluster.applyText(
        """
        apiVersion: workload.codeflare.dev/v1beta2
        kind: AppWrapper
        metadata:
          name: %1$s
          labels: {kueue.x-k8s.io/queue-name: lq}
        spec:
          components:
          - template:
              apiVersion: batch/v1
              kind: Job
              metadata: {name: %1$s-job, labels: {kueue.x-k8s.io/queue-name: lq}}
              spec: {parallelism: 2, completions: 2, backoffLimit: 0, template: {%2$s}}
          - podSets: [{path: template}]
            template: {apiVersion: v1, kind: Pod, %3$s}
        """
            .formatted(
                name,
                template,
                template.replaceFirst("\\{labels", "{name: " + name + "-pod, labels")));
  }

  private void awaitPodsReady(String workload) {
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
  }

  @Test
  void anAppWrapperFromItsCreationToItsEnd() {
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedAppWrapper())) {
      api.givenQueues(2);
      submit("wrap", "sluice.dev/run-for: 60m");
      String workload = api.workloadOf(WRAPPER, "wrap");
      JsonNode created = api.get(WRAPPER, "wrap");
      assertThat(created.at("/spec/suspend").asBoolean()).isTrue();
      JsonNode podSets = api.get(QueuedJobs.WORKLOAD, workload).at("/spec/podSets");
      assertThat(podSets.at("/0/name").asText()).isEqualTo("wrap-0");
      assertThat(podSets.at("/0/count").asInt()).isEqualTo(2);
      assertThat(podSets.at("/1/name").asText()).isEqualTo("wrap-1");
      assertThat(podSets.at("/1/count").asInt()).isEqualTo(1);
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      assertThat(api.find(JOB, "wrap-job")).isEmpty();
      assertThat(api.pods()).isEmpty();

      api.setQuota(3);
      awaitPodsReady(workload);
      JsonNode started = api.get(WRAPPER, "wrap");
      assertThat(started.at("/spec/components/0/podSetInfos/0/nodeSelector/pool").asText())
          .isEqualTo("spot");
      assertThat(started.at("/spec/components/0/template"))
          .isEqualTo(created.at("/spec/components/0/template"));
      assertThat(api.pods())
          .hasSize(3)
          .allSatisfy(
              pod -> {
                assertThat(pod.at("/spec/nodeSelector/pool").asText()).isEqualTo("spot");
                assertThat(pod.at("/spec/tolerations").findValuesAsText("key")).contains("spot");
                assertThat(pod.at("/metadata/labels").toString())
                    .contains("kueue.x-k8s.io/podset")
                    .doesNotContain("kueue.x-k8s.io/managed");
              });
      assertThat(api.workloads()).hasSize(1);

      api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      assertThat(api.get(WRAPPER, "wrap").at("/spec")).isEqualTo(created.at("/spec"));
      api.awaitGone(JOB, "wrap-job");
      api.awaitGone("v1/Pod", "wrap-pod");

      api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': true}}");
      api.endPodsUntilFinished(workload);
      assertThat(api.message(QueuedJobs.WORKLOAD, workload, "Finished"))
          .isEqualTo("AppWrapper finished successfully");
      assertThat(api.workloads()).hasSize(1);
      api.awaitUsage("0");
      assertThat(player).isNotNull();
    }
  }

  @Test
  void oneThatFailsIsFinishedWhenNothingOfItIsLeft() {
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedAppWrapper())) {
      api.givenQueues(3);
      submit("broken", "sluice.dev/run-for: 1s, sluice.dev/exit-code: \"1\"");
      String workload = api.workloadOf(WRAPPER, "broken");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "Finished", "True");
      assertThat(api.message(QueuedJobs.WORKLOAD, workload, "Finished"))
          .isEqualTo("AppWrapper failed");
      assertThat(api.find(JOB, "broken-job")).isEmpty();
      assertThat(api.find("v1/Pod", "broken-pod")).isEmpty();
      assertThat(api.workloads()).hasSize(1);
      api.awaitUsage("0");
      assertThat(player).isNotNull();
    }
  }
}

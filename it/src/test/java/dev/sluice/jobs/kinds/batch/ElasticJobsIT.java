package dev.sluice.jobs.kinds.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs whose size changes while they run (docs/elastic-jobs.md), on a real control plane. */
@OperatorTest
class ElasticJobsIT {

  private static final String JOB = "batch/v1/Job";
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String K = "kueue.x-k8s.io/";

  private TestCluster cluster;
  private QueuedJobs api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    own.createNodes(NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot"));
  }

  private void submit(String name, int pods) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec:
          parallelism: %d
          completions: 100
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, pods));
  }

  private void scale(String name, int pods) {
    api.patch(JOB, name, "{'spec': {'parallelism': %d}}".formatted(pods));
  }

  private static boolean isGated(JsonNode pod) {
    return !pod.at("/spec/schedulingGates").isEmpty();
  }

  private List<JsonNode> live() {
    return api.pods().stream()
        .filter(pod -> !pod.at("/metadata").has("deletionTimestamp"))
        .filter(pod -> !List.of("Succeeded", "Failed").contains(pod.at("/status/phase").asText()))
        .toList();
  }

  /** Awaits so many pods without gate, which run, and so many with. */
  private void awaitPods(int open, int gated) {
    await(open + " open pods, " + gated + " gated")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              List<JsonNode> pods = live();
              assertThat(pods).filteredOn(ElasticJobsIT::isGated).hasSize(gated);
              assertThat(pods)
                  .filteredOn(pod -> pod.at("/status/phase").asText().equals("Running"))
                  .hasSize(open);
            });
  }

  private String condition(String workload, String type) {
    for (JsonNode condition : api.get(QueuedJobs.WORKLOAD, workload).at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("reason").asText();
      }
    }
    return "absent";
  }

  /** Awaits the only slice that has not finished and asks for so many pods. */
  private String awaitSlice(int count) {
    return await("a slice of " + count)
        .atMost(LIMIT)
        .until(
            () ->
                api.workloads().stream()
                    .filter(
                        it ->
                            !condition(it.at("/metadata/name").asText(), "Finished")
                                .startsWith("True"))
                    .filter(it -> it.at("/spec/podSets/0/count").asInt() == count)
                    .map(it -> it.at("/metadata/name").asText())
                    .toList(),
            found -> found.size() == 1)
        .getFirst();
  }

  @Test
  void anEvictedSliceLeavesItsPlaceToTheReplacementThatWaits() {
    api.givenQueues(2);
    submit("grows", 2);
    String first = awaitSlice(2);
    awaitPods(2, 0);
    scale("grows", 3);
    String second =
        await("the replacement")
            .atMost(LIMIT)
            .until(
                () ->
                    api.workloads().stream()
                        .map(it -> it.at("/metadata/name").asText())
                        .filter(name -> !name.equals(first))
                        .toList(),
                names -> names.size() == 1)
            .getFirst();
    api.awaitCondition(QueuedJobs.WORKLOAD, second, "QuotaReserved", "False");

    urgentJob();

    api.awaitCondition(QueuedJobs.WORKLOAD, first, "Finished", "True");
    assertThat(condition(first, "Finished")).isEqualTo("True WorkloadSliceReplaced");
    assertThat(condition(first, "Evicted")).isEqualTo("True Preempted");
    assertThat(condition(second, "Finished")).isEqualTo("absent");
    assertThat(api.get(JOB, "grows").at("/spec/suspend").asBoolean()).isTrue();
    api.awaitUsage("1");
    api.setQuota(4);
    api.awaitCondition(QueuedJobs.WORKLOAD, second, "Admitted", "True");
    api.awaitUsage("4");
  }

  private void urgentJob() {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: urgent
          labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: "high-${suffix}"}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
  }

  @Test
  void theSizeOfARunningJobFollowsTheQuota() {
    api.givenQueues(4);
    submit("grows", 2);
    String first = awaitSlice(2);
    awaitPods(2, 0);
    api.awaitUsage("2");
    JsonNode pod = live().getFirst().at("/metadata");
    assertThat(pod.at("/annotations").path(K + "workload-slice-name").asText()).isEqualTo(first);

    scale("grows", 4);
    awaitPods(4, 0);
    api.awaitUsage("4");
    String second = awaitSlice(4);
    assertThat(condition(first, "Finished")).isEqualTo("True WorkloadSliceReplaced");
    JsonNode annotations = api.get(QueuedJobs.WORKLOAD, second).at("/metadata/annotations");
    assertThat(annotations.path(K + "workload-slice-replacement-for").asText())
        .isEqualTo(cluster.namespace() + "/" + first);
    assertThat(annotations.path(K + "workload-slice-name").asText()).isEqualTo(first);
    assertThat(
            api.get(QueuedJobs.WORKLOAD, second)
                .at("/spec/podSets/0/template/metadata/annotations")
                .path(K + "workload-slice-name")
                .asText())
        .isEqualTo(first);
    assertThat(api.get(JOB, "grows").at("/spec/suspend").asBoolean()).isFalse();

    scale("grows", 6);
    awaitPods(4, 2);
    api.awaitCondition(QueuedJobs.WORKLOAD, awaitSlice(6), "QuotaReserved", "False");
    assertThat(api.message(QueuedJobs.WORKLOAD, awaitSlice(6), "QuotaReserved")).contains("cpu");
    scale("grows", 5);
    String third = awaitSlice(5);
    api.setQuota(5);
    awaitPods(5, 0);
    api.awaitUsage("5");
    assertThat(condition(second, "Finished")).isEqualTo("True WorkloadSliceReplaced");

    scale("grows", 1);
    awaitPods(1, 0);
    api.awaitUsage("1");
    assertThat(awaitSlice(1)).isEqualTo(third);

    api.delete(JOB, "grows");
    api.awaitUsage("0");
    await("no Workload is left").atMost(LIMIT).until(() -> api.workloads().isEmpty());
  }
}

package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs that may start with fewer pods than they ask for, on a real control plane. */
@OperatorTest
class PartialAdmissionIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.createNodes(
        NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot").withLabel("zone", "a"));
    own.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "urgent-${suffix}"}
        value: 100
        """);
  }

  /** A Job of five pods that may start with two. */
  private JsonNode submitReducible(String job, String runFor) {
    return api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {kueue.x-k8s.io/job-min-parallelism: "2"}
        spec:
          parallelism: 5
          completions: 5
          template:
            metadata: {annotations: {sluice.dev/run-for: "%s"}}
            spec:
              restartPolicy: Never
              nodeSelector: {zone: a}
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job, runFor));
  }

  /** The same, whose completions follow its parallelism. */
  private JsonNode submitEqual(String job, String runFor) {
    return api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations:
            kueue.x-k8s.io/job-min-parallelism: "2"
            kueue.x-k8s.io/job-completions-equal-parallelism: "true"
        spec:
          parallelism: 5
          completions: 5
          completionMode: Indexed
          template:
            metadata: {annotations: {sluice.dev/run-for: "%s"}}
            spec:
              restartPolicy: Never
              nodeSelector: {zone: a}
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job, runFor));
  }

  private void assertPods(String job, int parallelism, int completions) {
    JsonNode spec = api.get("Job", job).at("/spec");
    assertThat(spec.path("parallelism").asInt()).as("parallelism").isEqualTo(parallelism);
    assertThat(spec.path("completions").asInt()).as("completions").isEqualTo(completions);
  }

  @Test
  void aJobStartsWithAsManyPodsAsFitAndCompletes() {
    api.givenQueues(3);

    submitReducible("partial", "3s");

    String workload = api.awaitRunning("partial", 3);
    assertPods("partial", 3, 5);
    JsonNode object = api.get("Workload", workload);
    assertThat(object.at("/spec/podSets/0/count").asInt()).isEqualTo(5);
    assertThat(object.at("/spec/podSets/0/minCount").asInt()).isEqualTo(2);
    JsonNode given = object.at("/status/admission/podSetAssignments/0");
    assertThat(given.path("count").asInt()).isEqualTo(3);
    assertThat(given.at("/resourceUsage/cpu").asText()).isEqualTo("3");
    api.awaitUsage("3");
    api.awaitCondition("Workload", workload, "Finished", "True Succeeded");
    assertThat(api.get("Job", "partial").at("/status/succeeded").asInt()).isEqualTo(5);
    assertThat(api.workloadOf("partial")).isEqualTo(workload);
    api.awaitUsage("0");
  }

  /** No Workload can have a minimum above its number of pods, so the Job has to change again. */
  @Test
  void aJobOfFewerPodsThanItsMinimumIsToldWhyUntilTheMinimumFits() {
    api.givenQueues(1);
    submitReducible("shrunk", "1s");
    api.awaitCondition(
        "Workload", api.workloadOf("shrunk"), "QuotaReserved", "False ExceedsMaxQuota");

    api.patch("Job", "shrunk", "{'spec': {'parallelism': 1}}");
    api.awaitEvent("shrunk", "ErrWorkloadCompose");
    assertThat(api.get("Job", "shrunk").at("/spec/suspend").asBoolean()).isTrue();

    api.patch(
        "Job",
        "shrunk",
        "{'metadata': {'annotations': {'kueue.x-k8s.io/job-min-parallelism': null}}}");
    api.awaitRunning("shrunk", 1);
  }

  @Test
  void completionsFollowWhereTheJobAsksForThat() {
    api.givenQueues(3);

    submitEqual("indexed", "2s");

    String workload = api.awaitRunning("indexed", 3);
    assertPods("indexed", 3, 3);
    api.awaitCondition("Workload", workload, "Finished", "True Succeeded");
    assertThat(api.get("Job", "indexed").at("/status/succeeded").asInt()).isEqualTo(3);
  }

  @Test
  void aPreemptedJobIsRestoredAndStartsAgainWithWhatThereIs() {
    api.givenQueues(2);
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'spec': {'preemption': {'withinClusterQueue': 'LowerPriority'}}}");
    JsonNode submitted = submitReducible("partial", "10m");
    String workload = api.awaitRunning("partial", 2); // its minimum
    assertPods("partial", 2, 5);

    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: urgent
          labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: "urgent-${suffix}"}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              nodeSelector: {zone: a}
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);

    api.awaitRunning("urgent", 1);
    api.awaitCondition("Workload", workload, "QuotaReserved", "False WaitingForQuota");
    assertThat(api.get("Workload", workload).at("/status/conditions").toString())
        .contains(
            "it doesn't fit even with the fewest pods it may start with (pod set main: 2 of 5);"
                + " preemption does not help: no workload that it may preempt would free enough");
    assertThat(api.condition("Workload", workload, "Preempted")).isEqualTo("True InClusterQueue");
    JsonNode stopped = api.get("Job", "partial").at("/spec");
    assertThat(stopped).isEqualTo(submitted.at("/spec"));
    api.delete("Job", "urgent");
    assertThat(api.awaitRunning("partial", 2)).isEqualTo(workload);
    assertPods("partial", 2, 5);
  }

  @Test
  void aDeactivatedJobIsRestoredWithItsCompletions() {
    api.givenQueues(4);
    JsonNode submitted = submitEqual("indexed", "10m");
    String workload = api.awaitRunning("indexed", 4);
    assertPods("indexed", 4, 4);

    api.patch("Workload", workload, "{'spec': {'active': false}}");

    api.awaitCondition("Workload", workload, "Evicted", "True Deactivated");
    api.awaitField("Job", "indexed", "/spec/completions", "5");
    assertThat(api.get("Job", "indexed").at("/spec")).isEqualTo(submitted.at("/spec"));
    api.awaitUsage("0");
    api.patch("Workload", workload, "{'spec': {'active': true}}");
    assertThat(api.awaitRunning("indexed", 4)).isEqualTo(workload);
  }

  @Test
  void aJobWaitsUntilItsMinimumFits() {
    api.givenQueues(4);
    api.submit("one", 1);
    api.submit("two", 2);
    api.awaitRunning("one", 1);
    api.awaitRunning("two", 2);

    submitReducible("partial", "10m");

    String workload = api.workloadOf("partial");
    api.awaitCondition("Workload", workload, "QuotaReserved", "False WaitingForQuota");
    assertThat(api.get("Workload", workload).at("/status/conditions").toString())
        .contains("it doesn't fit even with the fewest pods it may start with");
    api.delete("Job", "one");
    api.awaitRunning("partial", 2);
    assertPods("partial", 2, 5);
  }

  @Test
  void aJobThatIsResizedWhileItWaitsAsksForThat() {
    api.givenQueues(2);
    api.submit("other", 2);
    api.awaitRunning("other", 2);
    submitReducible("partial", "10m");
    String workload = api.workloadOf("partial");

    api.patch(
        "Job",
        "partial",
        "{'metadata': {'annotations': {'kueue.x-k8s.io/job-min-parallelism': '1'}},"
            + " 'spec': {'parallelism': 4}}");

    api.awaitField("Workload", workload, "/spec/podSets/0/minCount", "1");
    api.awaitField("Workload", workload, "/spec/podSets/0/count", "4");
    api.delete("Job", "other");
    api.awaitRunning("partial", 2);
    assertPods("partial", 2, 5);
  }
}

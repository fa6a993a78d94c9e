package dev.sluice.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** PreemptionConfigs let Workloads preempt beyond the policies (docs/preemption-config.md). */
@OperatorTest(
    configuration =
        "featureGates: {ConfigurablePreemptions: true}\n"
            + "integrations: {frameworks: [batch/job], labelKeysToCopy: [example.com/rank]}")
class PreemptionConfigIT {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String JOB = "batch/v1/Job";
  private static final String CONFIG = "kueue.x-k8s.io/v1alpha1/PreemptionConfig";
  private static final String CLUSTER_QUEUE = "kueue.x-k8s.io/v1beta2/ClusterQueue";

  /** Changes of 0.20, section 6: heroes, within nominal quota, and numbers in labels. */
  @Test
  void rulesAddCandidatesAndAnEmptyConfigNone(TestCluster cluster) {
    QueuedJobs jobs = new QueuedJobs(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "f-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "hero-${suffix}"}
        value: 10
        ---
        apiVersion: kueue.x-k8s.io/v1alpha1
        kind: PreemptionConfig
        metadata: {name: "config-${suffix}"}
        spec: {}
        """);
    queue(cluster, "a", "kueue.x-k8s.io/preemption-config-name: \"config-${suffix}\"");
    queue(cluster, "b", "");
    submit(cluster, "steady", "b", 2, "");
    jobs.awaitCondition(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "steady"), "PodsReady", "True");

    // the policies of the queue are Never, and an empty config adds nothing
    submit(cluster, "hero", "a", 4, "kueue.x-k8s.io/priority-class: \"hero-${suffix}\"");
    jobs.awaitCondition(
        QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "hero"), "QuotaReserved", "False");
    assertThat(jobs.find(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "steady")))
        .hasValueSatisfying(it -> assertThat(it.toString()).doesNotContain("\"Evicted\""));

    // a rule for heroes: steady is evicted, although its queue borrows nothing
    jobs.patch(
        CONFIG,
        cluster.name("config"),
        """
        {'spec': {'rules': [{
          'name': 'heroes',
          'preemptorPriorityClassSelector': {'matchNames': ['%s']},
          'activationPolicy': {'trigger': 'InsufficientQuota'},
          'candidateSelectors': [{
            'scope': 'WithinCohortTree',
            'priority': {'mode': 'Base', 'comparison': 'LessThan'}}]}]}}
        """
            .formatted(cluster.name("hero")));
    jobs.awaitCondition(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "hero"), "PodsReady", "True");
    jobs.awaitCondition(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "steady"), "Preempted", "True");
    assertThat(jobs.message(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "steady"), "Preempted"))
        .contains("due to reclamation within the cohort");

    // somebody of no class is no hero, and has to wait
    submit(cluster, "plain", "a", 2, "");
    jobs.awaitCondition(
        QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "plain"), "QuotaReserved", "False");
    jobs.delete(JOB, "hero");
    jobs.awaitCondition(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "plain"), "PodsReady", "True");
    jobs.awaitCondition(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "steady"), "PodsReady", "True");

    // numbers in labels: plain has none, which counts as 0
    jobs.patch(
        CONFIG,
        cluster.name("config"),
        """
        {'spec': {'rules': [{
          'name': 'ranks',
          'candidateSelectors': [{
            'scope': 'WithinClusterQueue',
            'numericLabels': [{
              'key': 'example.com/rank', 'fallbackValue': 0, 'comparison': 'LessThan'}]}]}]}}
        """);
    submit(cluster, "equal", "a", 2, "example.com/rank: \"0\"");
    submit(cluster, "higher", "a", 2, "example.com/rank: \"7\"");
    jobs.awaitCondition(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "higher"), "PodsReady", "True");
    jobs.awaitCondition(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "plain"), "Preempted", "True");
    assertThat(jobs.get(JOB, "equal").at("/spec/suspend").asBoolean()).isTrue();
    assertThat(jobs.get(JOB, "steady").at("/spec/suspend").asBoolean()).isFalse();

    assertThatThrownBy(
            () ->
                jobs.patch(
                    CONFIG,
                    cluster.name("config"),
                    "{'spec': {'rules': [{'name': 'x', 'candidateSelectors': [{'scope':"
                        + " 'All'}]}]}}"))
        .hasMessageContaining("spec.rules[0].candidateSelectors[0].scope")
        .hasMessageContaining("WithinCohortTree");

    // without the annotation the policies alone count again
    jobs.patch(
        CLUSTER_QUEUE,
        cluster.name("a"),
        "{'metadata': {'annotations': {'kueue.x-k8s.io/preemption-config-name': null}}}");
    submit(cluster, "highest", "a", 2, "example.com/rank: \"9\"");
    jobs.awaitCondition(
        QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, "highest"), "QuotaReserved", "False");
    await("highest waits")
        .during(Duration.ofSeconds(2))
        .atMost(LIMIT)
        .until(() -> !jobs.get(JOB, "higher").at("/spec/suspend").asBoolean());
  }

  private static void queue(TestCluster cluster, String name, String annotations) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "%1$s-${suffix}", annotations: {%2$s}}
        spec:
          namespaceSelector: {}
          cohortName: "team-${suffix}"
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "f-${suffix}"
              resources: [{name: cpu, nominalQuota: 2}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: "%1$s"}
        spec: {clusterQueue: "%1$s-${suffix}"}
        """
            .formatted(name, annotations));
  }

  private static void submit(
      TestCluster cluster, String name, String queue, int cpu, String label) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: %s%s}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "30m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: %d}}}]
        """
            .formatted(name, queue, label.isEmpty() ? "" : ", " + label, cpu));
  }
}

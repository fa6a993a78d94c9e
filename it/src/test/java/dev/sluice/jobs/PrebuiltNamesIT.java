package dev.sluice.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs and pods name prebuilt Workloads by label alone where the gate of annotations is off. */
@OperatorTest(
    configuration =
        """
        integrations: {frameworks: [batch/job, pod]}
        featureGates:
          WorkloadIdentifierAnnotations: false
          RecomputeAssignmentUponPreemptionTargetsOverlap: false
        """)
@Tag(BuildBreadth.NIGHTLY)
class PrebuiltNamesIT {

  private static final String JOB = "batch/v1/Job";
  private static final String NAMED = "kueue.x-k8s.io/prebuilt-workload-name: made";

  private static void job(TestCluster cluster, String name, String labels, String annotations) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq%s}
          annotations: {%s}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 60m}}
            spec:
              restartPolicy: Never
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, labels, annotations));
  }

  private static QueuedJobs given(TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1).withLabel("pool", "spot"));
    api.givenQueues(5);
    return api;
  }

  private static void prebuilt(TestCluster cluster, String name) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: %s}
        spec:
          queueName: lq
          podSets:
          - name: main
            template:
              spec:
                restartPolicy: Never
                containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name));
  }

  @Test
  void theAnnotationIsNotFollowedAndTheLabelIs(TestCluster cluster) {
    QueuedJobs api = given(cluster);
    job(cluster, "by-annotation", "", NAMED);
    String own = api.workloadOf(JOB, "by-annotation");
    assertThat(own).isNotEqualTo("made");
    api.awaitCondition(QueuedJobs.WORKLOAD, own, "Admitted", "True");

    job(cluster, "by-label", ", " + NAMED, "");
    prebuilt(cluster, "made");
    api.awaitCondition(QueuedJobs.WORKLOAD, "made", "Admitted", "True");
    assertThat(api.workloadOf(JOB, "by-label")).isEqualTo("made");
  }

  private static void pod(TestCluster cluster, String name, String labels, String annotations) {
    cluster.applyText(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq%s}
          annotations: {%s}
        spec:
          restartPolicy: Never
          containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, labels, annotations));
  }

  @Test
  void aPodFollowsTheLabelAloneToo(TestCluster cluster) {
    QueuedJobs api = given(cluster);
    pod(cluster, "by-annotation", "", NAMED);
    String own = api.workloadOf("v1/Pod", "by-annotation");
    assertThat(own).startsWith("pod-by-annotation-");
    api.awaitCondition(QueuedJobs.WORKLOAD, own, "Admitted", "True");

    String longName = "made-" + "long".repeat(16);
    pod(cluster, "by-long-name", "", NAMED.replace("made", longName));
    pod(cluster, "by-label", ", " + NAMED, "");
    for (String name : List.of("made", longName)) {
      prebuilt(cluster, name);
      api.awaitCondition(QueuedJobs.WORKLOAD, name, "Admitted", "True");
    }
    assertThat(api.workloadOf("v1/Pod", "by-label")).isEqualTo("made");
    assertThat(api.workloadOf("v1/Pod", "by-long-name")).isEqualTo(longName);
  }
}

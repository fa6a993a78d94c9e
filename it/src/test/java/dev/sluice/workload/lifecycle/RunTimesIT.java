package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.JobExplanation;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jobs run and end, and the next one of their kind is explained by them, also after a restart.
 * Others declare their run time, or get a limit from their queue.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Tag(BuildBreadth.NIGHTLY)
class RunTimesIT {

  private static final String LEARNED =
      "learned from 3 runs of the same pod templates in its LocalQueue";

  private final OperatorSettings settings =
      OperatorSettings.onFreePorts(new Random()).with("runTimes: {minSamples: 3}");

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by the test
  private Path directory;

  @SuppressWarnings("NullAway.Init") // set by the test
  private Api api;

  @Test
  void runTimesAreLearnedDeclaredAndLimited(TestCluster cluster) throws Exception {
    api = new Api(cluster);
    try (LocalOperator operator = start(cluster, "operator-that-learns")) {
      createQueues(cluster);
      for (String name : new String[] {"train-1", "train-2", "train-3"}) {
        submit(name, "image-a", "2s", "", "lq");
        api.awaitCondition("Workload", api.workloadOf(name), "Finished", "True Succeeded");
      }
      submit("holder", "image-b", "10m", "sluice.dev/expected-run-time: 10m", "lq");
      api.awaitRunning("holder", 1);
      submit("train-4", "image-a", "2s", "", "lq");
      explanation(cluster).await("train-4", LEARNED, "starts in about ", "by declared run times");
      explanation(cluster)
          .await("holder", "it is not pending", "runs about 10m, declared by its owner; it has");

      declared(cluster);
      limited(cluster);
      // what is learned now was saved, and not read from Workloads
      for (String name : new String[] {"train-1", "train-2", "train-3"}) {
        String workload = api.workloadOf(name);
        api.delete("Job", name);
        api.awaitGone("Workload", workload);
      }
      assertThat(operator.isHealthy()).isTrue();
    }
    try (LocalOperator operator = start(cluster, "operator-that-remembers")) {
      explanation(cluster).await("train-4", LEARNED);
      assertThat(operator.isHealthy()).isTrue();
    }
  }

  private LocalOperator start(TestCluster cluster, String name) {
    return LocalOperator.start(name, cluster.kubeconfig(), settings);
  }

  /** The Workload of a pending job follows what its owner declares. */
  private void declared(TestCluster cluster) {
    submit("declared", "image-c", "2s", "sluice.dev/expected-run-time: 90m", "lq");
    explanation(cluster).await("declared", "runs about 1h30m, declared by its owner");
    api.patch(
        "Job", "declared", "{'metadata': {'annotations': {'sluice.dev/expected-run-time': '2h'}}}");
    explanation(cluster).await("declared", "runs about 2h, declared by its owner");
    assertThatThrownBy(
            () -> submit("wrong", "image-c", "2s", "sluice.dev/expected-run-time: soon", "lq"))
        .hasMessageContaining("must be a duration above 0 and of at most 87600h");
  }

  /** A queue bounds the Workloads of jobs without a limit, and refuses jobs with a larger one. */
  private void limited(TestCluster cluster) {
    submit("bounded", "image-d", "2s", "", "short");
    String workload = api.workloadOf("bounded");
    api.awaitField("Workload", workload, "/spec/maximumExecutionTimeSeconds", "3600");
    explanation(cluster)
        .await(
            "bounded",
            "runs about 20m, declared by LocalQueue %s/short, at most 1h"
                .formatted(cluster.namespace()));
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: batch/v1
                    kind: Job
                    metadata:
                      name: long
                      labels:
                        kueue.x-k8s.io/queue-name: short
                        kueue.x-k8s.io/max-exec-time-seconds: "7200"
                    spec:
                      template: {spec: {restartPolicy: Never, containers: [{name: a, image: i}]}}
                    """))
        .hasMessageContaining("\"7200\": must be at most 3600, the longest run time of LocalQueue");
    api.patch(
        "LocalQueue", "short", "{'metadata': {'annotations': {'sluice.dev/max-run-time': '30m'}}}");
    api.awaitField("Workload", workload, "/spec/maximumExecutionTimeSeconds", "1800");
  }

  private void createQueues(TestCluster cluster) {
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "f-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "f-${suffix}", resources: [{name: cpu, nominalQuota: "1"}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq, namespace: "${namespace}"}
        spec: {clusterQueue: "cq-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata:
          name: short
          namespace: "${namespace}"
          annotations: {sluice.dev/max-run-time: 1h, sluice.dev/default-run-time: 20m}
        spec: {clusterQueue: "cq-${suffix}"}
        """);
    api.awaitCondition("LocalQueue", "lq", "Active", "True Ready");
    api.awaitCondition("LocalQueue", "short", "Active", "True Ready");
  }

  private void submit(String job, String image, String runFor, String annotations, String queue) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: %s}, annotations: {%s}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "%s"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: %s, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job, queue, annotations, runFor, image));
  }

  private JobExplanation explanation(TestCluster cluster) {
    return new JobExplanation(cluster, settings.visibilityPort(), directory);
  }
}

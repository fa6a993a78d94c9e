package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.JobExplanation;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A large job among small ones starts on time: small ones that end before its planned start run
 * before it, others don't, also after the operator was restarted.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
class BackfillIT {

  private final OperatorSettings settings = OperatorSettings.onFreePorts(new Random());

  @TempDir
  @SuppressWarnings("NullAway.Init") // set by the test
  private Path directory;

  @SuppressWarnings("NullAway.Init") // set by the test
  private Api api;

  @Test
  void aLargeJobAmongSmallOnesStartsOnTime(TestCluster cluster) throws Exception {
    api = new Api(cluster);
    try (LocalOperator operator = start(cluster, "operator-that-plans")) {
      createQueues(cluster);
      submit("runs", 3, 600, "10m");
      api.awaitRunning("runs", 1);
      submit("large", 4, 600, "1s");
      explanation(cluster).await("large", "planned to start by ");
      awaitLaterSecond("large");
      submit("long", 1, 3600, "1s");
      submit("short", 1, 10, "1s");
      api.awaitCondition("Workload", api.workloadOf("short"), "Finished", "True Succeeded");
      explanation(cluster)
          .await(
              "long",
              "no start is planned, behind %s/%s, which is planned to start by "
                  .formatted(cluster.namespace(), api.workloadOf("large")),
              "; may run before it if it starts by ");
      assertThat(operator.isHealthy()).isTrue();
    }
    try (LocalOperator operator = start(cluster, "operator-that-plans-anew")) {
      explanation(cluster).await("large", "planned to start by ");
      submit("short-2", 1, 5, "1s");
      api.awaitCondition("Workload", api.workloadOf("short-2"), "Finished", "True Succeeded");
      assertThat(api.condition("Workload", api.workloadOf("long"), "Admitted"))
          .doesNotStartWith("True");
      Instant planned = startOf(cluster, "runs").plusSeconds(600 + 61);
      api.delete("Job", "runs");
      api.awaitCondition("Workload", api.workloadOf("large"), "Finished", "True Succeeded");
      api.awaitCondition("Workload", api.workloadOf("long"), "Finished", "True Succeeded");
      assertThat(startOf(cluster, "large"))
          .as("the bound of the run before it, and what is allowed for")
          .isBefore(planned)
          .isBefore(startOf(cluster, "long"))
          .isAfter(startOf(cluster, "short-2"));
      assertThat(operator.isHealthy()).isTrue();
    }
  }

  /** Jobs of one second come in the order of their UIDs: the next one has to come after this. */
  private void awaitLaterSecond(String job) {
    Instant created = Instant.parse(api.get("Job", job).at("/metadata/creationTimestamp").asText());
    await("a later second").until(() -> Instant.now().isAfter(created.plusSeconds(1)));
  }

  private Instant startOf(TestCluster cluster, String job) {
    Job found =
        cluster.client().batch().v1().jobs().inNamespace(cluster.namespace()).withName(job).get();
    return Instant.parse(found.getStatus().getStartTime());
  }

  private LocalOperator start(TestCluster cluster, String name) {
    return LocalOperator.start(name, cluster.kubeconfig(), settings);
  }

  private void createQueues(TestCluster cluster) {
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    String queue =
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}", annotations: {sluice.dev/backfill: HeadOnly}}
        spec:
          namespaceSelector: {}
          queueingStrategy: %s
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "f-${suffix}", resources: [{name: cpu, nominalQuota: "4"}]}]
        """;
    assertThatThrownBy(() -> cluster.applyText(queue.formatted("BestEffortFIFO")))
        .hasMessageContaining("metadata.annotations[sluice.dev/backfill]: Invalid value")
        .hasMessageContaining("must be None unless spec.queueingStrategy is StrictFIFO");
    cluster.applyText(queue.formatted("StrictFIFO"));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "f-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq, namespace: "${namespace}"}
        spec: {clusterQueue: "cq-${suffix}"}
        """);
    api.awaitCondition("LocalQueue", "lq", "Active", "True Ready");
  }

  private void submit(String job, int cpu, int limit, String runFor) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels:
            kueue.x-k8s.io/queue-name: lq
            kueue.x-k8s.io/max-exec-time-seconds: "%d"
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "%s"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: i, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(job, limit, runFor, cpu));
  }

  private JobExplanation explanation(TestCluster cluster) {
    return new JobExplanation(cluster, settings.visibilityPort(), directory);
  }
}

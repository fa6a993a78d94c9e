package dev.sluice.jobs.kinds.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedSparkApplication;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * SparkApplications of a real control plane in a namespace whose pods are in a queue by default;
 * Spark and its operator are played.
 */
@OperatorTest(
    configuration =
        "integrations: {frameworks: [pod, sparkoperator.k8s.io/sparkapplication]}\n"
            + "featureGates: {SparkApplicationIntegration: true}")
@Tag(BuildBreadth.NIGHTLY)
class SparkApplicationsIT {

  private static final String SPARK = "sparkoperator.k8s.io/v1beta2/SparkApplication";

  /** Executors are created by the driver's pod, which is their controller. */
  @Test
  void driverAndExecutorsHaveNoWorkloadsOfTheirOwn(TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1).withLabel("pool", "spot"));
    PlayedDefinitions.install(cluster.client(), new PlayedSparkApplication().kind());
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedSparkApplication())) {
      api.givenQueues(2);
      coverMemory(cluster, 2);
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: default}
          spec: {clusterQueue: "cq-${suffix}"}
          """);
      api.awaitCondition("kueue.x-k8s.io/v1beta2/LocalQueue", "default", "Active", "True");
      cluster.applyText(
          """
          apiVersion: sparkoperator.k8s.io/v1beta2
          kind: SparkApplication
          metadata: {name: pi}
          spec:
            type: Python
            sparkVersion: "4.0.0"
            image: none
            driver: {cores: 1, annotations: {sluice.dev/run-for: 10m}}
            executor: {cores: 1, instances: 2}
          """);
      String workload = api.workloadOf(SPARK, "pi");
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
      assertThat(api.get(SPARK, "pi").at("/spec/suspend").asBoolean()).isTrue();
      assertThat(api.pods()).isEmpty();

      coverMemory(cluster, 3);
      api.awaitCondition(QueuedJobs.WORKLOAD, workload, "PodsReady", "True");
      assertThat(api.workloads()).hasSize(1);
      assertThat(api.pods())
          .hasSize(3)
          .allSatisfy(
              pod -> {
                assertThat(pod.at("/metadata/labels").has("kueue.x-k8s.io/managed")).isFalse();
                assertThat(pod.at("/spec").has("schedulingGates")).isFalse();
                assertThat(pod.at("/status/phase").asText()).isEqualTo("Running");
              });
      JsonNode driver =
          api.pods().stream()
              .filter(pod -> pod.at("/metadata/name").asText().equals("pi-driver"))
              .findFirst()
              .orElseThrow();

      api.awaitUsage("3");
      createForeignPod(cluster, driver);
      String other = api.workloadOf("v1/Pod", "foreign");
      assertThat(api.get(QueuedJobs.WORKLOAD, other).at("/status/admission").isMissingNode())
          .as("a pod whose owner says nothing for it waits in the queue")
          .isTrue();
      assertThat(player).isNotNull();
      assertThatThrownBy(
              () -> api.patch(SPARK, "pi", "{'spec': {'dynamicAllocation': {'enabled': true}}}"))
          .hasMessageContaining("spec.dynamicAllocation.enabled");
    }
  }

  /** A pod that names the driver as its controller, but has no label of an executor. */
  private static void createForeignPod(TestCluster cluster, JsonNode driver) {
    cluster.applyText(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: foreign
          ownerReferences:
          - {apiVersion: v1, kind: Pod, name: pi-driver, uid: %s, controller: true}
        spec: {containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]}
        """
            .formatted(driver.at("/metadata/uid").asText()));
  }

  /** Spark requests memory for each pod, whether the application says how much or not. */
  private static void coverMemory(TestCluster cluster, int cpus) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu, memory]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: "%d"}, {name: memory, nominalQuota: 1Ti}]
        """
            .formatted(cpus));
  }
}

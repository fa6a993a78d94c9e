package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What nodes are asked for differs from what quota counts, slices don't divide the pods, and pods
 * are spread evenly: on a real control plane.
 */
@OperatorTest(
    configuration =
        """
        integrations: {frameworks: [batch/job]}
        featureGates: {TASBalancedPlacement: true}
        resources:
          excludeResourcePrefixes: [example.com/device]
          transformations:
          - {input: example.com/gpu, strategy: Replace, outputs: {example.com/credits: "10"}}
        """)
@Tag(BuildBreadth.NIGHTLY)
class NodeRequestsIT {

  private static final String REQUIRED_RACK =
      "kueue.x-k8s.io/podset-required-topology: example.com/rack,";
  private static final String SLICES_OF_FOUR = "kueue.x-k8s.io/podset-slice-size: '4',";

  /** Makes so many equal nodes in a rack, with more or less of some resources. */
  private static void nodes(TestCluster cluster, String rack, int count, String... capacity) {
    NodeGroup group =
        NodeGroup.plentiful(cluster.name(rack + "-" + capacity[1]), count)
            .withLabel("pool", cluster.name("pool"))
            .withLabel("example.com/block", "b1")
            .withLabel("example.com/rack", rack)
            .withTaint(new NodeTaint("pool", cluster.name("pool"), "NoSchedule"));
    for (int i = 0; i < capacity.length; i += 2) {
      group = group.withCapacity(capacity[i], capacity[i + 1]);
    }
    cluster.createNodes(group);
  }

  /** A Job that runs until it is deleted. */
  private static void job(
      TestCluster cluster, String name, String annotations, int pods, String requests) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          parallelism: %d
          completions: %d
          completionMode: Indexed
          template:
            metadata: {annotations: {%s sluice.dev/run-for: "60m"}}
            spec:
              restartPolicy: Never
              containers:
              - {name: main, image: none, resources: {requests: {%s}, limits: {%s}}}
        """
            .formatted(name, pods, pods, annotations, requests, requests));
  }

  /** The number of running pods of a Job on each node, once there are so many. */
  private static List<Long> perNode(RackedCluster racked, String job, int pods) {
    racked.awaitRunning(job, pods);
    return counts(racked.nodes(job).values());
  }

  private static List<Long> counts(Collection<String> places) {
    return places.stream()
        .collect(Collectors.groupingBy(place -> place, Collectors.counting()))
        .values()
        .stream()
        .sorted()
        .toList();
  }

  @Test
  void creditsNeedNoTopologyAndExcludedDevicesCountOnNodes(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster);
    nodes(cluster, "r1", 2, "example.com/gpu", "2", "example.com/device", "2");
    racked.withQueues();
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "credits-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "racked-${suffix}"
              resources: [{name: cpu, nominalQuota: "100"}]
          - coveredResources: [example.com/credits]
            flavors:
            - name: "credits-${suffix}"
              resources: [{name: example.com/credits, nominalQuota: "100"}]
        """);
    job(cluster, "credits", REQUIRED_RACK, 4, "cpu: 1, example.com/gpu: 1");
    assertThat(perNode(racked, "credits", 4)).containsExactly(2L, 2L);
    JsonNode assignment =
        racked
            .jobs()
            .get(QueuedJobs.WORKLOAD, racked.jobs().workloadOf(RackedCluster.JOB, "credits"))
            .at("/status/admission/podSetAssignments/0");
    assertThat(assignment.at("/flavors/cpu").asText()).isEqualTo(cluster.name("racked"));
    assertThat(assignment.path("flavors").path("example.com/credits").asText())
        .isEqualTo(cluster.name("credits"));
    assertThat(assignment.path("resourceUsage").path("example.com/credits").asText())
        .isEqualTo("40");

    job(cluster, "devices", REQUIRED_RACK, 4, "cpu: 1, example.com/device: 1");
    assertThat(perNode(racked, "devices", 4)).containsExactly(2L, 2L);
    job(cluster, "more", REQUIRED_RACK, 1, "cpu: 1, example.com/device: 1");
    String more = racked.jobs().workloadOf(RackedCluster.JOB, "more");
    racked.jobs().awaitCondition(QueuedJobs.WORKLOAD, more, "QuotaReserved", "False");
    racked.jobs().delete(RackedCluster.JOB, "devices");
    assertThat(perNode(racked, "more", 1)).containsExactly(1L);
  }

  @Test
  void theLastSliceIsSmallerAndWhatCannotBeCutSaysSo(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster);
    nodes(cluster, "r1", 1, "cpu", "4");
    nodes(cluster, "r2", 1, "cpu", "4");
    nodes(cluster, "r3", 1, "cpu", "2");
    racked.withQueues();
    job(
        cluster,
        "ten",
        "kueue.x-k8s.io/podset-slice-required-topology: example.com/rack," + SLICES_OF_FOUR,
        10,
        "cpu: 1");
    assertThat(perNode(racked, "ten", 10)).containsExactly(2L, 4L, 4L);
    Map<Integer, String> nodes = racked.nodes("ten");
    for (int slice = 0; slice < 10; slice += 4) {
      assertThat(nodes.entrySet().stream().skip(slice).limit(4).map(Map.Entry::getValue).distinct())
          .as("slice from pod %s of %s", slice, nodes)
          .hasSize(1);
    }

    job(
        cluster,
        "layers",
        "kueue.x-k8s.io/podset-slice-required-topology-constraints:"
            + " '[{\"topology\": \"example.com/rack\", \"size\": 4},"
            + " {\"topology\": \"kubernetes.io/hostname\", \"size\": 2}]',",
        6,
        "cpu: 1");
    String layers = racked.jobs().workloadOf(RackedCluster.JOB, "layers");
    RackedCluster.eventually(
        "the Workload says why it waits",
        () ->
            assertThat(racked.jobs().message(QueuedJobs.WORKLOAD, layers, "QuotaReserved"))
                .contains("6 pods can't be cut into slices of 4"));
  }

  @Test
  void sixteenPodsAreSpreadEvenlyInTheRackWhereThatIsPossible(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster);
    nodes(cluster, "r1", 2, "cpu", "12");
    nodes(cluster, "r2", 1, "cpu", "14");
    nodes(cluster, "r2", 1, "cpu", "6");
    racked.withQueues();
    job(
        cluster,
        "even",
        "kueue.x-k8s.io/podset-preferred-topology: example.com/rack,"
            + " kueue.x-k8s.io/podset-slice-required-topology: kubernetes.io/hostname,"
            + SLICES_OF_FOUR,
        16,
        "cpu: 1");
    assertThat(perNode(racked, "even", 16)).containsExactly(8L, 8L);
    assertThat(racked.nodes("even").values().stream().map(node -> node.contains("r1-")))
        .containsOnly(true);
  }
}

package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What Workloads count as, on a real control plane; docs/resources.md tells why. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD) // one operator at a time
@Tag(BuildBreadth.NIGHTLY)
class ResourcesIT {

  private static LocalOperator operator(String name, ControlPlane controlPlane, String resources) {
    return LocalOperator.start(name, controlPlane.kubeconfig(), resources);
  }

  private static void givenQueue(TestCluster cluster, String quotas) {
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "flavor-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
        %s
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq, namespace: "${namespace}"}
        spec: {clusterQueue: "cq-${suffix}"}
        """
            .formatted(quotas.indent(2).stripTrailing()));
    new Api(cluster).awaitCondition("LocalQueue", "lq", "Active", "True Ready");
  }

  private static String job(String name, int pods, String podSpec) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
    spec:
      parallelism: %d
      completions: %d
      template:
        metadata: {annotations: {sluice.dev/run-for: "10m"}}
        spec:
          restartPolicy: Never
    %s
    """
        .formatted(name, pods, pods, podSpec.indent(6).stripTrailing());
  }

  @Test
  void defaultsOverheadExclusionTransformationsAndPodsAllCount(
      ControlPlane controlPlane, TestCluster cluster) {
    Api api = new Api(cluster);
    String resources =
        """
        resources:
          excludeResourcePrefixes: [example.com/license]
          transformations:
          - {input: example.com/gpu, outputs: {example.com/credits: "10"}}
          - {input: example.com/slice, strategy: Replace, multiplyBy: example.com/gib, outputs: {example.com/credits: 500m}}
        """;
    try (LocalOperator operator = operator("operator-of-resources", controlPlane, resources)) {
      givenQueue(
          cluster,
          """
          - coveredResources: [cpu, pods, example.com/gpu, example.com/credits, example.com/gib]
            flavors:
            - name: "flavor-${suffix}"
              resources:
              - {name: cpu, nominalQuota: "10"}
              - {name: pods, nominalQuota: "10"}
              - {name: example.com/gpu, nominalQuota: "10"}
              - {name: example.com/credits, nominalQuota: "24"}
              - {name: example.com/gib, nominalQuota: "100"}
          """);
      cluster.applyText(
          """
          apiVersion: node.k8s.io/v1
          kind: RuntimeClass
          metadata: {name: "sandbox-${suffix}"}
          handler: sandbox
          overhead: {podFixed: {cpu: 250m}}
          ---
          apiVersion: v1
          kind: LimitRange
          metadata: {name: a}
          spec: {limits: [{type: Container, default: {cpu: "3"}, defaultRequest: {cpu: 500m}, max: {cpu: "4"}}]}
          ---
          apiVersion: v1
          kind: LimitRange
          metadata: {name: b}
          spec: {limits: [{type: Container, defaultRequest: {cpu: "2"}, max: {cpu: "3"}}]}
          """);

      api.submit(
          job(
              "first",
              2,
              """
              runtimeClassName: "sandbox-${suffix}"
              containers:
              - name: main
                image: none
                resources: {limits: {example.com/gpu: 1, example.com/license-x: 1}}
              - {name: beside, image: none}
              """));

      String first = api.workloadOf("first");
      api.awaitCondition("Workload", first, "Admitted", "True Admitted");
      assertThat(
              api.get("Workload", first).at("/status/admission/podSetAssignments/0/resourceUsage"))
          .as("2 pods of 500m + 500m + 250m; license-x doesn't count")
          .hasToString(
              "{\"cpu\":\"2500m\",\"example.com/credits\":\"20\",\"example.com/gpu\":\"2\","
                  + "\"pods\":\"2\"}");

      api.submit(
          job(
              "second",
              1,
              """
              containers:
              - name: main
                image: none
                resources: {limits: {cpu: 1, example.com/slice: 5, example.com/gib: 2}}
              """));
      String second = api.workloadOf("second");
      api.awaitCondition("Workload", second, "QuotaReserved", "False WaitingForQuota");
      assertThat(api.get("Workload", second).at("/status/resourceRequests/0/resources"))
          .as("limits count as requests before a LimitRange's default request")
          .hasToString("{\"cpu\":\"1\",\"example.com/credits\":\"5\",\"example.com/gib\":\"2\"}");
      assertThat(api.get("Workload", second).at("/status/conditions").toString())
          .contains("example.com/credits: 5 requested, 4 available of 24");

      api.submit(
          job(
              "third",
              1,
              """
              containers: [{name: main, image: none, resources: {requests: {cpu: 3500m}}}]
              """));
      String third = api.workloadOf("third");
      api.awaitCondition("Workload", third, "QuotaReserved", "False Misconfigured");
      assertThat(api.get("Workload", third).at("/status/conditions").toString())
          .contains("container main: cpu 3500m is above the LimitRange maximum 3");

      api.delete("Job", "first");
      api.awaitCondition("Workload", second, "Admitted", "True Admitted");
      assertThat(operator.isAlive()).isTrue();
    }
  }

  @Test
  void undeclaredResourcesAreIgnoredWhereTheConfigurationSaysSo(
      ControlPlane controlPlane, TestCluster cluster) {
    Api api = new Api(cluster);
    String resources = "resources: {quotaCheckStrategy: IgnoreUndeclared}\n";
    try (LocalOperator operator = operator("operator-of-undeclared", controlPlane, resources)) {
      givenQueue(
          cluster,
          """
          - coveredResources: [cpu]
            flavors:
            - {name: "flavor-${suffix}", resources: [{name: cpu, nominalQuota: "1"}]}
          """);

      api.submit(
          job(
              "sample",
              1,
              """
              containers:
              - name: main
                image: none
                resources: {requests: {cpu: 1, memory: 1Gi}, limits: {example.com/gpu: 1}}
              """));

      String workload = api.workloadOf("sample");
      api.awaitCondition("Workload", workload, "Admitted", "True Admitted");
      assertThat(
              api.get("Workload", workload)
                  .at("/status/admission/podSetAssignments/0/resourceUsage"))
          .hasToString("{\"cpu\":\"1\"}");
      assertThat(operator.isAlive()).isTrue();
    }
  }

  @Test
  void jobsWithResourceClaimsAreHeldUnlessTheGateLetsThemPass(
      ControlPlane controlPlane, TestCluster cluster) {
    Api api = new Api(cluster);
    String container = "containers: [{name: main, image: none, resources: {requests: {cpu: 1}%s}}]";
    String claim = "resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]\n";
    String held;
    try (LocalOperator operator = operator("operator-of-claims", controlPlane, "")) {
      givenQueue(
          cluster,
          """
          - coveredResources: [cpu]
            flavors:
            - {name: "flavor-${suffix}", resources: [{name: cpu, nominalQuota: "2"}]}
          """);

      api.submit(job("claiming", 1, claim + container.formatted(", claims: [{name: gpu}]")));
      held = api.workloadOf("claiming");
      api.awaitCondition("Workload", held, "QuotaReserved", "False Misconfigured");
      assertThat(api.get("Workload", held).at("/status/conditions").toString())
          .contains(
              "pod set main: resource claim gpu: quota does not count devices of resource claims");

      api.submit(job("plain", 1, container.formatted("")));
      api.awaitCondition("Workload", api.workloadOf("plain"), "Admitted", "True Admitted");
      assertThat(api.get("Workload", held).at("/status/admission").isMissingNode()).isTrue();
      assertThat(api.get("Job", "claiming").at("/spec/suspend").asBoolean()).isTrue();

      api.delete("Job", "claiming");
      api.awaitGone("Workload", held);
      api.submit(job("claiming", 1, container.formatted("")));
      api.awaitCondition("Workload", api.workloadOf("claiming"), "Admitted", "True Admitted");
      api.delete("Job", "claiming");

      api.submit(job("waiting", 1, claim + container.formatted(", claims: [{name: gpu}]")));
      held = api.workloadOf("waiting");
      api.awaitCondition("Workload", held, "QuotaReserved", "False Misconfigured");
      assertThat(operator.isAlive()).isTrue();
    }
    String gate =
        """
        featureGates:
          KueueDRAIntegration: false
          KueueDRAIntegrationExtendedResource: false
          KueueDRAIntegrationPartitionableDevices: false
          KueueDRARejectWorkloadsWhenDRADisabled: false
        """;
    try (LocalOperator operator = operator("operator-of-passing-claims", controlPlane, gate)) {
      api.awaitCondition("Workload", held, "Admitted", "True Admitted");
      assertThat(operator.isAlive()).isTrue();
    }
  }
}

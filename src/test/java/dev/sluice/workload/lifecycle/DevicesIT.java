package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Quota for devices of resource claims, on a real control plane; docs/devices.md tells why. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD) // one operator at a time
class DevicesIT {

  private static void givenQueue(TestCluster cluster, String resource, int quota) {
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
          - coveredResources: [cpu, %s]
            flavors:
            - name: "flavor-${suffix}"
              resources:
              - {name: cpu, nominalQuota: "100"}
              - {name: %s, nominalQuota: "%d"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq, namespace: "${namespace}"}
        spec: {clusterQueue: "cq-${suffix}"}
        """
            .formatted(resource, resource, quota));
    new Api(cluster).awaitCondition("LocalQueue", "lq", "Active", "True Ready");
  }

  private static void givenTemplate(TestCluster cluster, String name, String requests) {
    cluster.applyText(
        """
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: %s, namespace: "${namespace}"}
        spec: {spec: {devices: {requests: [%s]}}}
        """
            .formatted(name, requests));
  }

  private static String job(String name, int pods, String claim) {
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
          resourceClaims: [{name: gpu, %s}]
          containers:
          - {name: main, image: none, resources: {requests: {cpu: 1}, claims: [{name: gpu}]}}
    """
        .formatted(name, pods, pods, claim);
  }

  private static String gpus(int count) {
    return "{name: gpu, exactly: {deviceClassName: gpu.example.com, count: %d}}".formatted(count);
  }

  private static String usage(Api api, String workload) {
    return api.get("Workload", workload)
        .at("/status/admission/podSetAssignments/0/resourceUsage")
        .toString();
  }

  @Test
  void devicesOfClaimsAreChargedAndWhatCannotBeCountedWaits(
      ControlPlane controlPlane, TestCluster cluster) {
    Api api = new Api(cluster);
    String mappings =
        """
        resources:
          deviceClassMappings:
          - {name: example.com/gpus, deviceClassNames: [gpu.example.com]}
        """;
    try (LocalOperator operator =
        LocalOperator.start("operator-of-devices", controlPlane.kubeconfig(), mappings)) {
      givenQueue(cluster, "example.com/gpus", 5);
      givenTemplate(cluster, "two-gpus", gpus(2));

      api.submit(job("first", 2, "resourceClaimTemplateName: two-gpus"));
      String first = api.workloadOf("first");
      api.awaitCondition("Workload", first, "Admitted", "True Admitted");
      assertThat(usage(api, first))
          .as("2 pods, each with a claim of 2 devices")
          .isEqualTo("{\"cpu\":\"2\",\"example.com/gpus\":\"4\"}");

      api.submit(job("second", 1, "resourceClaimTemplateName: two-gpus"));
      String second = api.workloadOf("second");
      api.awaitCondition("Workload", second, "QuotaReserved", "False WaitingForQuota");
      assertThat(api.get("Workload", second).at("/status/conditions").toString())
          .contains("example.com/gpus: 2 requested, 1 available of 5");

      api.submit(job("early", 1, "resourceClaimTemplateName: one-gpu"));
      String early = api.workloadOf("early");
      api.awaitCondition("Workload", early, "QuotaReserved", "False DRAResourcesUnresolved");
      api.awaitCondition("Workload", early, "Requeued", "False DRAResourcesUnresolved");
      api.awaitMessage(
          early,
          "QuotaReserved",
          "resource claim gpu, ResourceClaimTemplate one-gpu: doesn't exist");
      givenTemplate(cluster, "one-gpu", gpus(1));
      api.awaitCondition("Workload", early, "Admitted", "True Admitted");
      assertThat(api.condition("Workload", early, "Requeued"))
          .isEqualTo("True DRAResourcesResolved");
      assertThat(usage(api, early)).isEqualTo("{\"cpu\":\"1\",\"example.com/gpus\":\"1\"}");

      api.submit(job("shared", 1, "resourceClaimName: somebodys"));
      String shared = api.workloadOf("shared");
      api.awaitCondition("Workload", shared, "QuotaReserved", "False Misconfigured");
      api.awaitMessage(shared, "QuotaReserved", "ResourceClaim somebodys can't be counted");

      givenTemplate(
          cluster, "other", "{name: nic, exactly: {deviceClassName: nic.example.com, count: 1}}");
      api.submit(job("unmapped", 1, "resourceClaimTemplateName: other"));
      String unmapped = api.workloadOf("unmapped");
      api.awaitCondition("Workload", unmapped, "QuotaReserved", "False Misconfigured");
      api.awaitMessage(
          unmapped, "QuotaReserved", "DeviceClass nic.example.com is mapped to no resource");

      api.delete("Job", "first");
      api.awaitCondition("Workload", second, "Admitted", "True Admitted");
      assertThat(operator.isAlive()).isTrue();
    }
  }
}

package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Quota for devices of resource claims, on a real control plane; docs/devices.md tells why. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD) // one operator at a time
class DevicesIT {

  private static final String MAPPINGS =
      """
      featureGates: {KueueDRAPrioritizedList: true}
      resources:
        deviceClassMappings:
        - {name: example.com/gpus, deviceClassNames: [gpu.example.com]}
      """;

  private static final String SCENARIO = "/scenarios/devices/";

  private static void givenQueue(TestCluster cluster, String resources, int quota) {
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
        %s
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq, namespace: "${namespace}"}
        spec: {clusterQueue: "cq-${suffix}"}
        """
            .formatted(
                resources,
                Stream.of(resources.split(", "))
                    .map(name -> "- {name: %s, nominalQuota: \"%d\"}\n".formatted(name, quota))
                    .collect(Collectors.joining())
                    .indent(6)
                    .stripTrailing()));
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
    try (LocalOperator operator =
        LocalOperator.start("operator-of-devices", controlPlane.kubeconfig(), MAPPINGS)) {
      givenQueue(cluster, "example.com/gpus", 5);
      givenClass(cluster, "gpu.example.com", "{}");
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

      givenTemplate(
          cluster,
          "either",
          "{name: gpu, firstAvailable: [{name: large, deviceClassName: gpu.example.com},"
              + " {name: small, deviceClassName: gpu.example.com, count: 2}]}");
      api.submit(job("third", 1, "resourceClaimTemplateName: either"));
      String third = api.workloadOf("third");
      api.awaitCondition("Workload", third, "Admitted", "True Admitted");
      assertThat(usage(api, third))
          .as("whichever alternative the scheduler will use")
          .isEqualTo("{\"cpu\":\"1\",\"example.com/gpus\":\"2\"}");
      assertThat(operator.isAlive()).isTrue();
    }
  }

  /** A template is replaced by a larger one, and then a pod by another: its claim is larger. */
  @Test
  void aTemplateThatIsReplacedAfterTheAdmissionCounts(
      ControlPlane controlPlane, TestCluster cluster) {
    Api api = new Api(cluster);
    try (LocalOperator operator =
        LocalOperator.start("operator-of-claims", controlPlane.kubeconfig(), MAPPINGS)) {
      givenQueue(cluster, "example.com/gpus", 5);
      givenClass(cluster, "gpu.example.com", "{}");
      givenTemplate(cluster, "changing", gpus(1));
      api.submit(job("honest", 1, "resourceClaimTemplateName: changing"));
      String honest = api.workloadOf("honest");
      api.submit(job("greedy", 1, "resourceClaimTemplateName: changing"));
      String greedy = api.workloadOf("greedy");
      api.awaitCondition("Workload", greedy, "Admitted", "True Admitted");
      api.awaitCondition("Workload", honest, "Admitted", "True Admitted");
      awaitClaims(cluster, 2);

      cluster
          .client()
          .genericKubernetesResources("resource.k8s.io/v1", "ResourceClaimTemplate")
          .inNamespace(cluster.namespace())
          .withName("changing")
          .delete();
      givenTemplate(cluster, "changing", gpus(4));
      cluster
          .client()
          .pods()
          .inNamespace(cluster.namespace())
          .withLabel("job-name", "greedy")
          .withGracePeriod(0)
          .delete();

      api.awaitCondition("Workload", greedy, "Evicted", "True AdmissionCheck");
      api.awaitMessage(greedy, "Evicted", "example.com/gpus: 4 of 1");
      assertThat(api.condition("Workload", honest, "Admitted")).isEqualTo("True Admitted");
      assertThat(operator.isAlive()).isTrue();
    }
  }

  private static void awaitClaims(TestCluster cluster, int number) {
    await()
        .atMost(Duration.ofMinutes(2))
        .untilAsserted(
            () ->
                assertThat(
                        cluster
                            .client()
                            .genericKubernetesResources("resource.k8s.io/v1", "ResourceClaim")
                            .inNamespace(cluster.namespace())
                            .list()
                            .getItems())
                    .hasSize(number));
  }

  private static void givenClass(TestCluster cluster, String name, String spec) {
    cluster.applyText(
        """
        apiVersion: resource.k8s.io/v1
        kind: DeviceClass
        metadata: {name: "%s"}
        spec: %s
        """
            .formatted(name, spec));
  }

  /** A driver is played: its devices are in a ResourceSlice for all nodes. */
  private static void givenSlice(TestCluster cluster, String name, String contents) {
    cluster.applyText(
        """
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: "%s-${suffix}"}
        spec:
          driver: parts.example.com
          allNodes: true
          pool: {name: pool, generation: 1, resourceSliceCount: 2}
        %s
        """
            .formatted(name, contents.indent(2).stripTrailing()));
  }

  /** A driver is played that has a pool of one slice on a node. */
  private static void givenNodeWithDevices(TestCluster cluster, String node, String devices) {
    cluster.applyText(
        """
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: "%s-${suffix}"}
        spec:
          driver: gpu.example.com
          nodeName: "%s-${suffix}"
          pool: {name: "%s-${suffix}", generation: 1, resourceSliceCount: 1}
          devices: [%s]
        """
            .formatted(node, node, node, devices));
  }

  /** Changes of 0.20, section 4, KueueDRADeviceFeasibility. */
  @Test
  void aPodWaitsForANodeThatHasAllItsDevices(ControlPlane controlPlane, TestCluster cluster) {
    Api api = new Api(cluster);
    try (LocalOperator operator =
        LocalOperator.start(
            "operator-of-nodes",
            controlPlane.kubeconfig(),
            MAPPINGS.replace("{KueueDRA", "{KueueDRADeviceFeasibility: true, KueueDRA"))) {
      givenQueue(cluster, "example.com/gpus", 5);
      givenClass(cluster, "gpu.example.com", "{}");
      givenTemplate(cluster, "pair", gpus(2));
      givenNodeWithDevices(cluster, "one", "{name: a}");
      givenNodeWithDevices(cluster, "two", "{name: a}");

      api.submit(job("paired", 1, "resourceClaimTemplateName: pair"));
      String paired = api.workloadOf("paired");
      api.awaitCondition("Workload", paired, "QuotaReserved", "False DRAResourcesUnresolved");
      api.awaitMessage(paired, "QuotaReserved", "no node has all devices that a pod requests");

      givenNodeWithDevices(cluster, "three", "{name: a}, {name: b}");
      api.awaitCondition("Workload", paired, "Admitted", "True Admitted");
      assertThat(usage(api, paired)).isEqualTo("{\"cpu\":\"1\",\"example.com/gpus\":\"2\"}");
      assertThat(operator.isAlive()).isTrue();
    }
  }

  /** Selectors, counters and extended resources, with devices that come later. */
  @Test
  void devicesAreCountedByWhatTheClusterHas(ControlPlane controlPlane, TestCluster cluster) {
    Api api = new Api(cluster);
    String mappings =
        """
        featureGates: {KueueDRAIntegrationConsumableCapacity: true}
        resources:
          deviceClassMappings:
          - {name: example.com/gpus, deviceClassNames: [whole.example.com]}
          - name: example.com/shares
            deviceClassNames: [shared.example.com]
            sources: [{capacity: {name: share, driver: parts.example.com}}]
          - name: example.com/memory
            deviceClassNames: [part.example.com]
            sources:
            - counter:
                name: memory
                driver: parts.example.com
                deviceSelector: {cel: {expression: "device.attributes['parts.example.com'].kind == 'part'"}}
        """;
    try (LocalOperator operator =
        LocalOperator.start("operator-of-parts", controlPlane.kubeconfig(), mappings)) {
      givenQueue(cluster, "example.com/gpus, example.com/memory, example.com/shares", 100);
      String kind =
          "{selectors: [{cel: {expression: \"device.attributes['parts.example.com'].kind =="
              + " '%s'\"}}]%s}";
      givenClass(cluster, "part.example.com", kind.formatted("part", ""));
      givenClass(cluster, "shared.example.com", kind.formatted("shared", ""));
      givenClass(
          cluster,
          "whole.example.com",
          kind.formatted("whole", ", extendedResourceName: example.com/gpu"));
      givenTemplate(
          cluster, "parts", "{name: p, exactly: {deviceClassName: part.example.com, count: 2}}");

      api.submit(job("parted", 2, "resourceClaimTemplateName: parts"));
      String parted = api.workloadOf("parted");
      api.awaitCondition("Workload", parted, "QuotaReserved", "False DRAResourcesUnresolved");
      api.awaitMessage(parted, "QuotaReserved", "devices requested: 2, fewer match in the cluster");
      givenSlice(
          cluster,
          "devices",
          """
          devices:
          - name: a
            attributes: {kind: {string: part}}
            consumesCounters: [{counterSet: board, counters: {memory: {value: "10"}}}]
          - name: b
            attributes: {kind: {string: part}}
            consumesCounters: [{counterSet: board, counters: {memory: {value: "20"}}}]
          - name: c
            attributes: {kind: {string: whole}}
          - name: d
            attributes: {kind: {string: shared}}
            allowMultipleAllocations: true
            capacity:
              share:
                value: "80"
                requestPolicy: {default: "10", validRange: {min: "10", step: "10"}}
          """);
      givenSlice(
          cluster,
          "counters",
          """
          sharedCounters:
          - name: board
            counters: {memory: {value: "40"}}
          """);
      api.awaitCondition("Workload", parted, "Admitted", "True Admitted");
      assertThat(usage(api, parted))
          .as("2 pods of 2 parts, each of which may be one of 20")
          .isEqualTo("{\"cpu\":\"2\",\"example.com/memory\":\"80\"}");

      api.submit(
          job("extended", 3, "resourceClaimTemplateName: parts")
              .replace("resourceClaims: [{name: gpu, resourceClaimTemplateName: parts}]", "")
              .replace(
                  "requests: {cpu: 1}, claims: [{name: gpu}]",
                  "requests: {cpu: 1}, limits: {example.com/gpu: 2}"));
      String extended = api.workloadOf("extended");
      api.awaitCondition("Workload", extended, "Admitted", "True Admitted");
      assertThat(usage(api, extended)).isEqualTo("{\"cpu\":\"3\",\"example.com/gpus\":\"6\"}");

      givenTemplate(
          cluster,
          "shares",
          "{name: s, exactly: {deviceClassName: shared.example.com, capacity: {requests: {share:"
              + " 15}}}}");
      api.submit(job("sharing", 2, "resourceClaimTemplateName: shares"));
      String sharing = api.workloadOf("sharing");
      api.awaitCondition("Workload", sharing, "Admitted", "True Admitted");
      assertThat(usage(api, sharing))
          .as("15 is rounded up to the next step")
          .isEqualTo("{\"cpu\":\"2\",\"example.com/shares\":\"40\"}");
      assertThat(operator.isAlive()).isTrue();
    }
  }

  /** The usual shapes of claims, as people write them (semantics, section 14). */
  @Test
  void theScenarioOfDevicesIsChargedAsItsShapesSay(ControlPlane controlPlane, TestCluster cluster) {
    Api api = new Api(cluster);
    String mappings =
        """
        featureGates: {KueueDRAPrioritizedList: true}
        resources:
          deviceClassMappings:
          - {name: example.com/gpus, deviceClassNames: [gpu.devices.example.com]}
          - {name: example.com/nics, deviceClassNames: [nic.devices.example.com]}
          - name: example.com/gpu-memory
            deviceClassNames: [partition.devices.example.com]
            sources:
            - counter:
                name: memory
                driver: devices.example.com
                deviceSelector: {cel: {expression: "device.attributes['devices.example.com'].kind == 'partition'"}}
        """;
    Map<String, String> charges = new TreeMap<>();
    charges.put("01-claim-template", "{\"cpu\":\"2\",\"example.com/gpus\":\"2\"}");
    charges.put("02-shared-claim", "{\"cpu\":\"2\",\"example.com/gpus\":\"1\"}");
    charges.put(
        "03-several-classes",
        "{\"cpu\":\"1\",\"example.com/gpus\":\"2\",\"example.com/nics\":\"1\"}");
    charges.put("04-prioritized-list", "{\"cpu\":\"1\",\"example.com/gpus\":\"2\"}");
    charges.put("05-extended-resource", "{\"cpu\":\"2\",\"example.com/gpus\":\"2\"}");
    charges.put("06-partitions", "{\"cpu\":\"1\",\"example.com/gpu-memory\":\"85899345920\"}");
    charges.put("07-selectors", "{\"cpu\":\"1\",\"example.com/gpus\":\"2\"}");
    try (LocalOperator operator =
        LocalOperator.start("operator-of-shapes", controlPlane.kubeconfig(), mappings)) {
      cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
      cluster.apply(DevicesIT.class, SCENARIO + "00-cluster.yaml");
      api.awaitCondition("LocalQueue", "devices", "Active", "True Ready");
      charges.forEach(
          (file, charge) -> {
            cluster.apply(DevicesIT.class, SCENARIO + file + ".yaml");
            String workload = api.workloadOf(file.substring(file.indexOf('-') + 1));
            api.awaitCondition("Workload", workload, "Admitted", "True Admitted");
            assertThat(usage(api, workload)).as(file).isEqualTo(charge);
          });
      assertThat(operator.isAlive()).isTrue();
    }
  }
}

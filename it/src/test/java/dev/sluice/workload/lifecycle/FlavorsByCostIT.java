package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Flavors by cost (docs/prices.md#flavors-by-cost), as people see them. */
@OperatorTest
class FlavorsByCostIT {

  private static final String QUEUES =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: "safe-${suffix}", annotations: {sluice.dev/price: cpu=2/h}}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata:
        name: "spot-${suffix}"
        annotations: {sluice.dev/price: cpu=1/h, sluice.dev/interruption-rate: "0.1"}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata:
        name: "cq-${suffix}"
        annotations: {sluice.dev/flavor-order: Cheapest}
      spec:
        namespaceSelector: {}
        resourceGroups:
        - coveredResources: [cpu]
          flavors:
          - {name: "safe-${suffix}", resources: [{name: cpu, nominalQuota: 4}]}
          - {name: "spot-${suffix}", resources: [{name: cpu, nominalQuota: 4}]}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: LocalQueue
      metadata: {name: lq, namespace: "${namespace}"}
      spec: {clusterQueue: "cq-${suffix}"}
      """;

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void twoFlavorsWithPrices(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.applyText(QUEUES);
    api.awaitCondition("ClusterQueue", own.name("cq"), "Active", "True Ready");
  }

  private void submit(String name, int cpus, String annotations) {
    submit(name, cpus, annotations, "");
  }

  private void submit(String name, int cpus, String annotations, String limit) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: %s, namespace: "${namespace}", annotations: {%s}}
        spec:
          queueName: lq
          %s
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(name, annotations, limit, cpus));
  }

  private String flavorOf(String workload) {
    api.awaitCondition("Workload", workload, "Admitted", "True Admitted");
    return api.get("Workload", workload)
        .at("/status/admission/podSetAssignments/0/flavors/cpu")
        .asText();
  }

  private String message(String workload) {
    for (JsonNode condition : api.get("Workload", workload).at("/status/conditions")) {
      if (condition.path("type").asText().equals("QuotaReserved")) {
        return condition.path("message").asText();
      }
    }
    return "";
  }

  @Test
  void whatIsExpectedToCostLeastIsTriedFirst() {
    submit("short", 1, "sluice.dev/expected-run-time: 10h");
    submit("long", 1, "sluice.dev/expected-run-time: 13h");
    assertThat(flavorOf("short")).isEqualTo(cluster.name("spot"));
    assertThat(flavorOf("long")).isEqualTo(cluster.name("safe"));

    submit("unknown", 3, "");
    assertThat(flavorOf("unknown")).isEqualTo(cluster.name("spot"));
    submit("frugal", 2, "sluice.dev/max-price: 3.50/h");
    api.awaitCondition("Workload", "frugal", "QuotaReserved", "False WaitingForQuota");
    assertThat(message("frugal"))
        .contains("costs 4 an hour, more than the 3.5 of sluice.dev/max-price");
    submit("poor", 2, "sluice.dev/max-price: 1/h");
    api.awaitCondition("Workload", "poor", "QuotaReserved", "False NoMatchingFlavor");
    api.delete("Workload", "unknown");
    assertThat(flavorOf("frugal")).isEqualTo(cluster.name("spot"));
  }

  @Test
  void whoMayWaitGetsTheCheaperFlavorWhenItIsFree() {
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{\"metadata\": {\"annotations\": {\"sluice.dev/max-delay-for-cheaper\": \"2h\"}}}");
    submit("runs", 4, "", "maximumExecutionTimeSeconds: 600");
    assertThat(flavorOf("runs")).isEqualTo(cluster.name("spot"));
    submit("waits", 4, "");
    api.awaitCondition("Workload", "waits", "QuotaReserved", "False WaitingForQuota");
    api.awaitMessage(
        "waits", "QuotaReserved", "fits, but flavor " + cluster.name("spot") + " is cheaper");
    submit("hurries", 4, "sluice.dev/max-delay-for-cheaper: 0s");
    assertThat(flavorOf("hurries")).isEqualTo(cluster.name("safe"));
    api.delete("Workload", "runs");
    assertThat(flavorOf("waits")).isEqualTo(cluster.name("spot"));
  }

  @Test
  void whatAJobSaysIsCopiedAndFollowed() {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: train
          namespace: "${namespace}"
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {sluice.dev/max-price: 1/h, sluice.dev/max-delay-for-cheaper: 30m}
        spec:
          suspend: true
          template:
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "2"}}}]
        """);
    String workload = api.workloadOf("train");
    api.awaitCondition("Workload", workload, "QuotaReserved", "False NoMatchingFlavor");
    api.awaitField(
        "Workload", workload, "/metadata/annotations/sluice.dev~1max-delay-for-cheaper", "30m");
    api.patch(
        "Job", "train", "{\"metadata\": {\"annotations\": {\"sluice.dev/max-price\": \"2/h\"}}}");
    assertThat(flavorOf(workload)).isEqualTo(cluster.name("spot"));
  }

  @Test
  void wrongValuesAreRefused() {
    refuses(
        "ResourceFlavor", "sluice.dev/interruption-rate: often", "from 0 to 1000, such as 0.05");
    refuses("ResourceFlavor", "sluice.dev/relative-speed: \"0\"", "from 0.001 to 1000");
    refuses("ClusterQueue", "sluice.dev/flavor-order: Dearest", "must be Listed or Cheapest");
    refuses(
        "ClusterQueue",
        "sluice.dev/max-delay-for-cheaper: 2h",
        "must be absent unless sluice.dev/flavor-order is Cheapest");
    assertThatThrownBy(() -> submit("wrong", 1, "sluice.dev/max-price: \"3\""))
        .hasMessageContaining("metadata.annotations[sluice.dev/max-price]")
        .hasMessageContaining("such as 3.50/h");
    assertThatThrownBy(() -> submit("wrong", 1, "sluice.dev/max-delay-for-cheaper: soon"))
        .hasMessageContaining("must be a duration from 0s to 87600h");
  }

  private void refuses(String kind, String annotation, String allowed) {
    assertThatThrownBy(
            () ->
                cluster.applyText(
                    """
                    apiVersion: kueue.x-k8s.io/v1beta2
                    kind: %s
                    metadata: {name: "wrong-${suffix}", annotations: {%s}}
                    """
                        .formatted(kind, annotation)))
        .hasMessageContaining(
            "metadata.annotations[" + annotation.substring(0, annotation.indexOf(':')) + "]")
        .hasMessageContaining(allowed);
  }
}

package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.accounting.PodRecordParser;
import dev.sluice.workload.feed.AdmittedRequests;
import org.junit.jupiter.api.Test;

class HolderManifestTest {

  private static final JsonNode TEMPLATE =
      GivenProvisioning.yaml(
          """
          metadata: {labels: {app: a}}
          spec:
            nodeSelector: {pool: spot}
            tolerations: [{key: spot, operator: Exists}]
            affinity:
              nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}
              podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: []}
            volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]
            containers:
            - {name: a, image: i, resources: {requests: {cpu: 1500m, memory: 1Gi}}}
            - {name: b, image: i, resources: {limits: {nvidia.com/gpu: 2}}}
            initContainers:
            - {name: c, image: i, resources: {requests: {memory: 2Gi}}}
          """);

  private static final CapacityHolder.Purpose PURPOSE =
      new CapacityHolder.Purpose("check", "main", "digest", 1);

  private static ObjectNode pod() {
    return HolderManifest.pod(
        new GivenProvisioning().workload(), PURPOSE, "p", "pause", (ObjectNode) TEMPLATE);
  }

  @Test
  void aPlaceholderRequestsWhatThePodDoesOnTheSameNodes() {
    JsonNode spec = pod().path("spec");

    JsonNode container = spec.at("/containers/0");
    assertThat(container.at("/resources/requests"))
        .hasToString("{\"cpu\":\"1500m\",\"memory\":\"2Gi\",\"nvidia.com/gpu\":\"2\"}");
    assertThat(container.at("/resources/limits")).isEqualTo(container.at("/resources/requests"));
    assertThat(spec.path("nodeSelector")).isEqualTo(TEMPLATE.at("/spec/nodeSelector"));
    assertThat(spec.path("tolerations")).isEqualTo(TEMPLATE.at("/spec/tolerations"));
    assertThat(spec.path("affinity").fieldNames()).toIterable().containsExactly("nodeAffinity");
    assertThat(spec.has("volumes")).isFalse();
    assertThat(spec.path("containers")).hasSize(1);
    assertThat(spec.path("priorityClassName").asText()).isEqualTo("sluice-placeholder");
  }

  @Test
  void itIsTheWorkloadsAndNobodysJob() {
    ObjectNode pod = pod();
    PodRecordParser parser = new PodRecordParser(AdmittedRequests.PLAIN, "pause"::equals);

    assertThat(pod.at("/metadata/labels")).hasToString("{\"sluice.dev/placeholder\":\"true\"}");
    assertThat(pod.at("/metadata/ownerReferences/0/uid").asText()).isEqualTo("wl-uid");
    assertThat(CapacityHolder.ofPod(pod).purpose()).isEqualTo(PURPOSE);
    assertThat(parser.ended(pod)).isTrue(); // it counts for no account and no node

    ObjectNode relabelled = pod.deepCopy();
    ((ObjectNode) relabelled.path("spec")).put("priorityClassName", "normal");
    assertThat(parser.ended(relabelled))
        .as("metadata that somebody changed later hides no pod")
        .isFalse();

    ((ObjectNode) pod.at("/metadata/ownerReferences/0")).put("kind", "Job");
    assertThat(parser.ended(pod)).isFalse(); // a label alone hides no pod of a job
  }

  @Test
  void statusesThatMakeNoSenseAreNoNodes() {
    JsonNode nonsense =
        GivenProvisioning.yaml(
            "{metadata: [], spec: {nodeName: {}, replicas: many}, status: {conditions: {type: 1}}}");
    assertThat(CapacityHolder.ofPod(nonsense).state())
        .isEqualTo(new CapacityHolder.State(false, false, false));
    assertThat(CapacityHolder.ofBuffer(nonsense).state())
        .isEqualTo(new CapacityHolder.State(false, false, false));
  }
}

package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Objects of somebody else that have the names which the queues of a tree would have, and a Job
 * that waits in one of them. What isn't status has to stay as it is, byte for byte.
 */
final class Strangers {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String LABEL = "stranger";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final TestCluster cluster;
  private final List<HasMetadata> made = new ArrayList<>();
  private final Map<String, JsonNode> before = new TreeMap<>();

  /** Makes them, and waits until the operator has done to them what it does to any queue. */
  Strangers(TestCluster cluster, String namespace) {
    this.cluster = cluster;
    String labels = "labels: {%s: \"true\"}".formatted(LABEL);
    made.addAll(
        cluster.applyText(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ResourceFlavor
            metadata: {name: kube-queue, %1$s}
            ---
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: root-x, %1$s}
            spec:
              namespaceSelector: {}
              resourceGroups:
              - coveredResources: [cpu]
                flavors:
                - {name: kube-queue, resources: [{name: cpu, nominalQuota: 0}]}
            ---
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: Cohort
            metadata: {name: root-y, %1$s}
            ---
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: ClusterQueue
            metadata: {name: root-z-a, %1$s}
            spec: {cohortName: root-w}
            ---
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: LocalQueue
            metadata: {name: root-z, namespace: "%2$s", %1$s}
            spec: {clusterQueue: root-x}
            ---
            apiVersion: batch/v1
            kind: Job
            metadata:
              name: stranger
              namespace: "%2$s"
              labels: {%3$s: "true", kueue.x-k8s.io/queue-name: root-z}
            spec:
              suspend: true
              template:
                spec:
                  restartPolicy: Never
                  containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
            """
                .formatted(labels, namespace, LABEL)));
    await("finalizers of strangers")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(made)
                    .filteredOn(
                        each -> List.of("ClusterQueue", "ResourceFlavor").contains(each.getKind()))
                    .allSatisfy(
                        each -> assertThat(now(each).at("/metadata/finalizers")).isNotEmpty()));
    made.forEach(each -> before.put(key(now(each)), intent(now(each))));
  }

  private JsonNode now(HasMetadata object) {
    var all = cluster.client().genericKubernetesResources(object.getApiVersion(), object.getKind());
    String namespace = object.getMetadata().getNamespace();
    String name = object.getMetadata().getName();
    return tree(
        namespace == null
            ? all.withName(name).get()
            : all.inNamespace(namespace).withName(name).get());
  }

  /** The JSON of an object. */
  static JsonNode tree(Object object) {
    try {
      return JSON.readTree(Serialization.asJson(object));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether it is one of them, or the Workload of their Job. */
  static boolean isTheirs(JsonNode object) {
    return object.at("/metadata/labels").has(LABEL)
        || object.at("/metadata/ownerReferences/0/name").asText().equals("stranger");
  }

  private static String key(JsonNode object) {
    return object.path("kind").asText() + " " + object.at("/metadata/name").asText();
  }

  /** All but status and what the API server counts. */
  private static JsonNode intent(JsonNode object) {
    ObjectNode copy = object.deepCopy();
    copy.remove("status");
    copy.remove(List.of("apiVersion", "kind"));
    ObjectNode metadata = copy.withObject("/metadata");
    metadata.remove("resourceVersion");
    if (metadata.path("managedFields") instanceof ArrayNode fields) {
      for (Iterator<JsonNode> each = fields.elements(); each.hasNext(); ) {
        if (each.next().path("subresource").asText().equals("status")) {
          each.remove();
        }
      }
    }
    return copy;
  }

  private static JsonNode withoutManagedFields(JsonNode object) {
    ObjectNode copy = object.deepCopy();
    copy.withObject("/metadata").remove("managedFields");
    try {
      // numbers of one value may be of several types
      return JSON.readTree(copy.toString());
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** None was changed, now or at any time of a history that began with them; their Job waits. */
  void assertUntouched(List<ObjectChange> history) {
    made.forEach(each -> assertThat(intent(now(each))).isEqualTo(before.get(key(now(each)))));
    assertThat(history)
        .filteredOn(
            each ->
                each.object().at("/metadata/labels").has(LABEL)
                    && each.kind() != AuditedKind.WORKLOAD)
        .isNotEmpty()
        .allSatisfy(
            each -> {
              assertThat(each.deleted()).isFalse();
              // recorded without managed fields
              assertThat(before.values().stream().map(Strangers::withoutManagedFields))
                  .contains(withoutManagedFields(intent(each.object())));
            });
  }
}

package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.WatchRecorder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * One cluster of a multi-cluster scenario.
 *
 * @param name its name in the manager
 * @param client client with all rights, whose connection is never interrupted
 * @param recorder recorder of the cluster's objects
 */
record ScenarioMember(String name, KubernetesClient client, WatchRecorder recorder) {

  /** Creates all objects of a manifest, in order. */
  void create(String manifest) {
    List<HasMetadata> objects =
        client.load(new ByteArrayInputStream(manifest.getBytes(StandardCharsets.UTF_8))).items();
    objects.forEach(object -> client.resource(object).create());
  }

  /** Holds new pods, or releases them. */
  void holdPods(boolean hold) {
    for (Node node : client.nodes().list().getItems()) {
      client
          .nodes()
          .withName(node.getMetadata().getName())
          .edit(
              current -> {
                current.getSpec().setUnschedulable(hold);
                return current;
              });
    }
  }

  /** The present objects of this name in the scenario's namespace: none or one. */
  List<JsonNode> named(AuditedKind kind, String object) {
    return recorder.current(kind).stream()
        .filter(it -> it.at("/metadata/namespace").asText().equals(MultiClusterScenario.NAMESPACE))
        .filter(it -> it.at("/metadata/name").asText().equals(object))
        .toList();
  }

  /** The present pods of a Job. */
  List<JsonNode> pods(String job) {
    return recorder.current(AuditedKind.POD).stream().filter(it -> belongs(it, job)).toList();
  }

  /** How many pods a Job has ever had. */
  long podsEver(String job) {
    return recorder.history().stream()
        .filter(
            objectChange ->
                objectChange.kind() == AuditedKind.POD && belongs(objectChange.object(), job))
        .map(objectChange -> objectChange.object().at("/metadata/uid").asText())
        .distinct()
        .count();
  }

  private static boolean belongs(JsonNode pod, String job) {
    JsonNode metadata = pod.path("metadata");
    return metadata.path("namespace").asText().equals(MultiClusterScenario.NAMESPACE)
        && metadata.path("labels").path("batch.kubernetes.io/job-name").asText().equals(job);
  }
}

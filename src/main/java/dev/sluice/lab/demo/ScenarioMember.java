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
 * One cluster of a story of several.
 *
 * @param name as the manager knows it
 * @param client with all rights, by a way that is never cut
 * @param recorder of what happens there
 */
record ScenarioMember(String name, KubernetesClient client, WatchRecorder recorder) {

  /** Makes all objects of a manifest, in its order. */
  void create(String manifest) {
    List<HasMetadata> objects =
        client.load(new ByteArrayInputStream(manifest.getBytes(StandardCharsets.UTF_8))).items();
    objects.forEach(object -> client.resource(object).create());
  }

  /** Keeps new pods from nodes, or lets them go there again. */
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

  /** The objects of this name in the story's namespace as they are now: none or one. */
  List<JsonNode> named(AuditedKind kind, String object) {
    return recorder.current(kind).stream()
        .filter(it -> it.at("/metadata/namespace").asText().equals(MultiClusterScenario.NAMESPACE))
        .filter(it -> it.at("/metadata/name").asText().equals(object))
        .toList();
  }

  /** The pods that a Job of this name has now. */
  List<JsonNode> pods(String job) {
    return recorder.current(AuditedKind.POD).stream().filter(it -> belongs(it, job)).toList();
  }

  /** How many pods a Job of this name ever had. */
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

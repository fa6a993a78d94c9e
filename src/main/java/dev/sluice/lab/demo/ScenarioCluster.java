package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.WatchRecorder;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The cluster as the story sees it: it makes objects, and looks at what became of them. */
final class ScenarioCluster {

  private final KubernetesClient client;
  private final WatchRecorder recorder;
  private final Duration patience;

  ScenarioCluster(KubernetesClient client, WatchRecorder recorder, Duration patience) {
    this.client = client;
    this.recorder = recorder;
    this.patience = patience;
  }

  /** Makes all objects of a manifest, in its order. */
  List<HasMetadata> create(String manifest) {
    return client
        .load(new ByteArrayInputStream(manifest.getBytes(StandardCharsets.UTF_8)))
        .items()
        .stream()
        .map(object -> client.resource(object).create())
        .toList();
  }

  /** Makes the one Job of a manifest. */
  ScenarioJob submit(String manifest) {
    HasMetadata job = create(manifest).getFirst();
    return new ScenarioJob(this, job.getMetadata().getName(), job.getMetadata().getUid());
  }

  /** Deletes a Job, and returns when nothing of it is left. */
  void delete(ScenarioJob job) {
    client
        .batch()
        .v1()
        .jobs()
        .inNamespace(FirstJobScenario.NAMESPACE)
        .withName(job.name())
        .withPropagationPolicy(DeletionPropagation.FOREGROUND)
        .delete();
    await("the end of Job " + job.name(), () -> job.isGone() ? Optional.of(job) : Optional.empty());
  }

  /**
   * Waits for something.
   *
   * @throws ScenarioException when it doesn't come
   */
  <T> T await(String what, Supplier<Optional<T>> sought) {
    return recorder
        .await(patience, sought)
        .orElseThrow(
            () ->
                new ScenarioException(
                    "waited %d s in vain for %s".formatted(patience.toSeconds(), what)));
  }

  WatchRecorder recorder() {
    return recorder;
  }

  /** The object of that uid as it is now. */
  Optional<JsonNode> current(AuditedKind kind, String uid) {
    return recorder.current(kind).stream()
        .filter(object -> object.path("metadata").path("uid").asText().equals(uid))
        .findFirst();
  }

  /** The objects that a Job controls, as they are now. */
  List<JsonNode> ownedBy(AuditedKind kind, String jobUid) {
    return recorder.current(kind).stream()
        .filter(
            object -> {
              for (JsonNode owner : object.path("metadata").path("ownerReferences")) {
                if (owner.path("uid").asText().equals(jobUid)) {
                  return true;
                }
              }
              return false;
            })
        .toList();
  }
}

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

/** A scenario's access to the cluster: creates objects and observes them. */
final class ScenarioCluster {

  private final KubernetesClient client;
  private final WatchRecorder recorder;
  private final Duration timeout;
  private final ProgressListener progressListener;

  ScenarioCluster(
      KubernetesClient client,
      WatchRecorder recorder,
      Duration timeout,
      ProgressListener progressListener) {
    this.progressListener = progressListener;
    this.client = client;
    this.recorder = recorder;
    this.timeout = timeout;
  }

  /** Creates all objects of a manifest, in order. */
  List<HasMetadata> create(String manifest) {
    return client
        .load(new ByteArrayInputStream(manifest.getBytes(StandardCharsets.UTF_8)))
        .items()
        .stream()
        .map(object -> client.resource(object).create())
        .toList();
  }

  /** Creates the single Job of a manifest. */
  ScenarioJob submit(String manifest) {
    HasMetadata job = create(manifest).getFirst();
    return new ScenarioJob(this, job.getMetadata().getName(), job.getMetadata().getUid());
  }

  /** Deletes a Job and returns when all its objects are gone. */
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
   * Waits until the supplier returns a value.
   *
   * @throws ScenarioException when the time limit is exceeded
   */
  <T> T await(String what, Supplier<Optional<T>> supplier) {
    progressListener.waits(what);
    Optional<T> found = recorder.await(timeout, supplier);
    progressListener.waits("");
    return found.orElseThrow(
        () ->
            new ScenarioException(
                "waited %d s in vain for %s".formatted(timeout.toSeconds(), what)));
  }

  WatchRecorder recorder() {
    return recorder;
  }

  /** The present object of this uid. */
  Optional<JsonNode> current(AuditedKind kind, String uid) {
    return recorder.current(kind).stream()
        .filter(object -> object.path("metadata").path("uid").asText().equals(uid))
        .findFirst();
  }

  /** The present objects that a Job controls. */
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

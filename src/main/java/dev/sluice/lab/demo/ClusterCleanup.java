package dev.sluice.lab.demo;

import dev.sluice.lab.audit.WatchRecorder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Removes everything that a demo adds to an existing cluster. */
final class ClusterCleanup {

  private static final Duration DELETION_TIMEOUT = Duration.ofMinutes(1);
  private static final String GROUP = ".kueue.x-k8s.io";
  private static final String PREFIX = "kueue-";

  private final KubernetesClient client;
  private final Set<String> before;

  /** Records which objects exist before the demo. */
  ClusterCleanup(KubernetesClient client) {
    this.client = client;
    this.before = Set.copyOf(installed().keySet());
  }

  /** Deletes the scenario's objects and waits until they are gone; the operator must still run. */
  void clearStory(WatchRecorder recorder) {
    ScenarioObjects objects = new ScenarioObjects(client);
    objects.delete();
    boolean gone =
        recorder
            .await(
                DELETION_TIMEOUT,
                () -> objects.existing().isEmpty() ? Optional.of(true) : Optional.empty())
            .isPresent();
    if (!gone) {
      throw new ScenarioException("not deleted yet: " + String.join(", ", objects.existing()));
    }
  }

  /**
   * Deletes what the operator installed and did not exist before; called after the operator has
   * ended.
   */
  void clearInstallation() {
    installed()
        .forEach(
            (name, object) -> {
              if (!before.contains(name)) {
                object.delete();
              }
            });
  }

  /**
   * The objects that an operator installs, webhooks first, so that the API server calls no webhook
   * without a server.
   */
  private Map<String, Resource<? extends HasMetadata>> installed() {
    Map<String, Resource<? extends HasMetadata>> found = new LinkedHashMap<>();
    List<HasMetadata> all = new ArrayList<>();
    var admission = client.admissionRegistration().v1();
    all.addAll(admission.mutatingWebhookConfigurations().list().getItems());
    all.addAll(admission.validatingWebhookConfigurations().list().getItems());
    all.addAll(client.apiextensions().v1().customResourceDefinitions().list().getItems());
    all.addAll(client.namespaces().list().getItems());
    for (HasMetadata object : all) {
      String name = object.getMetadata().getName();
      if (name.startsWith(PREFIX) || name.endsWith(GROUP)) {
        found.put(object.getKind() + " " + name, client.resource(object));
      }
    }
    return found;
  }
}

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

/** A stay in somebody else's cluster: what was not there before is not there afterwards. */
final class ClusterCleanup {

  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final String GROUP = ".kueue.x-k8s.io";
  private static final String PREFIX = "kueue-";

  private final KubernetesClient client;
  private final Set<String> before;

  /** Begins: notes what is there. */
  ClusterCleanup(KubernetesClient client) {
    this.client = client;
    this.before = Set.copyOf(installed().keySet());
  }

  /** Deletes what the story made, and waits until it is gone; the operator still has to run. */
  void clearStory(WatchRecorder recorder) {
    ScenarioObjects objects = new ScenarioObjects(client);
    objects.delete();
    boolean gone =
        recorder
            .await(
                PATIENCE, () -> objects.existing().isEmpty() ? Optional.of(true) : Optional.empty())
            .isPresent();
    if (!gone) {
      throw new ScenarioException("not deleted yet: " + String.join(", ", objects.existing()));
    }
  }

  /** Deletes what the operator installed and was not there before; when it has ended. */
  void clearInstallation() {
    installed()
        .forEach(
            (name, object) -> {
              if (!before.contains(name)) {
                object.delete();
              }
            });
  }

  /** What an operator installs, webhooks first, so that nobody is asked who isn't there. */
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

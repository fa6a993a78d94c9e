package dev.sluice.queues;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.LabelSelectorMapper;
import io.fabric8.kubernetes.api.model.Namespace;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the LocalQueue of a ClusterQueue in each namespace that it selects
 * (docs/queueing-policies.md#a-localqueue-in-each-namespace). One that is there stays as it is;
 * none is deleted.
 */
final class LocalQueueCreator {

  private static final String API_VERSION = ApiVersions.GROUP + "/v1beta2";

  private static final Logger LOG = LoggerFactory.getLogger(LocalQueueCreator.class);

  private final InformerCaches informerCaches;
  private final Predicate<Map<String, String>> managedNamespaces;
  private final ApiClient client;

  /**
   * Creates a creator.
   *
   * @param managedNamespaces whether jobs of a namespace with these labels are managed
   */
  LocalQueueCreator(
      InformerCaches informerCaches,
      Predicate<Map<String, String>> managedNamespaces,
      ApiClient client) {
    this.informerCaches = informerCaches;
    this.managedNamespaces = managedNamespaces;
    this.client = client;
  }

  /** Makes what is missing; blocks. Returns an outcome that isn't success, if there is one. */
  Optional<ApiOutcome> create(ClusterQueue queue) {
    Optional<String> name = QueueAnnotations.localQueue(queue.getMetadata().getAnnotations());
    if (name.isEmpty() || queue.getSpec() == null) {
      return Optional.empty();
    }
    LabelSelector selector =
        LabelSelectorMapper.translate(queue.getSpec().namespaceSelector(), "namespaceSelector")
            .value();
    List<CompletableFuture<ApiOutcome>> sent =
        informerCaches.namespaces().all().stream()
            .filter(namespace -> namespace.getMetadata().getDeletionTimestamp() == null)
            .filter(namespace -> isSelected(namespace, selector))
            .map(namespace -> namespace.getMetadata().getName())
            .filter(namespace -> informerCaches.localQueues().find(namespace, name.get()).isEmpty())
            .map(namespace -> create(namespace, name.get(), queue.getMetadata().getName()))
            .toList();
    return sent.stream()
        .map(CompletableFuture::join)
        // somebody else made it
        .filter(
            outcome ->
                !(outcome instanceof ApiOutcome.Written)
                    && !(outcome instanceof ApiOutcome.Conflict))
        .reduce((first, second) -> first);
  }

  private boolean isSelected(Namespace namespace, LabelSelector selector) {
    Map<String, String> labels = namespace.getMetadata().getLabels();
    Map<String, String> known = labels == null ? Map.of() : labels;
    return selector.matches(known) && managedNamespaces.test(known);
  }

  private CompletableFuture<ApiOutcome> create(String namespace, String name, String queue) {
    LOG.info("localQueue={}/{} made=true clusterQueue={}", namespace, name, queue);
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    object.put("apiVersion", API_VERSION).put("kind", "LocalQueue");
    ObjectNode metadata = object.putObject("metadata").put("name", name);
    metadata.put("namespace", namespace);
    metadata.putObject("annotations").put(QueueAnnotations.MADE_FOR, queue);
    object.putObject("spec").put("clusterQueue", queue);
    return client.send(
        ApiRequest.create(
            "/apis/" + API_VERSION + "/namespaces/" + namespace + "/localqueues", object));
  }
}

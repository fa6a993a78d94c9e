package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** What administrators wrote: flavors, and the policies of a ClusterQueue, as in the objects. */
final class SettingsDocument {

  private final DashboardSources sources;

  SettingsDocument(DashboardSources sources) {
    this.sources = sources;
  }

  /**
   * All ResourceFlavors by name.
   *
   * @param queues whether the ClusterQueues that use them are named
   */
  ObjectNode flavors(boolean queues) {
    ObjectNode document = JsonMappers.JSON.createObjectNode();
    ArrayNode items = document.putArray("items");
    sources.caches().flavors().all().stream()
        .sorted(Comparator.comparing(flavor -> flavor.getMetadata().getName()))
        .forEach(flavor -> describe(items.addObject(), flavor, queues));
    return document;
  }

  /** The labels of a flavor's nodes; empty if there is no such flavor. */
  Optional<Map<String, String>> nodeLabels(String flavor) {
    return sources
        .caches()
        .flavors()
        .find(flavor)
        .map(found -> found.getSpec() == null ? Map.of() : found.getSpec().nodeLabels());
  }

  private void describe(ObjectNode node, ResourceFlavor flavor, boolean queues) {
    String name = flavor.getMetadata().getName();
    node.put("name", name);
    if (flavor.getSpec() != null) {
      node.setAll((ObjectNode) JsonMappers.JSON.valueToTree(flavor.getSpec()));
    }
    if (queues) {
      TreeSet<String> users = new TreeSet<>();
      sources.views().clusterQueues().stream()
          .filter(queue -> queue.usage().stream().anyMatch(use -> use.flavor().equals(name)))
          .forEach(queue -> users.add(queue.name()));
      ArrayNode names = node.putArray("clusterQueues");
      users.forEach(names::add);
    }
  }

  /** The spec of a ClusterQueue without its quotas; empty if there is no such queue. */
  Optional<ObjectNode> policies(String clusterQueue) {
    return sources
        .caches()
        .clusterQueues()
        .find(clusterQueue)
        .map(ClusterQueue::getSpec)
        .map(
            spec -> {
              ObjectNode document = JsonMappers.JSON.createObjectNode();
              JsonNode tree = JsonMappers.JSON.valueToTree(spec);
              document.set("spec", ((ObjectNode) tree).without("resourceGroups"));
              return document;
            });
  }
}

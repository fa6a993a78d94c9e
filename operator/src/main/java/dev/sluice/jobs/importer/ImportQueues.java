package dev.sluice.jobs.importer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.ObjectKey;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The queues that objects may be taken into.
 *
 * @param localQueues the ClusterQueue of each LocalQueue
 * @param clusterQueues ClusterQueues by name
 * @param flavors ResourceFlavors by name
 */
public record ImportQueues(
    Map<ObjectKey, String> localQueues,
    Map<String, JsonNode> clusterQueues,
    Map<String, JsonNode> flavors) {

  public ImportQueues {
    localQueues = Map.copyOf(localQueues);
    clusterQueues = Map.copyOf(clusterQueues);
    flavors = Map.copyOf(flavors);
  }

  /** Why no flavors could be assigned. */
  static final class UnassignedException extends Exception {
    private static final long serialVersionUID = 1;

    UnassignedException(String reason) {
      super(reason);
    }
  }

  /**
   * A flavor for each resource: of each resource group the first one that exists and whose labels
   * the nodes of the object have.
   *
   * @param requests what one pod requests
   * @param nodeLabels labels of the node, or the node selector where no node is known
   * @throws UnassignedException when a resource is not covered, or no flavor is right
   */
  SortedMap<String, String> flavors(
      String clusterQueue, Map<String, Long> requests, Map<String, String> nodeLabels)
      throws UnassignedException {
    JsonNode queue = clusterQueues.get(clusterQueue);
    if (queue == null) {
      throw new UnassignedException("ClusterQueue " + clusterQueue + " does not exist");
    }
    SortedMap<String, String> assigned = new TreeMap<>();
    for (String resource : requests.keySet()) {
      assigned.put(resource, flavor(queue, clusterQueue, resource, nodeLabels));
    }
    return assigned;
  }

  private String flavor(
      JsonNode queue, String clusterQueue, String resource, Map<String, String> nodeLabels)
      throws UnassignedException {
    for (JsonNode group : JsonFields.list(queue, "spec", "resourceGroups")) {
      if (JsonFields.texts(group, "coveredResources").contains(resource)) {
        return JsonFields.list(group, "flavors").stream()
            .map(flavor -> flavor.path("name").asText())
            .filter(name -> isRight(name, nodeLabels))
            .findFirst()
            .orElseThrow(
                () ->
                    new UnassignedException(
                        "no ResourceFlavor of ClusterQueue %s for %s exists and has the labels of its node"
                            .formatted(clusterQueue, resource)));
      }
    }
    throw new UnassignedException("ClusterQueue " + clusterQueue + " has no quota for " + resource);
  }

  private boolean isRight(String flavor, Map<String, String> nodeLabels) {
    return Optional.ofNullable(flavors.get(flavor))
        .filter(
            found ->
                JsonFields.map(found, "spec", "nodeLabels").entrySet().stream()
                    .allMatch(label -> label.getValue().equals(nodeLabels.get(label.getKey()))))
        .isPresent();
  }

  /** What happens to one object. */
  public sealed interface ImportDecision {

    /**
     * It gets a Workload that holds quota.
     *
     * @param clusterQueue where it holds quota
     * @param workload the Workload to be created
     * @param status the status that the Workload gets
     * @param patch a merge patch of the object: its queue, and what the API writes of managed
     *     objects
     * @param amounts what it holds, by flavor and resource, joined by a slash
     */
    record Take(
        String clusterQueue,
        ObjectNode workload,
        ObjectNode status,
        ObjectNode patch,
        Map<String, Long> amounts)
        implements ImportDecision {}

    /** It stays as it is, which is in order. */
    record Leave(String reason) implements ImportDecision {}

    /** It can't be taken; somebody has to mend something first. */
    record Fault(String reason) implements ImportDecision {}
  }
}

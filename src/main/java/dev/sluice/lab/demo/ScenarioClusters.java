package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.DuplicateRunDetector;
import dev.sluice.lab.controlplane.TcpProxy;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The clusters of the story: a manager, and workers each of which the manager reaches by a cable.
 *
 * @param manager takes the Jobs in
 * @param workers by name
 * @param cables by the worker's name
 * @param runs follows the pods of all workers
 */
record ScenarioClusters(
    ScenarioMember manager,
    SortedMap<String, ScenarioMember> workers,
    Map<String, TcpProxy> tcpProxies,
    DuplicateRunDetector runs) {

  ScenarioClusters {
    workers = new TreeMap<>(workers);
    tcpProxies = Map.copyOf(tcpProxies);
  }

  ScenarioMember worker(String name) {
    return Objects.requireNonNull(workers.get(name), name);
  }

  TcpProxy cable(String name) {
    return Objects.requireNonNull(tcpProxies.get(name), name);
  }

  /** Whether an object's condition is True. */
  static boolean isTrue(JsonNode object, String type) {
    for (JsonNode condition : object.path("status").path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText().equals("True");
      }
    }
    return false;
  }
}

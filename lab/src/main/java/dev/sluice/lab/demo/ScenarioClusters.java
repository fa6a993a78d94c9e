package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.DuplicateRunDetector;
import dev.sluice.lab.controlplane.TcpProxy;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The clusters of the multi-cluster scenario: a manager, and workers that the manager reaches
 * through proxies.
 *
 * @param manager the cluster to which Jobs are submitted
 * @param workers the workers by name
 * @param tcpProxies the proxies by worker
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

  TcpProxy proxy(String name) {
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

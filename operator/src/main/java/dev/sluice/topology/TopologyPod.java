package dev.sluice.topology;

import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.MapCopies;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The cached part of a pod that is placed by a topology, and that has not terminated.
 *
 * @param namespace the namespace
 * @param name the name
 * @param uid the UID
 * @param version the resourceVersion, as text
 * @param workload the name of the Workload that the pod belongs to; for a pod of an elastic job the
 *     name of its first slice
 * @param podSet the pod set that the pod belongs to
 * @param indexes the labels whose value is a number
 * @param indexOffset the number that is subtracted from the index to get the rank
 * @param gates the scheduling gates
 * @param nodeSelector the node selector
 * @param binding the node that the pod is bound to
 * @param deleting whether the pod has a deletion timestamp
 */
public record TopologyPod(
    String namespace,
    String name,
    String uid,
    String version,
    String workload,
    String podSet,
    Map<String, Integer> indexes,
    int indexOffset,
    List<String> gates,
    Map<String, String> nodeSelector,
    Binding binding,
    boolean deleting) {

  /**
   * The node of a pod.
   *
   * @param node its name; empty while the pod is bound to none
   * @param unschedulableSince since when the scheduler of the cluster finds no node; empty if it
   *     has not said so
   */
  public record Binding(String node, Optional<Instant> unschedulableSince) {

    /** Bound to a node, or to none yet if the name is empty. */
    static Binding to(String node) {
      return new Binding(node, Optional.empty());
    }
  }

  /** Copies the collections. */
  public TopologyPod {
    indexes = Map.copyOf(indexes);
    gates = List.copyOf(gates);
    nodeSelector = MapCopies.of(nodeSelector);
  }

  /** The node that the pod is bound to; empty while it is bound to none. */
  public String node() {
    return binding.node();
  }

  /** Whether the pod waits for its domain. */
  public boolean gated() {
    return gates.contains(KueueConstants.TOPOLOGY_GATE);
  }

  /** The hostname of the node that the pod was sent to by its node selector; empty without. */
  String target() {
    return nodeSelector.getOrDefault(TopologyLabels.HOSTNAME, "");
  }

  /** Whether the pod is one of an elastic job for which no quota is there yet. */
  boolean waitsForQuota() {
    return gates.contains(KueueConstants.ELASTIC_JOB);
  }

  /** The pod with these labels in its node selector, and without the gate. */
  TopologyPod ungated(Map<String, String> domain) {
    Map<String, String> selector = new HashMap<>(nodeSelector);
    selector.putAll(domain);
    return new TopologyPod(
        namespace,
        name,
        uid,
        version,
        workload,
        podSet,
        indexes,
        indexOffset,
        gates.stream().filter(gate -> !gate.equals(KueueConstants.TOPOLOGY_GATE)).toList(),
        selector,
        binding,
        deleting);
  }

  /** Labels of nodes that the rules of topologies name. */
  static final class TopologyLabels {

    /** The label that is unique to a node. */
    static final String HOSTNAME = "kubernetes.io/hostname";

    private TopologyLabels() {}
  }
}

package dev.sluice.testing;

import dev.sluice.lab.controlplane.NodeGroup;
import io.fabric8.kubernetes.api.model.Node;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The nodes of a control plane that tests share. The scheduler places the pods of one test on nodes
 * of any other; so a group that differs from an earlier one by its name alone isn't made again, and
 * none is deleted when the test ends that asked for it.
 */
final class SharedNodes {

  private final ConcurrentHashMap<NodeGroup, List<Node>> nodes = new ConcurrentHashMap<>();

  /** The nodes of such a group, made now or before. */
  List<Node> of(NodeGroup group, Function<NodeGroup, List<Node>> make) {
    NodeGroup kind =
        new NodeGroup("any", group.count(), group.capacity(), group.labels(), group.taints());
    return nodes.computeIfAbsent(kind, absent -> make.apply(group));
  }
}

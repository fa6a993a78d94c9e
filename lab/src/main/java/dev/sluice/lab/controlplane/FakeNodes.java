package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Node objects without a real machine. */
public final class FakeNodes {

  /** KWOK simulates the kubelet of a node with this annotation. */
  static final String ANNOTATION = "kwok.x-k8s.io/node";

  private FakeNodes() {}

  /** The nodes of a group, ready to be created. */
  public static List<Node> of(NodeGroup group) {
    return IntStream.range(0, group.count()).mapToObj(index -> node(group, index)).toList();
  }

  /** All nodes of the groups, in order. */
  static Stream<Node> all(List<NodeGroup> groups) {
    return groups.stream().flatMap(group -> of(group).stream());
  }

  private static Node node(NodeGroup group, int index) {
    String name = group.name() + "-" + index;
    Map<String, Quantity> amounts =
        group.capacity().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> new Quantity(entry.getValue())));
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .addToAnnotations(ANNOTATION, "fake")
        .addToAnnotations("node.alpha.kubernetes.io/ttl", "0")
        .addToLabels("kubernetes.io/hostname", name)
        .addToLabels("kubernetes.io/os", "linux")
        .addToLabels("kubernetes.io/arch", "amd64")
        .addToLabels("type", "kwok")
        .addToLabels(group.labels())
        .endMetadata()
        .withNewSpec()
        .withTaints(group.taints().stream().map(FakeNodes::taint).toList())
        .endSpec()
        .withNewStatus()
        .withCapacity(amounts)
        .withAllocatable(amounts)
        .endStatus()
        .build();
  }

  private static Taint taint(NodeTaint taint) {
    return new TaintBuilder()
        .withKey(taint.key())
        .withValue(taint.value())
        .withEffect(taint.effect())
        .build();
  }
}

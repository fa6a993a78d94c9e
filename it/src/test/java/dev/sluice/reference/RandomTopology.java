package dev.sluice.reference;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** A made-up topology with nodes, and what pods ask of it. */
final class RandomTopology {

  static final String FLAVOR = "f";

  private static final String[] KEYS = {"block", "row", "rack"};

  private final Dice dice;
  final TopologySpec spec;
  final Flavor flavor;
  final List<ClusterNode> nodes = new ArrayList<>();
  private final boolean tainted;

  /**
   * @param most the most nodes
   */
  RandomTopology(Dice dice, int most) {
    this.dice = dice;
    List<String> levels = new ArrayList<>();
    for (String key : KEYS) {
      if (dice.chance(60)) {
        levels.add(key);
      }
    }
    if (levels.isEmpty() || dice.chance(70)) {
      levels.add(TopologySpec.HOSTNAME);
    }
    this.spec = new TopologySpec("t", levels);
    this.tainted = dice.chance(40);
    List<Toleration> tolerations =
        dice.chance(20) ? List.of(new Toleration("soft", "Exists", "", "")) : List.of();
    this.flavor = new Flavor(FLAVOR, Map.of("pool", "a"), List.of(), tolerations, "t");
    int count = dice.below(most + 1);
    for (int i = 0; i < count; i++) {
      nodes.add(node(i));
    }
  }

  private ClusterNode node(int number) {
    Map<String, String> labels = new TreeMap<>();
    for (String key : KEYS) {
      labels.put(key, key.charAt(0) + "" + dice.below(3));
    }
    if (dice.chance(5)) {
      labels.remove(KEYS[dice.below(3)]);
    }
    labels.put(TopologySpec.HOSTNAME, "n" + (100 + number));
    labels.put("pool", dice.chance(90) ? "a" : "b");
    labels.put("disk", dice.chanceOfHalf() ? "ssd" : "hdd");
    List<Taint> taints = new ArrayList<>();
    if (tainted && dice.chance(30)) {
      taints.add(
          new Taint(
              dice.chanceOfHalf() ? "soft" : "hard",
              "",
              dice.pick(new String[] {"NoSchedule", "NoExecute", "PreferNoSchedule"})));
    }
    SortedMap<String, Long> allocatable = new TreeMap<>();
    allocatable.put("cpu", (long) dice.below(9));
    allocatable.put("pods", dice.chance(80) ? 10L : dice.below(4));
    if (dice.chance(70)) {
      allocatable.put("gpu", (long) dice.below(5));
    }
    return new ClusterNode("n" + (100 + number), labels, taints, allocatable, dice.chance(93));
  }

  /** The nodes that the flavor has. */
  List<ClusterNode> members() {
    return nodes.stream().filter(node -> "a".equals(node.labels().get("pool"))).toList();
  }

  /** What a pod set asks for; valid in this topology. */
  TopologyRequest request(boolean grouped) {
    int levels = spec.levels().size();
    int level = dice.below(levels);
    String name = spec.levels().get(level);
    List<TopologyRequest.Slice> slices = new ArrayList<>();
    if (dice.chance(40)) {
      int at = level + dice.below(levels - level);
      int size = dice.pick(new Integer[] {1, 2, 3, 4, 6});
      slices.add(new TopologyRequest.Slice(spec.levels().get(at), size));
      while (dice.chance(60) && at + 1 < levels && slices.size() < 3) {
        at += 1 + dice.below(levels - at - 1);
        size /= size % 2 == 0 ? 2 : size;
        slices.add(new TopologyRequest.Slice(spec.levels().get(at), size));
      }
    }
    TopologyRequest.Slice[] layers = slices.toArray(TopologyRequest.Slice[]::new);
    return switch (dice.below(grouped ? 2 : slices.isEmpty() ? 4 : 3)) {
      case 0 -> TopologyRequest.required(name, layers);
      case 1 -> TopologyRequest.preferred(name, layers);
      case 2 -> slices.isEmpty() ? TopologyRequest.NONE : TopologyRequest.sliced(layers);
      default -> TopologyRequest.unconstrained();
    };
  }

  /** A number of pods that can be cut into the slices asked for, mostly. */
  int count(TopologyRequest request) {
    int size = request.slices().isEmpty() ? 1 : request.slices().getFirst().size();
    int count = size * (1 + dice.below(size == 1 ? 14 : 5));
    return dice.chance(75) ? count : count + dice.below(size) + (size == 1 ? 1 : 0);
  }

  SortedMap<String, Long> perPod() {
    SortedMap<String, Long> perPod = new TreeMap<>();
    if (dice.chance(90)) {
      perPod.put("cpu", (long) dice.below(4));
    }
    if (dice.chance(30)) {
      perPod.put("gpu", 1L + dice.below(2));
    }
    return perPod;
  }

  NodeConstraints constraints() {
    if (dice.chance(60)) {
      return NodeConstraints.ANYWHERE;
    }
    List<Toleration> tolerations =
        dice.chanceOfHalf() ? List.of(new Toleration("hard", "Exists", "", "")) : List.of();
    Map<String, String> selector = dice.chance(30) ? Map.of("disk", "ssd") : Map.of();
    List<List<LabelRequirement>> terms =
        dice.chance(30)
            ? List.of(
                List.of(
                    new LabelRequirement("disk", LabelRequirement.Operator.NOT_IN, List.of("ssd"))),
                List.of(
                    new LabelRequirement(
                        "kubernetes.io/hostname",
                        LabelRequirement.Operator.IN,
                        List.of("n100", "n101", "n102"))))
            : List.of();
    List<List<LabelRequirement>> fields =
        terms.isEmpty()
            ? List.of()
            : List.of(
                List.of(),
                List.of(
                    new LabelRequirement(
                        "metadata.name", LabelRequirement.Operator.NOT_IN, List.of("n101"))));
    return new NodeConstraints(selector, terms, fields, tolerations, List.of());
  }
}

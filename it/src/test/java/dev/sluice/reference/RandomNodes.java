package dev.sluice.reference;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.reference.RandomWorld.Pods;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Makes up topologies and nodes for worlds of queues, and Workloads that ask for places there. */
final class RandomNodes {

  private static final List<List<String>> LEVELS =
      List.of(
          List.of("block", "rack", TopologySpec.HOSTNAME),
          List.of("rack", TopologySpec.HOSTNAME),
          List.of("block", "rack"),
          List.of("rack"),
          List.of(TopologySpec.HOSTNAME));

  private final Dice dice;
  private final WorldSize size;
  private final int count;
  private final List<List<String>> levels = new ArrayList<>();
  private final Map<Integer, ClusterNode> latest = new HashMap<>();

  RandomNodes(Dice dice, WorldSize size) {
    this.dice = dice;
    this.size = size;
    this.count = 3 + dice.below(5);
    levels.add(LEVELS.get(dice.below(2)));
    levels.add(dice.chanceOfHalf() ? levels.getFirst() : LEVELS.get(dice.below(LEVELS.size())));
  }

  /** The topology of a flavor; none for the last of three. */
  static String topologyOf(int flavor) {
    return flavor == 2 ? "" : "t-" + flavor;
  }

  /** The labels of a flavor's nodes: two flavors may have the same nodes. */
  Map<String, String> labels() {
    return dice.chance(60) ? Map.of("pool", "a") : Map.of();
  }

  /** Labels of some nodes of any world. */
  static Map<String, String> some(Dice dice) {
    return switch (dice.below(5)) {
      case 0 -> Map.of(TopologySpec.HOSTNAME, name(dice.below(8)));
      case 1 -> Map.of("disk", dice.chanceOfHalf() ? "ssd" : "hdd");
      case 2 -> Map.of("pool", dice.chanceOfHalf() ? "a" : "b");
      case 3 -> Map.of("rack", "r" + dice.below(3), "block", "b" + dice.below(2));
      default -> Map.of("rack", "r" + dice.below(3));
    };
  }

  /** All that is declared before anything happens. */
  List<SchedulerEvent> all() {
    List<SchedulerEvent> all = new ArrayList<>();
    all.add(topology(0));
    all.add(topology(1));
    for (int i = 0; i < count; i++) {
      all.add(node(i));
    }
    return all;
  }

  private SchedulerEvent topology(int number) {
    return new SchedulerEvent.TopologyChanged(new TopologySpec("t-" + number, levels.get(number)));
  }

  /** A node changes or goes, or what others use of it; now and then a topology. */
  SchedulerEvent change() {
    int number = dice.below(count);
    return switch (dice.below(12)) {
      case 0, 1, 2 -> node(number);
      case 3 -> new SchedulerEvent.NodeRemoved(name(number));
      case 5 -> relabeled(number);
      case 4 ->
          dice.chance(15)
              ? new SchedulerEvent.TopologyRemoved("t-" + dice.below(2))
              : topology(dice.below(2));
      default -> new SchedulerEvent.NodeUsageChanged(name(number), used());
    };
  }

  private SortedMap<String, Long> used() {
    SortedMap<String, Long> used = new TreeMap<>();
    int pods = dice.below(3);
    if (pods > 0) {
      used.put("cpu", (long) dice.below(4));
      used.put("pods", (long) pods);
    }
    return used;
  }

  private static String name(int number) {
    return "n" + (10 + number);
  }

  private SchedulerEvent node(int number) {
    Map<String, String> labels = new TreeMap<>();
    labels.put("pool", dice.chance(85) ? "a" : "b");
    labels.put("block", "b" + number % 2);
    labels.put("rack", "r" + number % 3);
    labels.put("disk", dice.chanceOfHalf() ? "ssd" : "hdd");
    labels.put(TopologySpec.HOSTNAME, name(number));
    if (dice.chance(4)) {
      labels.remove("rack");
    }
    SortedMap<String, Long> allocatable = new TreeMap<>();
    allocatable.put("cpu", 2L + dice.below(7));
    allocatable.put("memory", 2L + dice.below(8));
    allocatable.put("pods", dice.chance(80) ? 10L : 1L + dice.below(4));
    List<Taint> taints =
        dice.chance(90)
            ? List.of()
            : List.of(
                new Taint("hard", "", dice.pick(new String[] {"NoSchedule", "PreferNoSchedule"})));
    ClusterNode node = new ClusterNode(name(number), labels, taints, allocatable, dice.chance(92));
    latest.put(number, node);
    return new SchedulerEvent.NodeChanged(node);
  }

  /** A node changes in nothing but a label that only node selectors know. */
  private SchedulerEvent relabeled(int number) {
    ClusterNode before = latest.get(number);
    if (before == null) {
      return node(number);
    }
    Map<String, String> labels = new TreeMap<>(before.labels());
    labels.put("disk", "ssd".equals(labels.get("disk")) ? "hdd" : "ssd");
    ClusterNode after =
        new ClusterNode(
            before.name(), labels, before.taints(), before.allocatable(), before.usable());
    latest.put(number, after);
    return new SchedulerEvent.NodeChanged(after);
  }

  /** What a Workload asks for: mostly one pod set, or a leader with workers. */
  RequestShape shape() {
    List<PodSetRequest> podSets = new ArrayList<>();
    int thrown = dice.below(100);
    if (thrown < 12) {
      TopologyRequest together = request(dice.chance(40));
      TopologyRequest whole =
          together.mode() == TopologyRequest.Mode.SLICES
              ? TopologyRequest.unconstrained()
              : new TopologyRequest(together.mode(), together.level(), List.of());
      podSets.add(podSet("leader", 1, whole, "group"));
      podSets.add(podSet("workers", 1 + dice.below(5), together, "group"));
    } else {
      podSets.add(podSet("main", pods(), request(true), ""));
      if (thrown < 24) {
        podSets.add(podSet("more", pods(), request(true), dice.chance(10) ? "group" : ""));
      }
    }
    return new RequestShape(podSets);
  }

  /**
   * What a slice of an elastic job asks for: those of one job differ in the number of pods, and now
   * and then in more.
   */
  RequestShape slice(int job) {
    if (dice.chance(5)) {
      return shape();
    }
    List<PodSetRequest> podSets = new ArrayList<>();
    SortedMap<String, Long> perPod = new TreeMap<>(Map.of("cpu", 1L + job % 2));
    SortedMap<String, Long> onNode = new TreeMap<>(perPod);
    if (job % 5 == 3) {
      onNode.put("memory", 1L);
    }
    boolean grouped = job % 7 == 6;
    for (int i = 0; i <= job % 3 / 2; i++) {
      podSets.add(
          new PodSetRequest(
              i == 0 ? "main" : "more",
              dice.below(6),
              0,
              perPod,
              NodeConstraints.ANYWHERE,
              grouped ? "group" : "",
              ofSlice(job),
              onNode));
    }
    return new RequestShape(podSets);
  }

  private TopologyRequest ofSlice(int job) {
    return switch (job % 6) {
      case 4 -> dice.chance(80) ? TopologyRequest.NONE : TopologyRequest.required(level());
      case 5 -> dice.chance(50) ? TopologyRequest.preferred(level()) : TopologyRequest.NONE;
      default -> job % 2 == 0 ? TopologyRequest.NONE : TopologyRequest.unconstrained();
    };
  }

  private String level() {
    return levels.getFirst().getFirst();
  }

  private int pods() {
    return dice.chance(3) ? 0 : 1 + dice.below(dice.chance(30) ? 8 : 5);
  }

  private PodSetRequest podSet(String name, int pods, TopologyRequest request, String group) {
    SortedMap<String, Long> perPod = new TreeMap<>();
    perPod.put("cpu", 1L + dice.below(2));
    if (dice.chance(size.memory())) {
      perPod.put("memory", 1L + dice.below(2));
    }
    int fewest =
        size.pods() == Pods.FEWER && dice.chance(70) && pods > 0 ? dice.below(1 + pods) : pods;
    return new PodSetRequest(
        name, pods, pods - fewest, perPod, constraints(), group, request, onNode(perPod));
  }

  /** What pods ask of nodes: mostly what is charged; not credits, and what quota leaves out. */
  private SortedMap<String, Long> onNode(SortedMap<String, Long> charged) {
    SortedMap<String, Long> requests = new TreeMap<>(charged);
    if (dice.chance(15) && requests.remove("memory") == null) {
      requests.put("memory", 1L + dice.below(2));
    }
    return requests;
  }

  private NodeConstraints constraints() {
    if (dice.chance(75)) {
      return NodeConstraints.ANYWHERE;
    }
    return new NodeConstraints(
        dice.chance(40) ? Map.of("disk", "ssd") : Map.of(),
        dice.chance(30)
            ? List.of(
                List.of(
                    new LabelRequirement("disk", LabelRequirement.Operator.NOT_IN, List.of("ssd"))))
            : List.of(),
        dice.chanceOfHalf() ? List.of(new Toleration("hard", "Exists", "", "")) : List.of());
  }

  private TopologyRequest request(boolean sliced) {
    List<String> asked = levels.get(dice.chance(92) ? 0 : 1);
    int at = dice.below(asked.size());
    String level = asked.get(at);
    List<TopologyRequest.Slice> slices = new ArrayList<>();
    if (sliced && dice.chance(40)) {
      int outer = at + dice.below(asked.size() - at);
      int size = dice.pick(new Integer[] {1, 2, 2, 3, 4});
      slices.add(new TopologyRequest.Slice(asked.get(outer), size));
      if (outer + 1 < asked.size() && size % 2 == 0) {
        slices.add(new TopologyRequest.Slice(asked.get(asked.size() - 1), size / 2 == 2 ? 2 : 1));
      }
    }
    TopologyRequest.Slice[] all = slices.toArray(TopologyRequest.Slice[]::new);
    return switch (dice.below(8)) {
      case 0, 1, 2 -> TopologyRequest.required(level, all);
      case 3, 4 -> TopologyRequest.preferred(level, all);
      case 5 -> TopologyRequest.unconstrained();
      case 6 -> all.length == 0 ? TopologyRequest.unconstrained() : TopologyRequest.sliced(all);
      default -> TopologyRequest.NONE;
    };
  }
}

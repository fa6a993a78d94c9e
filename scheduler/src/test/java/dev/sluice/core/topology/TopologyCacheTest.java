package dev.sluice.core.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.NodeConstraints.PreferredNodes;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.core.topology.TopologyOptions.PlacementRules;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which changes of a node have trees built anew. */
class TopologyCacheTest {

  private static final String HOST = TopologySpec.HOSTNAME;

  private final TopologyCache cache = new TopologyCache(TopologyOptions.DEFAULT);

  TopologyCacheTest() {
    cache.set(new TopologySpec("t", List.of("rack", HOST)));
    cache.set(new Flavor("a", Map.of("pool", "a"), List.of(), List.of(), "t"));
    cache.set(node("n1", Map.of(), 4, List.of(), true));
    cache.set(node("n2", Map.of(), 4, List.of(), true));
  }

  private static ClusterNode node(
      String name, Map<String, String> more, long cpu, List<Taint> taints, boolean usable) {
    Map<String, String> labels = new HashMap<>(Map.of("pool", "a", "rack", "r1", HOST, name));
    labels.putAll(more);
    return new ClusterNode(
        name, labels, taints, new TreeMap<>(Map.of("cpu", cpu, "pods", 10L)), usable);
  }

  private TopologyTree tree() {
    return Objects.requireNonNull(cache.tree("a"));
  }

  private boolean hasRoom(int pods, Map<String, String> nodeSelector) {
    return hasRoom(pods, new NodeConstraints(nodeSelector, List.of(), List.of(), List.of()));
  }

  private boolean hasRoom(int pods, NodeConstraints constraints) {
    PlacementRequest.Pods each =
        new PlacementRequest.Pods(pods, new TreeMap<>(Map.of("cpu", 1L)), constraints);
    return cache.place(
            tree(), new PlacementRequest(each, null, TopologyRequest.unconstrained()), false)
        instanceof Placement.Placed;
  }

  @Test
  void theSameNodeAgainBuildsNothing() {
    TopologyTree before = tree();
    assertThat(cache.set(node("n1", Map.of(), 4, List.of(), true))).isFalse();
    assertThat(tree()).isSameAs(before);
  }

  @Test
  void aLabelThatNamesNoDomainKeepsTheTreeAndCountsForNodeSelectors() {
    TopologyTree before = tree();
    assertThat(hasRoom(1, Map.of("disk", "fast"))).isFalse();
    assertThat(cache.set(node("n1", Map.of("disk", "fast"), 4, List.of(), true))).isTrue();
    assertThat(tree()).isSameAs(before);
    assertThat(hasRoom(4, Map.of("disk", "fast"))).isTrue();
    assertThat(hasRoom(5, Map.of("disk", "fast"))).isFalse();
    assertThat(hasRoom(8, Map.of())).isTrue();
    cache.set(node("n1", Map.of(), 4, List.of(), true));
    assertThat(hasRoom(1, Map.of("disk", "fast"))).isFalse();
    assertThat(tree()).isSameAs(before);
  }

  @Test
  void levelsFlavorTaintsAmountsAndUsabilityBuildTheTreeAnew() {
    for (ClusterNode changed :
        List.of(
            node("n1", Map.of("rack", "r2"), 4, List.of(), true),
            node("n1", Map.of("pool", "b"), 4, List.of(), true),
            node("n1", Map.of(), 4, List.of(new Taint("k", "v", "NoSchedule")), true),
            node("n1", Map.of(), 5, List.of(), true),
            node("n1", Map.of(), 4, List.of(), false))) {
      cache.set(node("n1", Map.of(), 4, List.of(), true));
      TopologyTree before = tree();
      assertThat(cache.set(changed)).isTrue();
      assertThat(tree()).isNotSameAs(before);
    }
  }

  /** With the gate the weights that the nodes of a domain meet count before its room. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void preferredNodeAffinityDecidesBetweenDomainsIfItsGateIsOn(boolean gate) {
    TopologyCache affine =
        new TopologyCache(
            new TopologyOptions(
                true,
                new PlacementRules(true, false, gate, true, true, false),
                true,
                true,
                true,
                true,
                false));
    affine.set(new TopologySpec("t", List.of("rack", HOST)));
    affine.set(new Flavor("a", Map.of("pool", "a"), List.of(), List.of(), "t"));
    affine.set(node("n1", Map.of("rack", "r1"), 2, List.of(), true));
    affine.set(node("n2", Map.of("rack", "r2", "disk", "fast"), 4, List.of(), true));
    affine.set(node("n3", Map.of("rack", "r3", "disk", "slow"), 4, List.of(), true));
    PlacementRequest.Pods two =
        new PlacementRequest.Pods(
            2,
            new TreeMap<>(Map.of("cpu", 1L)),
            new NodeConstraints(
                Map.of(),
                List.of(),
                List.of(),
                List.of(
                    new PreferredNodes(10, List.of(in("slow"))),
                    new PreferredNodes(90, List.of(in("fast"))))));
    Placement found =
        affine.place(
            Objects.requireNonNull(affine.tree("a")),
            new PlacementRequest(two, null, TopologyRequest.required("rack")),
            false);
    assertThat(found).isInstanceOf(Placement.Placed.class);
    assertThat(((Placement.Placed) found).pods().domains())
        .singleElement()
        .extracting(domain -> domain.values().getLast())
        .isEqualTo(gate ? "n2" : "n1");
  }

  private static NodeConstraints affinity(
      List<List<LabelRequirement>> labels, List<List<LabelRequirement>> fields) {
    return new NodeConstraints(Map.of(), labels, fields, List.of(), List.of());
  }

  private static LabelRequirement field(
      String key, LabelRequirement.Operator operator, String... values) {
    return new LabelRequirement(key, operator, List.of(values));
  }

  /** Nodes n1 and n2 have room for four pods each. */
  private long roomFor(NodeConstraints constraints) {
    return LongStream.rangeClosed(1, 8).filter(pods -> hasRoom((int) pods, constraints)).count();
  }

  @Test
  void requiredNodeAffinityMayNameANode() {
    List<LabelRequirement> first =
        List.of(field("metadata.name", LabelRequirement.Operator.IN, "n1"));
    List<LabelRequirement> notFirst =
        List.of(field("metadata.name", LabelRequirement.Operator.NOT_IN, "n1"));
    List<LabelRequirement> rack = List.of(field("rack", LabelRequirement.Operator.IN, "r1"));
    List<LabelRequirement> elsewhere = List.of(field("rack", LabelRequirement.Operator.IN, "r9"));
    List<LabelRequirement> none = List.of();

    assertThat(roomFor(affinity(List.of(none), List.of(first)))).isEqualTo(4);
    assertThat(roomFor(affinity(List.of(none), List.of(notFirst)))).isEqualTo(4);
    assertThat(roomFor(affinity(List.of(rack), List.of(first)))).isEqualTo(4);
    assertThat(roomFor(affinity(List.of(elsewhere), List.of(first)))).isZero();
    assertThat(roomFor(affinity(List.of(elsewhere, rack), List.of(first, none)))).isEqualTo(8);
    assertThat(roomFor(affinity(List.of(none, none), List.of(first, notFirst)))).isEqualTo(8);
    List<LabelRequirement> both = List.of(first.getFirst(), notFirst.getFirst());
    assertThat(roomFor(affinity(List.of(none), List.of(both)))).isZero();
  }

  /** As for the scheduler of Kubernetes. */
  @Test
  void aTermMatchesNoNodeIfItRequiresNothingOrAnUnknownField() {
    List<LabelRequirement> none = List.of();
    assertThat(roomFor(affinity(List.of(none), List.of()))).isZero();
    for (LabelRequirement wrong :
        List.of(
            field("metadata.uid", LabelRequirement.Operator.NOT_IN, "n1"),
            field("metadata.name", LabelRequirement.Operator.IN, "n1", "n2"),
            field("metadata.name", LabelRequirement.Operator.EXISTS))) {
      assertThat(roomFor(affinity(List.of(none), List.of(List.of(wrong))))).isZero();
    }
  }

  private static LabelRequirement in(String disk) {
    return new LabelRequirement("disk", LabelRequirement.Operator.IN, List.of(disk));
  }

  @Test
  void aNodeOfNoFlavorIsNoChange() {
    TopologyTree before = tree();
    assertThat(cache.set(node("n3", Map.of("pool", "b"), 4, List.of(), true))).isFalse();
    assertThat(cache.removeNode("n3")).isFalse();
    assertThat(tree()).isSameAs(before);
    assertThat(cache.removeNode("n1")).isTrue();
    assertThat(tree()).isNotSameAs(before);
  }

  /** Pods of a group may still be there, and its labels count for the shares of the group. */
  @Test
  void anUnusableNodeOfAFlavorIsAChange() {
    ClusterNode unusable = node("n4", Map.of(), 4, List.of(), false);
    assertThat(cache.set(unusable)).isTrue();
    assertThat(cache.set(unusable)).isFalse();
    TopologyTree before = tree();
    assertThat(cache.removeNode("n4")).isTrue();
    assertThat(tree()).isSameAs(before);
  }
}

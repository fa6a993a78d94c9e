package dev.sluice.core.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.topology.PlacementRequest.Pods;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.core.topology.TopologyOptions.PlacementRules;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Nodes are judged one by one where the lowest level is not the hostname
 * (TASNodeFeasibilityForAllLevels; changes of 0.20, section 4).
 */
class NodeFeasibilityTest {

  private static final Taint HARD = new Taint("hard", "", "NoSchedule");
  private static final NodeConstraints TOLERANT =
      new NodeConstraints(Map.of(), List.of(), List.of(new Toleration("hard", "Exists", "", "")));

  private TopologyCache cache = cache(true, true);

  private static TopologyCache cache(boolean eachNode, boolean leaderTemplate) {
    TopologyCache cache =
        new TopologyCache(
            new TopologyOptions(
                true,
                new PlacementRules(true, false, false, true, eachNode, !leaderTemplate),
                true,
                true,
                true,
                true,
                false));
    cache.set(new TopologySpec("t", List.of("rack")));
    cache.set(new Flavor("f", Map.of(), List.of(), List.of(), "t"));
    return cache;
  }

  private void node(String name, long cpu, Map<String, String> labels, Taint... taints) {
    Map<String, String> all = new TreeMap<>(labels);
    all.put("rack", name.substring(0, name.indexOf('-')));
    cache.set(
        new ClusterNode(
            name, all, List.of(taints), new TreeMap<>(Map.of("cpu", cpu, "pods", 100L)), true));
  }

  private static Pods pods(int count, long cpu, NodeConstraints constraints) {
    return new Pods(count, new TreeMap<>(Map.of("cpu", cpu)), constraints);
  }

  private TopologyTree tree() {
    return Objects.requireNonNull(cache.tree("f"));
  }

  private String place(Pods pods, @Nullable Pods leader) {
    Placement placement =
        cache.place(
            tree(), new PlacementRequest(pods, leader, TopologyRequest.required("rack")), false);
    return placement instanceof Placement.Placed(var places, var host)
        ? places.domains().getFirst().values().getFirst()
        : "none";
  }

  /** Counts the usage of pods in a rack; returns it. */
  private TopologyUsage use(String rack, int pods, long cpu) {
    TopologyUsage usage =
        cache.usage(
            "f",
            new TopologyAssignment(
                List.of("rack"), List.of(new TopologyAssignment.Domain(List.of(rack), pods))),
            new TreeMap<>(Map.of("cpu", cpu)));
    usage.add();
    return usage;
  }

  @ParameterizedTest
  @CsvSource({
    "true, 1, 4, r1",
    "true, 2, 4, r1",
    "true, 1, 6, none",
    "true, 4, 2, r1",
    "true, 3, 3, none",
    "false, 1, 6, r1",
    "false, 2, 3, r1",
    "false, 3, 3, none"
  })
  void aRackOfTwoNodesWithFourCpusHasNoRoomForAPodOfSix(
      boolean gate, int count, long cpu, String expected) {
    cache = cache(gate, true);
    node("r1-a", 4, Map.of());
    node("r1-b", 4, Map.of());
    assertThat(place(pods(count, cpu, NodeConstraints.ANYWHERE), null)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void nodesWithATaintThatIsNotToleratedDoNotCount(boolean gate) {
    cache = cache(gate, true);
    node("r1-a", 4, Map.of());
    node("r1-b", 4, Map.of(), HARD);
    assertThat(place(pods(2, 2, NodeConstraints.ANYWHERE), null)).isEqualTo("r1");
    assertThat(place(pods(3, 2, NodeConstraints.ANYWHERE), null)).isEqualTo(gate ? "none" : "r1");
    assertThat(place(pods(4, 2, TOLERANT), null)).isEqualTo("r1");
  }

  @Test
  void nodesThatTheSelectorExcludesDoNotCountAndAreNamedInTheShortage() {
    node("r1-a", 4, Map.of("disk", "ssd"));
    node("r1-b", 4, Map.of());
    node("r1-c", 4, Map.of());
    NodeConstraints ssd = new NodeConstraints(Map.of("disk", "ssd"), List.of(), List.of());
    assertThat(place(pods(4, 1, ssd), null)).isEqualTo("r1");
    Placement failed =
        cache.place(
            tree(),
            new PlacementRequest(pods(5, 1, ssd), null, TopologyRequest.required("rack")),
            false);
    assertThat(failed)
        .isInstanceOfSatisfying(
            Placement.Failed.class,
            none -> {
              assertThat(none.shortage().bestRoom()).isEqualTo(4);
              assertThat(none.shortage().excluded()).isEqualTo(2);
            });
  }

  @Test
  void aLabelThatChangesOpensANode() {
    node("r1-a", 4, Map.of());
    NodeConstraints ssd = new NodeConstraints(Map.of("disk", "ssd"), List.of(), List.of());
    TopologyTree before = tree();
    assertThat(place(pods(1, 1, ssd), null)).isEqualTo("none");
    node("r1-a", 4, Map.of("disk", "ssd"));
    assertThat(tree()).isSameAs(before);
    assertThat(place(pods(1, 1, ssd), null)).isEqualTo("r1");
  }

  @Test
  void whatOthersUseOfANodeIsTakenFromThatNode() {
    node("r1-a", 4, Map.of());
    node("r1-b", 4, Map.of());
    tree();
    cache.setUsage("r1-a", new TreeMap<>(Map.of("cpu", 1L, "pods", 1L)));
    assertThat(place(pods(1, 4, NodeConstraints.ANYWHERE), null)).isEqualTo("r1");
    cache.setUsage("r1-b", new TreeMap<>(Map.of("cpu", 1L, "pods", 1L)));
    assertThat(place(pods(1, 4, NodeConstraints.ANYWHERE), null)).isEqualTo("none");
    assertThat(place(pods(2, 3, NodeConstraints.ANYWHERE), null)).isEqualTo("r1");
    cache.setUsage("r1-a", new TreeMap<>());
    assertThat(place(pods(1, 4, NodeConstraints.ANYWHERE), null)).isEqualTo("r1");
  }

  /** Nobody knows which node pods of a rack are on: they are taken to be where others may run. */
  @Test
  void whatWorkloadsUseOfARackIsTakenFromTheNodesThatAreOpen() {
    node("r1-a", 4, Map.of());
    node("r1-b", 4, Map.of(), HARD);
    TopologyUsage usage = use("r1", 2, 1);
    assertThat(place(pods(2, 1, NodeConstraints.ANYWHERE), null)).isEqualTo("r1");
    assertThat(place(pods(3, 1, NodeConstraints.ANYWHERE), null)).isEqualTo("none");
    assertThat(place(pods(6, 1, TOLERANT), null)).isEqualTo("r1");
    usage.remove();
    assertThat(place(pods(4, 1, NodeConstraints.ANYWHERE), null)).isEqualTo("r1");
  }

  @Test
  void aLeaderTakesTheNodeWhereTheOthersLoseLeast() {
    node("r1-a", 4, Map.of());
    node("r1-b", 5, Map.of());
    // on b, beside a pod of 4, one more cpu is left
    assertThat(place(pods(2, 4, NodeConstraints.ANYWHERE), pods(1, 1, NodeConstraints.ANYWHERE)))
        .isEqualTo("r1");
    assertThat(place(pods(2, 4, NodeConstraints.ANYWHERE), pods(1, 2, NodeConstraints.ANYWHERE)))
        .isEqualTo("none");
  }

  @Test
  void aLeaderMayBeOnANodeThatIsClosedToTheOthers() {
    node("r1-a", 4, Map.of());
    node("r1-b", 4, Map.of(), HARD);
    assertThat(place(pods(4, 1, NodeConstraints.ANYWHERE), pods(1, 4, TOLERANT))).isEqualTo("r1");
    assertThat(place(pods(4, 1, NodeConstraints.ANYWHERE), pods(1, 1, NodeConstraints.ANYWHERE)))
        .isEqualTo("none");
  }

  /** Places of pods that can't run everywhere are sure as long as nobody takes any there. */
  @Test
  void placesBesideClosedNodesFitAsLongAsNothingIsTaken() {
    node("r1-a", 4, Map.of());
    node("r1-b", 4, Map.of(), HARD);
    assertThat(isRestricted(NodeConstraints.ANYWHERE)).isTrue();
    assertThat(isRestricted(TOLERANT)).isFalse();
    TopologyUsage four = use("r1", 4, 1);
    four.remove();
    TopologyUsage sure = four.asFreeAsNow();
    assertThat(sure.fits()).isTrue();
    assertThat(sure.sameAs(four)).isTrue();
    TopologyUsage other = use("r1", 1, 1);
    assertThat(four.fits()).isTrue();
    assertThat(sure.fits()).isFalse();
    other.remove();
    assertThat(sure.fits()).isTrue();
  }

  @Test
  void aTopologyWithoutNodesHasNoRoom() {
    assertThat(place(pods(1, 1, NodeConstraints.ANYWHERE), null)).isEqualTo("none");
    assertThat(place(pods(2, 1, NodeConstraints.ANYWHERE), pods(1, 1, TOLERANT))).isEqualTo("none");
  }

  private boolean isRestricted(NodeConstraints constraints) {
    return cache.isRestricted(
        tree(),
        new PlacementRequest(pods(1, 1, constraints), null, TopologyRequest.required("rack")));
  }

  /**
   * Changes of 0.20, section 4, TASLeaderPodSetFeasibility: the leader's own template decides where
   * the leader can be.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theTemplateOfALeaderDecidesWhereItCanBe(boolean gate) {
    cache = cache(true, gate);
    node("r1-a", 4, Map.of("disk", "ssd"));
    node("r2-a", 4, Map.of(), HARD);
    Pods workers = pods(3, 1, NodeConstraints.ANYWHERE);
    NodeConstraints hdd = new NodeConstraints(Map.of("disk", "hdd"), List.of(), List.of());
    assertThat(place(workers, pods(1, 1, hdd))).isEqualTo(gate ? "none" : "r1");
    assertThat(place(pods(3, 1, TOLERANT), pods(1, 1, NodeConstraints.ANYWHERE))).isEqualTo("r1");
    assertThat(place(pods(4, 1, TOLERANT), pods(1, 1, NodeConstraints.ANYWHERE))).isEqualTo("none");
    // what it requests is its own in any case
    assertThat(place(workers, pods(1, 2, NodeConstraints.ANYWHERE))).isEqualTo("none");
  }
}

package dev.sluice.core.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.Slice;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.topology.PlacementRequest.Pods;
import dev.sluice.core.topology.TopologyCache.Placement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Racks r1 and r2 with three nodes each, which have room for two pods each. */
class ReplacementTest {

  private final TopologyCache cache = new TopologyCache(TopologyOptions.DEFAULT);

  ReplacementTest() {
    cache.set(new TopologySpec("t", List.of("rack", TopologySpec.HOSTNAME)));
    cache.set(new Flavor("f", Map.of(), List.of(), List.of(), "t"));
    for (String name : List.of("a1", "a2", "a3", "b1", "b2", "b3")) {
      cache.set(
          new ClusterNode(
              name,
              Map.of("rack", name.substring(0, 1), TopologySpec.HOSTNAME, name),
              List.of(),
              new TreeMap<>(Map.of("cpu", 2L, "pods", 10L)),
              true));
    }
  }

  private static TopologyAssignment assignment(String... places) {
    return new TopologyAssignment(
        List.of(TopologySpec.HOSTNAME),
        Arrays.stream(places)
            .map(each -> each.split("=", -1))
            .map(each -> new TopologyAssignment.Domain(List.of(each[0]), Integer.parseInt(each[1])))
            .toList());
  }

  private static Pods pods(long pods) {
    return new Pods((int) pods, new TreeMap<>(Map.of("cpu", 1L)), NodeConstraints.ANYWHERE);
  }

  private void use(TopologyAssignment assignment) {
    cache.usage("f", assignment, pods(1).perPod()).add();
  }

  /** Replaces nodes of a pod set that uses its places; empty if there is no room. */
  private List<String> replaced(
      TopologyRequest request,
      TopologyAssignment current,
      @Nullable TopologyAssignment together,
      String... lost) {
    use(current);
    Placement placement =
        cache.replace(
            Objects.requireNonNull(cache.tree("f")),
            pods(current.pods()),
            request,
            current,
            together,
            Set.of(lost));
    List<String> places = new ArrayList<>();
    if (placement instanceof Placement.Placed(var found, var leader)) {
      assertThat(leader).isNull();
      assertThat(found.pods()).isEqualTo(current.pods());
      found.domains().forEach(each -> places.add(each.values().getFirst() + "=" + each.count()));
    } else {
      assertThat(placement).isNotNull();
    }
    return places;
  }

  @Test
  void aRequiredDomainIsKept() {
    TopologyRequest rack = TopologyRequest.required("rack");
    assertThat(replaced(rack, assignment("b1=2", "b2=1"), null, "b1"))
        .containsExactly("b2=1", "b3=2");
  }

  @Test
  void withoutRoomInTheRequiredDomainThereIsNone() {
    use(assignment("b3=2"));
    assertThat(replaced(TopologyRequest.required("rack"), assignment("b1=2", "b2=2"), null, "b1"))
        .isEmpty();
  }

  @Test
  void preferredPodsMayGoElsewhere() {
    use(assignment("b3=2"));
    assertThat(replaced(TopologyRequest.preferred("rack"), assignment("b1=2", "b2=2"), null, "b1"))
        .containsExactly("a1=2", "b2=2");
  }

  @Test
  void anIncompleteSliceIsFilledWhereItIs() {
    TopologyRequest slices = TopologyRequest.sliced(new Slice("rack", 4));
    assertThat(replaced(slices, assignment("b1=2", "b2=2"), null, "b2"))
        .containsExactly("b1=2", "b3=2");
  }

  @Test
  void aWholeSliceGoesWhereThereIsRoomForOne() {
    TopologyRequest slices = TopologyRequest.sliced(new Slice("rack", 2));
    use(assignment("b3=1"));
    assertThat(replaced(slices, assignment("b1=2", "b2=2"), null, "b2"))
        .containsExactly("a1=2", "b1=2");
  }

  @Test
  void whoLosesAllIsPlacedBesideTheOtherPodSetOfTheGroup() {
    TopologyRequest rack = TopologyRequest.required("rack");
    use(assignment("b2=2"));
    assertThat(replaced(rack, assignment("b1=1"), assignment("b2=2"), "b1"))
        .containsExactly("b3=1");
    assertThat(replaced(rack, assignment("b3=1"), null, "b3")).containsExactly("b1=1");
  }

  @Test
  void placesThatAreGoneCantBeKept() {
    TopologyAssignment current = assignment("b1=1", "gone=1");
    assertThat(
            cache.replace(
                Objects.requireNonNull(cache.tree("f")),
                pods(2),
                TopologyRequest.unconstrained(),
                current,
                null,
                Set.of("b1")))
        .isNull();
  }

  @Test
  void withoutALostNodeNothingChanges() {
    assertThat(replaced(TopologyRequest.unconstrained(), assignment("b1=2", "a1=1"), null, "b2"))
        .containsExactly("b1=2", "a1=1");
  }

  /** Changes of 0.20, section 4, TASReplaceMultipleFailedNodes: each slice keeps its domain. */
  @Test
  void severalIncompleteSlicesAreFilledWhereTheyAre() {
    TopologyRequest slices = TopologyRequest.sliced(new Slice("rack", 4));
    TopologyAssignment current = assignment("a1=2", "a2=2", "b1=2", "b2=2");
    assertThat(replaced(slices, current, null, "a2", "b2"))
        .containsExactly("a1=2", "a3=2", "b1=2", "b3=2");
  }

  @Test
  void whatSeveralSlicesLackIsToldByTheirDomains() {
    TopologyRequest slices = TopologyRequest.sliced(new Slice("rack", 3));
    assertThat(replaced(slices, assignment("a1=2", "a2=1", "b1=1", "b2=2"), null, "a2", "b2"))
        .containsExactly("a1=2", "a3=1", "b1=1", "b3=2");
    long before = Objects.requireNonNull(cache.tree("f")).free(2, cache.resource("cpu"));
    assertThat(before).as("a search changes no usage").isEqualTo(2);
  }

  @Test
  void severalSlicesWithoutRoomInADomainHaveNone() {
    TopologyRequest slices = TopologyRequest.sliced(new Slice("rack", 4));
    use(assignment("b3=1"));
    assertThat(replaced(slices, assignment("a1=2", "a2=2", "b1=2", "b2=2"), null, "a2", "b2"))
        .isEmpty();
    assertThat(Objects.requireNonNull(cache.tree("f")).free(2, cache.resource("cpu"))).isEqualTo(2);
  }

  @Test
  void severalLostNodesWithoutSlicesAreReplacedTogether() {
    assertThat(
            replaced(
                TopologyRequest.required("rack"),
                assignment("b1=1", "b2=1", "b3=1"),
                null,
                "b1",
                "b2"))
        .isEmpty();
    assertThat(
            replaced(
                TopologyRequest.required("rack"), assignment("a1=1", "a2=1"), null, "a1", "a2"))
        .containsExactly("a3=2");
  }
}

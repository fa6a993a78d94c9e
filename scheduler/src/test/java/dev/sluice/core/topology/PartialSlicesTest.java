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
import dev.sluice.core.topology.TopologyOptions.PlacementRules;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Slices whose last one is smaller, and pods that are spread evenly. */
class PartialSlicesTest {

  private static final String HOST = TopologySpec.HOSTNAME;

  private TopologyCache cache = cache(false, true);

  private static TopologyCache cache(boolean balanced, boolean partialSlices) {
    TopologyCache cache =
        new TopologyCache(
            new TopologyOptions(
                true,
                new PlacementRules(true, balanced, false, partialSlices, true, false),
                true,
                true,
                true,
                true,
                false));
    cache.set(new TopologySpec("t", List.of("block", "rack", HOST)));
    cache.set(new Flavor("f", Map.of(), List.of(), List.of(), "t"));
    return cache;
  }

  /**
   * Nodes with room for so many pods, as "rack=pods+pods"; a rack is in the block of its letter.
   */
  private void racks(String racks) {
    for (String each : racks.split(" ")) {
      String rack = each.substring(0, each.indexOf('='));
      String[] rooms = each.substring(each.indexOf('=') + 1).split("\\+");
      for (int i = 0; i < rooms.length; i++) {
        String name = rack + "-" + (i + 1);
        cache.set(
            new ClusterNode(
                name,
                Map.of("block", rack.substring(0, 1), "rack", rack, HOST, name),
                List.of(),
                new TreeMap<>(Map.of("cpu", Long.parseLong(rooms[i]), "pods", 100L)),
                true));
      }
    }
  }

  private static Pods pods(int count, long cpu) {
    return new Pods(count, new TreeMap<>(Map.of("cpu", cpu)), NodeConstraints.ANYWHERE);
  }

  private Placement place(int count, @Nullable Pods leader, TopologyRequest asked) {
    return cache.place(
        Objects.requireNonNull(cache.tree("f")),
        new PlacementRequest(pods(count, 1), leader, asked),
        false);
  }

  private static String text(@Nullable TopologyAssignment assignment) {
    StringBuilder text = new StringBuilder();
    for (TopologyAssignment.Domain domain : Objects.requireNonNull(assignment).domains()) {
      text.append(text.isEmpty() ? "" : " ");
      text.append(domain.values().getLast()).append('=').append(domain.count());
    }
    return text.toString();
  }

  private static String text(Placement placement) {
    return placement instanceof Placement.Placed(var pods, var leader) ? text(pods) : "none";
  }

  /** Changes of 0.20, section 4: TASPartialSlices. */
  @ParameterizedTest
  @CsvSource({
    // ten pods in slices of four: 4, 4 and 2
    "a1=4 a2=4 a3=2, 10, a1-1=4 a2-1=4 a3-1=2",
    // the partial slice is with whole ones where it has room there, and comes last
    "a1=6 a2=4, 10, a2-1=4 a1-1=6",
    "a1=4 a2=3+3, 10, a1-1=4 a2-1=3 a2-2=3",
    "a1=3+3 a2=4, 10, a2-1=4 a1-1=3 a1-2=3",
    // one rack takes all of it: the smallest
    "a1=12 a2=10 a3=11, 10, a2-1=10",
    // less than a slice
    "a1=2 a2=4, 3, a2-1=3",
    "a1=2 a2=4, 2, a1-1=2",
    // no room for the partial slice in one rack
    "a1=5 a2=5, 10, none",
    "a1=4 a2=4 a3=1 a4=1, 10, none"
  })
  void theLastSliceIsSmallerWhereTheSizeDoesNotDivideTheNumber(
      String racks, int count, String expected) {
    racks(racks);
    assertThat(text(place(count, null, TopologyRequest.sliced(new Slice("rack", 4)))))
        .isEqualTo(expected);
  }

  @Test
  void aRequiredLevelHoldsAllSlicesWithThePartialOne() {
    racks("a1=4 a2=5 b1=4 b2=4 b3=2");
    TopologyRequest asked = TopologyRequest.required("block", new Slice("rack", 4));
    assertThat(text(place(10, null, asked))).isEqualTo("b1-1=4 b2-1=4 b3-1=2");
    assertThat(place(11, null, asked))
        .isInstanceOfSatisfying(
            Placement.Failed.class,
            failed -> {
              assertThat(failed.shortage().needed()).isEqualTo(11);
              assertThat(failed.shortage().bestRoom()).isEqualTo(8);
            });
  }

  /** Two racks have room for the partial slice alone; a node of the second one fits it closest. */
  @Test
  void aDomainWhosePlaceForThePartialSliceIsNotNeededIsNotSelected() {
    racks("a1=2+1 a2=2 a3=4 a4=4");
    assertThat(text(place(9, null, TopologyRequest.sliced(new Slice(HOST, 4)))))
        .isEqualTo("a3-1=4 a4-1=4 a2-1=1");
  }

  @Test
  void besideALeaderThePartialSliceTakesTheRoomOfAWholeOne() {
    racks("a1=1 a2=4 a3=4 a4=4");
    assertThat(place(10, pods(1, 1), TopologyRequest.required("block", new Slice("rack", 4))))
        .isInstanceOfSatisfying(
            Placement.Placed.class,
            placed -> {
              assertThat(text(placed.leader())).isEqualTo("a1-1=1");
              assertThat(placed.pods().pods()).isEqualTo(10);
            });
  }

  @Test
  void severalLayersAndAGateThatIsOffKnowWholeSlicesOnly() {
    racks("a1=20");
    TopologyRequest one = TopologyRequest.sliced(new Slice("rack", 4));
    TopologyRequest two = TopologyRequest.sliced(new Slice("rack", 4), new Slice(HOST, 2));
    assertThat(one.cuts(10, true)).isTrue();
    assertThat(one.cuts(10, false)).isFalse();
    assertThat(two.cuts(10, true)).isFalse();
    assertThat(two.cuts(8, false)).isTrue();
    assertThat(place(10, null, two)).isInstanceOf(Placement.Failed.class);
    cache = cache(false, false);
    racks("a1=20");
    assertThat(place(10, null, one)).isInstanceOf(Placement.Failed.class);
    assertThat(text(place(8, null, one))).isEqualTo("a1-1=8");
  }

  /** What is left of the slices of a rack is filled up; the partial slice is whole as it is. */
  @Test
  void lostNodesAreReplacedBesideAPartialSlice() {
    racks("a1=2+2+2 a2=2 a3=4");
    for (String running : List.of("a1-1", "a1-2", "a2-1")) {
      cache.setUsage(running, new TreeMap<>(Map.of("cpu", 2L, "pods", 2L)));
    }
    TopologyRequest asked = TopologyRequest.sliced(new Slice("rack", 4));
    Function<String, TopologyAssignment> places =
        text ->
            new TopologyAssignment(
                List.of(HOST),
                List.of(text.split(" ")).stream()
                    .map(
                        each ->
                            new TopologyAssignment.Domain(
                                List.of(each.substring(0, each.indexOf('='))),
                                Integer.parseInt(each.substring(each.indexOf('=') + 1))))
                    .toList());
    Function<String, Placement> replaced =
        lost ->
            cache.replace(
                Objects.requireNonNull(cache.tree("f")),
                pods(6, 1),
                asked,
                places.apply("a1-1=2 a1-2=2 a2-1=2"),
                null,
                Set.of(lost));
    assertThat(text(Objects.requireNonNull(replaced.apply("a1-2"))))
        .as("a whole slice, in the rack of its other pods; the partial one stays last")
        .isEqualTo("a1-1=2 a1-3=2 a2-1=2");
    assertThat(text(Objects.requireNonNull(replaced.apply("a2-1"))))
        .as("the partial slice, wherever there is room for it")
        .isEqualTo("a1-1=2 a1-2=2 a1-3=2");
  }

  /** Sixteen pods in slices of four prefer a rack that has room for all of them. */
  @Test
  void podsAreSpreadEvenlyOverTheNodesOfThePreferredRack() {
    TopologyRequest asked = TopologyRequest.preferred("rack", new Slice(HOST, 4));
    racks("a1=12+12 a2=14+6");
    assertThat(text(place(16, null, asked))).isEqualTo("a2-1=12 a2-2=4");
    cache = cache(true, true);
    racks("a1=12+12 a2=14+6");
    assertThat(text(place(16, null, asked))).isEqualTo("a1-1=8 a1-2=8");
  }

  /** The same racks where each of them is a node's neighbour: no rack has room for all. */
  @Test
  void podsAreSpreadEvenlyOverRacksOfOneBlock() {
    TopologyRequest asked = TopologyRequest.preferred("rack", new Slice("rack", 4));
    racks("a1=12 a2=12 b1=14 b2=6");
    assertThat(text(place(16, null, asked))).isEqualTo("b1-1=12 b2-1=4");
    cache = cache(true, true);
    racks("a1=12 a2=12 b1=14 b2=6");
    assertThat(text(place(16, null, asked))).isEqualTo("a1-1=8 a2-1=8");
  }

  @Test
  void leadersAreSpreadWithTheirWorkers() {
    TopologyRequest asked = TopologyRequest.preferred("rack", new Slice(HOST, 4));
    cache = cache(true, true);
    racks("a1=13+12 a2=15+6");
    assertThat(place(16, pods(1, 1), asked))
        .isInstanceOfSatisfying(
            Placement.Placed.class,
            placed -> {
              assertThat(text(placed.pods())).isEqualTo("a1-1=8 a1-2=8");
              assertThat(text(placed.leader())).isEqualTo("a1-1=1");
            });
    cache = cache(true, true);
    racks("a1=8+8+4 a2=14+6");
    assertThat(place(16, pods(1, 4), asked))
        .as("a node that has room for the leader alone doesn't count")
        .isInstanceOfSatisfying(
            Placement.Placed.class, placed -> assertThat(placed.pods().pods()).isEqualTo(16));
  }

  /** The last domain isn't the smallest that would do, since that would get less than its share. */
  @Test
  void sharesAreAsLargeAsTheyCanBe() {
    cache = cache(true, true);
    racks("a1=12+12+4");
    assertThat(text(place(16, null, TopologyRequest.preferred("rack", new Slice(HOST, 4)))))
        .isEqualTo("a1-1=8 a1-2=8");
  }

  @Test
  void aPartialSliceIsTheLastOfPodsThatAreSpread() {
    cache = cache(true, true);
    racks("a1=12+12 a2=14+6");
    assertThat(text(place(14, null, TopologyRequest.preferred("rack", new Slice(HOST, 4)))))
        .isEqualTo("a1-1=8 a1-2=6");
  }

  /** Changes of 0.20, section 4, TASGroupedPodSetSlicing: a leader with sliced workers. */
  @Test
  void aLeaderIsInTheDomainOfWorkersInSlices() {
    racks("a1=4 a2=4 a3=1 b1=5 b2=3");
    TopologyRequest asked = TopologyRequest.required("block", new Slice("rack", 4));
    assertThat(place(8, pods(1, 1), asked))
        .isInstanceOfSatisfying(
            Placement.Placed.class,
            placed -> {
              assertThat(text(placed.pods())).isEqualTo("a1-1=4 a2-1=4");
              assertThat(text(placed.leader())).isEqualTo("a3-1=1");
            });
    assertThat(place(4, pods(1, 1), TopologyRequest.required("rack", new Slice("rack", 4))))
        .isInstanceOfSatisfying(
            Placement.Placed.class,
            placed -> {
              assertThat(text(placed.pods())).isEqualTo("b1-1=4");
              assertThat(text(placed.leader())).isEqualTo("b1-1=1");
            });
    assertThat(text(place(8, pods(1, 2), asked))).isEqualTo("none");
  }
}

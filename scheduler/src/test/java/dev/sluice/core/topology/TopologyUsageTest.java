package dev.sluice.core.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.topology.TopologyCache.Placement;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Usage that counts for the time of a search only. */
class TopologyUsageTest {

  private static final SortedMap<String, Long> ONE_CPU = new TreeMap<>(Map.of("cpu", 1L));

  private final TopologyCache cache = new TopologyCache(TopologyOptions.DEFAULT);

  TopologyUsageTest() {
    cache.set(new TopologySpec("t", List.of(TopologySpec.HOSTNAME)));
    cache.set(new Flavor("one", Map.of(), List.of(), List.of(), "t"));
    cache.set(new Flavor("two", Map.of(), List.of(), List.of(), "t"));
    cache.set(
        new ClusterNode(
            "n1",
            Map.of(TopologySpec.HOSTNAME, "n1"),
            List.of(),
            new TreeMap<>(Map.of("cpu", 3L, "pods", 10L)),
            true));
  }

  private boolean hasRoom(String flavor, int pods, boolean empty) {
    TopologyTree tree = Objects.requireNonNull(cache.tree(flavor));
    PlacementRequest.Pods each = new PlacementRequest.Pods(pods, ONE_CPU, NodeConstraints.ANYWHERE);
    return cache.place(
            tree, new PlacementRequest(each, null, TopologyRequest.unconstrained()), empty)
        instanceof Placement.Placed;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aTreeThatIsBuiltMeanwhileHasTheSameRoomBeforeAndAfter(boolean empty) {
    assertThat(hasRoom("one", 3, empty)).isTrue();
    TopologyUsage usage =
        cache.usage(
            "one",
            new TopologyAssignment(
                List.of(TopologySpec.HOSTNAME),
                List.of(new TopologyAssignment.Domain(List.of("n1"), 2))),
            ONE_CPU);
    usage.assume(empty);
    assertThat(hasRoom("two", 1, empty)).isTrue();
    assertThat(hasRoom("two", 2, empty)).isFalse();
    usage.forget(empty);
    assertThat(hasRoom("two", 3, empty)).isTrue();
    assertThat(hasRoom("two", 4, empty)).isFalse();
  }

  @Test
  void whatOneFlavorUsesOfANodeIsUsedForTheOther() {
    TopologyUsage usage =
        cache.usage(
            "one",
            new TopologyAssignment(
                List.of(TopologySpec.HOSTNAME),
                List.of(new TopologyAssignment.Domain(List.of("n1"), 2))),
            ONE_CPU);
    usage.add();
    assertThat(hasRoom("two", 1, false)).isTrue();
    assertThat(hasRoom("two", 2, false)).isFalse();
    assertThat(hasRoom("two", 3, true)).isTrue();
  }
}

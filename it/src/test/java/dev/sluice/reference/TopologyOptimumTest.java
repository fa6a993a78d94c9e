package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.Mode;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.reference.TopologyAgainstReferenceTest.World;
import java.util.EnumMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Places in tiny topologies, compared with all places that there are: some are found whenever there
 * are any, in no more leaves than the rules lead to. {@code -Dsluice.optimum.worlds=N} tries N
 * worlds.
 */
class TopologyOptimumTest {

  private static final long WORLDS =
      Long.getLong("sluice.optimum.worlds", 1_500 * Long.getLong("sluice.property.factor", 1));

  @Test
  void placesAreFoundWheneverTheyExist() {
    Map<Mode, SortedMap<Integer, Integer>> more = new EnumMap<>(Mode.class);
    int found = 0;
    int none = 0;
    for (long seed = 1; seed <= WORLDS; seed++) {
      World world = new World(seed, 6, 0);
      boolean led = world.dice.chance(40);
      TopologyRequest asked = world.random.request(led);
      ReferenceTopology.Pods pods =
          new ReferenceTopology.Pods(
              world.random.count(asked), world.random.perPod(), world.random.constraints());
      ReferenceTopology.Pods leader =
          led
              ? new ReferenceTopology.Pods(1, world.random.perPod(), world.random.constraints())
              : null;
      Placement real =
          world.cache.place(
              world.tree(), TopologyAgainstReferenceTest.request(pods, leader, asked), false);
      int fewest =
          new ExhaustivePlaces(
                  world.random.spec.levels(),
                  world.random.members(),
                  world.random.flavor.tolerations(),
                  asked,
                  world.eachNode)
              .fewestLeaves(pods, world.judged(leader, pods));
      String what = "seed " + seed + ": " + asked + " " + pods + " " + leader + " " + real;
      // A partial slice takes the room of a whole one beside a leader.
      boolean exact = !led || asked.cuts(pods.count(), false);
      if (exact || real instanceof Placement.Placed) {
        assertThat(real instanceof Placement.Placed).as(what).isEqualTo(fewest > 0);
      }
      if (real instanceof Placement.Placed placed) {
        found++;
        int leaves = placed.pods().domains().size();
        int byTheRules =
            world
                .reference()
                .place(asked, pods, world.judged(leader, pods))
                .orElseThrow()
                .pods()
                .size();
        assertThat(leaves).as(what).isLessThanOrEqualTo(byTheRules);
        more.computeIfAbsent(asked.mode(), mode -> new TreeMap<>())
            .merge(leaves - fewest, 1, Integer::sum);
      } else {
        none++;
      }
    }
    System.out.printf(
        "topology optimum: worlds=%d found=%d none=%d leaves more than the fewest: %s%n",
        WORLDS, found, none, more);
    assertThat(found).isPositive();
    assertThat(none).isPositive();
  }
}

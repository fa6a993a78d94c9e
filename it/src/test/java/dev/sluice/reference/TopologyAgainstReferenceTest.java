package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.NodeConstraints.PreferredNodes;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.topology.PlacementRequest;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.core.topology.TopologyOptions;
import dev.sluice.core.topology.TopologyOptions.PlacementRules;
import dev.sluice.core.topology.TopologyTree;
import dev.sluice.core.topology.TopologyUsage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Places in random small topologies, compared with those that are found by the text of the rules.
 */
class TopologyAgainstReferenceTest {

  private static final int WORLDS = 6_000;

  private static long worlds() {
    long usual = WORLDS * Long.getLong("sluice.property.factor", 1);
    return Long.getLong("sluice.property.steps", usual);
  }

  /** One topology in the real cache, and what is used of it, by leaf, beside it. */
  static final class World {
    final Dice dice;
    final RandomTopology random;

    /** The gate TASProfileMixed. */
    final boolean mixed;

    final boolean balanced;

    /** Whether domains of preferred nodes come first (TASRespectNodeAffinityPreferred). */
    final boolean prefers;

    /** Whether the nodes of a leaf that is no node are judged one by one. */
    final boolean eachNode;

    /** Whether a leader may run where its own template says. */
    final boolean leaderTemplate;

    final TopologyCache cache;
    final Map<String, SortedMap<String, Long>> used = new HashMap<>();
    final Set<String> busy = new HashSet<>();
    final List<Runnable> releases = new ArrayList<>();

    /**
     * @param most the most nodes
     * @param evenly how often, of a hundred times, preferring pods are spread evenly
     */
    World(long seed, int most, int evenly) {
      dice = new Dice(seed);
      random = new RandomTopology(dice, most);
      mixed = dice.chance(70);
      balanced = dice.chance(evenly);
      prefers = evenly > 0 && !balanced && dice.chance(40);
      eachNode = dice.chance(75);
      leaderTemplate = dice.chance(75);
      cache =
          new TopologyCache(
              new TopologyOptions(
                  true,
                  new PlacementRules(mixed, balanced, prefers, true, eachNode, !leaderTemplate),
                  true,
                  true,
                  true,
                  true,
                  false));
      if (dice.chanceOfHalf()) {
        declare();
        random.nodes.forEach(cache::set);
      } else {
        random.nodes.forEach(cache::set);
        declare();
      }
    }

    private void declare() {
      cache.set(random.spec);
      cache.set(random.flavor);
    }

    TopologyTree tree() {
      return Objects.requireNonNull(cache.tree(RandomTopology.FLAVOR));
    }

    /** Pods that somebody else runs on a node; the second time they end, and maybe the node. */
    void usedByOthers() {
      if (random.nodes.isEmpty()) {
        return;
      }
      ClusterNode node = random.nodes.get(dice.below(random.nodes.size()));
      SortedMap<String, Long> amounts = new TreeMap<>(Map.of("cpu", 1L, "pods", 1L));
      Optional<String> leaf = ReferenceTopology.path(random.spec.levels(), node);
      if (leaf.isEmpty() || !node.usable() || !random.members().contains(node)) {
        return;
      }
      if (busy.add(node.name())) {
        cache.setUsage(node.name(), amounts);
        count(leaf.get(), amounts, 1, 1);
        return;
      }
      busy.remove(node.name());
      if (dice.chanceOfHalf()) {
        random.nodes.remove(node);
        cache.removeNode(node.name());
      }
      cache.setUsage(node.name(), new TreeMap<>());
      count(leaf.get(), amounts, -1, 1);
    }

    private void count(String leaf, SortedMap<String, Long> perPod, int pods, long each) {
      SortedMap<String, Long> sums = used.computeIfAbsent(leaf, path -> new TreeMap<>());
      perPod.forEach((resource, amount) -> sums.merge(resource, amount * pods * each, Long::sum));
    }

    /** Reserves places, in the real cache and beside it. */
    void reserve(
        TopologyAssignment assignment,
        SortedMap<String, Integer> places,
        SortedMap<String, Long> perPod) {
      TopologyUsage usage =
          Objects.requireNonNull(
              cache.usage(
                  List.of(
                      new PodSetAssignment(
                          "main",
                          new TreeMap<>(Map.of("cpu", RandomTopology.FLAVOR)),
                          new TreeMap<>(),
                          1,
                          new PodSetTopology(
                              PodSetTopology.Delay.NONE, Optional.of(assignment), perPod)))));
      assertThat(usage.fits())
          .as("%s %s %s %s %s", assignment, perPod, random.members(), used, eachNode)
          .isTrue();
      usage.add();
      SortedMap<String, Long> each = new TreeMap<>(perPod);
      each.put("pods", 1L);
      places.forEach((leaf, pods) -> count(leaf, each, pods, 1));
      releases.add(
          () -> {
            usage.remove();
            places.forEach((leaf, pods) -> count(leaf, each, pods, -1));
          });
    }

    ReferenceTopology reference() {
      Flavor flavor = random.flavor;
      Map<String, SortedMap<String, Long>> others = new HashMap<>();
      busy.forEach(node -> others.put(node, new TreeMap<>(Map.of("cpu", 1L, "pods", 1L))));
      ReferenceTopology reference =
          new ReferenceTopology(
                  random.spec.levels(),
                  mixed,
                  balanced,
                  random.members(),
                  used,
                  flavor.tolerations(),
                  TopologyFlaw.NONE)
              .preferringNodes(prefers);
      return eachNode ? reference.judgingNodes(others) : reference;
    }

    /** A leader as it is judged. */
    ReferenceTopology.@Nullable Pods judged(
        ReferenceTopology.@Nullable Pods leader, ReferenceTopology.Pods pods) {
      return leader == null || leaderTemplate
          ? leader
          : new ReferenceTopology.Pods(1, leader.perPod(), pods.constraints());
    }

    /** Constraints of pods; with preferences only where these count. */
    NodeConstraints constraints() {
      NodeConstraints hard = random.constraints();
      if (!prefers || dice.chance(20)) {
        return hard;
      }
      List<PreferredNodes> preferred = new ArrayList<>();
      preferred.add(preference("disk", "ssd"));
      if (dice.chanceOfHalf()) {
        preferred.add(preference("kubernetes.io/hostname", "n10" + dice.below(9)));
      }
      return new NodeConstraints(
          hard.nodeSelector(),
          hard.affinityTerms(),
          hard.affinityFields(),
          hard.tolerations(),
          preferred);
    }

    private PreferredNodes preference(String key, String value) {
      return new PreferredNodes(
          1 + dice.below(100),
          List.of(new LabelRequirement(key, LabelRequirement.Operator.IN, List.of(value))));
    }

    /** Places as the reference tells them: by path. */
    SortedMap<String, Integer> byPath(TopologyAssignment assignment) {
      SortedMap<String, Integer> result = new TreeMap<>();
      for (TopologyAssignment.Domain domain : assignment.domains()) {
        String path =
            random.spec.endsAtNodes()
                ? random.members().stream()
                    .filter(
                        node ->
                            domain
                                .values()
                                .getFirst()
                                .equals(node.labels().get("kubernetes.io/hostname")))
                    .flatMap(node -> ReferenceTopology.path(random.spec.levels(), node).stream())
                    .findFirst()
                    .orElseThrow()
                : "/" + String.join("/", domain.values());
        result.merge(path, domain.count(), Integer::sum);
      }
      return result;
    }
  }

  private static final class Counts {
    int placed;
    int failed;
    int leaders;
    int layered;
    int preferring;
  }

  @Test
  void placesAreThoseOfTheRules() {
    Counts counts = new Counts();
    for (long seed = 1; seed <= worlds(); seed++) {
      World world = new World(seed, 14, 40);
      for (int step = 0; step < 8; step++) {
        compare(world, counts, "seed " + seed + ", step " + step);
      }
    }
    System.out.printf(
        "topology: placed=%d failed=%d with leader=%d in layers=%d preferring nodes=%d%n",
        counts.placed, counts.failed, counts.leaders, counts.layered, counts.preferring);
    assertThat(
            List.of(
                counts.placed, counts.failed, counts.leaders, counts.layered, counts.preferring))
        .allMatch(count -> count > worlds() / 20);
  }

  private static void compare(World world, Counts counts, String where) {
    Dice dice = world.dice;
    if (!world.releases.isEmpty() && dice.chance(30)) {
      world.releases.remove(dice.below(world.releases.size())).run();
    }
    if (dice.chance(30)) {
      world.usedByOthers();
    }
    boolean led = dice.chance(25);
    TopologyRequest asked = world.random.request(led);
    ReferenceTopology.Pods pods =
        new ReferenceTopology.Pods(
            world.random.count(asked), world.random.perPod(), world.constraints());
    ReferenceTopology.Pods leader =
        led ? new ReferenceTopology.Pods(1, world.random.perPod(), world.constraints()) : null;
    Placement real = world.cache.place(world.tree(), request(pods, leader, asked), false);
    Optional<ReferenceTopology.Places> expected =
        world.reference().place(asked, pods, world.judged(leader, pods));
    String what = where + ": " + asked + " " + pods + " " + leader + " " + real;
    if (!(real instanceof Placement.Placed placed)) {
      assertThat(expected).as(what).isEmpty();
      counts.failed++;
      return;
    }
    assertThat(expected).as(what).isPresent();
    counts.placed++;
    counts.leaders += led ? 1 : 0;
    counts.preferring += pods.constraints().preferred().isEmpty() ? 0 : 1;
    counts.layered += asked.slices().size() > 1 ? 1 : 0;
    ReferenceTopology.Places places = expected.orElseThrow();
    assertThat(world.byPath(placed.pods())).as(what).isEqualTo(places.pods());
    TopologyAssignment leaderPlace = placed.leader();
    assertThat(leaderPlace != null).as(what).isEqualTo(led);
    world.reserve(placed.pods(), places.pods(), pods.perPod());
    if (leaderPlace != null && leader != null) {
      assertThat(world.byPath(leaderPlace).keySet()).as(what).containsExactly(places.leader());
      world.reserve(leaderPlace, world.byPath(leaderPlace), leader.perPod());
    }
  }

  private static PlacementRequest.Pods pods(ReferenceTopology.Pods pods) {
    return new PlacementRequest.Pods(pods.count(), pods.perPod(), pods.constraints());
  }

  static PlacementRequest request(
      ReferenceTopology.Pods pods, ReferenceTopology.@Nullable Pods leader, TopologyRequest asked) {
    return new PlacementRequest(pods(pods), leader == null ? null : pods(leader), asked);
  }
}

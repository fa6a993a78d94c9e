package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.SecondPass;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.TopologyOptions;
import dev.sluice.core.topology.TopologyOptions.PlacementRules;
import dev.sluice.core.topology.TopologyView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Elastic jobs grow where nodes are assigned by topology
 * (docs/elastic-jobs.md#where-nodes-are-assigned-by-topology): 2 racks of 2 nodes with 4 cpu each,
 * pods of 3 cpu, so that a node holds one.
 */
class GrowingSlicesTest {

  private static final String HOST = TopologySpec.HOSTNAME;
  private static final TopologyRequest ANYWHERE = TopologyRequest.unconstrained();

  private final SchedulerFixture scheduler = withGrowth(true);

  static SchedulerFixture withGrowth(boolean grows) {
    return SchedulerFixture.withTopology(
        new TopologyOptions(true, PlacementRules.DEFAULT, true, true, true, true, grows));
  }

  @BeforeEach
  void racks() {
    racks(scheduler);
  }

  private static void racks(SchedulerFixture scheduler) {
    scheduler.engine.apply(
        new SchedulerEvent.TopologyChanged(new TopologySpec("t", List.of("rack", HOST))));
    scheduler.engine.apply(
        new SchedulerEvent.FlavorChanged(
            new Flavor("f", Map.of("pool", "a"), List.of(), List.of(), "t")));
    for (String node : List.of("r1-n1", "r1-n2", "r2-n1", "r2-n2")) {
      node(scheduler, node, 4);
    }
    scheduler.queue("q", "", quota("f", 100));
  }

  private static void node(SchedulerFixture scheduler, String name, long cpu) {
    scheduler.engine.apply(
        new SchedulerEvent.NodeChanged(
            new ClusterNode(
                name,
                Map.of("pool", "a", "rack", name.substring(0, 2), HOST, name),
                List.of(),
                new TreeMap<>(Map.of("cpu", cpu, "pods", 10L)),
                true)));
  }

  private static PodSetRequest podSet(String name, int count, TopologyRequest topology) {
    return new PodSetRequest(
        name, count, 0, new TreeMap<>(Map.of("cpu", 3L)), NodeConstraints.ANYWHERE, "", topology);
  }

  private static RequestShape slice(String name, String replaces, PodSetRequest... podSets) {
    return new RequestShape(List.of(podSets))
        .withSlice(Optional.of(new JobSlice("job", name, replaces)));
  }

  private void submit(String name, String replaces, int pods) {
    scheduler.submit(name, "q", slice(name, replaces, podSet("main", pods, ANYWHERE)), 0);
  }

  private static List<String> places(List<PodSetAssignment> podSets) {
    List<String> places = new ArrayList<>();
    for (PodSetAssignment podSet : podSets) {
      for (TopologyAssignment.Domain domain :
          podSet.topology().assignment().orElseThrow().domains()) {
        places.add(String.join("/", domain.values()) + "=" + domain.count());
      }
    }
    return places;
  }

  private List<String> places(String name) {
    return places(scheduler.admission(name).podSets());
  }

  /** What Workloads use of cpu and pods, node after node. */
  private static List<String> used(SchedulerFixture scheduler) {
    TopologyView view = scheduler.engine.queries().topology("f").orElseThrow();
    return view.leaves().stream()
        .map(leaf -> used(leaf, "cpu") + "/" + used(leaf, "pods"))
        .toList();
  }

  private static long used(TopologyView.Leaf leaf, String resource) {
    return Objects.requireNonNull(leaf.amounts().get(resource)).usedByWorkloads();
  }

  private void reserving(
      SchedulerFixture to,
      String name,
      String replaces,
      List<PodSetAssignment> podSets,
      Optional<SecondPass> lacking) {
    to.engine.apply(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                new WorkloadId("uid-" + name, "ns", name),
                to.nextVersion(),
                "q",
                "q",
                podSets,
                0,
                SchedulerFixture.START,
                false,
                lacking.isEmpty(),
                true,
                SchedulerFixture.START,
                true,
                false,
                Optional.of(new JobSlice("job", name, replaces)),
                lacking,
                PreemptionProtection.NONE)));
  }

  private static List<PodSetAssignment> on(String... nodes) {
    List<TopologyAssignment.Domain> domains = new ArrayList<>();
    for (String node : nodes) {
      domains.add(new TopologyAssignment.Domain(List.of(node), 1));
    }
    return List.of(
        new PodSetAssignment(
            "main",
            new TreeMap<>(Map.of("cpu", "f")),
            new TreeMap<>(Map.of("cpu", 3L * nodes.length)),
            nodes.length,
            new PodSetTopology(
                PodSetTopology.Delay.NONE,
                Optional.of(new TopologyAssignment(List.of(HOST), domains)),
                new TreeMap<>(Map.of("cpu", 3L)))));
  }

  @Test
  void podsThatRunKeepTheirPlacesAndOnlyMoreArePlaced() {
    scheduler.submit("first", "q", 1);
    assertThat(scheduler.admitted()).containsExactly("first");
    submit("a", "", 2);
    assertThat(scheduler.admitted()).containsExactly("a");
    List<String> before = places("a");
    scheduler.finish("first");

    submit("b", "a", 4);

    assertThat(scheduler.admitted()).containsExactly("b");
    assertThat(places("b"))
        .containsAll(before)
        .containsExactly("r1-n1=1", "r1-n2=1", "r2-n1=1", "r2-n2=1");
    assertThat(used(scheduler)).as("both have quota").containsOnly("3/1").hasSize(4);
    scheduler.finish("a");
    assertThat(used(scheduler)).as("the old slice is finished").containsOnly("3/1").hasSize(4);
    submit("more", "", 1);
    assertThat(scheduler.admitted()).as("nothing is free").isEmpty();
    scheduler.finish("b");
    assertThat(scheduler.admitted()).containsExactly("more");
    assertThat(used(scheduler)).containsExactly("3/1", "0/0", "0/0", "0/0");
  }

  @Test
  void theMoreIsNotPlacedWhereOthersAre() {
    submit("a", "", 2);
    assertThat(scheduler.admitted()).containsExactly("a");
    scheduler.submit("other", "q", new RequestShape(List.of(podSet("main", 1, ANYWHERE))), 0);
    assertThat(scheduler.admitted()).containsExactly("other");

    submit("b", "a", 4);
    assertThat(scheduler.admitted()).isEmpty();
    assertThat(scheduler.waitsFor("b")).contains(PendingReason.TOPOLOGY_PLACEMENT_FAILED);
    scheduler.finish("other");
    assertThat(scheduler.admitted()).containsExactly("b");
    assertThat(used(scheduler)).containsOnly("3/1").hasSize(4);

    submit("c", "b", 5);
    assertThat(scheduler.admitted()).as("more than empty nodes hold").isEmpty();
    assertThat(scheduler.waitsFor("c")).contains(PendingReason.TOPOLOGY_PLACEMENT_FAILED);
    node(scheduler, "r2-n3", 4);
    assertThat(scheduler.admitted()).containsExactly("c");
    assertThat(places("c")).endsWith("r2-n3=1").hasSize(5);
    // b may still run when c is admitted: it shares with a and with c.
    assertThat(used(scheduler)).containsOnly("3/1").hasSize(5);
    scheduler.finish("b");
    scheduler.finish("a");
    assertThat(used(scheduler)).containsOnly("3/1").hasSize(5);
  }

  @Test
  void targetsMakeRoomForTheMoreAndTheReplacedSliceIsNone() {
    scheduler.queue(
        "q",
        "",
        new PreemptionPolicies(
            PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
            PreemptionPolicies.ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty()),
        quota("f", 100));
    submit("a", "", 2);
    scheduler.submit("low", "q", new RequestShape(List.of(podSet("main", 2, ANYWHERE))), -1);
    assertThat(scheduler.admitted()).containsExactlyInAnyOrder("a", "low");
    scheduler.submit("b", "q", slice("b", "a", podSet("main", 3, ANYWHERE)), 5);
    assertThat(scheduler.admitted()).isEmpty();
    assertThat(scheduler.preempted()).singleElement().asString().contains("low");
    scheduler.finish("low");
    assertThat(scheduler.admitted()).containsExactly("b");
    assertThat(places("b")).contains("r1-n1=1", "r1-n2=1").hasSize(3);
  }

  @Test
  void afterARestartTheSameIsUsed() {
    List<PodSetAssignment> small = on("r1-n1", "r2-n2");
    List<PodSetAssignment> large = on("r1-n1", "r1-n2", "r2-n2");
    for (boolean newFirst : List.of(true, false)) {
      SchedulerFixture restarted = withGrowth(true);
      racks(restarted);
      if (newFirst) {
        reserving(restarted, "b", "a", large, Optional.empty());
      }
      reserving(restarted, "a", "", small, Optional.empty());
      if (!newFirst) {
        reserving(restarted, "b", "a", large, Optional.empty());
      }
      assertThat(used(restarted)).containsExactly("3/1", "3/1", "0/0", "3/1");
      // A scaled-down slice that keeps another node than its replacement counts there, too.
      reserving(restarted, "a", "", on("r2-n1"), Optional.empty());
      assertThat(used(restarted)).containsExactly("3/1", "3/1", "3/1", "3/1");
      restarted.finish("a");
      assertThat(used(restarted)).containsExactly("3/1", "3/1", "0/0", "3/1");
      restarted.finish("b");
      assertThat(used(restarted)).containsOnly("0/0");
    }
  }

  @Test
  void aSliceThatShrinksGivesTruncatedPlacesBack() {
    reserving(scheduler, "a", "", on("r1-n1", "r1-n2", "r2-n1", "r2-n2"), Optional.empty());
    submit("other", "", 1);
    assertThat(scheduler.admitted()).isEmpty();
    reserving(scheduler, "a", "", on("r1-n1", "r2-n1", "r2-n2"), Optional.empty());
    assertThat(scheduler.admitted()).containsExactly("other");
    assertThat(places("other")).containsExactly("r1-n2=1");
  }

  @Test
  void whatIsKeptIsWhatTheReplacedSliceHasWhenTheMoreIsPlaced() {
    reserving(scheduler, "a", "", on("r1-n1", "r1-n2", "r2-n1"), Optional.empty());
    scheduler.submit("other", "q", new RequestShape(List.of(podSet("main", 1, ANYWHERE))), 0);
    assertThat(scheduler.admitted()).containsExactly("other");
    submit("b", "a", 4);
    assertThat(scheduler.admitted()).isEmpty();
    // A node was replaced: its place is another one now.
    reserving(scheduler, "a", "", on("r1-n2", "r2-n1"), Optional.empty());
    scheduler.finish("other");
    assertThat(scheduler.admitted()).containsExactly("b");
    assertThat(places("b")).containsExactly("r1-n1=1", "r1-n2=1", "r2-n1=1", "r2-n2=1");
    assertThat(used(scheduler)).containsOnly("3/1");
  }

  @Test
  void placesOnLostNodesAreKeptUntilTheyAreReplaced() {
    submit("a", "", 2);
    assertThat(scheduler.admitted()).containsExactly("a");
    assertThat(places("a")).containsExactly("r1-n1=1", "r1-n2=1");
    scheduler.engine.apply(new SchedulerEvent.NodeRemoved("r1-n1"));
    submit("b", "a", 3);
    assertThat(scheduler.admitted()).containsExactly("b");
    assertThat(places("b")).containsExactly("r1-n2=1", "r2-n1=1", "r1-n1=1");
  }

  @Test
  void theMoreIsPlacedBesideThePlacesThatReplaceThoseOnLostNodes() {
    submit("a", "", 1);
    assertThat(scheduler.admitted()).containsExactly("a");
    List<PodSetAssignment> before = scheduler.admission("a").podSets();
    reserving(
        scheduler,
        "a",
        "",
        before,
        Optional.of(
            new SecondPass(
                List.of(podSet("main", 1, ANYWHERE)),
                Set.of(places("a").getFirst().replaceAll("=.*", "")))));

    submit("b", "a", 2);

    assertThat(scheduler.admitted()).containsExactly("b");
    assertThat(used(scheduler).stream().filter(each -> each.equals("3/1")))
        .as("a shares its new place with b")
        .hasSize(2);
    scheduler.finish("a");
    assertThat(used(scheduler).stream().filter(each -> each.equals("3/1"))).hasSize(2);
    assertThat(used(scheduler)).containsOnly("3/1", "0/0");
  }

  @Test
  void theSliceThatStaysReplacesLostNodes() {
    Optional<SecondPass> lost =
        Optional.of(new SecondPass(List.of(podSet("main", 1, ANYWHERE)), Set.of("r1-n1")));
    reserving(scheduler, "a", "", on("r1-n1"), Optional.empty());
    reserving(scheduler, "b", "a", on("r1-n1", "r1-n2"), Optional.empty());
    scheduler.decisions.clear();
    scheduler.engine.apply(new SchedulerEvent.NodeRemoved("r1-n1"));
    reserving(scheduler, "a", "", on("r1-n1"), lost);
    scheduler.engine.cycle();
    assertThat(scheduler.decisions).as("b keeps the place of a").isEmpty();
    reserving(scheduler, "b", "a", on("r1-n1", "r1-n2"), lost);
    scheduler.engine.cycle();
    assertThat(scheduler.decisions).as("a has the place, too").isEmpty();
    scheduler.finish("a");
    scheduler.passed(Duration.ofSeconds(1));
    scheduler.engine.cycle();
    assertThat(scheduler.decisions)
        .singleElement()
        .isInstanceOfSatisfying(
            PlacementDecision.Place.class,
            place -> {
              assertThat(place.id().name()).isEqualTo("b");
              assertThat(places(place.podSets())).containsExactly("r1-n2=1", "r2-n1=1");
            });
  }

  @Test
  void aPodSetThatShrinksKeepsItsPlacesUntilItsPodsAreGone() {
    PodSetRequest[] before = {podSet("one", 2, ANYWHERE), podSet("two", 1, ANYWHERE)};
    scheduler.submit("a", "q", slice("a", "", before), 0);
    assertThat(scheduler.admitted()).containsExactly("a");
    scheduler.submit(
        "b", "q", slice("b", "a", podSet("one", 1, ANYWHERE), podSet("two", 2, ANYWHERE)), 0);
    assertThat(scheduler.admitted()).containsExactly("b");
    assertThat(places("b")).containsExactly("r1-n1=1", "r1-n2=1", "r2-n1=1", "r2-n2=1");
    scheduler.finish("a");
    assertThat(used(scheduler)).containsOnly("3/1");
  }

  static List<TopologyRequest> levels() {
    return List.of(
        TopologyRequest.required("rack"),
        TopologyRequest.preferred("rack"),
        TopologyRequest.sliced(new TopologyRequest.Slice("rack", 1)));
  }

  @ParameterizedTest
  @MethodSource("levels")
  void whoAsksForALevelDoesNotGrow(TopologyRequest request) {
    PodSetRequest anywhere = podSet("more", 1, ANYWHERE);
    scheduler.submit("a", "q", slice("a", "", podSet("main", 1, request), anywhere), 0);
    assertThat(scheduler.admitted()).containsExactly("a");
    scheduler.submit("b", "q", slice("b", "a", podSet("main", 2, request), anywhere), 0);
    assertThat(scheduler.admitted()).isEmpty();
    assertRefused("b");
    // Another pod set may grow beside it.
    scheduler.submit(
        "b", "q", slice("b", "a", podSet("main", 1, request), podSet("more", 2, ANYWHERE)), 0);
    assertThat(scheduler.admitted()).containsExactly("b");
    assertThat(places("b")).first().isEqualTo(places("a").getFirst());
  }

  private void assertRefused(String name) {
    assertThat(scheduler.waitsFor(name)).contains(PendingReason.NO_MATCHING_FLAVOR);
    assertThat(scheduler.explanation(name).orElseThrow().attempts())
        .anySatisfy(
            attempt ->
                assertThat(attempt.flavorRejections())
                    .containsExactly(new FlavorRejection.GrowsByTopology()));
  }

  @Test
  void aPodSetWithoutPodsDoesNotGrow() {
    PodSetRequest main = podSet("main", 1, ANYWHERE);
    scheduler.submit("a", "q", slice("a", "", main, podSet("more", 0, ANYWHERE)), 0);
    assertThat(scheduler.admitted()).containsExactly("a");
    scheduler.submit("b", "q", slice("b", "a", main, podSet("more", 1, ANYWHERE)), 0);
    assertThat(scheduler.admitted()).isEmpty();
    assertThat(scheduler.waitsFor("b")).contains(PendingReason.NO_MATCHING_FLAVOR);
  }

  @Test
  void whatRunsWithOtherRequestsIsNotKept() {
    submit("a", "", 1);
    assertThat(scheduler.admitted()).containsExactly("a");
    PodSetRequest larger =
        new PodSetRequest(
            "main", 2, 0, new TreeMap<>(Map.of("cpu", 4L)), NodeConstraints.ANYWHERE, "", ANYWHERE);
    scheduler.submit("b", "q", slice("b", "a", larger), 0);
    assertThat(scheduler.admitted()).isEmpty();
    assertRefused("b");
  }

  @Test
  void delayedPlacesOfTheMoreAreFoundBesideThoseThatRun() {
    reserving(scheduler, "a", "", on("r1-n2", "r2-n1"), Optional.empty());
    PodSetAssignment delayed =
        on("-", "-", "-")
            .getFirst()
            .with(
                new PodSetTopology(
                    PodSetTopology.Delay.PENDING, Optional.empty(), new TreeMap<>()));
    scheduler.decisions.clear();
    reserving(
        scheduler,
        "b",
        "a",
        List.of(delayed),
        Optional.of(new SecondPass(List.of(podSet("main", 3, ANYWHERE)), Set.of())));
    scheduler.engine.cycle();
    assertThat(scheduler.decisions)
        .singleElement()
        .isInstanceOfSatisfying(
            PlacementDecision.Place.class,
            place ->
                assertThat(places(place.podSets()))
                    .containsExactly("r1-n1=1", "r1-n2=1", "r2-n1=1"));
    assertThat(used(scheduler)).containsExactly("3/1", "3/1", "3/1", "0/0");
    scheduler.finish("a");
    assertThat(used(scheduler)).containsExactly("3/1", "3/1", "3/1", "0/0");
  }

  @Test
  void placesInATopologyThatIsGoneAreNotKept() {
    submit("a", "", 1);
    assertThat(scheduler.admitted()).containsExactly("a");
    scheduler.engine.apply(new SchedulerEvent.TopologyRemoved("t"));

    submit("b", "a", 0);

    assertThat(scheduler.admitted()).isEmpty();
  }
}

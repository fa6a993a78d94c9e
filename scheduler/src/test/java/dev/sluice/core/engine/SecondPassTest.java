package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.SecondPass;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.topology.TopologyOptions;
import dev.sluice.core.topology.TopologyOptions.PlacementRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Workloads with quota get the places that they lack: 2 racks of 3 nodes with 4 cpu each. */
class SecondPassTest {

  private static final String HOST = TopologySpec.HOSTNAME;
  private static final TopologyRequest IN_A_RACK = TopologyRequest.required("rack");

  private SchedulerFixture scheduler = new SchedulerFixture();
  private long version = 1000;

  private void racks() {
    scheduler.engine.apply(
        new SchedulerEvent.TopologyChanged(new TopologySpec("t", List.of("rack", HOST))));
    scheduler.engine.apply(
        new SchedulerEvent.FlavorChanged(
            new Flavor("f", Map.of("pool", "a"), List.of(), List.of(), "t")));
    for (String rack : List.of("r1", "r2")) {
      for (int i = 1; i <= 3; i++) {
        node(rack + "-n" + i);
      }
    }
    scheduler.queue("q", "", quota("f", 100));
  }

  private void node(String name) {
    scheduler.engine.apply(
        new SchedulerEvent.NodeChanged(
            new ClusterNode(
                name,
                Map.of("pool", "a", "rack", name.substring(0, 2), HOST, name),
                List.of(),
                new TreeMap<>(Map.of("cpu", 4L, "pods", 10L)),
                true)));
  }

  private static PodSetRequest podSet(String name, int count, long cpu, String group) {
    return new PodSetRequest(
        name,
        count,
        0,
        new TreeMap<>(Map.of("cpu", cpu)),
        NodeConstraints.ANYWHERE,
        group,
        IN_A_RACK);
  }

  private static RequestShape shape(int count, long cpu) {
    return new RequestShape(List.of(podSet("main", count, cpu, "")));
  }

  /** The API server reports a Workload with quota, and the places that it lacks. */
  private void reserving(
      String name, List<PodSetAssignment> podSets, List<PodSetRequest> asked, String... lost) {
    Decision.Admit admit = scheduler.admission(name);
    boolean lacks =
        lost.length > 0
            || podSets.stream()
                .anyMatch(each -> each.topology().delay() == PodSetTopology.Delay.PENDING);
    scheduler.engine.apply(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                    admit.id(),
                    version++,
                    "q",
                    "q",
                    podSets,
                    0,
                    admit.queuedAt(),
                    false,
                    true,
                    true,
                    admit.at())
                .with(
                    podSets,
                    lacks ? Optional.of(new SecondPass(asked, Set.of(lost))) : Optional.empty())));
  }

  private List<PlacementDecision> decisions() {
    scheduler.admitted();
    List<PlacementDecision> result = new ArrayList<>();
    for (Decision decision : scheduler.decisions) {
      if (decision instanceof PlacementDecision placement) {
        result.add(placement);
      }
    }
    scheduler.decisions.removeAll(result);
    return result;
  }

  private static List<String> places(List<PodSetAssignment> podSets) {
    List<String> places = new ArrayList<>();
    for (PodSetAssignment podSet : podSets) {
      for (TopologyAssignment.Domain domain :
          podSet.topology().assignment().orElseThrow().domains()) {
        places.add(podSet.name() + ":" + domain.values().getLast() + "=" + domain.count());
      }
    }
    return places;
  }

  private List<PodSetAssignment> admitted(String name, int count, long cpu) {
    scheduler.submit(name, "q", shape(count, cpu), 0);
    assertThat(scheduler.admitted()).containsExactly(name);
    return scheduler.admission(name).podSets();
  }

  @Test
  void onlyTheLostNodeIsReplacedWithinTheRack() {
    racks();
    List<PodSetAssignment> before = admitted("a", 3, 2);
    assertThat(places(before)).containsExactly("main:r1-n1=2", "main:r1-n2=1");
    scheduler.engine.apply(new SchedulerEvent.NodeRemoved("r1-n1"));
    reserving("a", before, shape(3, 2).podSets(), "r1-n1");
    assertThat(scheduler.engine.idle()).isFalse();
    List<PlacementDecision> decided = decisions();
    assertThat(decided).hasSize(1);
    assertThat(decided.getFirst())
        .isInstanceOfSatisfying(
            PlacementDecision.Place.class,
            place -> {
              assertThat(place.id().name()).isEqualTo("a");
              assertThat(place.lostNodes()).containsExactly("r1-n1");
              assertThat(place.before()).isEqualTo(before);
              assertThat(places(place.podSets())).containsExactly("main:r1-n2=1", "main:r1-n3=2");
              assertThat(place.podSets().getFirst().usage()).isEqualTo(before.getFirst().usage());
            });
    assertThat(decisions()).as("one decision").isEmpty();

    // What the new places use counts before anything is written: 1 cpu is free on r1-n2.
    scheduler.submit("b", "q", shape(3, 4), 0);
    assertThat(scheduler.admitted()).containsExactly("b");
    assertThat(places(scheduler.admission("b").podSets()))
        .containsExactly("main:r2-n1=1", "main:r2-n2=1", "main:r2-n3=1");
    scheduler.submit("c", "q", shape(2, 2), 0);
    assertThat(scheduler.admitted()).isEmpty();
    scheduler.submit("d", "q", shape(1, 2), 0);
    assertThat(scheduler.admitted()).containsExactly("d");
    assertThat(places(scheduler.admission("d").podSets())).containsExactly("main:r1-n2=1");
  }

  @Test
  void aWorkloadWithoutRoomInItsRackIsEvictedAtOnce() {
    racks();
    List<PodSetAssignment> before = admitted("a", 3, 4);
    reserving("a", before, shape(3, 4).podSets(), "r1-n2");
    assertThat(decisions())
        .singleElement()
        .isInstanceOfSatisfying(
            PlacementDecision.GiveUp.class,
            failure -> {
              assertThat(failure.evicts()).isTrue();
              assertThat(failure.podSet()).isEqualTo("main");
              assertThat(failure.shortage()).isPresent();
            });
  }

  @Test
  void withoutFailFastTheSearchIsRepeatedWithABackoff() {
    scheduler = withOptions(true, false);
    racks();
    List<PodSetAssignment> before = admitted("a", 3, 4);
    reserving("a", before, shape(3, 4).podSets(), "r1-n2");
    assertThat(decisions())
        .singleElement()
        .isInstanceOfSatisfying(
            PlacementDecision.GiveUp.class, failure -> assertThat(failure.evicts()).isFalse());
    List<Long> tries = new ArrayList<>();
    for (long second = 0; second <= 100; second++) {
      scheduler.passed(Duration.ofSeconds(second));
      if (!decisions().isEmpty()) {
        tries.add(second);
      }
      if (second == 40) {
        // A change that doesn't matter doesn't end the backoff.
        reserving("a", before, shape(3, 4).podSets(), "r1-n2");
      }
    }
    assertThat(tries).containsExactly(1L, 3L, 7L, 15L, 31L, 61L, 91L);
    node("r1-n4");
    scheduler.passed(Duration.ofSeconds(121));
    assertThat(decisions())
        .singleElement()
        .isInstanceOfSatisfying(
            PlacementDecision.Place.class,
            place ->
                assertThat(places(place.podSets()))
                    .containsExactly("main:r1-n1=1", "main:r1-n3=1", "main:r1-n4=1"));
  }

  private static SchedulerFixture withOptions(boolean replaces, boolean failsFast) {
    return SchedulerFixture.withTopology(
        new TopologyOptions(true, PlacementRules.DEFAULT, true, true, replaces, failsFast, true));
  }

  /** Gate TASFailedNodeReplacement. */
  @Test
  void nothingIsReplacedWithoutTheGateOrALeader() {
    scheduler = withOptions(false, true);
    racks();
    List<PodSetAssignment> before = admitted("a", 3, 2);
    reserving("a", before, shape(3, 2).podSets(), "r1-n1");
    assertThat(decisions()).isEmpty();

    scheduler = new SchedulerFixture();
    racks();
    List<PodSetAssignment> places = admitted("a", 3, 2);
    scheduler.engine.apply(new SchedulerEvent.DecidingEnabled(false));
    reserving("a", places, shape(3, 2).podSets(), "r1-n1");
    assertThat(decisions()).isEmpty();
    scheduler.engine.apply(new SchedulerEvent.DecidingEnabled(true));
    assertThat(decisions()).hasSize(1);
  }

  @Test
  void aNodeThatStaysButIsGoneMakesTheSearchFail() {
    racks();
    List<PodSetAssignment> before = admitted("a", 3, 2);
    scheduler.engine.apply(new SchedulerEvent.NodeRemoved("r1-n1"));
    scheduler.engine.apply(new SchedulerEvent.NodeRemoved("r1-n2"));
    reserving("a", before, shape(3, 2).podSets(), "r1-n1");
    assertThat(decisions())
        .singleElement()
        .isInstanceOfSatisfying(
            PlacementDecision.GiveUp.class, failure -> assertThat(failure.shortage()).isEmpty());
  }

  @Test
  void placesThatWereNotWrittenAreGivenBackAndSearchedAgain() {
    racks();
    List<PodSetAssignment> before = admitted("a", 3, 2);
    reserving("a", before, shape(3, 2).podSets(), "r1-n1");
    assertThat(decisions()).hasSize(1);
    scheduler.engine.apply(new SchedulerEvent.PlacementRefused(scheduler.admission("a").id()));
    assertThat(decisions()).isEmpty();
    // The node that it was about to get is free again, the one that it lost is used.
    scheduler.submit("b", "q", shape(1, 4), 0);
    assertThat(scheduler.admitted()).containsExactly("b");
    assertThat(places(scheduler.admission("b").podSets())).containsExactly("main:r1-n3=1");
    scheduler.finish("b");
    scheduler.passed(Duration.ofSeconds(1));
    assertThat(decisions()).singleElement().isInstanceOf(PlacementDecision.Place.class);
    scheduler.finish("a");
    scheduler.submit("c", "q", shape(3, 4), 0);
    assertThat(scheduler.admitted()).as("all of the rack is free").containsExactly("c");
  }

  @Test
  void oneThatIsToBeEvictedStaysSoWhenItsPlacesWereNotWritten() {
    racks();
    PreemptionPolicies lowerPriority =
        new PreemptionPolicies(
            WithinClusterQueue.LOWER_PRIORITY,
            ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty());
    scheduler.queue("q", "", lowerPriority, quota("f", 6));
    List<PodSetAssignment> before = admitted("a", 3, 2);
    reserving("a", before, shape(3, 2).podSets(), "r1-n1");
    assertThat(decisions()).hasSize(1);
    scheduler.submit("b", "q", shape(1, 4), 9);
    assertThat(scheduler.admitted()).isEmpty();
    assertThat(scheduler.preempted()).containsExactly("a for b: InClusterQueue");

    scheduler.tell(new SchedulerEvent.PlacementRefused(scheduler.admission("a").id()));
    assertThat(scheduler.admitted()).isEmpty();
    assertThat(scheduler.preempted()).isEmpty();
    assertThat(scheduler.waitsFor("b")).contains(PendingReason.WAITING_FOR_PREEMPTED_WORKLOADS);
  }

  @Test
  void delayedPlacesAreFoundForAGroupTogether() {
    racks();
    List<PodSetRequest> asked = List.of(podSet("leader", 1, 1, "g"), podSet("workers", 3, 3, "g"));
    scheduler.submit("a", "q", new RequestShape(asked), 0);
    assertThat(scheduler.admitted()).containsExactly("a");
    List<PodSetAssignment> delayed = new ArrayList<>();
    for (PodSetAssignment podSet : scheduler.admission("a").podSets()) {
      delayed.add(
          podSet.with(
              new PodSetTopology(
                  PodSetTopology.Delay.PENDING, Optional.empty(), podSet.topology().perPod())));
    }
    reserving("a", delayed, asked);
    assertThat(decisions())
        .singleElement()
        .isInstanceOfSatisfying(
            PlacementDecision.Place.class,
            place -> {
              assertThat(place.podSets())
                  .allSatisfy(
                      podSet ->
                          assertThat(podSet.topology().delay())
                              .isEqualTo(PodSetTopology.Delay.READY));
              assertThat(places(place.podSets()))
                  .containsExactly(
                      "leader:r1-n1=1", "workers:r1-n1=1", "workers:r1-n2=1", "workers:r1-n3=1");
            });
  }

  /** Where the places are of a group whose delayed pod sets have these numbers of pods. */
  private List<String> placesOfGroup(List<PodSetRequest> asked, int... counts) {
    scheduler = new SchedulerFixture();
    racks();
    scheduler.submit("a", "q", new RequestShape(asked), 0);
    assertThat(scheduler.admitted()).containsExactly("a");
    List<PodSetAssignment> delayed = new ArrayList<>();
    for (int i = 0; i < counts.length; i++) {
      PodSetAssignment podSet = scheduler.admission("a").podSets().get(i);
      PodSetTopology topology =
          counts[i] == 0
              ? PodSetTopology.NONE
              : new PodSetTopology(
                  PodSetTopology.Delay.PENDING, Optional.empty(), podSet.topology().perPod());
      delayed.add(
          new PodSetAssignment(
              podSet.name(), podSet.flavors(), podSet.usage(), counts[i], topology));
    }
    reserving("a", delayed, asked);
    List<PlacementDecision> decided = decisions();
    assertThat(decided).hasSize(1);
    return places(
        ((PlacementDecision.Place) decided.getFirst())
            .podSets().stream().filter(podSet -> podSet.count() > 0).toList());
  }

  @Test
  void delayedPlacesOfAGroupAreFoundForThePodsThatHaveQuota() {
    PodSetRequest leader = podSet("leader", 1, 1, "g");
    assertThat(placesOfGroup(List.of(leader, podSet("workers", 0, 3, "g")), 1, 0))
        .as("a group without workers")
        .containsExactly("leader:r1-n1=1");
    assertThat(placesOfGroup(List.of(leader, podSet("workers", 3, 3, "g")), 1, 0))
        .as("admitted without workers")
        .containsExactly("leader:r1-n1=1");
    assertThat(placesOfGroup(List.of(podSet("workers", 3, 3, "g"), leader), 1, 1))
        .as("admitted with as many workers as leaders")
        .containsExactly("workers:r1-n1=1", "leader:r1-n1=1");
    assertThat(placesOfGroup(List.of(podSet("one", 2, 1, "g"), podSet("other", 2, 3, "g")), 1, 2))
        .as("admitted with one pod of the smaller pod set")
        .containsExactly("one:r1-n1=1", "other:r1-n1=1", "other:r1-n2=1");
  }

  @Test
  void delayedPlacesThatDontExistAreLookedForAgainAndNeverEvict() {
    racks();
    List<PodSetAssignment> before = admitted("a", 1, 4);
    List<PodSetAssignment> delayed =
        List.of(
            before
                .getFirst()
                .with(
                    new PodSetTopology(
                        PodSetTopology.Delay.PENDING, Optional.empty(), new TreeMap<>())));
    reserving("a", delayed, shape(1, 5).podSets());
    assertThat(decisions())
        .singleElement()
        .isInstanceOfSatisfying(
            PlacementDecision.GiveUp.class, failure -> assertThat(failure.evicts()).isFalse());
  }
}

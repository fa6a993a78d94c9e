package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.ScanProgress;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidateSelector;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.ClassNames;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.PreemptionRule;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Scope;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Trigger;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.core.topology.TopologyOptions;
import dev.sluice.core.topology.TopologyView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Workloads are placed by topology: 2 racks of 2 nodes with 4 cpu each, unless said otherwise. */
class TopologyTest {

  private static final String HOST = TopologySpec.HOSTNAME;

  private final SchedulerFixture scheduler = new SchedulerFixture();

  private static void racks(SchedulerFixture scheduler, String flavor) {
    scheduler.engine.apply(
        new SchedulerEvent.TopologyChanged(new TopologySpec("t", List.of("rack", HOST))));
    flavor(scheduler, flavor);
    for (String rack : List.of("r1", "r2")) {
      for (int i = 1; i <= 2; i++) {
        node(scheduler, rack, rack + "-n" + i, 4);
      }
    }
  }

  private static void flavor(SchedulerFixture scheduler, String flavor) {
    scheduler.engine.apply(
        new SchedulerEvent.FlavorChanged(
            new Flavor(flavor, Map.of("pool", "a"), List.of(), List.of(), "t")));
  }

  private static void node(SchedulerFixture scheduler, String rack, String name, long cpu) {
    scheduler.engine.apply(
        new SchedulerEvent.NodeChanged(
            new ClusterNode(
                name,
                Map.of("pool", "a", "rack", rack, HOST, name),
                List.of(),
                new TreeMap<>(Map.of("cpu", cpu, "pods", 10L)),
                true)));
  }

  private static PodSetRequest podSet(String name, int count, long cpu, TopologyRequest topology) {
    return new PodSetRequest(
        name, count, 0, new TreeMap<>(Map.of("cpu", cpu)), NodeConstraints.ANYWHERE, "", topology);
  }

  private static RequestShape shape(int count, long cpu, TopologyRequest topology) {
    return new RequestShape(List.of(podSet("main", count, cpu, topology)));
  }

  /** The places of one, as "node=pods". */
  private static List<String> places(SchedulerFixture scheduler, String name) {
    List<String> places = new ArrayList<>();
    for (var podSet : scheduler.admission(name).podSets()) {
      for (TopologyAssignment.Domain domain :
          podSet.topology().assignment().orElseThrow().domains()) {
        places.add(String.join("/", domain.values()) + "=" + domain.count());
      }
    }
    return places;
  }

  private static void maintain(SchedulerFixture scheduler, Map<String, String> labels) {
    Instant start = Instant.parse("2026-01-01T01:00:00Z");
    scheduler.engine.apply(
        new SchedulerEvent.ReservationsChanged(
            List.of(
                new ReservedCapacity(
                    "w",
                    new ReservedCapacity.Scope.OfNodes(labels),
                    ReservedCapacity.Users.NOBODY,
                    false,
                    List.of(
                        new ReservedCapacity.Occurrence(
                            start, start.plus(Duration.ofHours(1))))))));
  }

  private static void pass(SchedulerFixture scheduler, int minutes) {
    scheduler.engine.apply(
        new SchedulerEvent.TimePassed(
            Instant.parse("2026-01-01T00:00:00Z").plus(Duration.ofMinutes(minutes))));
  }

  @Test
  void aRackUnderMaintenanceIsLeftOutAndEmptied() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    pass(scheduler, 0);
    RequestShape whole = shape(2, 3, TopologyRequest.required("rack"));
    scheduler.submit("old", "q", whole, 0);
    assertThat(scheduler.admitted()).containsExactly("old");
    assertThat(places(scheduler, "old")).containsExactly("r1-n1=1", "r1-n2=1");
    scheduler.finish("old");
    maintain(scheduler, Map.of("rack", "r1"));
    scheduler.engine.apply(
        new SchedulerEvent.RunBounded(
            new WorkloadId("uid-short", "ns", "short"), RunBound.of(Duration.ofMinutes(50))));
    for (String name : List.of("long", "longer", "short")) {
      scheduler.submit(name, "q", whole, 0);
    }

    assertThat(scheduler.admitted()).containsExactly("long", "short");
    assertThat(places(scheduler, "long")).containsExactly("r2-n1=1", "r2-n2=1");
    assertThat(places(scheduler, "short")).containsExactly("r1-n1=1", "r1-n2=1");
    assertThat(scheduler.explanation("longer").orElseThrow().reason())
        .isEqualTo(PendingReason.WAITING_FOR_QUOTA);
    assertThat(scheduler.engine.overstays()).isEmpty();

    pass(scheduler, 60);
    assertThat(scheduler.engine.overstays())
        .extracting(each -> each.id().name())
        .containsExactly("short");
    scheduler.finish("short");
    assertThat(scheduler.admitted()).isEmpty();
    assertThat(scheduler.explanation("longer").orElseThrow().detail())
        .startsWith(
            "CapacityReserved: held for MaintenanceWindow w from 2026-01-01T01:00:00Z to"
                + " 2026-01-01T02:00:00Z, which keeps nodes with rack=r1 empty");
    pass(scheduler, 120);
    assertThat(scheduler.admitted()).containsExactly("longer");
    assertThat(places(scheduler, "longer")).containsExactly("r1-n1=1", "r1-n2=1");
  }

  @Test
  void nodesThatAreCordonedBeforeTheirMaintenanceAreEmptiedToo() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    pass(scheduler, 0);
    scheduler.submit("old", "q", shape(2, 3, TopologyRequest.required("rack")), 0);
    assertThat(scheduler.admitted()).containsExactly("old");
    scheduler.engine.apply(
        new SchedulerEvent.NodeChanged(
            new ClusterNode(
                "r1-n1",
                Map.of("pool", "a", "rack", "r1", HOST, "r1-n1"),
                List.of(),
                new TreeMap<>(Map.of("cpu", 4L, "pods", 10L)),
                false)));
    maintain(scheduler, Map.of(HOST, "r1-n1"));
    pass(scheduler, 60);
    assertThat(scheduler.engine.overstays())
        .extracting(each -> each.id().name())
        .containsExactly("old");
  }

  @Test
  void aFlavorAllOfWhoseNodesAreUnderMaintenanceIsEmptied() {
    racks(scheduler, "f");
    scheduler.engine.apply(
        new SchedulerEvent.FlavorChanged(
            new Flavor("plain", Map.of("pool", "a", "zone", "z"), List.of(), List.of())));
    scheduler.queue("p", "", quota("plain", 100));
    pass(scheduler, 0);
    scheduler.submit("old", "p", SchedulerFixture.shape(1), 0);
    assertThat(scheduler.admitted()).containsExactly("old");
    maintain(scheduler, Map.of("zone", "z"));
    scheduler.submit("new", "p", SchedulerFixture.shape(1), 0);
    assertThat(scheduler.admitted()).isEmpty();
    pass(scheduler, 60);
    assertThat(scheduler.engine.overstays())
        .extracting(each -> each.id().name())
        .containsExactly("old");
  }

  @Test
  void podsAreInOneRackAndTwoWorkloadsNeverShareARoom() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    for (String name : List.of("a", "b", "c")) {
      scheduler.submit(name, "q", shape(2, 3, TopologyRequest.required("rack")), 0);
    }
    assertThat(scheduler.admitted()).containsExactly("a", "b");
    assertThat(places(scheduler, "a")).containsExactly("r1-n1=1", "r1-n2=1");
    assertThat(places(scheduler, "b")).containsExactly("r2-n1=1", "r2-n2=1");

    Explanation explanation = scheduler.explanation("c").orElseThrow();
    assertThat(explanation.reason()).isEqualTo(PendingReason.TOPOLOGY_PLACEMENT_FAILED);
    assertThat(explanation.attempts().getFirst().flavorRejections())
        .first()
        .isInstanceOfSatisfying(
            FlavorRejection.NoPlacement.class,
            rejection -> {
              assertThat(rejection.everEmpty()).isFalse();
              assertThat(rejection.shortage().level()).isEqualTo("rack");
              assertThat(rejection.shortage().needed()).isEqualTo(2);
              assertThat(rejection.shortage().bestRoom()).isZero();
            });

    scheduler.finish("b");
    assertThat(scheduler.admitted()).containsExactly("c");
    assertThat(places(scheduler, "c")).containsExactly("r2-n1=1", "r2-n2=1");
  }

  @Test
  void headsOfOneCycleNeverGetTheSamePlace() {
    racks(scheduler, "f");
    for (String queue : List.of("q1", "q2", "q3")) {
      scheduler.queue(queue, queue.equals("q3") ? "other" : "", quota("f", 100));
      scheduler.submit("of-" + queue, queue, shape(2, 3, TopologyRequest.required("rack")), 0);
    }
    assertThat(scheduler.engine.cycle()).isTrue();
    assertThat(scheduler.decisions).hasSize(2);
    List<String> all = new ArrayList<>(places(scheduler, "of-q1"));
    all.addAll(places(scheduler, "of-q2"));
    assertThat(all).doesNotHaveDuplicates().hasSize(4);
    scheduler.admitted();
    scheduler.finish("of-q1");
    assertThat(scheduler.admitted()).as("a queue of another tree").containsExactly("of-q3");
  }

  /** Others are sought for a head in the same cycle only if quota is there and places are not. */
  @Test
  void whoseTargetIsAlreadyTakenWaitsForIt() {
    SchedulerFixture strict =
        new SchedulerFixture(
            new EngineOptions(
                Optional.empty(),
                false,
                Optional.empty(),
                new OrderingRules(true, false, false),
                TopologyOptions.DEFAULT));
    racks(strict, "f");
    PreemptionPolicies reclaims =
        new PreemptionPolicies(
            PreemptionPolicies.WithinClusterQueue.NEVER,
            PreemptionPolicies.ReclaimWithinCohort.ANY,
            false,
            OptionalInt.empty());
    strict.queue("guests", "co", quota("f", 0));
    strict.queue("q1", "co", reclaims, quota("f", 6));
    strict.queue("q2", "co", reclaims, quota("f", 6));
    strict.submit("guest-1", "guests", shape(1, 4, TopologyRequest.required(HOST)), 0);
    strict.submit("guest-2", "guests", shape(2, 4, TopologyRequest.required("rack")), 0);
    assertThat(strict.admitted()).containsExactly("guest-1", "guest-2");

    strict.submit("owner-1", "q1", shape(1, 4, TopologyRequest.required(HOST)), 2);
    strict.submit("owner-2", "q2", shape(1, 4, TopologyRequest.required(HOST)), 1);
    assertThat(strict.admitted()).isEmpty();
    assertThat(strict.preempted()).containsExactly("guest-1 for owner-1: InCohortReclamation");

    strict.finish("guest-1");
    assertThat(strict.admitted()).containsExactly("owner-1");
    assertThat(strict.preempted()).containsExactly("guest-2 for owner-2: InCohortReclamation");
  }

  /**
   * A rack with room for both pods is there once the Workload with the lowest priority has gone.
   */
  @ParameterizedTest
  @CsvSource({
    "QUOTA_FEASIBLE_AND_INSUFFICIENT_TOPOLOGY, small-3 for gang: InClusterQueue",
    "ALWAYS, small-3 for gang: InClusterQueue",
    "INSUFFICIENT_QUOTA, "
  })
  void rulesOfAPreemptionConfigMakeRoomOnNodes(Trigger trigger, @Nullable String preempted) {
    racks(scheduler, "f");
    heroes(scheduler, Scope.WITHIN_CLUSTER_QUEUE, trigger);
    scheduler.submit("small-1", "q", shape(1, 3, TopologyRequest.required(HOST)), 7);
    scheduler.submit("small-2", "q", shape(1, 3, TopologyRequest.required(HOST)), 6);
    scheduler.submit("small-3", "q", shape(1, 3, TopologyRequest.required(HOST)), 5);
    assertThat(scheduler.admitted()).containsExactly("small-1", "small-2", "small-3");

    scheduler.submit("gang", "q", shape(2, 3, TopologyRequest.required("rack")), 0);
    assertThat(scheduler.admitted()).isEmpty();
    assertThat(scheduler.preempted()).isEqualTo(preempted == null ? List.of() : List.of(preempted));
  }

  /** Queue {@code q}, whose Workloads may preempt anybody there. */
  private static void heroes(SchedulerFixture scheduler, Scope scope, Trigger trigger) {
    LabelSelector all = new LabelSelector.Requirements(List.of());
    CandidateSelector anybody =
        new CandidateSelector(scope, Optional.empty(), all, List.of(), Optional.empty());
    scheduler.queue(
        "q",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        QueueRules.DEFAULT.withPreemptionConfig(
            Optional.of(
                new PreemptionConfig(
                    List.of(new PreemptionRule(all, ClassNames.ANY, trigger, List.of(anybody)))))),
        quota("f", 100));
  }

  /** Changes of 0.20, section 6: nodes are there for all trees. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anyClusterQueueContainsThoseOfOtherTreesThatHaveTheNodes(boolean fair) {
    SchedulerFixture fixture =
        new SchedulerFixture(
            fair
                ? Optional.of(
                    new FairSharing(List.of(Strategy.LESS_THAN_INITIAL_SHARE), true, true))
                : Optional.empty());
    racks(fixture, "f");
    heroes(fixture, Scope.WITHIN_COHORT_TREE, Trigger.ALWAYS);
    fixture.queue(
        "other",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        QueueRules.DEFAULT.withQuota(
            QuotaRules.DEFAULT.withPreemption(
                new PreemptionRules(
                    Optional.of(Duration.ofSeconds(30)),
                    Optional.empty(),
                    Optional.empty(),
                    false))),
        quota("f", 100));
    fixture.submit("low", "other", shape(2, 4, TopologyRequest.required("rack")), 1);
    fixture.submit("lower", "other", shape(2, 4, TopologyRequest.required("rack")), 0);
    assertThat(fixture.admitted()).containsExactly("low", "lower");
    fixture.submit("hero", "q", shape(2, 4, TopologyRequest.required("rack")), 0);
    fixture.passed(Duration.ofSeconds(1));
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).isEmpty();

    heroes(fixture, Scope.ANY_CLUSTER_QUEUE, Trigger.ALWAYS);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).isEmpty();
    // the end of a protection in another tree is noticed
    fixture.passed(Duration.ofSeconds(30));
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("lower for hero: InCohortReclamation");
    // what becomes free in the other tree is kept for the hero
    fixture.submit("thief", "other", shape(1, 4, TopologyRequest.required(HOST)), 0);
    assertThat(fixture.admitted()).isEmpty();
    fixture.finish("lower");
    assertThat(fixture.admitted()).containsExactly("hero");
  }

  /** All resources of a pod get the flavor of one topology, so that one decides for the others. */
  @Test
  void whoseFlavorsHangOnOneAnotherIsLookedAtWhenQuotaIsGivenBack() {
    scheduler.engine.apply(
        new SchedulerEvent.TopologyChanged(new TopologySpec("t", List.of(HOST))));
    flavor(scheduler, "x");
    flavor(scheduler, "y");
    scheduler.engine.apply(
        new SchedulerEvent.NodeChanged(
            new ClusterNode(
                "n",
                Map.of("pool", "a", HOST, "n"),
                List.of(),
                new TreeMap<>(Map.of("cpu", 20L, "memory", 20L, "pods", 10L)),
                true)));
    scheduler.queue("lender", "co", quota("y", 10));
    scheduler.queue("q", "co", quota("y", 4));
    scheduler.engine.apply(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                "q",
                "co",
                List.of(
                    new ResourceGroup(List.of("cpu"), List.of(quota("y", 4), quota("x", 4))),
                    new ResourceGroup(
                        List.of("memory"),
                        List.of(
                            new ResourceGroup.FlavorQuotas(
                                "y", Map.of("memory", new ResourceGroup.Quota(20, 0, 0))),
                            new ResourceGroup.FlavorQuotas(
                                "x", Map.of("memory", new ResourceGroup.Quota(0, 0, 0)))))),
                QueueingStrategy.BEST_EFFORT_FIFO,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                PreemptionPolicies.NEVER,
                new FlavorFungibility(true, true, false, ScanProgress.PRESERVED),
                List.of(),
                List.of())));
    RequestShape shape =
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", 4L, "memory", 1L)),
                    NodeConstraints.ANYWHERE,
                    "",
                    TopologyRequest.required(HOST))));
    scheduler.submit("runs", "q", shape, 0);
    scheduler.submit("waits", "q", shape, 0);
    assertThat(scheduler.admitted()).containsExactly("runs");
    scheduler.finish("runs");
    assertThat(scheduler.admitted()).containsExactly("waits");
  }

  @Test
  void moreThanEmptyNodesHoldNeverFits() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    scheduler.submit("big", "q", shape(3, 3, TopologyRequest.required("rack")), 0);
    assertThat(scheduler.admitted()).isEmpty();
    assertThat(scheduler.waitsFor("big")).contains(PendingReason.TOPOLOGY_PLACEMENT_FAILED);
    node(scheduler, "r2", "r2-n3", 4);
    assertThat(scheduler.admitted()).containsExactly("big");
    assertThat(places(scheduler, "big")).containsExactly("r2-n1=1", "r2-n2=1", "r2-n3=1");
  }

  @Test
  void whoAsksForNoTopologyIsPlacedWhereAllFlavorsHaveOne() {
    racks(scheduler, "f");
    scheduler.flavor("plain");
    scheduler.queue("implied", "", quota("f", 100));
    scheduler.queue("mixed", "", quota("f", 100), quota("plain", 1));
    scheduler.queue("plain", "", quota("plain", 100));
    scheduler.submit("implied", "implied", shape(1, 4, TopologyRequest.NONE), 0);
    scheduler.submit("mixed", "mixed", shape(1, 1, TopologyRequest.NONE), 0);
    scheduler.submit("explicit", "plain", shape(1, 1, TopologyRequest.unconstrained()), 0);
    scheduler.submit("level", "implied", shape(1, 1, TopologyRequest.required("row")), 0);
    assertThat(scheduler.admitted()).containsExactlyInAnyOrder("implied", "mixed");
    assertThat(places(scheduler, "implied")).containsExactly("r1-n1=1");
    assertThat(scheduler.admission("mixed").podSets().getFirst().flavors())
        .containsEntry("cpu", "plain");
    assertThat(scheduler.admission("mixed").podSets().getFirst().topology().assignment()).isEmpty();
    assertThat(rejection("explicit")).isEqualTo(new FlavorRejection.NoTopology());
    assertThat(rejection("level"))
        .isEqualTo(new FlavorRejection.TopologyLevelMissing("t", "row", List.of("rack", HOST)));
  }

  private FlavorRejection rejection(String name) {
    return scheduler
        .explanation(name)
        .orElseThrow()
        .attempts()
        .getFirst()
        .flavorRejections()
        .getFirst();
  }

  @Test
  void whatOthersUseAndWhatIsReadBackCounts() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    scheduler.submit("a", "q", shape(2, 4, TopologyRequest.required("rack")), 0);
    assertThat(scheduler.admitted()).containsExactly("a");

    SchedulerFixture restarted = new SchedulerFixture();
    restarted.queue("q", "", quota("f", 100));
    Decision.Admit admit = scheduler.admission("a");
    restarted.engine.apply(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                admit.id(),
                1,
                "q",
                "q",
                admit.podSets(),
                0,
                admit.queuedAt(),
                false,
                true,
                true,
                admit.at())));
    racks(restarted, "f");
    restarted.engine.apply(
        new SchedulerEvent.NodeUsageChanged("r2-n1", new TreeMap<>(Map.of("cpu", 1L, "pods", 1L))));
    restarted.submit("b", "q", shape(2, 4, TopologyRequest.required("rack")), 0);
    assertThat(restarted.admitted()).isEmpty();
    restarted.engine.apply(new SchedulerEvent.NodeUsageChanged("r2-n1", new TreeMap<>()));
    assertThat(restarted.admitted()).containsExactly("b");
    assertThat(places(restarted, "b")).containsExactly("r2-n1=1", "r2-n2=1");
    restarted.submit("c", "q", shape(1, 1, TopologyRequest.unconstrained()), 0);
    assertThat(restarted.admitted()).isEmpty();
    restarted.finish("a");
    assertThat(restarted.admitted()).containsExactly("c");
  }

  @Test
  void flavorsWithTheSameNodesSeeEachOther() {
    racks(scheduler, "f");
    flavor(scheduler, "g");
    scheduler.queue("q", "", quota("f", 100));
    scheduler.queue("r", "", quota("g", 100));
    scheduler.submit("a", "q", shape(3, 4, TopologyRequest.unconstrained()), 0);
    assertThat(scheduler.admitted()).containsExactly("a");
    scheduler.submit("b", "r", shape(2, 3, TopologyRequest.unconstrained()), 0);
    assertThat(scheduler.admitted()).isEmpty();
    scheduler.submit("c", "r", shape(1, 3, TopologyRequest.unconstrained()), 0);
    assertThat(scheduler.admitted()).containsExactly("c");
    scheduler.finish("a");
    assertThat(scheduler.admitted()).containsExactly("b");
  }

  @Test
  void targetsMakeRoomWhereItIsNeeded() {
    racks(scheduler, "f");
    PreemptionPolicies policies =
        new PreemptionPolicies(
            PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
            PreemptionPolicies.ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty());
    preempts(policies, scheduler);
  }

  @Test
  void targetsMakeRoomWithFairSharing() {
    SchedulerFixture fair =
        new SchedulerFixture(
            Optional.of(new FairSharing(List.of(Strategy.LESS_THAN_INITIAL_SHARE), true, true)));
    racks(fair, "f");
    PreemptionPolicies policies =
        new PreemptionPolicies(
            PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
            PreemptionPolicies.ReclaimWithinCohort.ANY,
            false,
            OptionalInt.empty());
    preempts(policies, fair);
  }

  /** Quota is there for all, but no rack is free: only what frees a rack is evicted. */
  private static void preempts(PreemptionPolicies policies, SchedulerFixture scheduler) {
    scheduler.queue("q", "", policies, quota("f", 100));
    scheduler.submit("low1", "q", shape(1, 4, TopologyRequest.unconstrained()), 1, 0);
    scheduler.submit("low2", "q", shape(2, 4, TopologyRequest.required("rack")), 2, 1);
    scheduler.submit("low3", "q", shape(1, 4, TopologyRequest.unconstrained()), 3, 2);
    assertThat(scheduler.admitted()).hasSize(3);
    scheduler.submit("high", "q", shape(2, 3, TopologyRequest.required("rack")), 10, 3);
    assertThat(scheduler.admitted()).isEmpty();
    List<String> targets = scheduler.preempted();
    assertThat(targets).containsExactly("low2 for high: InClusterQueue");
    assertThat(scheduler.waitsFor("high")).contains(PendingReason.WAITING_FOR_PREEMPTED_WORKLOADS);
    scheduler.submit("late", "q", shape(1, 1, TopologyRequest.unconstrained()), 0, 4);
    assertThat(scheduler.admitted()).isEmpty();
    scheduler.finish("low2");
    assertThat(scheduler.admitted()).containsExactly("high", "late");
    assertThat(places(scheduler, "high").toString()).contains("-n1=1", "-n2=1");
  }

  @Test
  void fewerPodsStartWhereThereIsRoomForFewer() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    PodSetRequest podSet =
        new PodSetRequest(
            "main",
            8,
            7,
            new TreeMap<>(Map.of("cpu", 2L)),
            NodeConstraints.ANYWHERE,
            "",
            TopologyRequest.required("rack"));
    scheduler.submit("a", "q", new RequestShape(List.of(podSet)), 0);
    assertThat(scheduler.admitted()).containsExactly("a");
    assertThat(scheduler.counts("a")).containsExactly(4);
    assertThat(places(scheduler, "a")).containsExactly("r1-n1=2", "r1-n2=2");
  }

  @Test
  void aLeaderIsWithItsWorkersAndOtherPodSetsComeAfterEachOther() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    TopologyRequest rack = TopologyRequest.required("rack");
    List<PodSetRequest> podSets = new ArrayList<>();
    for (PodSetRequest each :
        Arrays.asList(podSet("leader", 1, 1, rack), podSet("workers", 3, 2, rack))) {
      podSets.add(
          new PodSetRequest(
              each.name(), each.count(), 0, each.perPod(), each.nodeConstraints(), "g", rack));
    }
    podSets.add(podSet("rest", 2, 4, rack));
    scheduler.submit("a", "q", new RequestShape(podSets), 0);
    assertThat(scheduler.admitted()).containsExactly("a");
    assertThat(places(scheduler, "a"))
        .containsExactly("r1-n1=1", "r1-n1=1", "r1-n2=2", "r2-n1=1", "r2-n2=1");
  }

  /** Changes of 0.20, section 2: members of a group are matched by name, wherever they stand. */
  @Test
  void aLeaderIsWithItsWorkersWhereverTheyStand() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    TopologyRequest rack = TopologyRequest.required("rack");
    List<PodSetRequest> podSets = new ArrayList<>();
    for (PodSetRequest each :
        Arrays.asList(podSet("leader", 1, 1, rack), podSet("workers", 3, 2, rack))) {
      podSets.add(
          new PodSetRequest(
              each.name(), each.count(), 0, each.perPod(), each.nodeConstraints(), "g", rack));
    }
    podSets.add(1, podSet("rest", 2, 4, rack));
    scheduler.submit("a", "q", new RequestShape(podSets), 0);
    assertThat(scheduler.admitted()).containsExactly("a");
    assertThat(places(scheduler, "a"))
        .containsExactly("r1-n1=1", "r2-n1=1", "r2-n2=1", "r1-n1=1", "r1-n2=2");
  }

  @Test
  void aRefusedAdmissionGivesItsPlacesBack() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    scheduler.submit("a", "q", shape(4, 4, TopologyRequest.unconstrained()), 0);
    scheduler.submit("b", "q", shape(4, 4, TopologyRequest.unconstrained()), 0);
    while (scheduler.engine.cycle()) {
      // until nothing is left to look at
    }
    assertThat(scheduler.decisions).hasSize(1);
    Decision.Admit admit = (Decision.Admit) scheduler.decisions.getFirst();
    scheduler.engine.apply(new SchedulerEvent.AdmissionRefused(admit.id(), admit.version(), false));
    assertThat(scheduler.admitted()).hasSize(1).doesNotContain(admit.id().name());
  }

  @Test
  void whatTargetsLeaveIsKeptForTheirPreemptorFromOtherTreesToo() {
    scheduler.engine.apply(
        new SchedulerEvent.TopologyChanged(new TopologySpec("t", List.of("rack", HOST))));
    flavor(scheduler, "f");
    node(scheduler, "r1", "r1-n1", 4);
    node(scheduler, "r1", "r1-n2", 4);
    PreemptionPolicies policies =
        new PreemptionPolicies(
            PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
            PreemptionPolicies.ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty());
    scheduler.queue("q", "", policies, quota("f", 100));
    scheduler.queue("other", "", quota("f", 100));
    scheduler.submit("low1", "q", shape(1, 4, TopologyRequest.unconstrained()), 1, 0);
    scheduler.submit("low2", "q", shape(1, 4, TopologyRequest.unconstrained()), 1, 1);
    assertThat(scheduler.admitted()).containsExactlyInAnyOrder("low1", "low2");
    scheduler.submit("high", "q", shape(2, 4, TopologyRequest.required("rack")), 9, 2);
    assertThat(scheduler.admitted()).isEmpty();

    scheduler.finish("low1");
    assertThat(scheduler.admitted()).isEmpty();
    scheduler.submit("thief", "other", shape(1, 4, TopologyRequest.unconstrained()), 0, 3);
    assertThat(scheduler.admitted()).isEmpty();
    scheduler.finish("low2");
    assertThat(scheduler.admitted()).containsExactly("high");
  }

  @Test
  void aPreemptorWhosePlacesAreGoneLetsOthersPass() {
    scheduler.engine.apply(
        new SchedulerEvent.TopologyChanged(new TopologySpec("t", List.of("rack", HOST))));
    flavor(scheduler, "f");
    node(scheduler, "r1", "r1-n1", 4);
    node(scheduler, "r1", "r1-n2", 4);
    PreemptionPolicies policies =
        new PreemptionPolicies(
            PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
            PreemptionPolicies.ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty());
    scheduler.queue("q", "", policies, quota("f", 100));
    scheduler.submit("low", "q", shape(1, 4, TopologyRequest.unconstrained()), 1, 0);
    assertThat(scheduler.admitted()).containsExactly("low");
    scheduler.submit("high", "q", shape(2, 4, TopologyRequest.required("rack")), 9, 1);
    scheduler.submit("small", "q", shape(1, 2, TopologyRequest.unconstrained()), 0, 2);
    assertThat(scheduler.admitted()).isEmpty();

    scheduler.engine.apply(
        new SchedulerEvent.NodeUsageChanged("r1-n2", new TreeMap<>(Map.of("cpu", 1L, "pods", 1L))));
    assertThat(scheduler.admitted()).containsExactly("small");
  }

  @Test
  void whatIsFreeAndWhoHoldsItIsTold() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    scheduler.engine.apply(
        new SchedulerEvent.NodeUsageChanged("r1-n1", new TreeMap<>(Map.of("cpu", 1L, "pods", 1L))));
    scheduler.submit("a", "q", shape(2, 3, TopologyRequest.required("rack")), 0);
    assertThat(scheduler.admitted()).containsExactly("a");

    TopologyView view = scheduler.engine.queries().topology("f").orElseThrow();
    assertThat(view.levels()).containsExactly("rack", HOST);
    assertThat(view.leaves())
        .extracting(leaf -> leaf.values().getLast() + " " + leaf.amounts().get("cpu"))
        .containsExactly(
            "r1-n1 Amounts[allocatable=4, usedByOthers=1, usedByWorkloads=3]",
            "r1-n2 Amounts[allocatable=4, usedByOthers=0, usedByWorkloads=3]",
            "r2-n1 Amounts[allocatable=4, usedByOthers=0, usedByWorkloads=0]",
            "r2-n2 Amounts[allocatable=4, usedByOthers=0, usedByWorkloads=0]");
    assertThat(view.leaves().getFirst().holders())
        .singleElement()
        .satisfies(
            held -> {
              assertThat(held.id().name()).isEqualTo("a");
              assertThat(held.pods()).isEqualTo(1);
            });
    assertThat(scheduler.engine.queries().topology("none")).isEmpty();
  }

  @Test
  void aRunningElasticJobIsNotPlacedAnewWhenItGrows() {
    racks(scheduler, "f");
    scheduler.queue("q", "", quota("f", 100));
    scheduler.submit("small", "q", slice("small", "", 1), 0);
    assertThat(scheduler.admitted()).containsExactly("small");
    scheduler.submit("large", "q", slice("large", "small", 2), 0);
    assertThat(scheduler.admitted()).isEmpty();
    assertThat(scheduler.explanation("large").orElseThrow().attempts())
        .allSatisfy(
            attempt ->
                assertThat(attempt.flavorRejections())
                    .containsExactly(new FlavorRejection.GrowsByTopology()));

    scheduler.finish("small");
    assertThat(scheduler.admitted()).as("nothing runs any more").containsExactly("large");
  }

  private static RequestShape slice(String name, String replaces, int pods) {
    return shape(pods, 3, TopologyRequest.NONE)
        .withSlice(Optional.of(new JobSlice("job", name, replaces)));
  }
}

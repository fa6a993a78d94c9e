package dev.sluice.core.engine;

import static dev.sluice.core.engine.World.quota;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.FlavorFungibility;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PodSetAssignment;
import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * LocalQueueMapper of one ClusterQueue take turns by what they used, computed by hand from scheduling
 * semantics, sections 2, 7 and 9. The half-life is ten minutes, a sample is taken each minute.
 */
class TakingTurnsTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final AdmissionFairSharing RULES =
      new AdmissionFairSharing(MINUTE.multipliedBy(10), MINUTE, Map.of());

  private static World world(AdmissionFairSharing rules) {
    World world = new World(new EngineOptions(Optional.empty(), false, Optional.of(rules)));
    world.flavor("f");
    return world;
  }

  private static World world() {
    return world(RULES);
  }

  private static ClusterQueueSpec spec(
      QueueingStrategy strategy, PreemptionPolicies policies, long cpu) {
    return new ClusterQueueSpec(
        "pool",
        "",
        List.of(new ResourceGroup(List.of("cpu"), List.of(quota("f", cpu)))),
        strategy,
        new LabelSelector.Requirements(List.of()),
        StopPolicy.NONE,
        false,
        policies,
        FlavorFungibility.DEFAULT,
        List.of(),
        List.of());
  }

  /** ClusterQueue {@code pool} whose LocalQueueMapper take turns, and these of them. */
  private static void pool(World world, ClusterQueueSpec spec, String... localQueues) {
    world.engine.apply(new SchedulerEvent.ClusterQueueChanged(spec.takingTurnsByUse()));
    for (String name : localQueues) {
      localQueue(world, name, 1);
    }
  }

  private static void pool(World world, long cpu, String... localQueues) {
    pool(
        world, spec(QueueingStrategy.BEST_EFFORT_FIFO, PreemptionPolicies.NEVER, cpu), localQueues);
  }

  private static LocalQueueId id(String localQueue) {
    return new LocalQueueId("ns", localQueue);
  }

  private static void localQueue(World world, String name, double weight) {
    world.engine.apply(
        new SchedulerEvent.LocalQueueChanged(new LocalQueueSpec(id(name), "pool", StopPolicy.NONE, weight)));
  }

  /** What a LocalQueue used, as its status says before the engine knows better. */
  private static void used(World world, String localQueue, double cpu, Instant at) {
    world.engine.apply(new SchedulerEvent.LocalQueueUsed(id(localQueue), Map.of("cpu", cpu), at));
  }

  private static void used(World world, String localQueue, double cpu) {
    used(world, localQueue, cpu, World.START);
  }

  private static void minutes(World world, int count) {
    world.engine.apply(new SchedulerEvent.TimePassed(World.START.plus(MINUTE.multipliedBy(count))));
  }

  private static Optional<LocalQueueUsageView> past(World world, String localQueue) {
    ViewPublisher viewPublisher = new ViewPublisher();
    world.engine.changes().all = true;
    viewPublisher.publish(world.engine);
    return viewPublisher.localQueue(id(localQueue)).flatMap(LocalQueueView::pastUse);
  }

  private static double cpu(World world, String localQueue) {
    return past(world, localQueue).orElseThrow().consumed().getOrDefault("cpu", 0.0);
  }

  private static List<String> order(World world) {
    return world.engine.answers().pendingIn("pool").stream()
        .map(position -> position.id().name())
        .toList();
  }

  // order

  @Test
  void whoUsedLessComesFirstWhateverPriorityAndAge() {
    World world = world();
    used(world, "greedy", 5);
    used(world, "modest", 1);
    pool(world, 1, "greedy", "modest", "new");
    world.submit("urgent", "greedy", 1, 100, 0);
    world.submit("of-modest", "modest", 1, 0, 1);
    world.submit("low", "new", 1, -5, 3);
    world.submit("high", "new", 1, 5, 2);

    assertThat(order(world)).containsExactly("high", "low", "of-modest", "urgent");
    assertThat(world.admitted()).containsExactly("high");
  }

  @Test
  void aPenaltyOnEntryLetsOthersHaveTheirTurn() {
    // Each one given quota counts 0.067 of its request at once, so that the two alternate.
    World world = world();
    pool(world, 4000, "a", "b");
    for (int i = 0; i < 4; i++) {
      world.submit("a" + i, "a", 1000, 0, i);
      world.submit("b" + i, "b", 1000, 0, 10 + i);
    }

    assertThat(world.admitted()).containsExactly("a0", "b0", "a1", "b1");
    assertThat(order(world)).containsExactly("a2", "a3", "b2", "b3");
  }

  @Test
  void twiceTheWeightMayUseTwiceAsMuch() {
    World world = world();
    pool(world, 6000, "a");
    localQueue(world, "b", 2);
    for (int i = 0; i < 6; i++) {
      world.submit("a" + i, "a", 1000, 0, i);
      world.submit("b" + i, "b", 1000, 0, 10 + i);
    }

    // of a and b, in parts of 0.067: 0 0, 1 0, 1 .5, 1 1, 2 1, 2 1.5
    assertThat(world.admitted()).containsExactly("a0", "b0", "b1", "a1", "b2", "b3");
  }

  @Test
  void aQueueOfWeightZeroComesLast() {
    World world = world();
    used(world, "greedy", 100);
    pool(world, 2, "greedy");
    localQueue(world, "never", 0);
    world.submit("first", "never", 1, 9, 0);
    world.submit("second", "greedy", 1, 0, 1);

    assertThat(order(world)).containsExactly("second", "first");
    assertThat(past(world, "never").orElseThrow().amount()).isInfinite();

    localQueue(world, "never", 1);
    assertThat(order(world)).containsExactly("first", "second");
  }

  @Test
  void aStrictQueueIsBlockedByWhoeverUsedLeast() {
    World world = world();
    used(world, "greedy", 5);
    pool(
        world, spec(QueueingStrategy.STRICT_FIFO, PreemptionPolicies.NEVER, 4), "greedy", "modest");
    world.submit("running", "modest", 2, 0, 0);
    assertThat(world.admitted()).containsExactly("running");
    world.submit("small", "greedy", 1, 9, 1);
    world.submit("large", "modest", 3, 0, 2);

    assertThat(world.admitted()).isEmpty(); // behind "large", although it fits

    localQueue(world, "modest", 0); // now "greedy" comes first
    assertThat(world.admitted()).containsExactly("small");
  }

  @Test
  void whoeverPreemptedStandsBehindQueuesThatUsedLess() {
    World world = world();
    pool(
        world,
        spec(QueueingStrategy.BEST_EFFORT_FIFO, policy(WithinClusterQueue.LOWER_PRIORITY), 4),
        "a",
        "b");
    world.submit("running", "b", 4, 0, 0);
    world.admitted();
    used(world, "b", 9); // too late to count: the engine knows better
    world.submit("preemptor", "b", 4, 5, 1);
    world.admitted();
    assertThat(world.preempted()).containsExactly("running for preemptor: InClusterQueue");

    world.submit("modest", "a", 4, 0, 2);
    assertThat(order(world)).containsExactly("modest", "preemptor");
    world.finish("running");
    assertThat(world.admitted()).containsExactly("modest");
  }

  @Test
  void parkedOnesWakeInTheOrderOfUse() {
    World world = world();
    pool(world, 4, "a", "b");
    world.submit("running", "a", 4, 0, 0);
    world.admitted();
    world.submit("urgent", "a", 3, 9, 1);
    world.submit("modest", "b", 2, 0, 2);
    assertThat(world.admitted()).isEmpty();

    world.finish("running");
    assertThat(world.admitted()).containsExactly("modest");
  }

  @Test
  void orderFollowsUseAsItIsSampled() {
    World world = world();
    used(world, "a", 2);
    used(world, "b", 1);
    pool(world, 5000, "a", "b");
    world.submit("runs", "b", 4000, 0, 0);
    world.admitted();
    world.submit("of-a", "a", 3000, 0, 1);
    world.submit("of-b", "b", 3000, 0, 2);
    // b: 1 + 4 * 0.067 = 1.27
    assertThat(order(world)).containsExactly("of-b", "of-a");

    minutes(world, 10); // a: 2 / 2; b: (1.27 + 4) / 2
    assertThat(order(world)).containsExactly("of-a", "of-b");
    assertThat(cpu(world, "a")).isCloseTo(1, within(1e-9));
    assertThat(cpu(world, "b")).isCloseTo(2.634, within(0.001));
  }

  @Test
  void whatIsNotConfiguredOrNotAskedForDoesNotCount() {
    World without = new World();
    without.flavor("f");
    pool(without, 1, "greedy", "modest");
    World notAsked = world();
    notAsked.engine.apply(
        new SchedulerEvent.ClusterQueueChanged(
            spec(QueueingStrategy.BEST_EFFORT_FIFO, PreemptionPolicies.NEVER, 1)));
    localQueue(notAsked, "greedy", 1);
    localQueue(notAsked, "modest", 1);

    for (World world : List.of(without, notAsked)) {
      used(world, "greedy", 5);
      world.submit("older", "greedy", 1, 0, 0);
      world.submit("newer", "modest", 1, 0, 1);
      assertThat(order(world)).containsExactly("older", "newer");
      assertThat(past(world, "greedy")).isEmpty();
      assertThat(world.admitted()).containsExactly("older");
    }
  }

  @Test
  void aQueueMayChangeItsMind() {
    World world = world();
    ClusterQueueSpec plain = spec(QueueingStrategy.BEST_EFFORT_FIFO, PreemptionPolicies.NEVER, 1);
    used(world, "greedy", 5);
    pool(world, plain, "greedy", "modest");
    world.submit("older", "greedy", 1, 0, 0);
    world.submit("newer", "modest", 1, 0, 1);
    world.submit("never", "modest", 2, 0, 1);
    assertThat(order(world)).containsExactly("never", "newer", "older");

    world.engine.apply(new SchedulerEvent.ClusterQueueChanged(plain));
    assertThat(order(world)).containsExactly("older", "never", "newer");
    assertThat(past(world, "greedy")).isEmpty();

    world.engine.apply(new SchedulerEvent.ClusterQueueChanged(plain.takingTurnsByUse()));
    assertThat(past(world, "greedy")).isPresent();
    assertThat(world.admitted()).containsExactly("older"); // its past was told once, and is gone
  }

  // ledger

  @Test
  void useIsSampledAtTheInterval() {
    World world = world();
    pool(world, 5000, "a", "idle");
    world.submit("runs", "a", 4000, 0, 0);
    world.admitted();
    double part = 1 - Math.pow(0.5, 0.1);
    assertThat(cpu(world, "a")).isCloseTo(4 * part, within(1e-9));
    assertThat(past(world, "a").orElseThrow().sampledAt()).isEqualTo(World.START);

    world.engine.apply(new SchedulerEvent.TimePassed(World.START.plusSeconds(59)));
    assertThat(cpu(world, "a")).isCloseTo(4 * part, within(1e-9));

    minutes(world, 1);
    assertThat(cpu(world, "a")).isCloseTo(4 * part * (1 - part) + 4 * part, within(1e-9));
    assertThat(past(world, "a").orElseThrow().sampledAt()).isEqualTo(World.START.plusSeconds(60));

    world.finish("runs");
    double before = cpu(world, "a");
    minutes(world, 11);
    assertThat(cpu(world, "a")).isCloseTo(before / 2, within(1e-9));
  }

  @Test
  void aSampleThatChangesNothingIsNoNews() {
    World world = world();
    pool(world, 5, "idle");
    world.admitted();
    new ViewPublisher().publish(world.engine);

    minutes(world, 1);
    minutes(world, 2);

    assertThat(world.engine.changes().isEmpty()).isTrue();
    assertThat(world.engine.idle()).isTrue();
  }

  @Test
  void whoeverIsNotAdmittedAfterAllPaysNothing() {
    World world = world();
    pool(world, 4000, "a");
    WorkloadId refused = world.submit("refused", "a", 1000, 0, 0);
    world.submit("gone", "a", 1000, 0, 1);
    world.submit("moved", "a", 1000, 0, 2);
    while (world.engine.cycle()) {
      // nobody's admission is written
    }
    assertThat(past(world, "a").orElseThrow().amount()).isCloseTo(3 * 0.067, within(0.001));
    assertThat(cpu(world, "a")).isZero();

    world.engine.apply(
        new SchedulerEvent.AdmissionRefused(refused, world.admission("refused").version(), true));
    assertThat(past(world, "a").orElseThrow().amount()).isCloseTo(2 * 0.067, within(0.001));
    world.finish("gone");
    assertThat(past(world, "a").orElseThrow().amount()).isCloseTo(0.067, within(0.001));
    localQueue(world, "b", 1);
    world.submit("moved", "b", 1000, 0, 2);
    assertThat(past(world, "a").orElseThrow().amount()).isZero();
    assertThat(past(world, "b").orElseThrow().amount()).isZero();
  }

  @Test
  void aPenaltyBecomesUseOnlyWithTheAdmission() {
    World world = world();
    pool(world, 4000, "a");
    WorkloadId id = world.submit("two-phase", "a", 1000, 0, 0);
    while (world.engine.cycle()) {
      // until nothing is left
    }
    world.engine.apply(new SchedulerEvent.AdmissionWritten(id, world.nextVersion(), false));
    assertThat(cpu(world, "a")).isZero();
    assertThat(past(world, "a").orElseThrow().amount()).isCloseTo(0.067, within(0.001));

    minutes(world, 1); // it uses nothing yet that counts
    assertThat(cpu(world, "a")).isZero();

    Decision.Admit decision = world.admission("two-phase");
    world.engine.apply(new SchedulerEvent.WorkloadReserving(reserving(world, id, "a", decision.podSets())));
    assertThat(cpu(world, "a")).isCloseTo(0.067, within(0.001));
    assertThat(past(world, "a").orElseThrow().amount()).isCloseTo(0.067, within(0.001));
  }

  private static ReservingWorkload reserving(
      World world, WorkloadId id, String localQueue, List<PodSetAssignment> podSets) {
    return new ReservingWorkload(
        id,
        world.nextVersion(),
        localQueue,
        "pool",
        podSets,
        0,
        World.START,
        false,
        true,
        true,
        World.START);
  }

  @Test
  void withoutHalfLifeThereIsNoHistory() {
    World world = world(new AdmissionFairSharing(Duration.ZERO, MINUTE, Map.of()));
    used(world, "a", 5);
    pool(world, 4, "a", "b");
    world.submit("newer", "a", 1, 0, 1);
    world.submit("older", "b", 1, 0, 0);
    world.submit("oldest", "b", 1, 0, -1);

    minutes(world, 1);
    assertThat(cpu(world, "a")).isZero();
    assertThat(world.admitted()).containsExactly("oldest", "older", "newer");
  }

  // after a start

  @Test
  void theStatusIsBelievedUntilTheEngineDecides() {
    World world = new World(new EngineOptions(Optional.empty(), false, Optional.of(RULES)), false);
    Engine engine = world.engine;
    world.flavor("f");
    used(world, "a", 8, World.START.minusSeconds(600));
    pool(world, 4, "a", "b");
    engine.apply(
        new SchedulerEvent.WorkloadReserving(
            reserving(
                world,
                new WorkloadId("uid-runs", "ns", "runs"),
                "b",
                List.of(
                    new PodSetAssignment(
                        "main",
                        new TreeMap<>(Map.of("cpu", "f")),
                        new TreeMap<>(Map.of("cpu", 2000L)),
                        1)))));
    assertThat(cpu(world, "a")).isEqualTo(8);
    used(world, "a", 6, World.START.minusSeconds(600)); // another one led, and sampled

    engine.apply(new SchedulerEvent.DecidingEnabled(true));
    // It was ten minutes ago: what was used since is what is used now.
    assertThat(cpu(world, "a")).isCloseTo(3, within(1e-9));
    assertThat(cpu(world, "b")).isZero();
    used(world, "a", 100, World.START);
    assertThat(cpu(world, "a")).isCloseTo(3, within(1e-9));

    minutes(world, 10);
    assertThat(cpu(world, "a")).isCloseTo(1.5, within(1e-9));
    assertThat(cpu(world, "b")).isCloseTo(1, within(1e-9));
  }

  @Test
  void aQueueThatIsMadeAnewHasNoPast() {
    World world = world();
    used(world, "a", 8);
    pool(world, 4, "a");
    assertThat(cpu(world, "a")).isEqualTo(8);

    world.engine.apply(new SchedulerEvent.LocalQueueRemoved(id("a")));
    localQueue(world, "a", 1);

    assertThat(cpu(world, "a")).isZero();
  }

  @Test
  void theFutureIsNotBelieved() {
    World world = world();
    used(world, "a", 8, World.START.plusSeconds(100_000));
    pool(world, 4, "a");

    minutes(world, 10);

    assertThat(cpu(world, "a")).isCloseTo(4, within(1e-9));
  }

  // victims

  private static PreemptionPolicies policy(WithinClusterQueue within) {
    return new PreemptionPolicies(within, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());
  }

  @Test
  void whoUsedMoreGivesFirst() {
    World world = world();
    used(world, "greedy", 5);
    pool(
        world,
        spec(QueueingStrategy.BEST_EFFORT_FIFO, policy(WithinClusterQueue.LOWER_PRIORITY), 4),
        "greedy",
        "modest",
        "third");
    world.submit("low", "modest", 1, 0, 0);
    world.submit("higher", "greedy", 1, 2, 0);
    world.submit("high", "greedy", 1, 1, 0);
    world.submit("protected", "greedy", 1, 7, 0);
    assertThat(world.admitted()).hasSize(4);
    world.submit("preemptor", "third", 1, 5, 1);
    world.admitted();
    assertThat(world.preempted()).containsExactly("high for preemptor: InClusterQueue");
    world.finish("high");
    world.admitted();

    world.submit("second", "third", 2, 5, 2);
    world.admitted();
    assertThat(world.preempted())
        .containsExactly("higher for second: InClusterQueue", "low for second: InClusterQueue");
  }

  @Test
  void amongEquallyMuchUsedQueuesPriorityDecides() {
    World world = world(new AdmissionFairSharing(Duration.ZERO, MINUTE, Map.of()));
    pool(
        world,
        spec(QueueingStrategy.BEST_EFFORT_FIFO, policy(WithinClusterQueue.LOWER_PRIORITY), 3),
        "a",
        "b");
    world.submit("a2", "a", 1, 2, 0);
    world.submit("b1", "b", 1, 1, 0);
    world.submit("a0", "a", 1, 0, 0);
    assertThat(world.admitted()).hasSize(3);

    world.submit("preemptor", "b", 2, 5, 1);
    world.admitted();
    assertThat(world.preempted())
        .containsExactly("a0 for preemptor: InClusterQueue", "b1 for preemptor: InClusterQueue");
  }

  @Test
  void whoWaitsBecauseItsLocalQueueUsedMoreIsToldWhoseTurnItIs() {
    World world = world();
    used(world, "busy", 4);
    used(world, "idle", 1);
    pool(world, 1, "busy", "idle");
    world.submit("running", "idle", 1);
    assertThat(world.admitted()).containsExactly("running");
    world.submit("mine", "busy", 1);
    world.submit("other", "idle", 1);
    world.admitted();

    assertThat(turn(world, "mine"))
        .hasValueSatisfying(
            turn -> {
              assertThat(turn.first()).isEqualTo(id("idle"));
              assertThat(turn.others()).isEqualTo(1);
              assertThat(turn.used()).isGreaterThan(turn.usedByFirst());
            });
    assertThat(turn(world, "other")).isEmpty();
  }

  private static Optional<SchedulerQueries.Turn> turn(World world, String name) {
    return world
        .engine
        .answers()
        .pendingReason(new WorkloadId("uid-" + name, "ns", name))
        .flatMap(SchedulerQueries.Waiting::turn);
  }
}

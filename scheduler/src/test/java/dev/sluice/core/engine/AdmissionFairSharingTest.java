package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.core.engine.LocalQueueView.LocalQueueUsageView;
import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * LocalQueues of one ClusterQueue take turns by what they used, computed by hand from
 * docs/scheduling-semantics.md#queue-order and docs/scheduling-semantics.md#admission-fair-sharing.
 * The half-life is ten minutes, a sample is taken each minute.
 */
class AdmissionFairSharingTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final AdmissionFairSharing RULES =
      new AdmissionFairSharing(
          MINUTE.multipliedBy(10), MINUTE, Map.of(), AdmissionFairSharing.Anchor.ADMISSION);

  private static SchedulerFixture world(AdmissionFairSharing rules) {
    SchedulerFixture schedulerFixture =
        new SchedulerFixture(
            new EngineOptions(Optional.empty(), false, Optional.of(rules), OrderingRules.DEFAULT));
    schedulerFixture.flavor("f");
    return schedulerFixture;
  }

  private static SchedulerFixture world() {
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

  /** ClusterQueue {@code pool} whose LocalQueues take turns, and these of them. */
  private static void pool(
      SchedulerFixture schedulerFixture, ClusterQueueSpec spec, String... localQueues) {
    schedulerFixture.engine.apply(new SchedulerEvent.ClusterQueueChanged(spec.orderedByUsage()));
    for (String name : localQueues) {
      localQueue(schedulerFixture, name, 1);
    }
  }

  private static void pool(SchedulerFixture schedulerFixture, long cpu, String... localQueues) {
    pool(
        schedulerFixture,
        spec(QueueingStrategy.BEST_EFFORT_FIFO, PreemptionPolicies.NEVER, cpu),
        localQueues);
  }

  private static LocalQueueId id(String localQueue) {
    return new LocalQueueId("ns", localQueue);
  }

  private static void localQueue(SchedulerFixture schedulerFixture, String name, double weight) {
    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(id(name), "pool", StopPolicy.NONE, weight)));
  }

  /** What a LocalQueue used, as its status says before the engine knows better. */
  private static void used(
      SchedulerFixture schedulerFixture, String localQueue, double cpu, Instant at) {
    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueUsed(id(localQueue), Map.of("cpu", cpu), at));
  }

  private static void used(SchedulerFixture schedulerFixture, String localQueue, double cpu) {
    used(schedulerFixture, localQueue, cpu, SchedulerFixture.START);
  }

  private static void minutes(SchedulerFixture schedulerFixture, int count) {
    schedulerFixture.engine.apply(
        new SchedulerEvent.TimePassed(SchedulerFixture.START.plus(MINUTE.multipliedBy(count))));
  }

  private static Optional<LocalQueueUsageView> past(
      SchedulerFixture schedulerFixture, String localQueue) {
    ViewPublisher viewPublisher = new ViewPublisher();
    schedulerFixture.engine.changes().all = true;
    viewPublisher.publish(schedulerFixture.engine);
    return viewPublisher.localQueue(id(localQueue)).flatMap(LocalQueueView::usageOverTime);
  }

  private static double cpu(SchedulerFixture schedulerFixture, String localQueue) {
    return past(schedulerFixture, localQueue).orElseThrow().consumed().getOrDefault("cpu", 0.0);
  }

  private static List<String> order(SchedulerFixture schedulerFixture) {
    return schedulerFixture.engine.queries().pendingIn("pool").stream()
        .map(position -> position.id().name())
        .toList();
  }

  // order

  @Test
  void whoUsedLessComesFirstWhateverPriorityAndAge() {
    SchedulerFixture schedulerFixture = world();
    used(schedulerFixture, "greedy", 5);
    used(schedulerFixture, "modest", 1);
    pool(schedulerFixture, 1, "greedy", "modest", "new");
    schedulerFixture.submit("urgent", "greedy", 1, 100, 0);
    schedulerFixture.submit("of-modest", "modest", 1, 0, 1);
    schedulerFixture.submit("low", "new", 1, -5, 3);
    schedulerFixture.submit("high", "new", 1, 5, 2);

    assertThat(order(schedulerFixture)).containsExactly("high", "low", "of-modest", "urgent");
    assertThat(schedulerFixture.admitted()).containsExactly("high");
  }

  @Test
  void aPenaltyOnEntryLetsOthersHaveTheirTurn() {
    // Each one given quota counts 0.067 of its request at once, so that the two alternate.
    SchedulerFixture schedulerFixture = world();
    pool(schedulerFixture, 4000, "a", "b");
    for (int i = 0; i < 4; i++) {
      schedulerFixture.submit("a" + i, "a", 1000, 0, i);
      schedulerFixture.submit("b" + i, "b", 1000, 0, 10 + i);
    }

    assertThat(schedulerFixture.admitted()).containsExactly("a0", "b0", "a1", "b1");
    assertThat(order(schedulerFixture)).containsExactly("a2", "a3", "b2", "b3");
  }

  @Test
  void twiceTheWeightMayUseTwiceAsMuch() {
    SchedulerFixture schedulerFixture = world();
    pool(schedulerFixture, 6000, "a");
    localQueue(schedulerFixture, "b", 2);
    for (int i = 0; i < 6; i++) {
      schedulerFixture.submit("a" + i, "a", 1000, 0, i);
      schedulerFixture.submit("b" + i, "b", 1000, 0, 10 + i);
    }

    // of a and b, in parts of 0.067: 0 0, 1 0, 1 .5, 1 1, 2 1, 2 1.5
    assertThat(schedulerFixture.admitted()).containsExactly("a0", "b0", "b1", "a1", "b2", "b3");
  }

  @Test
  void aQueueOfWeightZeroComesLast() {
    SchedulerFixture schedulerFixture = world();
    used(schedulerFixture, "greedy", 100);
    pool(schedulerFixture, 2, "greedy");
    localQueue(schedulerFixture, "never", 0);
    schedulerFixture.submit("first", "never", 1, 9, 0);
    schedulerFixture.submit("second", "greedy", 1, 0, 1);

    assertThat(order(schedulerFixture)).containsExactly("second", "first");
    assertThat(past(schedulerFixture, "never").orElseThrow().amount()).isInfinite();

    localQueue(schedulerFixture, "never", 1);
    assertThat(order(schedulerFixture)).containsExactly("first", "second");
  }

  @Test
  void aStrictQueueIsBlockedByWhoeverUsedLeast() {
    SchedulerFixture schedulerFixture = world();
    used(schedulerFixture, "greedy", 5);
    pool(
        schedulerFixture,
        spec(QueueingStrategy.STRICT_FIFO, PreemptionPolicies.NEVER, 4),
        "greedy",
        "modest");
    schedulerFixture.submit("running", "modest", 2, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submit("small", "greedy", 1, 9, 1);
    schedulerFixture.submit("large", "modest", 3, 0, 2);

    assertThat(schedulerFixture.admitted()).isEmpty(); // behind "large", although it fits

    localQueue(schedulerFixture, "modest", 0); // now "greedy" comes first
    assertThat(schedulerFixture.admitted()).containsExactly("small");
  }

  @Test
  void whoeverPreemptedStandsBehindQueuesThatUsedLess() {
    SchedulerFixture schedulerFixture = world();
    pool(
        schedulerFixture,
        spec(QueueingStrategy.BEST_EFFORT_FIFO, policy(WithinClusterQueue.LOWER_PRIORITY), 4),
        "a",
        "b");
    schedulerFixture.submit("running", "b", 4, 0, 0);
    schedulerFixture.admitted();
    used(schedulerFixture, "b", 9); // too late to count: the engine knows better
    schedulerFixture.submit("preemptor", "b", 4, 5, 1);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted())
        .containsExactly("running for preemptor: InClusterQueue");

    schedulerFixture.submit("modest", "a", 4, 0, 2);
    assertThat(order(schedulerFixture)).containsExactly("modest", "preemptor");
    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).containsExactly("modest");
  }

  @Test
  void parkedOnesWakeInTheOrderOfUse() {
    SchedulerFixture schedulerFixture = world();
    pool(schedulerFixture, 4, "a", "b");
    schedulerFixture.submit("running", "a", 4, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("urgent", "a", 3, 9, 1);
    schedulerFixture.submit("modest", "b", 2, 0, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).containsExactly("modest");
  }

  @Test
  void orderFollowsUseAsItIsSampled() {
    SchedulerFixture schedulerFixture = world();
    used(schedulerFixture, "a", 2);
    used(schedulerFixture, "b", 1);
    pool(schedulerFixture, 5000, "a", "b");
    schedulerFixture.submit("runs", "b", 4000, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("of-a", "a", 3000, 0, 1);
    schedulerFixture.submit("of-b", "b", 3000, 0, 2);
    // b: 1 + 4 * 0.067 = 1.27
    assertThat(order(schedulerFixture)).containsExactly("of-b", "of-a");

    minutes(schedulerFixture, 10); // a: 2 / 2; b: (1.27 + 4) / 2
    assertThat(order(schedulerFixture)).containsExactly("of-a", "of-b");
    assertThat(cpu(schedulerFixture, "a")).isCloseTo(1, within(1e-9));
    assertThat(cpu(schedulerFixture, "b")).isCloseTo(2.634, within(0.001));
  }

  @Test
  void whatIsNotConfiguredOrNotAskedForDoesNotCount() {
    SchedulerFixture without = new SchedulerFixture();
    without.flavor("f");
    pool(without, 1, "greedy", "modest");
    SchedulerFixture notAsked = world();
    notAsked.engine.apply(
        new SchedulerEvent.ClusterQueueChanged(
            spec(QueueingStrategy.BEST_EFFORT_FIFO, PreemptionPolicies.NEVER, 1)));
    localQueue(notAsked, "greedy", 1);
    localQueue(notAsked, "modest", 1);

    for (SchedulerFixture schedulerFixture : List.of(without, notAsked)) {
      used(schedulerFixture, "greedy", 5);
      schedulerFixture.submit("older", "greedy", 1, 0, 0);
      schedulerFixture.submit("newer", "modest", 1, 0, 1);
      assertThat(order(schedulerFixture)).containsExactly("older", "newer");
      assertThat(schedulerFixture.admitted()).containsExactly("older");
    }
    assertThat(past(without, "greedy")).isEmpty();
    assertThat(past(notAsked, "greedy")).isPresent();
  }

  @Test
  void aQueueMayChangeItsMind() {
    SchedulerFixture schedulerFixture = world();
    ClusterQueueSpec plain = spec(QueueingStrategy.BEST_EFFORT_FIFO, PreemptionPolicies.NEVER, 1);
    used(schedulerFixture, "greedy", 5);
    pool(schedulerFixture, plain, "greedy", "modest");
    schedulerFixture.submit("older", "greedy", 1, 0, 0);
    schedulerFixture.submit("newer", "modest", 1, 0, 1);
    schedulerFixture.submit("never", "modest", 2, 0, 1);
    assertThat(order(schedulerFixture)).containsExactly("never", "newer", "older");

    schedulerFixture.engine.apply(new SchedulerEvent.ClusterQueueChanged(plain));
    assertThat(order(schedulerFixture)).containsExactly("older", "never", "newer");
    assertThat(cpu(schedulerFixture, "greedy")).isEqualTo(5);

    // the usage is counted on while it doesn't order, so that it orders again
    schedulerFixture.engine.apply(new SchedulerEvent.ClusterQueueChanged(plain.orderedByUsage()));
    assertThat(order(schedulerFixture)).containsExactly("never", "newer", "older");
    assertThat(schedulerFixture.admitted()).containsExactly("newer");
  }

  // ledger

  @Test
  void useIsSampledAtTheInterval() {
    SchedulerFixture schedulerFixture = world();
    pool(schedulerFixture, 5000, "a", "idle");
    schedulerFixture.submit("runs", "a", 4000, 0, 0);
    schedulerFixture.admitted();
    double part = 1 - Math.pow(0.5, 0.1);
    assertThat(cpu(schedulerFixture, "a")).isCloseTo(4 * part, within(1e-9));
    assertThat(past(schedulerFixture, "a").orElseThrow().sampledAt())
        .isEqualTo(SchedulerFixture.START);

    schedulerFixture.engine.apply(
        new SchedulerEvent.TimePassed(SchedulerFixture.START.plusSeconds(59)));
    assertThat(cpu(schedulerFixture, "a")).isCloseTo(4 * part, within(1e-9));

    minutes(schedulerFixture, 1);
    assertThat(cpu(schedulerFixture, "a"))
        .isCloseTo(4 * part * (1 - part) + 4 * part, within(1e-9));
    assertThat(past(schedulerFixture, "a").orElseThrow().sampledAt())
        .isEqualTo(SchedulerFixture.START.plusSeconds(60));

    schedulerFixture.finish("runs");
    double before = cpu(schedulerFixture, "a");
    minutes(schedulerFixture, 11);
    assertThat(cpu(schedulerFixture, "a")).isCloseTo(before / 2, within(1e-9));
  }

  @Test
  void aSampleThatChangesNothingIsNoNews() {
    SchedulerFixture schedulerFixture = world();
    pool(schedulerFixture, 5, "idle");
    schedulerFixture.admitted();
    new ViewPublisher().publish(schedulerFixture.engine);

    minutes(schedulerFixture, 1);
    minutes(schedulerFixture, 2);

    assertThat(schedulerFixture.engine.changes().isEmpty()).isTrue();
    assertThat(schedulerFixture.engine.idle()).isTrue();
  }

  @Test
  void whoeverIsNotAdmittedAfterAllPaysNothing() {
    SchedulerFixture schedulerFixture = world();
    pool(schedulerFixture, 4000, "a");
    WorkloadId refused = schedulerFixture.submit("refused", "a", 1000, 0, 0);
    schedulerFixture.submit("gone", "a", 1000, 0, 1);
    schedulerFixture.submit("moved", "a", 1000, 0, 2);
    while (schedulerFixture.engine.cycle()) {
      // nobody's admission is written
    }
    assertThat(past(schedulerFixture, "a").orElseThrow().amount())
        .isCloseTo(3 * 0.067, within(0.001));
    assertThat(cpu(schedulerFixture, "a")).isZero();

    schedulerFixture.engine.apply(
        new SchedulerEvent.AdmissionRefused(
            refused, schedulerFixture.admission("refused").version(), true));
    assertThat(past(schedulerFixture, "a").orElseThrow().amount())
        .isCloseTo(2 * 0.067, within(0.001));
    schedulerFixture.finish("gone");
    assertThat(past(schedulerFixture, "a").orElseThrow().amount()).isCloseTo(0.067, within(0.001));
    localQueue(schedulerFixture, "b", 1);
    schedulerFixture.submit("moved", "b", 1000, 0, 2);
    assertThat(past(schedulerFixture, "a").orElseThrow().amount()).isZero();
    assertThat(past(schedulerFixture, "b").orElseThrow().amount()).isZero();
  }

  @Test
  void aPenaltyBecomesUseOnlyWithTheAdmission() {
    SchedulerFixture schedulerFixture = world();
    pool(schedulerFixture, 4000, "a");
    WorkloadId id = schedulerFixture.submit("two-phase", "a", 1000, 0, 0);
    while (schedulerFixture.engine.cycle()) {
      // until nothing is left
    }
    schedulerFixture.engine.apply(
        new SchedulerEvent.AdmissionWritten(id, schedulerFixture.nextVersion(), false));
    assertThat(cpu(schedulerFixture, "a")).isZero();
    assertThat(past(schedulerFixture, "a").orElseThrow().amount()).isCloseTo(0.067, within(0.001));

    minutes(schedulerFixture, 1); // it uses nothing yet that counts
    assertThat(cpu(schedulerFixture, "a")).isZero();

    Decision.Admit decision = schedulerFixture.admission("two-phase");
    schedulerFixture.engine.apply(
        new SchedulerEvent.WorkloadReserving(
            reserving(schedulerFixture, id, "a", decision.podSets())));
    assertThat(cpu(schedulerFixture, "a")).isCloseTo(0.067, within(0.001));
    assertThat(past(schedulerFixture, "a").orElseThrow().amount()).isCloseTo(0.067, within(0.001));
  }

  private static ReservingWorkload reserving(
      SchedulerFixture schedulerFixture,
      WorkloadId id,
      String localQueue,
      List<PodSetAssignment> podSets) {
    return new ReservingWorkload(
        id,
        schedulerFixture.nextVersion(),
        localQueue,
        "pool",
        podSets,
        0,
        SchedulerFixture.START,
        false,
        true,
        true,
        SchedulerFixture.START);
  }

  @Test
  void withoutHalfLifeThereIsNoHistory() {
    SchedulerFixture schedulerFixture =
        world(
            new AdmissionFairSharing(
                Duration.ZERO, MINUTE, Map.of(), AdmissionFairSharing.Anchor.ADMISSION));
    used(schedulerFixture, "a", 5);
    pool(schedulerFixture, 4, "a", "b");
    schedulerFixture.submit("newer", "a", 1, 0, 1);
    schedulerFixture.submit("older", "b", 1, 0, 0);
    schedulerFixture.submit("oldest", "b", 1, 0, -1);

    minutes(schedulerFixture, 1);
    assertThat(cpu(schedulerFixture, "a")).isZero();
    assertThat(schedulerFixture.admitted()).containsExactly("oldest", "older", "newer");
  }

  // after a start

  @Test
  void theStatusIsBelievedUntilTheEngineDecides() {
    SchedulerFixture schedulerFixture =
        new SchedulerFixture(
            new EngineOptions(Optional.empty(), false, Optional.of(RULES), OrderingRules.DEFAULT),
            false);
    Engine engine = schedulerFixture.engine;
    schedulerFixture.flavor("f");
    used(schedulerFixture, "a", 8, SchedulerFixture.START.minusSeconds(600));
    pool(schedulerFixture, 4, "a", "b");
    engine.apply(
        new SchedulerEvent.WorkloadReserving(
            reserving(
                schedulerFixture,
                new WorkloadId("uid-runs", "ns", "runs"),
                "b",
                List.of(
                    new PodSetAssignment(
                        "main",
                        new TreeMap<>(Map.of("cpu", "f")),
                        new TreeMap<>(Map.of("cpu", 2000L)),
                        1)))));
    assertThat(cpu(schedulerFixture, "a")).isEqualTo(8);
    used(
        schedulerFixture,
        "a",
        6,
        SchedulerFixture.START.minusSeconds(600)); // another one led, and sampled

    engine.apply(new SchedulerEvent.DecidingEnabled(true));
    // It was ten minutes ago: what was used since is what is used now.
    assertThat(cpu(schedulerFixture, "a")).isCloseTo(3, within(1e-9));
    assertThat(cpu(schedulerFixture, "b")).isZero();
    used(schedulerFixture, "a", 100, SchedulerFixture.START);
    assertThat(cpu(schedulerFixture, "a")).isCloseTo(3, within(1e-9));

    minutes(schedulerFixture, 10);
    assertThat(cpu(schedulerFixture, "a")).isCloseTo(1.5, within(1e-9));
    assertThat(cpu(schedulerFixture, "b")).isCloseTo(1, within(1e-9));
  }

  @Test
  void aQueueThatIsMadeAnewHasNoPast() {
    SchedulerFixture schedulerFixture = world();
    used(schedulerFixture, "a", 8);
    pool(schedulerFixture, 4, "a");
    assertThat(cpu(schedulerFixture, "a")).isEqualTo(8);

    schedulerFixture.engine.apply(new SchedulerEvent.LocalQueueRemoved(id("a")));
    localQueue(schedulerFixture, "a", 1);

    assertThat(cpu(schedulerFixture, "a")).isZero();
  }

  @Test
  void theFutureIsNotBelieved() {
    SchedulerFixture schedulerFixture = world();
    used(schedulerFixture, "a", 8, SchedulerFixture.START.plusSeconds(100_000));
    pool(schedulerFixture, 4, "a");

    minutes(schedulerFixture, 10);

    assertThat(cpu(schedulerFixture, "a")).isCloseTo(4, within(1e-9));
  }

  // victims

  private static PreemptionPolicies policy(WithinClusterQueue within) {
    return new PreemptionPolicies(within, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());
  }

  @Test
  void whoUsedMoreGivesFirst() {
    SchedulerFixture schedulerFixture = world();
    used(schedulerFixture, "greedy", 5);
    pool(
        schedulerFixture,
        spec(QueueingStrategy.BEST_EFFORT_FIFO, policy(WithinClusterQueue.LOWER_PRIORITY), 4),
        "greedy",
        "modest",
        "third");
    schedulerFixture.submit("low", "modest", 1, 0, 0);
    schedulerFixture.submit("higher", "greedy", 1, 2, 0);
    schedulerFixture.submit("high", "greedy", 1, 1, 0);
    schedulerFixture.submit("protected", "greedy", 1, 7, 0);
    assertThat(schedulerFixture.admitted()).hasSize(4);
    schedulerFixture.submit("preemptor", "third", 1, 5, 1);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).containsExactly("high for preemptor: InClusterQueue");
    schedulerFixture.finish("high");
    schedulerFixture.admitted();

    schedulerFixture.submit("second", "third", 2, 5, 2);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted())
        .containsExactly("higher for second: InClusterQueue", "low for second: InClusterQueue");
  }

  @Test
  void amongEquallyMuchUsedQueuesPriorityDecides() {
    SchedulerFixture schedulerFixture =
        world(
            new AdmissionFairSharing(
                Duration.ZERO, MINUTE, Map.of(), AdmissionFairSharing.Anchor.ADMISSION));
    pool(
        schedulerFixture,
        spec(QueueingStrategy.BEST_EFFORT_FIFO, policy(WithinClusterQueue.LOWER_PRIORITY), 3),
        "a",
        "b");
    schedulerFixture.submit("a2", "a", 1, 2, 0);
    schedulerFixture.submit("b1", "b", 1, 1, 0);
    schedulerFixture.submit("a0", "a", 1, 0, 0);
    assertThat(schedulerFixture.admitted()).hasSize(3);

    schedulerFixture.submit("preemptor", "b", 2, 5, 1);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted())
        .containsExactly("a0 for preemptor: InClusterQueue", "b1 for preemptor: InClusterQueue");
  }

  @Test
  void whoWaitsBecauseItsLocalQueueUsedMoreIsToldWhoseTurnItIs() {
    SchedulerFixture schedulerFixture = world();
    used(schedulerFixture, "busy", 4);
    used(schedulerFixture, "idle", 1);
    pool(schedulerFixture, 1, "busy", "idle");
    schedulerFixture.submit("running", "idle", 1);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submit("mine", "busy", 1);
    schedulerFixture.submit("other", "idle", 1);
    schedulerFixture.admitted();

    assertThat(turn(schedulerFixture, "mine"))
        .hasValueSatisfying(
            earlierLocalQueues -> {
              assertThat(earlierLocalQueues.first()).isEqualTo(id("idle"));
              assertThat(earlierLocalQueues.others()).isEqualTo(1);
              assertThat(earlierLocalQueues.used()).isGreaterThan(earlierLocalQueues.usedByFirst());
            });
    assertThat(turn(schedulerFixture, "other")).isEmpty();
  }

  private static Optional<SchedulerQueries.EarlierLocalQueues> turn(
      SchedulerFixture schedulerFixture, String name) {
    return schedulerFixture
        .engine
        .queries()
        .pendingReason(new WorkloadId("uid-" + name, "ns", name))
        .flatMap(SchedulerQueries.PendingReport::earlierLocalQueues);
  }
}

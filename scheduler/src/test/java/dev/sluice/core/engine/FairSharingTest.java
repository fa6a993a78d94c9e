package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static dev.sluice.core.model.FairSharing.Strategy.LESS_THAN_INITIAL_SHARE;
import static dev.sluice.core.model.FairSharing.Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.quota.DominantResourceShare;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Fair sharing, computed by hand from docs/scheduling-semantics.md#the-cycle. */
class FairSharingTest {

  private static final PreemptionPolicies ANY =
      policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY);
  private static final PreemptionPolicies LOWER =
      policies(WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.LOWER_PRIORITY);
  private static final List<Strategy> BOTH =
      List.of(LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, LESS_THAN_INITIAL_SHARE);

  private static PreemptionPolicies policies(
      WithinClusterQueue within, ReclaimWithinCohort cohort) {
    return new PreemptionPolicies(within, cohort, false, OptionalInt.empty());
  }

  private static SchedulerFixture world(
      List<Strategy> strategies, boolean withinNominal, boolean nonBorrow) {
    SchedulerFixture schedulerFixture =
        new SchedulerFixture(Optional.of(new FairSharing(strategies, withinNominal, nonBorrow)));
    schedulerFixture.flavor("f");
    return schedulerFixture;
  }

  private static SchedulerFixture world(Strategy... strategies) {
    return world(strategies.length == 0 ? BOTH : List.of(strategies), true, true);
  }

  /** A queue without quota of its own. */
  private static void guest(SchedulerFixture schedulerFixture, String name, String cohort) {
    schedulerFixture.queue(name, cohort, ANY, quota("f", 0));
  }

  // order

  @Test
  void whoHasLessOfWhatIsSharedComesFirst() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    guest(schedulerFixture, "a", "co");
    guest(schedulerFixture, "b", "co");
    schedulerFixture.submit("running", "a", 4, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("older", "a", 4, 9, 1); // 8 of 12 with it
    schedulerFixture.submit("newer", "b", 4, 0, 2); // 4 of 12

    assertThat(schedulerFixture.admitted()).containsExactly("newer", "older");
  }

  /**
   * One that asks for a resource that its queue doesn't have uses nothing: it doesn't make those of
   * its cohort late.
   */
  @Test
  void whoAsksForWhatNoGroupCoversTakesNoShare() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.cohort("left", "root");
    schedulerFixture.queue("a", "left", quota("f", 2));
    schedulerFixture.queue("uncovered", "left", quota("f", 5));
    schedulerFixture.queue("b", "root", quota("f", 1));
    schedulerFixture.queue("lender", "root", quota("f", 10));
    schedulerFixture.submit("runs-a", "a", 5, 0, 0);
    schedulerFixture.submit("runs-b", "b", 2, 0, 0);
    assertThat(schedulerFixture.admitted()).hasSize(2);
    schedulerFixture.submit("of-a", "a", 1, 0, 1); // with it left uses 6 of its 7
    schedulerFixture.submit(
        "with-memory",
        "uncovered",
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", 5L, "memory", 1L)),
                    NodeConstraints.ANYWHERE,
                    ""))),
        0,
        2);
    schedulerFixture.submit("of-b", "b", 1, 1, 3); // borrows 2 of 18

    assertThat(schedulerFixture.admitted()).containsExactly("of-a", "of-b");
  }

  private static SchedulerFixture refilling() {
    SchedulerFixture schedulerFixture =
        new SchedulerFixture(Optional.of(new FairSharing(BOTH, true, true, true)));
    schedulerFixture.flavor("f");
    return schedulerFixture;
  }

  /** Changes of 0.20, section 4, FairSharingRefill: the next head joins the same cycle. */
  @Test
  void theNextOfAQueueIsComparedInTheSameCycleWithTheGate() {
    for (boolean refills : List.of(false, true)) {
      SchedulerFixture schedulerFixture = refills ? refilling() : world();
      schedulerFixture.queue("lender", "co", quota("f", 4));
      guest(schedulerFixture, "a", "co");
      guest(schedulerFixture, "b", "co");
      schedulerFixture.submit("a0", "a", 1, 0, 0);
      schedulerFixture.submit("a1", "a", 1, 0, 1);
      schedulerFixture.admitted();
      schedulerFixture.submit("a2", "a", 1, 0, 2); // 750 with it
      schedulerFixture.submit("b0", "b", 1, 0, 3); // 250 with it
      schedulerFixture.submit("b1", "b", 1, 0, 4); // 500 with it

      assertThat(schedulerFixture.admitted()).containsExactly("b0", refills ? "b1" : "a2");
    }
  }

  /** Changes of 0.20, section 4, FairSharingRefill: 8 per cycle over all cohorts. */
  @Test
  void eightJoinACycleOfAllTrees() {
    SchedulerFixture schedulerFixture = refilling();
    for (String tree : List.of("one", "two")) {
      schedulerFixture.queue("lender-" + tree, tree, quota("f", 100));
      guest(schedulerFixture, "guest-" + tree, tree);
      for (int i = 0; i < 7; i++) {
        schedulerFixture.submit(tree + i, "guest-" + tree, 1, 0, i);
      }
    }
    schedulerFixture.engine.cycle();
    assertThat(schedulerFixture.decisions).hasSize(2 + 8);
    schedulerFixture.engine.cycle();
    assertThat(schedulerFixture.decisions).hasSize(2 * 7);
  }

  /** Changes of 0.20, section 4, FairSharingRefill: refilled ones never preempt. */
  @Test
  void whoJoinsACycleNeverPreempts() {
    SchedulerFixture schedulerFixture = refilling();
    schedulerFixture.queue("owner", "co", ANY, quota("f", 4));
    guest(schedulerFixture, "b", "co");
    schedulerFixture.submit("guest", "b", 2, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.decisions.clear();
    schedulerFixture.submit("fits", "owner", 2, 0, 1);
    schedulerFixture.submit("preempts", "owner", 2, 0, 2);

    schedulerFixture.engine.cycle();
    assertThat(schedulerFixture.decisions)
        .singleElement()
        .isInstanceOfSatisfying(
            Decision.Admit.class, admit -> assertThat(admit.id().name()).isEqualTo("fits"));
    schedulerFixture.engine.cycle();
    assertThat(schedulerFixture.preempted())
        .containsExactly("guest for preempts: InCohortReclamation");
  }

  /** Changes of 0.20, section 4, FairSharingRefill: off with blockAdmission. */
  @Test
  void nobodyJoinsACycleThatMayAdmitOne() {
    SchedulerFixture schedulerFixture =
        new SchedulerFixture(
            new EngineOptions(Optional.of(new FairSharing(BOTH, true, true, true)), true));
    schedulerFixture.flavor("f");
    schedulerFixture.queue("a", "co", quota("f", 4));
    schedulerFixture.submit("one", "a", 1, 0, 0);
    schedulerFixture.submit("two", "a", 1, 0, 1);
    schedulerFixture.engine.cycle();
    assertThat(schedulerFixture.decisions).hasSize(1);
  }

  /** All of a class that a release of quota helps, one after the other. */
  @Test
  void whoWasInadmissibleJoinsAfterARelease() {
    SchedulerFixture schedulerFixture = refilling();
    schedulerFixture.queue("lender", "co", quota("f", 3));
    guest(schedulerFixture, "a", "co");
    schedulerFixture.submit("large", "a", 3, 9, 0);
    for (int i = 0; i < 4; i++) {
      schedulerFixture.submit("small" + i, "a", 1, 0, 1 + i);
    }
    assertThat(schedulerFixture.admitted()).containsExactly("large");
    schedulerFixture.finish("large");
    schedulerFixture.decisions.clear();
    schedulerFixture.engine.cycle();
    assertThat(schedulerFixture.decisions).hasSize(3);
  }

  /** The next one is judged by its queue, not by what would fit. */
  @Test
  void nobodyPassesTheNextOfAQueue() {
    SchedulerFixture schedulerFixture = refilling();
    schedulerFixture.queue("a", "co", QueueingStrategy.STRICT_FIFO, quota("f", 4));
    schedulerFixture.submit("first", "a", 1, 0, 0);
    schedulerFixture.submit("large", "a", 4, 0, 1);
    schedulerFixture.submit("small", "a", 1, 0, 2);
    assertThat(schedulerFixture.admitted()).containsExactly("first");
  }

  @Test
  void aLargerWeightMakesTheSameShareSmaller() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    schedulerFixture.queue("a", "co", "4", ANY, quota("f", 0));
    guest(schedulerFixture, "b", "co");
    schedulerFixture.submit("running", "a", 4, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("newer", "a", 4, 0, 2); // 667 by 4
    schedulerFixture.submit("older", "b", 4, 9, 1); // 333

    assertThat(schedulerFixture.admitted()).containsExactly("newer", "older");
  }

  @Test
  void equalSharesGoByPriorityThenByAge() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    for (String queue : List.of("a", "b", "c")) {
      guest(schedulerFixture, queue, "co");
    }
    schedulerFixture.submit("newer", "a", 4, 0, 3);
    schedulerFixture.submit("older", "b", 4, 0, 2);
    schedulerFixture.submit("urgent", "c", 4, 1, 4);

    assertThat(schedulerFixture.admitted()).containsExactly("urgent", "older", "newer");
  }

  @Test
  void cohortsCompeteAboveTheirQueuesAndSharesCountWhatWasTaken() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.cohort("root", "");
    schedulerFixture.cohort("left", "root");
    schedulerFixture.cohort("right", "root");
    schedulerFixture.queue("lender", "root", quota("f", 12));
    guest(schedulerFixture, "a", "left");
    guest(schedulerFixture, "b", "left");
    guest(schedulerFixture, "c", "right");
    guest(schedulerFixture, "d", "right");
    schedulerFixture.submit("of-a", "a", 3, 0, 0);
    schedulerFixture.submit("of-b", "b", 3, 0, 1);
    schedulerFixture.submit("of-c", "c", 2, 0, 2);
    schedulerFixture.submit("of-d", "d", 3, 0, 3);

    // left 3 or right 2; left 3 or right 5; left 6 or right 5
    assertThat(schedulerFixture.admitted()).containsExactly("of-c", "of-a", "of-d", "of-b");
  }

  @Test
  void aBlockedHeadStillBeatsOthersOfItsCohort() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.cohort("root", "");
    schedulerFixture.cohort("left", "root");
    schedulerFixture.queue("lender", "left", quota("f", 4));
    schedulerFixture.queue("strict", "left", QueueingStrategy.STRICT_FIFO, quota("f", 2));
    guest(schedulerFixture, "a", "left");
    schedulerFixture.queue("b", "root", quota("f", 4));
    schedulerFixture.submit("blocked", "strict", 100, 0, 9);
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.submit("of-a", "a", 3, 0, 0);
    schedulerFixture.submit("of-b", "b", 3, 0, 1);

    // "of-a" is the oldest, but has 3 of 6 where "blocked" has none, so "of-b" meets "blocked"
    assertThat(schedulerFixture.admitted()).containsExactly("of-b", "of-a");
  }

  @Test
  void aSmallShareInALargeCohortWaits() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.cohort("root", "");
    schedulerFixture.cohort("left", "root");
    schedulerFixture.cohort("right", "root");
    schedulerFixture.queue("lender", "root", quota("f", 12));
    guest(schedulerFixture, "a", "left");
    guest(schedulerFixture, "b", "left");
    guest(schedulerFixture, "c", "right");
    schedulerFixture.submit("running", "b", 6, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("of-a", "a", 2, 9, 1); // 2 of 12, its cohort 8 of 12
    schedulerFixture.submit("of-c", "c", 3, 0, 2); // 3 of 12, as its cohort

    assertThat(schedulerFixture.admitted()).containsExactly("of-c", "of-a");
  }

  @Test
  void theWeightOfACohortCounts() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.cohort("root", "");
    schedulerFixture.engine.apply(
        new SchedulerEvent.CohortChanged(
            new CohortSpec("left", "root", List.of(), new BigDecimal("5"))));
    schedulerFixture.cohort("right", "root");
    schedulerFixture.queue("lender", "root", quota("f", 12));
    guest(schedulerFixture, "a", "left");
    guest(schedulerFixture, "b", "left");
    guest(schedulerFixture, "c", "right");
    schedulerFixture.submit("running", "b", 6, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("of-a", "a", 2, 0, 2); // its cohort 667 by 5
    schedulerFixture.submit("of-c", "c", 3, 9, 1); // 250

    assertThat(schedulerFixture.admitted()).containsExactly("of-a", "of-c");
  }

  /** Gate FairSharingPrioritizeNonBorrowing. */
  @Test
  void whoDoesNotBorrowWhatItAsksForComesFirstIfTheGateSaysSo() {
    for (boolean nonBorrowingFirst : new boolean[] {true, false}) {
      SchedulerFixture schedulerFixture = world(BOTH, true, nonBorrowingFirst);
      schedulerFixture.flavor("g");
      schedulerFixture.queue("lender", "co", quota("f", 10), quota("g", 10));
      schedulerFixture.queue("a", "co", quota("f", 5), quota("g", 0));
      schedulerFixture.queue("b", "co", quota("f", 0), quota("g", 0));
      schedulerFixture.submit("lent", "lender", 10, 0, 0);
      schedulerFixture.submit("own", "a", 5, 0, 0);
      schedulerFixture.admitted();
      schedulerFixture.submit("on-g", "a", 6, 0, 1);
      assertThat(schedulerFixture.admitted()).containsExactly("on-g");
      schedulerFixture.finish("lent");
      schedulerFixture.finish("own");
      schedulerFixture.submit("within", "a", 3, 0, 2); // its queue borrows 6 of g: 240
      schedulerFixture.submit("borrowing", "b", 3, 0, 3); // 120

      assertThat(schedulerFixture.admitted())
          .containsExactly(
              nonBorrowingFirst
                  ? new String[] {"within", "borrowing"}
                  : new String[] {"borrowing", "within"});
    }
  }

  // preemption

  @Test
  void itTakesFromWhoeverHasMoreUntilBothHaveAsMuch() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    guest(schedulerFixture, "rich", "co");
    guest(schedulerFixture, "poor", "co");
    for (int i = 0; i < 3; i++) {
      schedulerFixture.submit("rich-" + i, "rich", 4, 0, i);
    }
    schedulerFixture.admitted();

    schedulerFixture.submit("first", "poor", 4, 0, 5); // 333, and 667 stay
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted())
        .containsExactly("rich-0 for first: InCohortFairSharing");
    schedulerFixture.finish("rich-0");
    assertThat(schedulerFixture.admitted()).containsExactly("first");
    schedulerFixture.submit("second", "poor", 4, 9, 6); // 667, and 333 would stay
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();
  }

  @Test
  void theInitialShareAllowsWhatTheFinalShareDoesNot() {
    for (List<Strategy> strategies :
        List.of(
            List.of(LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), List.of(LESS_THAN_INITIAL_SHARE), BOTH)) {
      SchedulerFixture schedulerFixture = world(strategies, true, true);
      schedulerFixture.queue("lender", "co", quota("f", 12));
      guest(schedulerFixture, "rich", "co");
      guest(schedulerFixture, "poor", "co");
      schedulerFixture.submit("whole", "rich", 12, 0, 0);
      schedulerFixture.admitted();
      schedulerFixture.submit("w", "poor", 4, 0, 1); // 333; 1000 before, 0 after
      schedulerFixture.admitted();

      if (strategies.contains(LESS_THAN_INITIAL_SHARE)) {
        assertThat(schedulerFixture.preempted())
            .containsExactly("whole for w: InCohortFairSharing");
      } else {
        assertThat(schedulerFixture.preempted()).isEmpty();
      }
    }
  }

  @Test
  void theFinalSharePassesOverWhomItDoesNotAllow() {
    for (boolean finalFirst : new boolean[] {true, false}) {
      SchedulerFixture schedulerFixture = finalFirst ? world() : world(LESS_THAN_INITIAL_SHARE);
      schedulerFixture.queue("lender", "co", quota("f", 16));
      schedulerFixture.queue("rich", "co", "2", ANY, quota("f", 0));
      guest(schedulerFixture, "poor", "co");
      schedulerFixture.submit("large", "rich", 10, 0, 0);
      schedulerFixture.submit("small", "rich", 6, 1, 0);
      schedulerFixture.admitted();
      schedulerFixture.submit(
          "w", "poor", 5, 0, 1); // 312.5; without large 187.5, without small 312.5
      schedulerFixture.admitted();

      assertThat(schedulerFixture.preempted())
          .containsExactly((finalFirst ? "small" : "large") + " for w: InCohortFairSharing");
    }
  }

  @Test
  void whatIsNotNeededIsFilledBack() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    guest(schedulerFixture, "rich", "co");
    guest(schedulerFixture, "poor", "co");
    schedulerFixture.submit("one", "rich", 1, 0, 0);
    schedulerFixture.submit("five", "rich", 5, 1, 0);
    schedulerFixture.submit("six", "rich", 6, 2, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "poor", 5, 0, 1);
    schedulerFixture.admitted();

    assertThat(schedulerFixture.preempted()).containsExactly("five for w: InCohortFairSharing");
  }

  @Test
  void prioritiesProtectWhereThePolicySaysSo() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    guest(schedulerFixture, "rich", "co");
    schedulerFixture.queue("poor", "co", LOWER, quota("f", 0));
    schedulerFixture.submit("equal", "rich", 6, 5, 0);
    schedulerFixture.submit("low", "rich", 6, 4, 1);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "poor", 4, 5, 2);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).containsExactly("low for w: InCohortFairSharing");
  }

  @Test
  void withReclaimNeverNobodyIsPreemptedInOtherQueues() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    guest(schedulerFixture, "rich", "co");
    schedulerFixture.queue(
        "poor",
        "co",
        policies(WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER),
        quota("f", 0));
    schedulerFixture.submit("whole", "rich", 12, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "poor", 4, 5, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();
  }

  /** Gate FairSharingPreemptWithinNominal. */
  @Test
  void whoStaysWithinItsOwnQuotaTakesItBackWhateverTheShares() {
    for (boolean withinNominal : new boolean[] {true, false}) {
      SchedulerFixture schedulerFixture = world(BOTH, withinNominal, true);
      schedulerFixture.cohort("root", "");
      schedulerFixture.cohort("left", "root");
      schedulerFixture.cohort("right", "root");
      schedulerFixture.queue("lender", "root", quota("f", 12));
      schedulerFixture.queue("owner", "left", LOWER, quota("f", 4));
      guest(schedulerFixture, "sibling", "left");
      guest(schedulerFixture, "far", "right");
      schedulerFixture.submit("protected", "sibling", 10, 9, 0);
      schedulerFixture.submit("target", "far", 6, 0, 1);
      schedulerFixture.admitted();
      schedulerFixture.submit("w", "owner", 4, 5, 2); // left: 10 of 16 with it, right: 6 of 16
      schedulerFixture.admitted();

      if (withinNominal) {
        assertThat(schedulerFixture.preempted())
            .containsExactly("target for w: InCohortReclamation");
      } else {
        assertThat(schedulerFixture.preempted()).isEmpty();
      }
    }
  }

  @Test
  void itsOwnQueueGivesFirstIfItHasMost() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    schedulerFixture.queue("q", "co", LOWER, quota("f", 0));
    guest(schedulerFixture, "other", "co");
    schedulerFixture.submit("own", "q", 8, 0, 0);
    schedulerFixture.submit("others", "other", 4, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "q", 4, 5, 1);
    schedulerFixture.admitted();

    assertThat(schedulerFixture.preempted()).containsExactly("own for w: InClusterQueue");
  }

  @Test
  void withoutCohortTheOwnQueueIsAllThereIs() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("q", "", LOWER, quota("f", 10));
    schedulerFixture.submit("low", "q", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "q", 5, 5, 1);
    schedulerFixture.admitted();

    assertThat(schedulerFixture.preempted()).containsExactly("low for w: InClusterQueue");
  }

  @Test
  void whoHasNoWeightGivesFirst() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    schedulerFixture.queue("weightless", "co", "0", ANY, quota("f", 0));
    guest(schedulerFixture, "rich", "co");
    guest(schedulerFixture, "poor", "co");
    schedulerFixture.submit("infinite", "weightless", 2, 9, 0);
    schedulerFixture.submit("finite", "rich", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit(
        "w", "poor", 2, 0, 1); // 167; of the weightless 0 stays, of the rich 833 before
    schedulerFixture.admitted();

    // The final share allows neither; by the initial share the infinite one comes first.
    assertThat(schedulerFixture.preempted()).containsExactly("infinite for w: InCohortFairSharing");
  }

  @Test
  void whoHasNoWeightTakesOnlyFromItsLike() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    guest(schedulerFixture, "rich", "co");
    schedulerFixture.queue("weightless", "co", "0", ANY, quota("f", 0));
    schedulerFixture.queue("same", "co", "0", ANY, quota("f", 0));
    schedulerFixture.submit("finite", "rich", 12, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "weightless", 4, 9, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();

    schedulerFixture.finish("finite");
    assertThat(schedulerFixture.admitted()).containsExactly("w");
    schedulerFixture.submit("x", "weightless", 4, 0, 2);
    schedulerFixture.submit("y", "weightless", 4, 0, 3);
    schedulerFixture.admitted();
    schedulerFixture.submit("z", "same", 4, 0, 4); // a third, unweighted, and two thirds stay
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).containsExactly("x for z: InCohortFairSharing");
  }

  @Test
  void equalSharesOfQueuesGoByTheirFirstCandidates() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.queue("lender", "co", quota("f", 12));
    guest(schedulerFixture, "a", "co");
    guest(schedulerFixture, "b", "co");
    guest(schedulerFixture, "poor", "co");
    schedulerFixture.submit("high", "a", 3, 2, 0);
    schedulerFixture.submit("higher", "a", 3, 3, 1);
    schedulerFixture.submit("low", "b", 3, 1, 0);
    schedulerFixture.submit("highest", "b", 3, 4, 1);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "poor", 3, 0, 2);
    schedulerFixture.admitted();

    assertThat(schedulerFixture.preempted()).containsExactly("low for w: InCohortFairSharing");
  }

  @Test
  void aCohortComesBeforeAQueueThatHasAsMuch() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.cohort("left", "root");
    schedulerFixture.queue("lender", "root", quota("f", 12));
    guest(schedulerFixture, "a", "left");
    guest(schedulerFixture, "b", "root");
    guest(schedulerFixture, "poor", "root");
    schedulerFixture.submit("a-1", "a", 3, 2, 0);
    schedulerFixture.submit("a-2", "a", 3, 3, 1);
    schedulerFixture.submit("b-1", "b", 3, 1, 0);
    schedulerFixture.submit("b-2", "b", 3, 1, 1);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "poor", 3, 0, 2);
    schedulerFixture.admitted();

    assertThat(schedulerFixture.preempted()).containsExactly("a-1 for w: InCohortFairSharing");
  }

  @Test
  void theSidesBelowTheCommonCohortAreCompared() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.cohort("left", "root");
    schedulerFixture.cohort("right", "root");
    schedulerFixture.queue("lender", "root", quota("f", 12));
    guest(schedulerFixture, "poor", "left");
    guest(schedulerFixture, "sibling", "left");
    guest(schedulerFixture, "rich", "right");
    schedulerFixture.submit("sibling-1", "sibling", 4, 0, 0);
    schedulerFixture.submit("sibling-2", "sibling", 4, 0, 1);
    schedulerFixture.submit("right-1", "rich", 4, 0, 2);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "poor", 4, 0, 3); // left has 12 with it: it gives, not right
    schedulerFixture.admitted();

    assertThat(schedulerFixture.preempted())
        .containsExactly("sibling-1 for w: InCohortFairSharing");
  }

  // what is published

  @Test
  void viewsTellTheShares() {
    SchedulerFixture schedulerFixture = world();
    schedulerFixture.cohort("left", "root");
    schedulerFixture.queue("lender", "root", quota("f", 12));
    guest(schedulerFixture, "a", "left");
    schedulerFixture.submit("w", "a", 5, 0, 0);
    schedulerFixture.admitted();
    ViewPublisher views = new ViewPublisher();
    views.publish(schedulerFixture.engine);

    Optional<DominantResourceShare> dominantResourceShare =
        views.clusterQueue("a").flatMap(ClusterQueueView::dominantResourceShare);
    assertThat(dominantResourceShare.map(DominantResourceShare::rounded)).contains(417L);
    assertThat(
            views
                .cohort("left")
                .flatMap(CohortView::dominantResourceShare)
                .map(DominantResourceShare::rounded))
        .contains(417L);
    assertThat(views.cohort("root").flatMap(CohortView::dominantResourceShare))
        .contains(DominantResourceShare.NONE);
    assertThat(views.clusterQueue("lender").flatMap(ClusterQueueView::dominantResourceShare))
        .contains(DominantResourceShare.NONE);
  }

  @Test
  void withoutFairSharingViewsTellNone() {
    SchedulerFixture schedulerFixture = new SchedulerFixture();
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "co", quota("f", 12));
    schedulerFixture.admitted();
    ViewPublisher views = new ViewPublisher();
    views.publish(schedulerFixture.engine);

    assertThat(views.clusterQueue("q").flatMap(ClusterQueueView::dominantResourceShare)).isEmpty();
    assertThat(views.cohort("co").flatMap(CohortView::dominantResourceShare)).isEmpty();
  }
}

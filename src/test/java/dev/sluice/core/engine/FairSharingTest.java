package dev.sluice.core.engine;

import static dev.sluice.core.engine.World.quota;
import static dev.sluice.core.model.FairSharing.Strategy.LESS_THAN_INITIAL_SHARE;
import static dev.sluice.core.model.FairSharing.Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.quota.DominantResourceShare;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Fair sharing, computed by hand from scheduling semantics, sections 4 and 8. */
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

  private static World world(List<Strategy> strategies, boolean withinNominal, boolean nonBorrow) {
    World world = new World(Optional.of(new FairSharing(strategies, withinNominal, nonBorrow)));
    world.flavor("f");
    return world;
  }

  private static World world(Strategy... strategies) {
    return world(strategies.length == 0 ? BOTH : List.of(strategies), true, true);
  }

  /** A queue without quota of its own. */
  private static void guest(World world, String name, String cohort) {
    world.queue(name, cohort, ANY, quota("f", 0));
  }

  // order

  @Test
  void whoHasLessOfWhatIsSharedComesFirst() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    guest(world, "a", "co");
    guest(world, "b", "co");
    world.submit("running", "a", 4, 0, 0);
    world.admitted();
    world.submit("older", "a", 4, 9, 1); // 8 of 12 with it
    world.submit("newer", "b", 4, 0, 2); // 4 of 12

    assertThat(world.admitted()).containsExactly("newer", "older");
  }

  @Test
  void aLargerWeightMakesTheSameShareSmaller() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    world.queue("a", "co", "4", ANY, quota("f", 0));
    guest(world, "b", "co");
    world.submit("running", "a", 4, 0, 0);
    world.admitted();
    world.submit("newer", "a", 4, 0, 2); // 667 by 4
    world.submit("older", "b", 4, 9, 1); // 333

    assertThat(world.admitted()).containsExactly("newer", "older");
  }

  @Test
  void equalSharesGoByPriorityThenByAge() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    for (String queue : List.of("a", "b", "c")) {
      guest(world, queue, "co");
    }
    world.submit("newer", "a", 4, 0, 3);
    world.submit("older", "b", 4, 0, 2);
    world.submit("urgent", "c", 4, 1, 4);

    assertThat(world.admitted()).containsExactly("urgent", "older", "newer");
  }

  @Test
  void cohortsCompeteAboveTheirQueuesAndSharesCountWhatWasTaken() {
    World world = world();
    world.cohort("root", "");
    world.cohort("left", "root");
    world.cohort("right", "root");
    world.queue("lender", "root", quota("f", 12));
    guest(world, "a", "left");
    guest(world, "b", "left");
    guest(world, "c", "right");
    guest(world, "d", "right");
    world.submit("of-a", "a", 3, 0, 0);
    world.submit("of-b", "b", 3, 0, 1);
    world.submit("of-c", "c", 2, 0, 2);
    world.submit("of-d", "d", 3, 0, 3);

    // left 3 or right 2; left 3 or right 5; left 6 or right 5
    assertThat(world.admitted()).containsExactly("of-c", "of-a", "of-d", "of-b");
  }

  @Test
  void aSmallShareInALargeCohortWaits() {
    World world = world();
    world.cohort("root", "");
    world.cohort("left", "root");
    world.cohort("right", "root");
    world.queue("lender", "root", quota("f", 12));
    guest(world, "a", "left");
    guest(world, "b", "left");
    guest(world, "c", "right");
    world.submit("running", "b", 6, 0, 0);
    world.admitted();
    world.submit("of-a", "a", 2, 9, 1); // 2 of 12, its cohort 8 of 12
    world.submit("of-c", "c", 3, 0, 2); // 3 of 12, as its cohort

    assertThat(world.admitted()).containsExactly("of-c", "of-a");
  }

  @Test
  void theWeightOfACohortCounts() {
    World world = world();
    world.cohort("root", "");
    world.engine.apply(
        new SchedulerEvent.CohortChanged(new CohortSpec("left", "root", List.of(), new BigDecimal("5"))));
    world.cohort("right", "root");
    world.queue("lender", "root", quota("f", 12));
    guest(world, "a", "left");
    guest(world, "b", "left");
    guest(world, "c", "right");
    world.submit("running", "b", 6, 0, 0);
    world.admitted();
    world.submit("of-a", "a", 2, 0, 2); // its cohort 667 by 5
    world.submit("of-c", "c", 3, 9, 1); // 250

    assertThat(world.admitted()).containsExactly("of-a", "of-c");
  }

  @Test
  void whoDoesNotBorrowWhatItAsksForComesFirstIfTheGateSaysSo() {
    for (boolean nonBorrowingFirst : new boolean[] {true, false}) {
      World world = world(BOTH, true, nonBorrowingFirst);
      world.flavor("g");
      world.queue("lender", "co", quota("f", 10), quota("g", 10));
      world.queue("a", "co", quota("f", 5), quota("g", 0));
      world.queue("b", "co", quota("f", 0), quota("g", 0));
      world.submit("lent", "lender", 10, 0, 0);
      world.submit("own", "a", 5, 0, 0);
      world.admitted();
      world.submit("on-g", "a", 6, 0, 1);
      assertThat(world.admitted()).containsExactly("on-g");
      world.finish("lent");
      world.finish("own");
      world.submit("within", "a", 3, 0, 2); // its queue borrows 6 of g: 240
      world.submit("borrowing", "b", 3, 0, 3); // 120

      assertThat(world.admitted())
          .containsExactly(
              nonBorrowingFirst
                  ? new String[] {"within", "borrowing"}
                  : new String[] {"borrowing", "within"});
    }
  }

  // preemption

  @Test
  void itTakesFromWhoeverHasMoreUntilBothHaveAsMuch() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    guest(world, "rich", "co");
    guest(world, "poor", "co");
    for (int i = 0; i < 3; i++) {
      world.submit("rich-" + i, "rich", 4, 0, i);
    }
    world.admitted();

    world.submit("first", "poor", 4, 0, 5); // 333, and 667 stay
    world.admitted();
    assertThat(world.preempted()).containsExactly("rich-0 for first: InCohortFairSharing");
    world.finish("rich-0");
    assertThat(world.admitted()).containsExactly("first");
    world.submit("second", "poor", 4, 9, 6); // 667, and 333 would stay
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();
  }

  @Test
  void theInitialShareAllowsWhatTheFinalShareDoesNot() {
    for (List<Strategy> strategies :
        List.of(
            List.of(LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), List.of(LESS_THAN_INITIAL_SHARE), BOTH)) {
      World world = world(strategies, true, true);
      world.queue("lender", "co", quota("f", 12));
      guest(world, "rich", "co");
      guest(world, "poor", "co");
      world.submit("whole", "rich", 12, 0, 0);
      world.admitted();
      world.submit("w", "poor", 4, 0, 1); // 333; 1000 before, 0 after
      world.admitted();

      if (strategies.contains(LESS_THAN_INITIAL_SHARE)) {
        assertThat(world.preempted()).containsExactly("whole for w: InCohortFairSharing");
      } else {
        assertThat(world.preempted()).isEmpty();
      }
    }
  }

  @Test
  void theFinalSharePassesOverWhomItDoesNotAllow() {
    for (boolean finalFirst : new boolean[] {true, false}) {
      World world = finalFirst ? world() : world(LESS_THAN_INITIAL_SHARE);
      world.queue("lender", "co", quota("f", 16));
      world.queue("rich", "co", "2", ANY, quota("f", 0));
      guest(world, "poor", "co");
      world.submit("large", "rich", 10, 0, 0);
      world.submit("small", "rich", 6, 1, 0);
      world.admitted();
      world.submit("w", "poor", 5, 0, 1); // 312.5; without large 187.5, without small 312.5
      world.admitted();

      assertThat(world.preempted())
          .containsExactly((finalFirst ? "small" : "large") + " for w: InCohortFairSharing");
    }
  }

  @Test
  void whatIsNotNeededIsFilledBack() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    guest(world, "rich", "co");
    guest(world, "poor", "co");
    world.submit("one", "rich", 1, 0, 0);
    world.submit("five", "rich", 5, 1, 0);
    world.submit("six", "rich", 6, 2, 0);
    world.admitted();
    world.submit("w", "poor", 5, 0, 1);
    world.admitted();

    assertThat(world.preempted()).containsExactly("five for w: InCohortFairSharing");
  }

  @Test
  void prioritiesProtectWhereThePolicySaysSo() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    guest(world, "rich", "co");
    world.queue("poor", "co", LOWER, quota("f", 0));
    world.submit("equal", "rich", 6, 5, 0);
    world.submit("low", "rich", 6, 4, 1);
    world.admitted();
    world.submit("w", "poor", 4, 5, 2);
    world.admitted();
    assertThat(world.preempted()).containsExactly("low for w: InCohortFairSharing");
  }

  @Test
  void withReclaimNeverNobodyIsPreemptedInOtherQueues() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    guest(world, "rich", "co");
    world.queue(
        "poor",
        "co",
        policies(WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER),
        quota("f", 0));
    world.submit("whole", "rich", 12, 0, 0);
    world.admitted();
    world.submit("w", "poor", 4, 5, 2);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();
  }

  @Test
  void whoStaysWithinItsOwnQuotaTakesItBackWhateverTheShares() {
    for (boolean withinNominal : new boolean[] {true, false}) {
      World world = world(BOTH, withinNominal, true);
      world.cohort("root", "");
      world.cohort("left", "root");
      world.cohort("right", "root");
      world.queue("lender", "root", quota("f", 12));
      world.queue("owner", "left", LOWER, quota("f", 4));
      guest(world, "sibling", "left");
      guest(world, "far", "right");
      world.submit("protected", "sibling", 10, 9, 0);
      world.submit("target", "far", 6, 0, 1);
      world.admitted();
      world.submit("w", "owner", 4, 5, 2); // left: 10 of 16 with it, right: 6 of 16
      world.admitted();

      if (withinNominal) {
        assertThat(world.preempted()).containsExactly("target for w: InCohortReclamation");
      } else {
        assertThat(world.preempted()).isEmpty();
      }
    }
  }

  @Test
  void itsOwnQueueGivesFirstIfItHasMost() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    world.queue("q", "co", LOWER, quota("f", 0));
    guest(world, "other", "co");
    world.submit("own", "q", 8, 0, 0);
    world.submit("others", "other", 4, 0, 0);
    world.admitted();
    world.submit("w", "q", 4, 5, 1);
    world.admitted();

    assertThat(world.preempted()).containsExactly("own for w: InClusterQueue");
  }

  @Test
  void withoutCohortTheOwnQueueIsAllThereIs() {
    World world = world();
    world.queue("q", "", LOWER, quota("f", 10));
    world.submit("low", "q", 10, 0, 0);
    world.admitted();
    world.submit("w", "q", 5, 5, 1);
    world.admitted();

    assertThat(world.preempted()).containsExactly("low for w: InClusterQueue");
  }

  @Test
  void whoHasNoWeightGivesFirst() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    world.queue("weightless", "co", "0", ANY, quota("f", 0));
    guest(world, "rich", "co");
    guest(world, "poor", "co");
    world.submit("infinite", "weightless", 2, 9, 0);
    world.submit("finite", "rich", 10, 0, 0);
    world.admitted();
    world.submit("w", "poor", 2, 0, 1); // 167; of the weightless 0 stays, of the rich 833 before
    world.admitted();

    // The final share allows neither; by the initial share the infinite one comes first.
    assertThat(world.preempted()).containsExactly("infinite for w: InCohortFairSharing");
  }

  @Test
  void whoHasNoWeightTakesOnlyFromItsLike() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    guest(world, "rich", "co");
    world.queue("weightless", "co", "0", ANY, quota("f", 0));
    world.queue("same", "co", "0", ANY, quota("f", 0));
    world.submit("finite", "rich", 12, 0, 0);
    world.admitted();
    world.submit("w", "weightless", 4, 9, 1);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();

    world.finish("finite");
    assertThat(world.admitted()).containsExactly("w");
    world.submit("x", "weightless", 4, 0, 2);
    world.submit("y", "weightless", 4, 0, 3);
    world.admitted();
    world.submit("z", "same", 4, 0, 4); // a third, unweighted, and two thirds stay
    world.admitted();
    assertThat(world.preempted()).containsExactly("x for z: InCohortFairSharing");
  }

  @Test
  void equalSharesOfQueuesGoByTheirFirstCandidates() {
    World world = world();
    world.queue("lender", "co", quota("f", 12));
    guest(world, "a", "co");
    guest(world, "b", "co");
    guest(world, "poor", "co");
    world.submit("high", "a", 3, 2, 0);
    world.submit("higher", "a", 3, 3, 1);
    world.submit("low", "b", 3, 1, 0);
    world.submit("highest", "b", 3, 4, 1);
    world.admitted();
    world.submit("w", "poor", 3, 0, 2);
    world.admitted();

    assertThat(world.preempted()).containsExactly("low for w: InCohortFairSharing");
  }

  @Test
  void aCohortComesBeforeAQueueThatHasAsMuch() {
    World world = world();
    world.cohort("left", "root");
    world.queue("lender", "root", quota("f", 12));
    guest(world, "a", "left");
    guest(world, "b", "root");
    guest(world, "poor", "root");
    world.submit("a-1", "a", 3, 2, 0);
    world.submit("a-2", "a", 3, 3, 1);
    world.submit("b-1", "b", 3, 1, 0);
    world.submit("b-2", "b", 3, 1, 1);
    world.admitted();
    world.submit("w", "poor", 3, 0, 2);
    world.admitted();

    assertThat(world.preempted()).containsExactly("a-1 for w: InCohortFairSharing");
  }

  @Test
  void theSidesBelowTheCommonCohortAreCompared() {
    World world = world();
    world.cohort("left", "root");
    world.cohort("right", "root");
    world.queue("lender", "root", quota("f", 12));
    guest(world, "poor", "left");
    guest(world, "sibling", "left");
    guest(world, "rich", "right");
    world.submit("sibling-1", "sibling", 4, 0, 0);
    world.submit("sibling-2", "sibling", 4, 0, 1);
    world.submit("right-1", "rich", 4, 0, 2);
    world.admitted();
    world.submit("w", "poor", 4, 0, 3); // left has 12 with it: it gives, not right
    world.admitted();

    assertThat(world.preempted()).containsExactly("sibling-1 for w: InCohortFairSharing");
  }

  // what is published

  @Test
  void viewsTellTheShares() {
    World world = world();
    world.cohort("left", "root");
    world.queue("lender", "root", quota("f", 12));
    guest(world, "a", "left");
    world.submit("w", "a", 5, 0, 0);
    world.admitted();
    ViewPublisher views = new ViewPublisher();
    views.publish(world.engine);

    Optional<DominantResourceShare> dominantResourceShare = views.clusterQueue("a").flatMap(ClusterQueueView::dominantResourceShare);
    assertThat(dominantResourceShare.map(DominantResourceShare::rounded)).contains(417L);
    assertThat(views.cohort("left").flatMap(CohortView::dominantResourceShare).map(DominantResourceShare::rounded)).contains(417L);
    assertThat(views.cohort("root").flatMap(CohortView::dominantResourceShare)).contains(DominantResourceShare.NONE);
    assertThat(views.clusterQueue("lender").flatMap(ClusterQueueView::dominantResourceShare)).contains(DominantResourceShare.NONE);
  }

  @Test
  void withoutFairSharingViewsTellNone() {
    World world = new World();
    world.flavor("f");
    world.queue("q", "co", quota("f", 12));
    world.admitted();
    ViewPublisher views = new ViewPublisher();
    views.publish(world.engine);

    assertThat(views.clusterQueue("q").flatMap(ClusterQueueView::dominantResourceShare)).isEmpty();
    assertThat(views.cohort("co").flatMap(CohortView::dominantResourceShare)).isEmpty();
  }
}

package dev.sluice.core.engine;

import static dev.sluice.core.engine.World.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.FlavorFungibility;
import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The worked examples of docs/preemption.md, and what they leave out. */
class PreemptionPoliciesTest {

  private static final PreemptionPolicies RECLAIM_ANY =
      policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY);
  private static final PreemptionPolicies RECLAIM_LOWER =
      policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.LOWER_PRIORITY);
  private static final PreemptionPolicies LOWER =
      policies(WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER);

  private final World world = new World();

  private static PreemptionPolicies policies(
      WithinClusterQueue within, ReclaimWithinCohort cohort) {
    return new PreemptionPolicies(within, cohort, false, OptionalInt.empty());
  }

  private static PreemptionPolicies whileBorrowing(OptionalInt threshold) {
    return new PreemptionPolicies(
        WithinClusterQueue.NEVER, ReclaimWithinCohort.LOWER_PRIORITY, true, threshold);
  }

  @BeforeEach
  void oneFlavor() {
    world.flavor("f");
  }

  @Test
  void whoTurnsOutNotToBeNeededIsLeftAlone() {
    world.queue("q", "", LOWER, quota("f", 10));
    world.submit("small", "q", 2, 1, 0);
    world.submit("large", "q", 8, 2, 1);
    world.admitted();
    world.submit("high", "q", 8, 9, 2);
    world.admitted();
    // small comes first (lower priority), large is needed all the same, and is enough alone
    assertThat(world.preempted()).containsExactly("large for high: InClusterQueue");
  }

  @Test
  void theLatestAmongEqualsGoesFirst() {
    world.queue("q", "", LOWER, quota("f", 10));
    world.submit("early", "q", 5, 1, 0);
    world.admitted();
    world.engine.apply(new SchedulerEvent.TimePassed(World.START.plusSeconds(60)));
    world.submit("late", "q", 5, 1, 1);
    world.admitted();
    world.submit("high", "q", 5, 9, 2);
    world.admitted();
    assertThat(world.preempted()).containsExactly("late for high: InClusterQueue");
  }

  @Test
  void reclaimingSparesHigherPriorityWhereThePolicySaysSo() {
    world.queue("owner", "co", RECLAIM_LOWER, quota("f", 10));
    world.queue("borrower", "co", quota("f", 0));
    world.submit("borrowed", "borrower", 10, 5, 0);
    world.admitted();
    world.submit("equal", "owner", 5, 5, 1);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();
    world.submit("higher", "owner", 5, 6, 2);
    world.admitted();
    assertThat(world.preempted()).containsExactly("borrowed for higher: InCohortReclamation");
  }

  @Test
  void nobodyIsReclaimedBelowTheQuotaOfItsQueue() {
    world.queue("owner", "co", RECLAIM_ANY, quota("f", 10));
    world.queue("other", "co", quota("f", 10));
    world.submit("a", "other", 5, 0, 0);
    world.submit("b", "other", 5, 0, 1);
    world.submit("own", "owner", 10, 0, 2);
    world.admitted();
    world.submit("w", "owner", 5, 9, 3);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();
  }

  @Test
  void borrowingWhilePreemptingTakesOnlyLowerPriorities() {
    world.queue("q", "co", whileBorrowing(OptionalInt.empty()), quota("f", 2));
    world.queue("lender", "co", quota("f", 8));
    world.queue("borrower", "co", quota("f", 0));
    world.submit("borrowed", "borrower", 10, 3, 0);
    world.admitted();
    world.submit("w", "q", 6, 4, 1); // more than the own 2: it borrows 4
    world.admitted();
    assertThat(world.preempted()).containsExactly("borrowed for w: InCohortReclaimWhileBorrowing");
  }

  @Test
  void borrowingWhilePreemptingEndsAtTheThreshold() {
    world.queue("q", "co", whileBorrowing(OptionalInt.of(2)), quota("f", 2));
    world.queue("lender", "co", quota("f", 8));
    world.queue("borrower", "co", quota("f", 0));
    world.submit("borrowed", "borrower", 10, 3, 0);
    world.admitted();
    world.submit("w", "q", 6, 4, 1);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty(); // 3 is above the threshold of 2
    world.submit("modest", "q", 2, 4, 2); // within its own quota
    world.admitted();
    assertThat(world.preempted()).containsExactly("borrowed for modest: InCohortReclamation");
  }

  @Test
  void whoIsWithinTheQuotaOfItsCohortReclaimsFromOtherCohorts() {
    world.cohort("root", "");
    world.cohort("left", "root", quota("f", 10));
    world.cohort("right", "root");
    world.queue("q", "left", RECLAIM_LOWER, quota("f", 0));
    world.queue("far", "right", quota("f", 0));
    world.submit("borrowed", "far", 10, 0, 0);
    world.admitted();
    world.submit("w", "q", 10, 1, 1); // it borrows from left, and left holds all of it
    world.admitted();
    assertThat(world.preempted()).containsExactly("borrowed for w: InCohortReclamation");
  }

  @Test
  void aFlavorToBorrowIsTakenBeforeAFlavorToPreempt() {
    twoFlavors(new FlavorFungibility(false, true, false));
    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.admission("w").podSets().getFirst().flavors()).containsEntry("cpu", "g");
  }

  @Test
  void preemptionIsEnoughToStopWhereTheQueueSaysSo() {
    twoFlavors(new FlavorFungibility(false, false, false));
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("low for w: InClusterQueue");
  }

  @Test
  void preemptionIsPreferredToBorrowingWhereTheQueueSaysSo() {
    twoFlavors(new FlavorFungibility(true, true, true));
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("low for w: InClusterQueue");
  }

  /** Flavor f is full of a lower priority; in g there is something to borrow. */
  private void twoFlavors(FlavorFungibility fungibility) {
    world.flavor("g");
    world.queue(
        "q",
        "co",
        QueueingStrategy.BEST_EFFORT_FIFO,
        LOWER,
        fungibility,
        quota("f", 10, 0, ResourceAmounts.UNLIMITED),
        quota("g", 0));
    world.queue("lender", "co", quota("g", 10));
    world.submit("low", "q", 10, 0, 0);
    world.admitted();
    world.submit("w", "q", 10, 5, 1);
  }

  @Test
  void aStrictHeadWithoutVictimsKeepsItsQuotaFromThoseWhoBorrow() {
    world.queue(
        "strict",
        "co",
        QueueingStrategy.STRICT_FIFO,
        LOWER,
        FlavorFungibility.DEFAULT,
        quota("f", 10));
    world.queue("borrower", "co", quota("f", 0));
    world.submit("running", "strict", 5, 9, 0);
    world.admitted();
    world.submit("head", "strict", 6, 7, 1);
    world.submit("w", "borrower", 5, 0, 2);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.engine.idle()).isTrue();

    world.finish("running");
    assertThat(world.admitted()).containsExactly("head");
  }

  @Test
  void aStrictHeadThatMayPreemptNobodyKeepsItsQuotaToo() {
    world.queue("strict", "co", QueueingStrategy.STRICT_FIFO, quota("f", 10));
    world.queue("borrower", "co", quota("f", 0));
    world.submit("running", "strict", 5, 9, 0);
    world.admitted();
    world.submit("head", "strict", 6, 7, 1);
    world.submit("w", "borrower", 5, 0, 2);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.engine.idle()).isTrue();

    world.submit("later", "borrower", 1, 0, 3); // whoever comes finds it kept as well
    assertThat(world.admitted()).isEmpty();
    world.finish("running");
    assertThat(world.admitted()).containsExactly("head", "later");
  }

  @Test
  void anEndLetsOneFindVictimsWhoCameMeanwhile() {
    world.queue("q", "", LOWER, quota("f", 10));
    world.submit("high", "q", 8, 9, 0);
    world.admitted();
    world.submit("mid", "q", 8, 5, 1);
    world.submit("low", "q", 2, 0, 2);
    assertThat(world.admitted()).containsExactly("low");
    world.finish("high");
    assertThat(world.admitted()).containsExactly("mid");
    assertThat(world.preempted()).isEmpty();
  }

  @Test
  void twoWhoWantTheSameVictimShareItIfBothFitInItsPlace() {
    world.queue("a", "co", RECLAIM_ANY, quota("f", 5));
    world.queue("b", "co", RECLAIM_ANY, quota("f", 5));
    world.queue("borrower", "co", quota("f", 0));
    world.submit("large", "borrower", 10, 0, 0);
    world.admitted();
    world.submit("one", "a", 5, 0, 1);
    world.submit("two", "b", 5, 0, 2);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("large for one: InCohortReclamation");
    world.finish("large");
    assertThat(world.admitted()).containsExactly("one", "two");
  }

  @Test
  void thePreemptorStandsFirstEvenBeforeAHigherPriority() {
    world.queue("q", "", LOWER, quota("f", 10));
    world.submit("low", "q", 10, 0, 0);
    world.admitted();
    world.submit("preemptor", "q", 10, 5, 1);
    world.admitted();
    world.submit("higher", "q", 10, 9, 2);
    assertThat(world.admitted()).isEmpty();
    world.finish("low");
    assertThat(world.admitted()).containsExactly("preemptor");
  }
}

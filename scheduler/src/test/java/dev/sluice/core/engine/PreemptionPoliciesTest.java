package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.FungibilityGates;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.ScanProgress;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent;
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

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

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
    schedulerFixture.flavor("f");
  }

  @Test
  void whoTurnsOutNotToBeNeededIsLeftAlone() {
    schedulerFixture.queue("q", "", LOWER, quota("f", 10));
    schedulerFixture.submit("small", "q", 2, 1, 0);
    schedulerFixture.submit("large", "q", 8, 2, 1);
    schedulerFixture.admitted();
    schedulerFixture.submit("high", "q", 8, 9, 2);
    schedulerFixture.admitted();
    // small comes first (lower priority), large is needed all the same, and is enough alone
    assertThat(schedulerFixture.preempted()).containsExactly("large for high: InClusterQueue");
  }

  @Test
  void theLatestAmongEqualsGoesFirst() {
    schedulerFixture.queue("q", "", LOWER, quota("f", 10));
    schedulerFixture.submit("early", "q", 5, 1, 0);
    schedulerFixture.admitted();
    schedulerFixture.engine.apply(
        new SchedulerEvent.TimePassed(SchedulerFixture.START.plusSeconds(60)));
    schedulerFixture.submit("late", "q", 5, 1, 1);
    schedulerFixture.admitted();
    schedulerFixture.submit("high", "q", 5, 9, 2);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).containsExactly("late for high: InClusterQueue");
  }

  @Test
  void reclaimingSparesHigherPriorityWhereThePolicySaysSo() {
    schedulerFixture.queue("owner", "co", RECLAIM_LOWER, quota("f", 10));
    schedulerFixture.queue("borrower", "co", quota("f", 0));
    schedulerFixture.submit("borrowed", "borrower", 10, 5, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("equal", "owner", 5, 5, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();
    schedulerFixture.submit("higher", "owner", 5, 6, 2);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted())
        .containsExactly("borrowed for higher: InCohortReclamation");
  }

  @Test
  void nobodyIsReclaimedBelowTheQuotaOfItsQueue() {
    schedulerFixture.queue("owner", "co", RECLAIM_ANY, quota("f", 10));
    schedulerFixture.queue("other", "co", quota("f", 10));
    schedulerFixture.submit("a", "other", 5, 0, 0);
    schedulerFixture.submit("b", "other", 5, 0, 1);
    schedulerFixture.submit("own", "owner", 10, 0, 2);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "owner", 5, 9, 3);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();
  }

  @Test
  void borrowingWhilePreemptingTakesOnlyLowerPriorities() {
    schedulerFixture.queue("q", "co", whileBorrowing(OptionalInt.empty()), quota("f", 2));
    schedulerFixture.queue("lender", "co", quota("f", 8));
    schedulerFixture.queue("borrower", "co", quota("f", 0));
    schedulerFixture.submit("borrowed", "borrower", 10, 3, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "q", 6, 4, 1); // more than the own 2: it borrows 4
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted())
        .containsExactly("borrowed for w: InCohortReclaimWhileBorrowing");
  }

  @Test
  void borrowingWhilePreemptingEndsAtTheThreshold() {
    schedulerFixture.queue("q", "co", whileBorrowing(OptionalInt.of(2)), quota("f", 2));
    schedulerFixture.queue("lender", "co", quota("f", 8));
    schedulerFixture.queue("borrower", "co", quota("f", 0));
    schedulerFixture.submit("borrowed", "borrower", 10, 3, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "q", 6, 4, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty(); // 3 is above the threshold of 2
    schedulerFixture.submit("modest", "q", 2, 4, 2); // within its own quota
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted())
        .containsExactly("borrowed for modest: InCohortReclamation");
  }

  @Test
  void whoIsWithinTheQuotaOfItsCohortReclaimsFromOtherCohorts() {
    schedulerFixture.cohort("root", "");
    schedulerFixture.cohort("left", "root", quota("f", 10));
    schedulerFixture.cohort("right", "root");
    schedulerFixture.queue("q", "left", RECLAIM_LOWER, quota("f", 0));
    schedulerFixture.queue("far", "right", quota("f", 0));
    schedulerFixture.submit("borrowed", "far", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "q", 10, 1, 1); // it borrows from left, and left holds all of it
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).containsExactly("borrowed for w: InCohortReclamation");
  }

  @Test
  void aFlavorToBorrowIsTakenBeforeAFlavorToPreempt() {
    twoFlavors(new FlavorFungibility(false, true, false));
    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.admission("w").podSets().getFirst().flavors())
        .containsEntry("cpu", "g");
  }

  @Test
  void preemptionIsEnoughToStopWhereTheQueueSaysSo() {
    twoFlavors(new FlavorFungibility(false, false, false));
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("low for w: InClusterQueue");
  }

  @Test
  void preemptionIsPreferredToBorrowingWhereTheQueueSaysSo() {
    twoFlavors(new FlavorFungibility(true, true, true));
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("low for w: InClusterQueue");
  }

  /**
   * Configuration, "what each gate switches": without FlavorFungibility the first flavor that fits
   * wins, borrowing or not, whatever the queue's policies are.
   */
  @Test
  void withoutFlavorFungibilityTheFirstFlavorThatFitsWins() {
    twoFlavors(new FungibilityGates(false, true).applied(new FlavorFungibility(true, true, true)));
    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.admission("w").podSets().getFirst().flavors())
        .containsEntry("cpu", "g");
  }

  /** Changes of 0.20, section 4: FlavorFungibilityPreserveScanProgress. */
  @Test
  void withoutFlavorFungibilityPreserveScanProgressThePoliciesStay() {
    FlavorFungibility fungibility = new FlavorFungibility(true, true, true);
    assertThat(new FungibilityGates(true, false).applied(fungibility))
        .isEqualTo(fungibility.scanning(ScanProgress.UNTIL_QUOTA_CHANGES));
    assertThat(FungibilityGates.DEFAULT.applied(fungibility)).isEqualTo(fungibility);
  }

  /** Flavor f is full of a lower priority; in g there is something to borrow. */
  private void twoFlavors(FlavorFungibility fungibility) {
    schedulerFixture.flavor("g");
    schedulerFixture.queue(
        "q",
        "co",
        QueueingStrategy.BEST_EFFORT_FIFO,
        LOWER,
        fungibility,
        quota("f", 10, 0, ResourceAmounts.UNLIMITED),
        quota("g", 0));
    schedulerFixture.queue("lender", "co", quota("g", 10));
    schedulerFixture.submit("low", "q", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "q", 10, 5, 1);
  }

  @Test
  void aStrictHeadWithoutVictimsKeepsItsQuotaFromThoseWhoBorrow() {
    schedulerFixture.queue(
        "strict",
        "co",
        QueueingStrategy.STRICT_FIFO,
        LOWER,
        FlavorFungibility.DEFAULT,
        quota("f", 10));
    schedulerFixture.queue("borrower", "co", quota("f", 0));
    schedulerFixture.submit("running", "strict", 5, 9, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("head", "strict", 6, 7, 1);
    schedulerFixture.submit("w", "borrower", 5, 0, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.engine.idle()).isTrue();

    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).containsExactly("head");
  }

  @Test
  void aStrictHeadThatMayPreemptNobodyKeepsItsQuotaToo() {
    schedulerFixture.queue("strict", "co", QueueingStrategy.STRICT_FIFO, quota("f", 10));
    schedulerFixture.queue("borrower", "co", quota("f", 0));
    schedulerFixture.submit("running", "strict", 5, 9, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("head", "strict", 6, 7, 1);
    schedulerFixture.submit("w", "borrower", 5, 0, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.engine.idle()).isTrue();

    schedulerFixture.submit("later", "borrower", 1, 0, 3); // whoever comes finds it kept as well
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).containsExactly("head", "later");
  }

  @Test
  void anEndLetsOneFindVictimsWhoCameMeanwhile() {
    schedulerFixture.queue("q", "", LOWER, quota("f", 10));
    schedulerFixture.submit("high", "q", 8, 9, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("mid", "q", 8, 5, 1);
    schedulerFixture.submit("low", "q", 2, 0, 2);
    assertThat(schedulerFixture.admitted()).containsExactly("low");
    schedulerFixture.finish("high");
    assertThat(schedulerFixture.admitted()).containsExactly("mid");
    assertThat(schedulerFixture.preempted()).isEmpty();
  }

  @Test
  void twoWhoWantTheSameVictimShareItIfBothFitInItsPlace() {
    schedulerFixture.queue("a", "co", RECLAIM_ANY, quota("f", 5));
    schedulerFixture.queue("b", "co", RECLAIM_ANY, quota("f", 5));
    schedulerFixture.queue("borrower", "co", quota("f", 0));
    schedulerFixture.submit("large", "borrower", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("one", "a", 5, 0, 1);
    schedulerFixture.submit("two", "b", 5, 0, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("large for one: InCohortReclamation");
    schedulerFixture.finish("large");
    assertThat(schedulerFixture.admitted()).containsExactly("one", "two");
  }

  @Test
  void thePreemptorStandsFirstEvenBeforeAHigherPriority() {
    schedulerFixture.queue("q", "", LOWER, quota("f", 10));
    schedulerFixture.submit("low", "q", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("preemptor", "q", 10, 5, 1);
    schedulerFixture.admitted();
    schedulerFixture.submit("higher", "q", 10, 9, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.finish("low");
    assertThat(schedulerFixture.admitted()).containsExactly("preemptor");
  }
}

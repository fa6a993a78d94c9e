package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.PendingReason;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Who has a closed preemption gate preempts nobody (docs/scheduling-semantics.md#the-cycle). */
class PreemptionGatesTest {

  private static final PreemptionPolicies LOWER =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  /** A queue of 10 in which one of 8 runs. */
  private void givenOneWhoRuns(QueueingStrategy strategy) {
    schedulerFixture.flavor("f");
    schedulerFixture.queue(
        "q", "", strategy, LOWER, FlavorFungibility.DEFAULT, SchedulerFixture.quota("f", 10));
    schedulerFixture.submit("running", "q", 8);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
  }

  @Test
  void nobodyIsPreemptedWhileAGateIsClosed() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);

    schedulerFixture.submitGated("gated", "q", 5, 1, true);

    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();
    Explanation why = schedulerFixture.explanation("gated").orElseThrow();
    assertThat(why.gated()).isTrue();
    assertThat(why.reason()).isEqualTo(PendingReason.WAITING_FOR_QUOTA);
    assertThat(schedulerFixture.engine.unreported().take(10))
        .extracting(PendingExplanation::explanation)
        .containsExactly(why);
  }

  @Test
  void whenTheGateOpensItPreempts() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    schedulerFixture.submitGated("gated", "q", 5, 1, true);
    schedulerFixture.admitted();

    schedulerFixture.submitGated("gated", "q", 5, 1, false);

    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("running for gated: InClusterQueue");
  }

  @Test
  void whoFitsNeedsNoGate() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    schedulerFixture.submitGated("gated", "q", 2, 1, true);
    assertThat(schedulerFixture.admitted()).containsExactly("gated");
  }

  @Test
  void othersGetWhatItWouldNeed() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    schedulerFixture.submitGated("gated", "q", 5, 1, true);
    schedulerFixture.submit("other", "q", 2);
    assertThat(schedulerFixture.admitted()).containsExactly("other");
  }

  @Test
  void eachOfThoseAlikeIsToldOfItsGate() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    schedulerFixture.submitGated("one", "q", 5, 1, true);
    schedulerFixture.submitGated("two", "q", 5, 1, true);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.explanation("one").orElseThrow().gated()).isTrue();
    assertThat(schedulerFixture.explanation("two").orElseThrow().gated()).isTrue();
  }

  @Test
  void oneOfThoseAlikeWhoseGateIsOpenPreempts() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    schedulerFixture.submitGated("closed", "q", 5, 1, true);
    schedulerFixture.submitGated("open", "q", 5, 1, false);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).containsExactly("running for open: InClusterQueue");
  }

  @Test
  void whenQuotaIsGivenBackItIsAdmittedThroughAClosedGate() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    schedulerFixture.submitGated("gated", "q", 5, 1, true);
    schedulerFixture.admitted();
    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).containsExactly("gated");
  }

  @Test
  void atTheHeadOfAStrictQueueItBlocksThoseBehindIt() {
    givenOneWhoRuns(QueueingStrategy.STRICT_FIFO);
    schedulerFixture.submitGated("gated", "q", 5, 1, true);
    schedulerFixture.submit("behind", "q", 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();
    assertThat(schedulerFixture.explanation("gated").orElseThrow().gated()).isTrue();

    schedulerFixture.finish("running");

    assertThat(schedulerFixture.admitted()).containsExactly("gated", "behind");
  }

  /**
   * A head of another queue reserves what the head of the StrictFIFO queue would get of its first
   * flavor, finds no targets, and becomes inadmissible. Of the next flavor, the head gets something
   * by preemption only.
   */
  @Test
  void whoIsGatedAtALaterFlavorIsLookedAtFromTheFirstAgainWhenOthersReserveItNoMore() {
    PreemptionPolicies any =
        new PreemptionPolicies(
            WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY, false, OptionalInt.empty());
    PreemptionPolicies lower =
        new PreemptionPolicies(
            WithinClusterQueue.NEVER,
            ReclaimWithinCohort.LOWER_PRIORITY,
            false,
            OptionalInt.empty());
    schedulerFixture.flavor("x");
    schedulerFixture.flavor("y");
    schedulerFixture.queue(
        "strict",
        "all",
        QueueingStrategy.STRICT_FIFO,
        any,
        FlavorFungibility.DEFAULT,
        SchedulerFixture.quota("x", 1),
        SchedulerFixture.quota("y", 5));
    schedulerFixture.queue(
        "other", "all", lower, SchedulerFixture.quota("y", 4), SchedulerFixture.quota("x", 4));
    schedulerFixture.submit("borrower", "strict", 4, 1, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("borrower");
    schedulerFixture.submit("full", "other", 9);
    assertThat(schedulerFixture.admitted()).containsExactly("full");

    schedulerFixture.submit("reserving", "other", 2);
    schedulerFixture.submitGated("gated", "strict", 1, 0, true);

    assertThat(schedulerFixture.admitted()).containsExactly("gated");
    assertThat(schedulerFixture.preempted()).isEmpty();
  }
}

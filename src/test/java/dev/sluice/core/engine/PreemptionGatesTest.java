package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorFungibility;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Who has a closed preemption gate preempts nobody (contract: scheduling semantics, 4.6). */
class PreemptionGatesTest {

  private static final PreemptionPolicies LOWER =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  private final World world = new World();

  /** A queue of 10 in which one of 8 runs. */
  private void givenOneWhoRuns(QueueingStrategy strategy) {
    world.flavor("f");
    world.queue("q", "", strategy, LOWER, FlavorFungibility.DEFAULT, World.quota("f", 10));
    world.submit("running", "q", 8);
    assertThat(world.admitted()).containsExactly("running");
  }

  @Test
  void nobodyIsPreemptedWhileAGateIsClosed() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);

    world.submitGated("gated", "q", 5, 1, true);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();
    Explanation why = world.explanation("gated").orElseThrow();
    assertThat(why.gated()).isTrue();
    assertThat(why.reason()).isEqualTo(PendingReason.WAITING_FOR_QUOTA);
    assertThat(world.engine.unreported().take(10))
        .extracting(Decision.Explain::explanation)
        .containsExactly(why);
  }

  @Test
  void whenTheGateOpensItPreempts() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    world.submitGated("gated", "q", 5, 1, true);
    world.admitted();

    world.submitGated("gated", "q", 5, 1, false);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("running for gated: InClusterQueue");
  }

  @Test
  void whoFitsNeedsNoGate() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    world.submitGated("gated", "q", 2, 1, true);
    assertThat(world.admitted()).containsExactly("gated");
  }

  @Test
  void othersGetWhatItWouldNeed() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    world.submitGated("gated", "q", 5, 1, true);
    world.submit("other", "q", 2);
    assertThat(world.admitted()).containsExactly("other");
  }

  @Test
  void eachOfThoseAlikeIsToldOfItsGate() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    world.submitGated("one", "q", 5, 1, true);
    world.submitGated("two", "q", 5, 1, true);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.explanation("one").orElseThrow().gated()).isTrue();
    assertThat(world.explanation("two").orElseThrow().gated()).isTrue();
  }

  @Test
  void oneOfThoseAlikeWhoseGateIsOpenPreempts() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    world.submitGated("closed", "q", 5, 1, true);
    world.submitGated("open", "q", 5, 1, false);
    world.admitted();
    assertThat(world.preempted()).containsExactly("running for open: InClusterQueue");
  }

  @Test
  void whenQuotaIsGivenBackItIsAdmittedThroughAClosedGate() {
    givenOneWhoRuns(QueueingStrategy.BEST_EFFORT_FIFO);
    world.submitGated("gated", "q", 5, 1, true);
    world.admitted();
    world.finish("running");
    assertThat(world.admitted()).containsExactly("gated");
  }

  @Test
  void atTheHeadOfAStrictQueueItBlocksThoseBehindIt() {
    givenOneWhoRuns(QueueingStrategy.STRICT_FIFO);
    world.submitGated("gated", "q", 5, 1, true);
    world.submit("behind", "q", 1);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();
    assertThat(world.explanation("gated").orElseThrow().gated()).isTrue();

    world.finish("running");

    assertThat(world.admitted()).containsExactly("gated", "behind");
  }
}

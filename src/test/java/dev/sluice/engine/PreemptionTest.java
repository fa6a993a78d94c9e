package dev.sluice.engine;

import static dev.sluice.engine.World.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.model.Decision;
import dev.sluice.model.Fact;
import dev.sluice.model.PendingReason;
import dev.sluice.model.PreemptionPolicies;
import dev.sluice.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.model.PreemptionReason;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Preemption by the engine as a whole: who is evicted, and what follows. */
class PreemptionTest {

  private static final PreemptionPolicies LOWER_PRIORITY =
      policies(WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER);

  private final World world = new World();

  private static PreemptionPolicies policies(
      WithinClusterQueue within, ReclaimWithinCohort cohort) {
    return new PreemptionPolicies(within, cohort, false, OptionalInt.empty());
  }

  @BeforeEach
  void oneFlavor() {
    world.flavor("f");
  }

  @Test
  void aHigherPriorityEvictsTheLowestAndWaitsUntilItHasStopped() {
    world.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    world.submit("low", "q", 5, 1, 0);
    world.submit("lower", "q", 5, 0, 1);
    assertThat(world.admitted()).containsExactly("low", "lower");

    world.submit("high", "q", 5, 9, 2);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("lower for high: InClusterQueue");
    assertThat(world.waitsFor("high")).contains(PendingReason.WAITING_FOR_PREEMPTED_WORKLOADS);

    world.finish("lower");
    assertThat(world.admitted()).containsExactly("high");
    assertThat(world.preempted()).isEmpty();
  }

  @Test
  void nobodyElseTakesWhatItsVictimsFree() {
    world.queue("q", "co", LOWER_PRIORITY, quota("f", 10));
    world.queue("other", "co", quota("f", 0));
    world.submit("low", "q", 10, 0, 0);
    world.admitted();
    world.submit("high", "q", 10, 9, 1);
    world.admitted();
    world.preempted();

    world.submit("greedy", "other", 5, 99, 2);
    assertThat(world.admitted()).isEmpty();
    world.finish("low");
    assertThat(world.admitted()).containsExactly("high");
  }

  @Test
  void thoseOfEqualOrHigherPriorityAreLeftAlone() {
    world.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    world.submit("equal", "q", 10, 5, 0);
    world.admitted();
    world.submit("w", "q", 5, 5, 1);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();
    assertThat(world.waitsFor("w")).contains(PendingReason.WAITING_FOR_QUOTA);
  }

  @Test
  void newerOnesOfEqualPriorityAreEvictedWhereThePolicySaysSo() {
    world.queue(
        "q",
        "",
        policies(WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY, ReclaimWithinCohort.NEVER),
        quota("f", 10));
    world.submit("older", "q", 5, 5, 0);
    world.submit("newer", "q", 5, 5, 9);
    assertThat(world.admitted()).containsExactly("older", "newer");

    world.submit("w", "q", 10, 5, 3);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty(); // older protects its half, so evicting is in vain
    world.finish("w");
    world.submit("small", "q", 5, 5, 4);
    world.admitted();
    assertThat(world.preempted()).containsExactly("newer for small: InClusterQueue");
  }

  @Test
  void whatWasLentIsReclaimedFromThoseWhoBorrow() {
    world.queue(
        "owner", "co", policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY), quota("f", 10));
    world.queue("borrower", "co", quota("f", 10));
    world.submit("own", "borrower", 10, 60, 0);
    world.submit("borrowed", "borrower", 5, 50, 1);
    world.admitted();

    world.submit("w", "owner", 8, 0, 2);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("borrowed for w: InCohortReclamation");
  }

  @Test
  void aVictimIsNotEvictedTwiceUnlessItsEvictionIsRefused() {
    world.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    world.submit("low", "q", 10, 0, 0);
    world.admitted();
    world.submit("high", "q", 10, 9, 1);
    world.admitted();
    assertThat(world.preempted()).hasSize(1);
    long decided = world.lastPreemption().victims().getFirst().version();

    world.submit("unrelated", "q", 10, 0, 2);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();

    world.engine.fold(
        new Fact.EvictionRefused(world.lastPreemption().victims().getFirst().id(), decided));
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("low for high: InClusterQueue");
  }

  @Test
  void theDecisionSaysWhereInTheTreeBothAre() {
    world.cohort("root", "");
    world.cohort("mid", "root");
    world.queue("q", "mid", LOWER_PRIORITY, quota("f", 10));
    world.submit("low", "q", 10, 3, 0);
    world.admitted();
    world.submit("high", "q", 10, 9, 1);
    world.admitted();
    Decision.Preempt preemption = world.lastPreemption();
    assertThat(preemption.path()).containsExactly("root", "mid", "q");
    assertThat(preemption.priority()).isEqualTo(9);
    assertThat(preemption.victims())
        .singleElement()
        .satisfies(
            victim -> {
              assertThat(victim.path()).containsExactly("root", "mid", "q");
              assertThat(victim.priority()).isEqualTo(3);
              assertThat(victim.reason()).isEqualTo(PreemptionReason.IN_CLUSTER_QUEUE);
            });
  }
}

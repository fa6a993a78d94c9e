package dev.sluice.core.engine;

import static dev.sluice.core.engine.World.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PodSetRequest;
import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.PreemptionReason;
import dev.sluice.core.model.RequestShape;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
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
  void oneWhomAWaitingPreemptorOvertakesIsNotLookedAtForEver() {
    world.queue(
        "owner", "co", policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY), quota("f", 10));
    world.queue("borrower", "co", quota("f", 10));
    world.submit("own", "borrower", 10, 60, 0);
    world.submit("first", "borrower", 5, 50, 1);
    world.submit("second", "borrower", 5, 50, 2);
    world.submit("small", "borrower", 2, 50, 3);
    world.admitted();
    world.submit("w", "owner", 10, 0, 4);
    world.admitted();
    assertThat(world.preempted()).hasSize(2);

    world.finish("first"); // "small" could have what is free, were it not claimed
    int cycles = 0;
    while (world.engine.cycle()) {
      assertThat(++cycles).isLessThan(10);
    }
    assertThat(world.admitted()).isEmpty();
    world.finish("second");
    assertThat(world.admitted()).containsExactly("w");
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

    world.engine.apply(
        new SchedulerEvent.EvictionRefused(world.lastPreemption().victims().getFirst().id(), decided));
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

  @Test
  void whoWasOvertakenByABlockedHeadIsLookedAtWhenThatLeaves() {
    world.queue("strict", "co", QueueingStrategy.STRICT_FIFO, quota("f", 10));
    world.queue("borrower", "co", quota("f", 0));
    world.submit("running", "strict", 5, 9, 0);
    world.admitted();
    world.submit("head", "strict", 6, 7, 1);
    world.submit("overtaken", "borrower", 5, 0, 2);
    assertThat(world.admitted()).isEmpty();

    world.finish("head");
    assertThat(world.admitted()).containsExactly("overtaken");
  }

  @Test
  void whatWasFreedDuringASearchIsFoundAlthoughTheRestOfItWouldWaitForVictims() {
    walkToVictims();
    world.engine.cycle(); // begins anew: its small pod set takes f, and the large one doesn't fit
    world.finish("high");
    assertThat(world.admitted()).containsExactly("w");
  }

  @Test
  void aSearchThatWouldWalkInCirclesEnds() {
    walkToVictims();
    assertThat(world.admitted()).isEmpty();
    assertThat(world.engine.idle()).isTrue();
    world.finish("low");
    assertThat(world.admitted()).containsExactly("w");
  }

  /**
   * Its small pod set fits in f, and then the large one doesn't; so it walks on, to a victim in g.
   */
  private void walkToVictims() {
    world.flavor("g");
    world.queue("q", "", LOWER_PRIORITY, quota("f", 4), quota("g", 2));
    world.submit("filler", "q", 4, 9, 0);
    world.submit("low", "q", 2, 0, 1);
    world.admitted();
    world.finish("filler");
    world.submit("high", "q", 1, 9, 2);
    world.admitted();
    world.submit("w", "q", new RequestShape(List.of(podSet("small", 1), podSet("large", 3))), 5);
    world.engine.cycle();
    assertThat(world.preempted()).isEmpty();
    world.engine.cycle();
    assertThat(world.preempted()).containsExactly("low for w: InClusterQueue");
  }

  private static PodSetRequest podSet(String name, long cpu) {
    return new PodSetRequest(name, 1, 0, new TreeMap<>(Map.of("cpu", cpu)), NodeConstraints.ANYWHERE, "");
  }
}

package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Preemption by the engine as a whole: who is evicted, and what follows. */
class PreemptionTest {

  private static final PreemptionPolicies LOWER_PRIORITY =
      policies(WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER);

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  private static PreemptionPolicies policies(
      WithinClusterQueue within, ReclaimWithinCohort cohort) {
    return new PreemptionPolicies(within, cohort, false, OptionalInt.empty());
  }

  @BeforeEach
  void oneFlavor() {
    schedulerFixture.flavor("f");
  }

  @Test
  void aHigherPriorityEvictsTheLowestAndWaitsUntilItHasStopped() {
    schedulerFixture.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.submit("low", "q", 5, 1, 0);
    schedulerFixture.submit("lower", "q", 5, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("low", "lower");

    schedulerFixture.submit("high", "q", 5, 9, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("lower for high: InClusterQueue");
    assertThat(schedulerFixture.waitsFor("high"))
        .contains(PendingReason.WAITING_FOR_PREEMPTED_WORKLOADS);

    schedulerFixture.finish("lower");
    assertThat(schedulerFixture.admitted()).containsExactly("high");
    assertThat(schedulerFixture.preempted()).isEmpty();
  }

  @Test
  void nobodyElseTakesWhatItsVictimsFree() {
    schedulerFixture.queue("q", "co", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.queue("other", "co", quota("f", 0));
    schedulerFixture.submit("low", "q", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("high", "q", 10, 9, 1);
    schedulerFixture.admitted();
    schedulerFixture.preempted();

    schedulerFixture.submit("greedy", "other", 5, 99, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.finish("low");
    assertThat(schedulerFixture.admitted()).containsExactly("high");
  }

  @Test
  void oneWhomAWaitingPreemptorOvertakesIsNotLookedAtForEver() {
    schedulerFixture.queue(
        "owner", "co", policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY), quota("f", 10));
    schedulerFixture.queue("borrower", "co", quota("f", 10));
    schedulerFixture.submit("own", "borrower", 10, 60, 0);
    schedulerFixture.submit("first", "borrower", 5, 50, 1);
    schedulerFixture.submit("second", "borrower", 5, 50, 2);
    schedulerFixture.submit("small", "borrower", 2, 50, 3);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "owner", 10, 0, 4);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).hasSize(2);

    schedulerFixture.finish("first"); // "small" could have what is free, were it not claimed
    int cycles = 0;
    while (schedulerFixture.engine.cycle()) {
      assertThat(++cycles).isLessThan(10);
    }
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.finish("second");
    assertThat(schedulerFixture.admitted()).containsExactly("w");
  }

  @Test
  void thoseOfEqualOrHigherPriorityAreLeftAlone() {
    schedulerFixture.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.submit("equal", "q", 10, 5, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("w", "q", 5, 5, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();
    assertThat(schedulerFixture.waitsFor("w")).contains(PendingReason.WAITING_FOR_QUOTA);
  }

  @Test
  void newerOnesOfEqualPriorityAreEvictedWhereThePolicySaysSo() {
    schedulerFixture.queue(
        "q",
        "",
        policies(WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY, ReclaimWithinCohort.NEVER),
        quota("f", 10));
    schedulerFixture.submit("older", "q", 5, 5, 0);
    schedulerFixture.submit("newer", "q", 5, 5, 9);
    assertThat(schedulerFixture.admitted()).containsExactly("older", "newer");

    schedulerFixture.submit("w", "q", 10, 5, 3);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted())
        .isEmpty(); // older protects its half, so evicting is in vain
    schedulerFixture.finish("w");
    schedulerFixture.submit("small", "q", 5, 5, 4);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).containsExactly("newer for small: InClusterQueue");
  }

  @Test
  void whatWasLentIsReclaimedFromThoseWhoBorrow() {
    schedulerFixture.queue(
        "owner", "co", policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY), quota("f", 10));
    schedulerFixture.queue("borrower", "co", quota("f", 10));
    schedulerFixture.submit("own", "borrower", 10, 60, 0);
    schedulerFixture.submit("borrowed", "borrower", 5, 50, 1);
    schedulerFixture.admitted();

    schedulerFixture.submit("w", "owner", 8, 0, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("borrowed for w: InCohortReclamation");
  }

  @Test
  void aVictimIsNotEvictedTwiceUnlessItsEvictionIsRefused() {
    schedulerFixture.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.submit("low", "q", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("high", "q", 10, 9, 1);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).hasSize(1);
    long decided = schedulerFixture.lastPreemption().targets().getFirst().version();

    schedulerFixture.submit("unrelated", "q", 10, 0, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();

    schedulerFixture.engine.apply(
        new SchedulerEvent.EvictionRefused(
            schedulerFixture.lastPreemption().targets().getFirst().id(), decided));
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("low for high: InClusterQueue");
  }

  /** Changes of 0.20, section 2: a sticky head is forgotten when its preemption fails. */
  @Test
  void aPreemptorStaysTheFirstOfItsQueueUnlessTheEvictionIsRefused() {
    schedulerFixture.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.submit("low", "q", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("high", "q", 10, 8, 1);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).containsExactly("low for high: InClusterQueue");

    schedulerFixture.submit("higher", "q", 10, 9, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).as("the preemptor comes first").isEmpty();

    Decision.Target target = schedulerFixture.lastPreemption().targets().getFirst();
    schedulerFixture.engine.apply(
        new SchedulerEvent.EvictionRefused(target.id(), target.version()));
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("low for higher: InClusterQueue");
  }

  /** Its devices aren't known for a moment, say, or it was gated. */
  @Test
  void aPreemptorThatWasAwayIsStillTheFirstOfItsQueue() {
    schedulerFixture.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.submit("low", "q", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("high", "q", 10, 8, 1);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.preempted()).containsExactly("low for high: InClusterQueue");

    schedulerFixture.finish("high");
    schedulerFixture.submit("high", "q", 10, 8, 1);
    schedulerFixture.submit("higher", "q", 10, 9, 2);
    schedulerFixture.finish("low");
    assertThat(schedulerFixture.admitted()).containsExactly("high");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aPreemptorThatIsDeletedWhileItIsAwayOrInAnotherQueueIsForgotten(boolean away) {
    schedulerFixture.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.queue("other", "", LOWER_PRIORITY, quota("f", 0));
    schedulerFixture.submit("low", "q", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("high", "q", 10, 8, 1);
    schedulerFixture.admitted();
    assertThat(preemptors(schedulerFixture.engine)).hasSize(1);

    if (away) {
      schedulerFixture.finish("high");
    } else {
      schedulerFixture.submit("high", "other", 10, 8, 1);
    }
    EngineState state = schedulerFixture.engine.export();
    Engine restored = Engine.restore(state.options(), state, decision -> {});
    SchedulerEvent deleted =
        new SchedulerEvent.WorkloadReleased(schedulerFixture.lastPreemption().id(), Long.MAX_VALUE);
    for (Engine engine : List.of(schedulerFixture.engine, restored)) {
      assertThat(preemptors(engine)).hasSize(1);
      engine.apply(deleted);
      assertThat(preemptors(engine)).isEmpty();
      assertThat(engine.export().waiting().preemptions()).isEmpty();
    }
  }

  private static List<WorkloadId> preemptors(Engine engine) {
    return engine.export().clusterQueues().stream()
        .flatMap(queue -> queue.pending().preemptor().stream())
        .toList();
  }

  @Test
  void aPreemptorWhosePreemptionFailsWhileItIsAwayIsNotTheFirst() {
    schedulerFixture.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.submit("low", "q", 10, 0, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("high", "q", 10, 8, 1);
    schedulerFixture.admitted();
    Decision.Target target = schedulerFixture.lastPreemption().targets().getFirst();

    schedulerFixture.finish("high");
    schedulerFixture.engine.apply(
        new SchedulerEvent.EvictionRefused(target.id(), target.version()));
    schedulerFixture.submit("high", "q", 10, 8, 1);
    schedulerFixture.submit("higher", "q", 10, 9, 2);
    schedulerFixture.finish("low");
    assertThat(schedulerFixture.admitted()).containsExactly("higher");
  }

  @Test
  void theDecisionSaysWhereInTheTreeBothAre() {
    schedulerFixture.cohort("root", "");
    schedulerFixture.cohort("mid", "root");
    schedulerFixture.queue("q", "mid", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.submit("low", "q", 10, 3, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("high", "q", 10, 9, 1);
    schedulerFixture.admitted();
    Decision.Preempt preemption = schedulerFixture.lastPreemption();
    assertThat(preemption.path()).containsExactly("root", "mid", "q");
    assertThat(preemption.priority()).isEqualTo(9);
    assertThat(preemption.targets())
        .singleElement()
        .satisfies(
            target -> {
              assertThat(target.path()).containsExactly("root", "mid", "q");
              assertThat(target.priority()).isEqualTo(3);
              assertThat(target.reason()).isEqualTo(PreemptionReason.IN_CLUSTER_QUEUE);
            });
  }

  @Test
  void whoWasOvertakenByABlockedHeadIsLookedAtWhenThatLeaves() {
    schedulerFixture.queue("strict", "co", QueueingStrategy.STRICT_FIFO, quota("f", 10));
    schedulerFixture.queue("borrower", "co", quota("f", 0));
    schedulerFixture.submit("running", "strict", 5, 9, 0);
    schedulerFixture.admitted();
    schedulerFixture.submit("head", "strict", 6, 7, 1);
    schedulerFixture.submit("overtaken", "borrower", 5, 0, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.finish("head");
    assertThat(schedulerFixture.admitted()).containsExactly("overtaken");
  }

  @Test
  void whatWasFreedDuringASearchIsFoundAlthoughTheRestOfItWouldWaitForVictims() {
    walkToVictims();
    schedulerFixture.engine
        .cycle(); // begins anew: its small pod set takes f, and the large one doesn't fit
    schedulerFixture.finish("high");
    assertThat(schedulerFixture.admitted()).containsExactly("w");
  }

  @Test
  void aSearchThatWouldWalkInCirclesEnds() {
    walkToVictims();
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.engine.idle()).isTrue();
    schedulerFixture.finish("low");
    assertThat(schedulerFixture.admitted()).containsExactly("w");
  }

  /**
   * Its small pod set fits in f, and then the large one doesn't; so it walks on, to a victim in g.
   */
  private void walkToVictims() {
    schedulerFixture.flavor("g");
    schedulerFixture.queue("q", "", LOWER_PRIORITY, quota("f", 4), quota("g", 2));
    schedulerFixture.submit("filler", "q", 4, 9, 0);
    schedulerFixture.submit("low", "q", 2, 0, 1);
    schedulerFixture.admitted();
    schedulerFixture.finish("filler");
    schedulerFixture.submit("high", "q", 1, 9, 2);
    schedulerFixture.admitted();
    schedulerFixture.submit(
        "w", "q", new RequestShape(List.of(podSet("small", 1), podSet("large", 3))), 5);
    schedulerFixture.engine.cycle();
    assertThat(schedulerFixture.preempted()).isEmpty();
    schedulerFixture.engine.cycle();
    assertThat(schedulerFixture.preempted()).containsExactly("low for w: InClusterQueue");
  }

  private static PodSetRequest podSet(String name, long cpu) {
    return new PodSetRequest(
        name, 1, 0, new TreeMap<>(Map.of("cpu", cpu)), NodeConstraints.ANYWHERE, "");
  }
}

package dev.sluice.core.engine;

import static dev.sluice.core.engine.World.pods;
import static dev.sluice.core.engine.World.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorFungibility;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PodSetAssignment;
import dev.sluice.core.model.PodSetRequest;
import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.model.RequestShape;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Workloads that may start with fewer pods (scheduling semantics, section 6). */
class PartialAdmissionTest {

  private static final PreemptionPolicies LOWER_PRIORITY =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  private final World world = new World();

  private static RequestShape shape(PodSetRequest... podSets) {
    return new RequestShape(List.of(podSets));
  }

  private void submit(String name, long priority, PodSetRequest... podSets) {
    world.submit(name, "q", shape(podSets), priority);
  }

  @Test
  void getsAllPodsWhereAllFit() {
    world.flavor("f");
    world.queue("q", "", quota("f", 10));
    submit("w", 0, pods("main", 10, 3));

    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(10);
  }

  @Test
  void getsAsManyPodsAsFitAndUsesNoMore() {
    world.flavor("f");
    world.queue("q", "", quota("f", 6));
    submit("w", 0, pods("main", 10, 3));

    // of 10 pods, 7 can be spared; the 4th step is the first that fits: 10 - 7 * 4 / 7 = 6
    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(6);
    PodSetAssignment given = world.admission("w").podSets().getFirst();
    assertThat(given.usage()).containsExactly(java.util.Map.entry("cpu", 6L));
    world.submit("next", "q", 1);
    assertThat(world.admitted()).isEmpty();
  }

  @Test
  void podSetsAreReducedTogetherInProportion() {
    world.flavor("f");
    world.queue("q", "", quota("f", 8));
    submit("w", 0, pods("a", 5, 1), pods("b", 10, 4));

    // spare: 4 + 6 = 10. Step 7: 5 - 28/10 = 3 and 10 - 42/10 = 6, 9 in all: too many.
    // Step 8: 5 - 32/10 = 2 and 10 - 48/10 = 6, 8 in all.
    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(2, 6);
  }

  @Test
  void podSetsWithoutAMinimumKeepTheirPods() {
    world.flavor("f");
    world.queue("q", "", quota("f", 6));
    submit("w", 0, pods("driver", 2, 0), pods("workers", 8, 1));

    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(2, 4);
  }

  @Test
  void theBorrowingLimitBoundsThePods() {
    world.flavor("f");
    world.queue("q", "c", quota("f", 2, 3, ResourceAmounts.UNLIMITED));
    world.queue("lender", "c", quota("f", 20));
    submit("w", 0, pods("main", 10, 1));

    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(5);
  }

  @Test
  void takesTheFlavorThatHoldsMost() {
    world.flavor("small");
    world.flavor("large");
    world.queue("q", "", quota("small", 4), quota("large", 6));
    submit("w", 0, pods("main", 8, 2));

    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(6);
    assertThat(world.admission("w").podSets().getFirst().flavors()).containsValue("large");
  }

  @Test
  void waitsWhenNotEvenTheMinimumFitsAndSaysSo() {
    world.flavor("f");
    world.queue("q", "", quota("f", 10));
    world.submit("running", "q", 7);
    assertThat(world.admitted()).containsExactly("running");
    submit("w", 0, pods("main", 8, 5));

    assertThat(world.admitted()).isEmpty();
    assertThat(world.waitsFor("w")).contains(PendingReason.WAITING_FOR_QUOTA);
    Explanation why =
        world
            .engine
            .answers()
            .pendingReason(new WorkloadId("uid-w", "ns", "w"))
            .orElseThrow()
            .explanation()
            .orElseThrow();
    assertThat(why.detail())
        .isEqualTo(
            "it doesn't fit even with the fewest pods it may start with (pod set main: 5 of 8);"
                + " preemption would not help: the policies of its ClusterQueue don't allow it for"
                + " all that is missing");
  }

  @Test
  void whatNeverFitsInFullIsTriedInPartWhenever() {
    world.flavor("f");
    world.queue("q", "", quota("f", 4));
    world.submit("running", "q", 4);
    world.admitted();
    submit("w", 0, pods("main", 8, 2));
    submit("never", 0, pods("main", 8, 5));

    assertThat(world.admitted()).isEmpty();
    assertThat(world.waitsFor("w")).contains(PendingReason.EXCEEDS_MAX_QUOTA);
    world.finish("running");
    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(4);
    assertThat(world.waitsFor("never")).contains(PendingReason.EXCEEDS_MAX_QUOTA);
  }

  @Test
  void isWokenByWhatLetsItStartWithFewer() {
    world.flavor("f");
    world.queue("q", "", quota("f", 10));
    world.submit("five", "q", 5, 0, 0);
    world.submit("two", "q", 2, 0, 0);
    assertThat(world.admitted()).containsExactlyInAnyOrder("five", "two");
    submit("w", 0, pods("main", 8, 5));
    assertThat(world.admitted()).isEmpty();

    world.finish("two"); // 5 are free: enough for the minimum, not for all

    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(5);
  }

  @Test
  void sleepsOnWhileEvenTheMinimumDoesNotFit() {
    world.flavor("f");
    world.queue("q", "", quota("f", 10));
    world.submit("eight", "q", 8, 0, 0);
    world.submit("one", "q", 1, 0, 0);
    world.admitted();
    submit("w", 0, pods("main", 8, 5));
    world.admitted();

    world.finish("one");

    assertThat(world.engine.cycle()).isFalse();
  }

  @Test
  void theHeadOfAStrictQueueIsWokenTheSameWay() {
    world.flavor("f");
    world.queue("q", "", QueueingStrategy.STRICT_FIFO, quota("f", 10));
    world.submit("five", "q", 5, 9, 0);
    world.submit("two", "q", 2, 9, 0);
    assertThat(world.admitted()).containsExactlyInAnyOrder("five", "two");
    submit("w", 0, pods("main", 8, 5));
    world.submit("behind", "q", 1, 0, 5);
    assertThat(world.admitted()).isEmpty();

    world.finish("two");

    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(5);
  }

  @Test
  void equalsAreDecidedOneAfterTheOther() {
    world.flavor("f");
    world.queue("q", "", quota("f", 10));
    submit("a", 0, pods("main", 6, 3));
    submit("b", 0, pods("main", 6, 3));
    submit("c", 0, pods("main", 6, 3));

    assertThat(world.admitted()).containsExactly("a", "b");
    assertThat(world.counts("a")).containsExactly(6);
    assertThat(world.counts("b")).containsExactly(4);
    world.finish("a");
    assertThat(world.admitted()).containsExactly("c");
    assertThat(world.counts("c")).containsExactly(6);
  }

  @Test
  void preemptsForAsManyPodsAsItCan() {
    world.flavor("f");
    world.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    world.submit("high", "q", 6, 100, 0);
    world.submit("low", "q", 4, 0, 0);
    assertThat(world.admitted()).containsExactlyInAnyOrder("high", "low");
    submit("w", 50, pods("main", 8, 2));

    // without low 4 are free: 8 - 6 * 4 / 6 = 4 pods
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("low for w: InClusterQueue");
    assertThat(world.waitsFor("w")).contains(PendingReason.WAITING_FOR_PREEMPTED_WORKLOADS);
    world.finish("low");
    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(4);
  }

  @Test
  void preemptsForAllPodsRatherThanStartWithFewer() {
    world.flavor("f");
    world.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    world.submit("low", "q", 5, 0, 0);
    world.admitted();
    submit("w", 50, pods("main", 8, 2));

    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("low for w: InClusterQueue");
    world.finish("low");
    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(8);
  }

  @Test
  void theFlavorsAreTriedInFullBeforeAnyIsTriedInPart() {
    world.flavor("first");
    world.flavor("second");
    world.queue(
        "q",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        PreemptionPolicies.NEVER,
        FlavorFungibility.DEFAULT,
        quota("first", 4),
        quota("second", 8));
    submit("w", 0, pods("main", 8, 2));

    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.counts("w")).containsExactly(8);
  }
}

package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.pods;
import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Workloads that may start with fewer pods (docs/scheduling-semantics.md#flavor-assignment). */
class PartialAdmissionTest {

  private static final PreemptionPolicies LOWER_PRIORITY =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  private static RequestShape shape(PodSetRequest... podSets) {
    return new RequestShape(List.of(podSets));
  }

  private void submit(String name, long priority, PodSetRequest... podSets) {
    schedulerFixture.submit(name, "q", shape(podSets), priority);
  }

  @Test
  void getsAllPodsWhereAllFit() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    submit("w", 0, pods("main", 10, 3));

    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(10);
  }

  @Test
  void getsAsManyPodsAsFitAndUsesNoMore() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 6));
    submit("w", 0, pods("main", 10, 3));

    // of 10 pods, 7 can be spared; the 4th step is the first that fits: 10 - 7 * 4 / 7 = 6
    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(6);
    PodSetAssignment given = schedulerFixture.admission("w").podSets().getFirst();
    assertThat(given.usage()).containsExactly(java.util.Map.entry("cpu", 6L));
    schedulerFixture.submit("next", "q", 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
  }

  @Test
  void podSetsAreReducedTogetherInProportion() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 8));
    submit("w", 0, pods("a", 5, 1), pods("b", 10, 4));

    // spare: 4 + 6 = 10. Step 7: 5 - 28/10 = 3 and 10 - 42/10 = 6, 9 in all: too many.
    // Step 8: 5 - 32/10 = 2 and 10 - 48/10 = 6, 8 in all.
    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(2, 6);
  }

  @Test
  void podSetsWithoutAMinimumKeepTheirPods() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 6));
    submit("w", 0, pods("driver", 2, 2), pods("workers", 8, 1));

    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(2, 4);
  }

  /** Changes of 0.20, section 2: minCount may be 0; then every pod can be spared. */
  @ParameterizedTest
  @CsvSource({"12, 10", "6, 6", "1, 1", "0, 0"})
  void allPodsCanBeSparedWhereTheFewestAreNone(long quota, int started) {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", quota));
    submit("w", 0, pods("main", 10, 0));

    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(started);
    assertThat(schedulerFixture.admission("w").podSets().getFirst().usage())
        .isEqualTo(java.util.Map.of("cpu", (long) started));
  }

  /** Pod sets of a fixed size are never spared, and hold back those that could be. */
  @Test
  void podSetsThatMayBeNoneWaitForThoseThatMayNot() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 3));
    submit("w", 0, pods("driver", 2, 2), pods("workers", 8, 0));
    submit("waits", 0, pods("driver", 1, 1), pods("workers", 8, 0));

    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(2, 1);
  }

  @Test
  void theBorrowingLimitBoundsThePods() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "c", quota("f", 2, 3, ResourceAmounts.UNLIMITED));
    schedulerFixture.queue("lender", "c", quota("f", 20));
    submit("w", 0, pods("main", 10, 1));

    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(5);
  }

  @Test
  void takesTheFlavorThatHoldsMost() {
    schedulerFixture.flavor("small");
    schedulerFixture.flavor("large");
    schedulerFixture.queue("q", "", quota("small", 4), quota("large", 6));
    submit("w", 0, pods("main", 8, 2));

    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(6);
    assertThat(schedulerFixture.admission("w").podSets().getFirst().flavors())
        .containsValue("large");
  }

  @Test
  void waitsWhenNotEvenTheMinimumFitsAndSaysSo() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.submit("running", "q", 7);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    submit("w", 0, pods("main", 8, 5));

    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.waitsFor("w")).contains(PendingReason.WAITING_FOR_QUOTA);
    Explanation why =
        schedulerFixture
            .engine
            .queries()
            .pendingReason(new WorkloadId("uid-w", "ns", "w"))
            .orElseThrow()
            .explanation()
            .orElseThrow();
    assertThat(why.detail())
        .isEqualTo(
            "it doesn't fit even with the fewest pods it may start with (pod set main: 5 of 8);"
                + " preemption is off in this ClusterQueue");
  }

  @Test
  void whatNeverFitsInFullIsTriedInPartWhenever() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 4));
    schedulerFixture.submit("running", "q", 4);
    schedulerFixture.admitted();
    submit("w", 0, pods("main", 8, 2));
    submit("never", 0, pods("main", 8, 5));

    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.waitsFor("w"))
        .as("its fewest pods are within the maximum")
        .contains(PendingReason.WAITING_FOR_QUOTA);
    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(4);
    assertThat(schedulerFixture.waitsFor("never")).contains(PendingReason.EXCEEDS_MAX_QUOTA);
  }

  @Test
  void isWokenByWhatLetsItStartWithFewer() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.submit("five", "q", 5, 0, 0);
    schedulerFixture.submit("two", "q", 2, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactlyInAnyOrder("five", "two");
    submit("w", 0, pods("main", 8, 5));
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.finish("two"); // 5 are free: enough for the minimum, not for all

    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(5);
  }

  @Test
  void sleepsOnWhileEvenTheMinimumDoesNotFit() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.submit("eight", "q", 8, 0, 0);
    schedulerFixture.submit("one", "q", 1, 0, 0);
    schedulerFixture.admitted();
    submit("w", 0, pods("main", 8, 5));
    schedulerFixture.admitted();

    schedulerFixture.finish("one");

    assertThat(schedulerFixture.engine.cycle()).isFalse();
  }

  @Test
  void theHeadOfAStrictQueueIsWokenTheSameWay() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", QueueingStrategy.STRICT_FIFO, quota("f", 10));
    schedulerFixture.submit("five", "q", 5, 9, 0);
    schedulerFixture.submit("two", "q", 2, 9, 0);
    assertThat(schedulerFixture.admitted()).containsExactlyInAnyOrder("five", "two");
    submit("w", 0, pods("main", 8, 5));
    schedulerFixture.submit("behind", "q", 1, 0, 5);
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.finish("two");

    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(5);
  }

  @Test
  void equalsAreDecidedOneAfterTheOther() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    submit("a", 0, pods("main", 6, 3));
    submit("b", 0, pods("main", 6, 3));
    submit("c", 0, pods("main", 6, 3));

    assertThat(schedulerFixture.admitted()).containsExactly("a", "b");
    assertThat(schedulerFixture.counts("a")).containsExactly(6);
    assertThat(schedulerFixture.counts("b")).containsExactly(4);
    schedulerFixture.finish("a");
    assertThat(schedulerFixture.admitted()).containsExactly("c");
    assertThat(schedulerFixture.counts("c")).containsExactly(6);
  }

  @Test
  void preemptsForAsManyPodsAsItCan() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.submit("high", "q", 6, 100, 0);
    schedulerFixture.submit("low", "q", 4, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactlyInAnyOrder("high", "low");
    submit("w", 50, pods("main", 8, 2));

    // without low 4 are free: 8 - 6 * 4 / 6 = 4 pods
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("low for w: InClusterQueue");
    assertThat(schedulerFixture.waitsFor("w"))
        .contains(PendingReason.WAITING_FOR_PREEMPTED_WORKLOADS);
    schedulerFixture.finish("low");
    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(4);
  }

  @Test
  void preemptsForAllPodsRatherThanStartWithFewer() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", LOWER_PRIORITY, quota("f", 10));
    schedulerFixture.submit("low", "q", 5, 0, 0);
    schedulerFixture.admitted();
    submit("w", 50, pods("main", 8, 2));

    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("low for w: InClusterQueue");
    schedulerFixture.finish("low");
    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(8);
  }

  @Test
  void theFlavorsAreTriedInFullBeforeAnyIsTriedInPart() {
    schedulerFixture.flavor("first");
    schedulerFixture.flavor("second");
    schedulerFixture.queue(
        "q",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        PreemptionPolicies.NEVER,
        FlavorFungibility.DEFAULT,
        quota("first", 4),
        quota("second", 8));
    submit("w", 0, pods("main", 8, 2));

    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.counts("w")).containsExactly(8);
  }
}

package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
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

/**
 * The head of a StrictFIFO queue that doesn't fit stays in line: whatever may change what comes of
 * it brings it back to the scheduler, not only quota that is given back.
 */
class StrictHeadTest {

  private static final PreemptionPolicies WHILE_BORROWING =
      new PreemptionPolicies(
          WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY, true, OptionalInt.of(1));
  private static final PreemptionPolicies LOWER =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  @BeforeEach
  void oneFlavor() {
    schedulerFixture.flavor("f");
  }

  private void strict(PreemptionPolicies policies, long nominal) {
    schedulerFixture.queue(
        "strict",
        "co",
        QueueingStrategy.STRICT_FIFO,
        policies,
        FlavorFungibility.DEFAULT,
        quota("f", nominal));
  }

  @Test
  void isLookedAtWhenSomebodyBorrowsSoThatOthersMayBePreempted() {
    // given a head that may preempt who borrows, and nobody does
    strict(WHILE_BORROWING, 5);
    schedulerFixture.queue("other", "co", quota("f", 5));
    schedulerFixture.submit("own", "strict", 3, 5, 0);
    schedulerFixture.submit("large", "other", 4, 0, 1);
    schedulerFixture.admitted();
    schedulerFixture.submit("head", "strict", 4, 1, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();

    // when somebody does
    schedulerFixture.submit("late", "other", 2, 3, 3);

    // then
    assertThat(schedulerFixture.admitted()).containsExactly("late");
    assertThat(schedulerFixture.preempted())
        .containsExactly("large for head: InCohortReclaimWhileBorrowing");
  }

  @Test
  void claimsNothingAnyMoreOnceItsLocalQueueIsLimited() {
    // given a head that keeps quota of the cohort from another queue
    schedulerFixture.queue(
        "strict",
        "co",
        QueueingStrategy.STRICT_FIFO,
        PreemptionPolicies.NEVER,
        FlavorFungibility.DEFAULT,
        quota("f", 5, 4, ResourceAmounts.UNLIMITED));
    schedulerFixture.queue("other", "co", quota("f", 5));
    schedulerFixture.submit("own", "strict", 3, 0, 0);
    schedulerFixture.submit("large", "other", 4, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactlyInAnyOrder("own", "large");
    schedulerFixture.submit("head", "strict", 5, 0, 2);
    schedulerFixture.submit("late", "other", 2, 0, 3);
    assertThat(schedulerFixture.admitted()).isEmpty();

    // when no more of its LocalQueue may have quota
    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(
                new LocalQueueId("ns", "strict"),
                "strict",
                StopPolicy.NONE,
                1,
                OptionalInt.of(1))));

    // then
    assertThat(schedulerFixture.admitted()).containsExactly("late");
  }

  @Test
  void claimsNothingAnyMoreOnceItsLocalQueueHasAsManyAsItMay() {
    // given a head of a LocalQueue with room for one more
    schedulerFixture.queue(
        "strict",
        "co",
        QueueingStrategy.STRICT_FIFO,
        PreemptionPolicies.NEVER,
        FlavorFungibility.DEFAULT,
        quota("f", 5, 4, ResourceAmounts.UNLIMITED));
    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(
                new LocalQueueId("ns", "strict"),
                "strict",
                StopPolicy.NONE,
                1,
                OptionalInt.of(2))));
    schedulerFixture.queue("other", "co", quota("f", 5));
    schedulerFixture.submit("own", "strict", 3, 0, 0);
    schedulerFixture.submit("large", "other", 4, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactlyInAnyOrder("own", "large");
    schedulerFixture.submit("head", "strict", 5, 0, 2);
    schedulerFixture.submit("late", "other", 2, 0, 3);
    assertThat(schedulerFixture.admitted()).isEmpty();

    // when the API server says that another one of its LocalQueue has quota
    schedulerFixture.engine.apply(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                new WorkloadId("uid-further", "ns", "further"),
                schedulerFixture.nextVersion(),
                "strict",
                "strict",
                List.of(
                    new PodSetAssignment(
                        "main",
                        new TreeMap<>(Map.of("cpu", "f")),
                        new TreeMap<>(Map.of("cpu", 1L)),
                        1)),
                0,
                SchedulerFixture.START,
                false,
                true,
                true,
                SchedulerFixture.START)));

    // then
    assertThat(schedulerFixture.admitted()).containsExactly("late");
  }

  @Test
  void isLookedAtWhenItsVictimIsNoLongerThatOfAnother() {
    // given a head whose only victim goes for one that comes before it
    strict(WHILE_BORROWING, 5);
    schedulerFixture.queue("other", "co", LOWER, quota("f", 5));
    schedulerFixture.submit("own", "strict", 3, 5, 0);
    schedulerFixture.submit("low", "other", 3, 0, 1);
    schedulerFixture.submit("high", "other", 3, 5, 2);
    schedulerFixture.admitted();
    schedulerFixture.submit("first", "other", 3, 3, 3);
    schedulerFixture.submit("head", "strict", 3, 1, 4);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("low for first: InClusterQueue");

    // when that one leaves, and the victim isn't evicted after all
    Decision.Target low = schedulerFixture.lastPreemption().targets().getFirst();
    schedulerFixture.finish("first");
    schedulerFixture.engine.apply(new SchedulerEvent.EvictionRefused(low.id(), low.version()));

    // then
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted())
        .containsExactly("low for head: InCohortReclaimWhileBorrowing");
  }

  @Test
  void doesNotGoThroughItsFlavorsAgainWhileNothingChanges() {
    // given a head of which either half fits in f, so that the other one goes on to g, in vain
    schedulerFixture.flavor("g");
    schedulerFixture.flavor("h");
    schedulerFixture.queue(
        "strict",
        "co",
        QueueingStrategy.STRICT_FIFO,
        LOWER,
        FlavorFungibility.DEFAULT,
        quota("f", 4),
        quota("g", 2));
    schedulerFixture.queue("other", "co", quota("h", 1));
    schedulerFixture.submit("most", "strict", 3, 9, 0);
    schedulerFixture.submit("rest", "strict", 2, 9, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("most", "rest");
    schedulerFixture.submit("head", "strict", shape(1, 1), 5);
    assertThat(cycles()).isBetween(10, 40);

    // when somebody else comes to the tree, and gets nothing
    schedulerFixture.submit("beside", "other", 99, 0, 2);

    // then
    assertThat(cycles()).isLessThan(4);

    // when something changes
    schedulerFixture.submit("small", "other", 1, 0, 3);

    // then
    assertThat(cycles()).isBetween(10, 40);
  }

  /** It is no head any more: nothing is kept for it. */
  @Test
  void keepsNothingFromOthersOnceAnotherOneIsTheHead() {
    // given two heads that miss the same
    strict(PreemptionPolicies.NEVER, 2);
    schedulerFixture.queue("other", "co", QueueingStrategy.STRICT_FIFO, quota("f", 2));
    schedulerFixture.submit("runs", "strict", 2, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("runs");
    schedulerFixture.submit("first", "strict", 3, 0, 1);
    schedulerFixture.submit("second", "other", 3, 0, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();

    // when there is enough for one of them, and another head that never fits
    schedulerFixture.finish("runs");
    schedulerFixture.submit("head", "strict", 99, 5, 3);
    schedulerFixture.engine.cycle();

    // then
    assertThat(schedulerFixture.decisions.getLast().id().name()).isEqualTo("second");
  }

  /** Nothing but that one has the tree looked at. */
  @Test
  void keepsItsQuotaFromOneThatJoinsAClassWhichTheQuotaHelped() {
    // given a head that keeps what is free, and two classes of another queue which that would help
    strict(PreemptionPolicies.NEVER, 7);
    schedulerFixture.queue("other", "co", quota("f", 1, 1, ResourceAmounts.UNLIMITED));
    schedulerFixture.submit("own", "strict", 2, 0, 0);
    schedulerFixture.submit("small", "other", 1, 0, 1);
    schedulerFixture.submit("gone", "other", 1, 0, 2);
    assertThat(schedulerFixture.admitted()).containsExactlyInAnyOrder("own", "small", "gone");
    schedulerFixture.submit("one", "other", new RequestShape(List.of(podSet("one", 1))), 0, 14);
    schedulerFixture.submit("two", "other", new RequestShape(List.of(podSet("two", 1))), 0, 15);
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.finish("gone");
    schedulerFixture.submit("head", "strict", 6, 0, 3);
    schedulerFixture.engine.cycle();
    assertThat(schedulerFixture.decisions).hasSize(3);

    // when
    schedulerFixture.submit("late", "other", new RequestShape(List.of(podSet("two", 1))), 0, 4);

    // then
    assertThat(schedulerFixture.admitted()).isEmpty();
  }

  private int cycles() {
    int cycles = 0;
    while (schedulerFixture.engine.cycle()) {
      cycles++;
    }
    return cycles;
  }

  private static RequestShape shape(long one, long two) {
    return new RequestShape(List.of(podSet("one", one), podSet("two", two)));
  }

  private static PodSetRequest podSet(String name, long cpu) {
    return new PodSetRequest(
        name, 1, 0, new TreeMap<>(Map.of("cpu", cpu)), NodeConstraints.ANYWHERE, "");
  }
}

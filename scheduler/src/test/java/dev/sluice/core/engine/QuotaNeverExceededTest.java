package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static dev.sluice.core.model.ResourceAmounts.UNLIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reservations, declarations and amounts with which more than the quota could be admitted. */
class QuotaNeverExceededTest {

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  @BeforeEach
  void oneFlavor() {
    schedulerFixture.flavor("f");
  }

  /** The API server reports that a Workload has this quota reserved. */
  private void reports(String name, String queue, String flavor, long cpu) {
    schedulerFixture.engine.apply(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                new WorkloadId("uid-" + name, "ns", name),
                schedulerFixture.nextVersion(),
                queue,
                queue,
                List.of(
                    new PodSetAssignment(
                        "main",
                        new TreeMap<>(Map.of("cpu", flavor)),
                        new TreeMap<>(Map.of("cpu", cpu)),
                        1)),
                0,
                SchedulerFixture.START,
                false,
                true,
                true,
                SchedulerFixture.START)));
  }

  @Test
  void aReservationOfANegativeAmountMakesNoRoom() {
    schedulerFixture.queue("q", "", quota("f", 10));
    reports("odd", "q", "f", -5);
    schedulerFixture.submit("w", "q", 15);
    assertThat(schedulerFixture.admitted()).isEmpty();
  }

  @Test
  void aReservationOfANegativeAmountChangesNothingInTheCohortWhenItEnds() {
    schedulerFixture.queue("a", "co", quota("f", 0));
    schedulerFixture.queue("b", "co", quota("f", 10));
    schedulerFixture.submit("borrows", "a", 8);
    assertThat(schedulerFixture.admitted()).containsExactly("borrows");
    reports("odd", "a", "f", -5);
    schedulerFixture.finish("odd");
    schedulerFixture.finish("borrows");
    schedulerFixture.submit("all", "b", 10);
    assertThat(schedulerFixture.admitted()).containsExactly("all");
  }

  @Test
  void aFlavorThatTheQueueNoLongerHasStaysUsedInTheCohort() {
    schedulerFixture.flavor("g");
    schedulerFixture.queue("a", "co", quota("f", 5));
    schedulerFixture.queue("b", "co", quota("f", 5));
    schedulerFixture.submit("running", "a", 10);
    assertThat(schedulerFixture.admitted()).containsExactly("running");

    schedulerFixture.queue("a", "co", quota("g", 5));
    schedulerFixture.submit("small", "b", 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).containsExactly("small");
  }

  @Test
  void aReservationOfAPairThatNoQueueDeclaresIsNoQuotaForOthers() {
    schedulerFixture.queue("q", "co", quota("f", 5));
    reports("foreign", "q", "unknown", 7);
    schedulerFixture.submit("w", "q", 5);
    schedulerFixture.submit("more", "q", 1, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("w");
    schedulerFixture.finish("foreign");
    assertThat(schedulerFixture.admitted()).isEmpty();
  }

  @Test
  void aFlavorThatIsDeletedAndCreatedAgainIsStillInUse() {
    schedulerFixture.queue("q", "", quota("f", 5));
    schedulerFixture.submit("running", "q", 5);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submit("next", "q", 5);

    schedulerFixture.engine.apply(new SchedulerEvent.FlavorRemoved("f"));
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.flavor("f");
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).containsExactly("next");
  }

  @Test
  void usageIsKeptWhileTheParentsOfACohortFormACycle() {
    schedulerFixture.cohort("root", "");
    schedulerFixture.cohort("co", "root");
    schedulerFixture.queue("a", "co", quota("f", 5));
    schedulerFixture.queue("b", "root", quota("f", 5));
    schedulerFixture.submit("running", "a", 8);
    assertThat(schedulerFixture.admitted()).containsExactly("running");

    schedulerFixture.cohort("root", "co");
    schedulerFixture.submit("meanwhile", "a", 1);
    schedulerFixture.submit("other", "b", 3);
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.cohort("root", "");
    assertThat(schedulerFixture.admitted()).hasSize(1);
  }

  @Test
  void aClusterQueueThatIsDeletedAndCreatedAgainIsStillInUse() {
    schedulerFixture.queue("q", "co", quota("f", 5));
    schedulerFixture.queue("other", "co", quota("f", 0));
    schedulerFixture.submit("running", "q", 5);
    schedulerFixture.admitted();
    schedulerFixture.engine.apply(new SchedulerEvent.ClusterQueueRemoved("q"));
    schedulerFixture.queue("q", "co", quota("f", 5));
    schedulerFixture.submit("borrows", "other", 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
  }

  @Test
  void nothingIsLentBeyondTheLendingLimitOfAnUnlimitedQuota() {
    schedulerFixture.queue("rich", "co", quota("f", UNLIMITED, UNLIMITED, 3));
    schedulerFixture.queue("poor", "co", quota("f", 0));
    schedulerFixture.submit("large", "poor", 4, 0, 0);
    schedulerFixture.submit("small", "poor", 3, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("small");
  }

  @Test
  void requestsWhoseSumLeavesTheRangeOfAmountsDontFitTogether() {
    long half = UNLIMITED / 2 + 1;
    schedulerFixture.queue("q", "", quota("f", UNLIMITED - 1));
    schedulerFixture.submit("beyond", "q", UNLIMITED, 0, 0);
    schedulerFixture.submit("first", "q", half, 0, 1);
    schedulerFixture.submit("second", "q", half, 0, 2);
    assertThat(schedulerFixture.admitted()).containsExactly("first");
    schedulerFixture.finish("first");
    assertThat(schedulerFixture.admitted()).containsExactly("second");
    schedulerFixture.finish("second");
    assertThat(schedulerFixture.admitted()).isEmpty();
  }

  /**
   * Changes of 0.20, section 1: quotas beyond the range of amounts. A sum of quotas beyond it is a
   * limit all the same, and what is released is free.
   */
  @Test
  void quotasOfACohortWhoseSumLeavesTheRangeOfAmountsAreNotUnlimited() {
    long much = UNLIMITED / 4 * 3;
    schedulerFixture.queue("a", "co", quota("f", much));
    schedulerFixture.queue("b", "co", quota("f", much));
    reports("of-a", "a", "f", much);
    reports("of-b", "b", "f", much);
    schedulerFixture.submit("more", "a", 1, 0, 0);
    schedulerFixture.submit("beyond", "b", UNLIMITED, 0, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.engine.apply(
        new SchedulerEvent.WorkloadReleased(
            new WorkloadId("uid-of-b", "ns", "of-b"), schedulerFixture.nextVersion()));
    assertThat(schedulerFixture.admitted()).containsExactly("more");
  }

  /**
   * docs/scheduling-semantics.md#quota-tree: whoever runs stays when its quota becomes less (of
   * effective quotas, changes of 0.20, section 5, says the same), and nobody starts before there is
   * room again. A lender takes back what is its own by preemption only.
   */
  @Test
  void quotaThatBecomesLessEvictsNobody() {
    schedulerFixture.queue("q", "co", quota("f", 10));
    schedulerFixture.queue("lender", "co", PreemptionPolicies.NEVER, quota("f", 5));
    schedulerFixture.submit("large", "q", 12, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("large");

    schedulerFixture.queue("q", "co", quota("f", 3));
    schedulerFixture.submit("small", "q", 1, 9, 1);
    schedulerFixture.submit("own", "lender", 1, 9, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();
    schedulerFixture.finish("large");
    assertThat(schedulerFixture.admitted()).containsExactlyInAnyOrder("small", "own");
  }

  /** Changes of 0.20, section 1: a quota beyond the range of amounts is read as unlimited. */
  @Test
  void anUnlimitedQuotaHoldsWhateverIsRequestedAndIsUnlimitedAfterwards() {
    schedulerFixture.queue("q", "", quota("f", UNLIMITED));
    schedulerFixture.submit("beyond", "q", UNLIMITED, 0, 0);
    schedulerFixture.submit("small", "q", 1, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("beyond", "small");
    schedulerFixture.finish("beyond");
    schedulerFixture.submit("next", "q", UNLIMITED, 0, 2);
    assertThat(schedulerFixture.admitted()).containsExactly("next");
  }

  @Test
  void quotaThatIsLentToNobodyIsNotBorrowed() {
    schedulerFixture.queue("own", "co", quota("f", 5, UNLIMITED, 0));
    schedulerFixture.queue("other", "co", quota("f", 1));
    schedulerFixture.submit("too-large", "other", 2);
    schedulerFixture.submit("all", "own", 6);
    assertThat(schedulerFixture.admitted()).containsExactly("all");
    schedulerFixture.submit("rest", "other", 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
  }

  @Test
  void manyQuotaChangesInARowLeadToOneEvaluation() {
    schedulerFixture.queue("q", "", quota("f", 1));
    schedulerFixture.submit("w", "q", 20);
    assertThat(schedulerFixture.admitted()).isEmpty();
    for (int cpu = 2; cpu < 12; cpu++) {
      schedulerFixture.queue("q", "", quota("f", cpu));
    }
    assertThat(schedulerFixture.engine.cycle()).isTrue();
    assertThat(schedulerFixture.engine.cycle()).isFalse();
    assertThat(schedulerFixture.engine.queries().pendingIn(new LocalQueueId("ns", "q"))).hasSize(1);
  }
}

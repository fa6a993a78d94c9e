package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The order of the heads of a cohort's queues, by the feature gates. */
class HeadOrderTest {

  private static final PreemptionPolicies LOWER_PRIORITY =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  private static SchedulerFixture fixture(boolean fair, OrderingRules order) {
    Optional<FairSharing> sharing =
        fair
            ? Optional.of(
                new FairSharing(
                    List.of(FairSharing.Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), true, true))
            : Optional.empty();
    SchedulerFixture fixture =
        new SchedulerFixture(new EngineOptions(sharing, false, Optional.empty(), order));
    fixture.flavor("f");
    return fixture;
  }

  @ParameterizedTest
  @CsvSource({"false, true, high", "false, false, early", "true, true, high", "true, false, early"})
  void priorityComesBeforeAgeUnlessTheGateIsOff(boolean fair, boolean byPriority, String first) {
    SchedulerFixture fixture = fixture(fair, new OrderingRules(byPriority, false, true));
    fixture.queue("owner", "co", quota("f", 10));
    fixture.queue("a", "co", quota("f", 0));
    fixture.queue("b", "co", quota("f", 0));
    fixture.submit("early", "a", 10, 0, 1);
    fixture.submit("high", "b", 10, 9, 2);

    assertThat(fixture.admitted()).containsExactly(first);
  }

  /**
   * Two queues take back what one Workload borrows: the second one waits for its end, or is
   * skipped.
   */
  @ParameterizedTest
  @CsvSource({
    "false, true, WAITING_FOR_PREEMPTED_WORKLOADS",
    "false, false, WAITING_FOR_QUOTA",
    "true, true, WAITING_FOR_PREEMPTED_WORKLOADS",
    "true, false, WAITING_FOR_QUOTA"
  })
  void aTargetOfAnEarlierHeadIsAssumedGoneUnlessTheGateIsOff(
      boolean fair, boolean recomputes, PendingReason reason) {
    SchedulerFixture fixture = fixture(fair, new OrderingRules(true, false, recomputes));
    PreemptionPolicies reclaims =
        new PreemptionPolicies(
            WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY, false, OptionalInt.empty());
    fixture.queue("a", "co", reclaims, quota("f", 5));
    fixture.queue("b", "co", reclaims, quota("f", 5));
    fixture.queue("borrower", "co", quota("f", 0));
    fixture.submit("borrows", "borrower", 10, 0, 0);
    assertThat(fixture.admitted()).containsExactly("borrows");
    fixture.submit("first", "a", 5, 0, 1);
    fixture.submit("second", "b", 5, 0, 2);
    assertThat(fixture.admitted()).isEmpty();

    assertThat(fixture.waitsFor("second")).contains(reason);
    fixture.finish("borrows");
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("first", "second");
  }

  /** Changes of 0.20, section 4: PrioritizePreemptorWorkloads. */
  @ParameterizedTest
  @CsvSource({"false, false, other", "false, true, preemptor", "true, true, preemptor"})
  void preemptorsComeFirstWithTheGate(boolean fair, boolean preemptorsFirst, String first) {
    SchedulerFixture fixture = fixture(fair, new OrderingRules(true, preemptorsFirst, true));
    fixture.queue("a", "co", LOWER_PRIORITY, quota("f", 10));
    fixture.queue("b", "co", quota("f", 5));
    fixture.queue("borrower", "co", quota("f", 0));
    fixture.submit("borrows", "borrower", 5, 0, 0);
    fixture.submit("low", "a", 10, 0, 0);
    fixture.admitted();
    fixture.submit("preemptor", "a", 10, 5, 1);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("low for preemptor: InClusterQueue");
    fixture.submit("other", "b", 5, 9, 2);
    fixture.finish("low");

    assertThat(fixture.admitted()).containsExactly(first);
  }
}

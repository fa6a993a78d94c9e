package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static dev.sluice.core.model.ResourceAmounts.UNLIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the views of the engine show. */
class ViewPublisherTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);

  private static ViewPublisher published(SchedulerFixture schedulerFixture) {
    ViewPublisher viewPublisher = new ViewPublisher();
    schedulerFixture.engine.changes().all = true;
    viewPublisher.publish(schedulerFixture.engine);
    return viewPublisher;
  }

  private static List<Long> reserved(ViewPublisher views, String cohort) {
    return views.cohort(cohort).orElseThrow().usage().stream().map(FlavorUsage::reserved).toList();
  }

  @Test
  void reservationsOfACohortContainWhatLendingLimitsKeepLocal() {
    SchedulerFixture schedulerFixture = new SchedulerFixture();
    schedulerFixture.flavor("f");
    schedulerFixture.cohort("root", "");
    schedulerFixture.cohort("team", "root", quota("f", 3, UNLIMITED, 1));
    schedulerFixture.queue("q", "team", quota("f", 10, UNLIMITED, 4));
    schedulerFixture.queue("other", "root", quota("f", 5));
    schedulerFixture.submit("a", "q", 7);
    schedulerFixture.submit("b", "other", 2);
    assertThat(schedulerFixture.admitted()).containsExactlyInAnyOrder("a", "b");

    ViewPublisher views = published(schedulerFixture);
    assertThat(reserved(views, "team")).containsExactly(7L);
    assertThat(reserved(views, "root")).containsExactly(9L);
  }

  @Test
  void aCohortWhoseQueuesUseOnlyLocalQuotaShowsTheReservationToo() {
    SchedulerFixture schedulerFixture = new SchedulerFixture();
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "team", quota("f", 10, UNLIMITED, 0));
    schedulerFixture.submit("a", "q", 7);
    assertThat(schedulerFixture.admitted()).containsExactly("a");
    assertThat(reserved(published(schedulerFixture), "team")).containsExactly(7L);
  }

  @Test
  void aLocalQueueWhoseClusterQueueIsGoneHasNothingReservedOrAdmitted() {
    SchedulerFixture schedulerFixture = new SchedulerFixture();
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.submit("a", "q", 7);
    assertThat(schedulerFixture.admitted()).containsExactly("a");
    LocalQueueId queue = new LocalQueueId("ns", "q");
    assertThat(published(schedulerFixture).localQueue(queue).orElseThrow().reserving()).isOne();

    schedulerFixture.engine.apply(new SchedulerEvent.ClusterQueueRemoved("q"));

    LocalQueueView view = published(schedulerFixture).localQueue(queue).orElseThrow();
    assertThat(view.reserving()).isZero();
    assertThat(view.admitted()).isZero();
    assertThat(view.problems())
        .extracting(problem -> problem.reason())
        .containsExactly("ClusterQueueDoesNotExist");
  }

  /** Changes of 0.20, section 2: a circle of cohorts has a reason of its own. */
  @Test
  void queuesBelowACircleOfCohortsAreInactiveAndNameIt() {
    SchedulerFixture schedulerFixture = new SchedulerFixture();
    schedulerFixture.flavor("f");
    schedulerFixture.cohort("x", "y");
    schedulerFixture.cohort("y", "z");
    schedulerFixture.cohort("z", "y");
    schedulerFixture.queue("q", "x", quota("f", 5));
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(published(schedulerFixture).clusterQueue("q").orElseThrow().problems())
        .containsExactly(
            new InactiveReason(
                "CohortCycleDetected",
                "Can't admit new workloads: the parents of cohort x form a cycle: y → z → y"));
    assertThat(root(schedulerFixture)).as("a circle has no root").isEmpty();

    schedulerFixture.cohort("z", "");
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(published(schedulerFixture).clusterQueue("q").orElseThrow().problems()).isEmpty();
    assertThat(root(schedulerFixture)).isEqualTo("z");
  }

  private static String root(SchedulerFixture schedulerFixture) {
    return published(schedulerFixture).clusterQueue("q").orElseThrow().rootCohort();
  }

  /** Changes of 0.20, section 2: its ClusterQueue can be deleted when nobody holds its quota. */
  @Test
  void theLastWorkloadOfADeletedLocalQueueIsToldToItsClusterQueue() {
    SchedulerFixture schedulerFixture = new SchedulerFixture();
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.submit("a", "q", 7);
    assertThat(schedulerFixture.admitted()).containsExactly("a");
    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueRemoved(new LocalQueueId("ns", "q")));
    ViewPublisher views = published(schedulerFixture);
    assertThat(views.clusterQueue("q").orElseThrow().reserving()).isOne();
    schedulerFixture.engine.changes().clear();

    schedulerFixture.finish("a");
    views.publish(schedulerFixture.engine);

    assertThat(views.clusterQueue("q").orElseThrow().reserving()).isZero();
  }

  @Test
  void usageOverTimeIsShownWithoutAnAdmissionScopeAndOrdersNothing() {
    SchedulerFixture schedulerFixture =
        new SchedulerFixture(
            new EngineOptions(
                Optional.empty(),
                false,
                Optional.of(
                    new AdmissionFairSharing(
                        MINUTE.multipliedBy(10),
                        MINUTE,
                        Map.of(),
                        AdmissionFairSharing.Anchor.ADMISSION)),
                OrderingRules.DEFAULT));
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 4000));
    LocalQueueId queue = new LocalQueueId("ns", "q");
    assertThat(published(schedulerFixture).localQueue(queue).orElseThrow().usageOverTime())
        .hasValueSatisfying(past -> assertThat(past.consumed()).isEmpty());

    schedulerFixture.submit("running", "q", 4000);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submit("waits", "q", 1000);
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.engine.apply(
        new SchedulerEvent.TimePassed(SchedulerFixture.START.plus(MINUTE)));

    assertThat(published(schedulerFixture).localQueue(queue).orElseThrow().usageOverTime())
        .hasValueSatisfying(past -> assertThat(past.consumed().get("cpu")).isPositive());
    assertThat(schedulerFixture.engine.cycle()).isFalse();
  }
}

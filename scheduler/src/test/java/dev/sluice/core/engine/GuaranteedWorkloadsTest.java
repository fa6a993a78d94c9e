package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import java.math.BigDecimal;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Workloads that are marked as not preemptible, where that counts: they are held to nominal quota
 * on the whole path, and are no preemption targets (docs/queueing-policies.md).
 */
class GuaranteedWorkloadsTest {

  private static final PreemptionPolicies ALL =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.ANY, false, OptionalInt.empty());
  private static final QueueRules COUNTS = QueueRules.DEFAULT.countingPreemptible();

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  @BeforeEach
  void oneFlavor() {
    schedulerFixture.flavor("f");
  }

  private void queue(String name, String cohort, QueueRules rules, long nominal) {
    schedulerFixture.queue(
        name, cohort, QueueingStrategy.BEST_EFFORT_FIFO, rules, ALL, quota("f", nominal));
  }

  private void submitGuaranteed(String name, String queue, long cpu, long priority) {
    schedulerFixture.submit(
        name, queue, new RequestShape(SchedulerFixture.shape(cpu).podSets(), true), priority);
  }

  private FlavorRejection rejection(String name) {
    FlavorAttempt attempt = schedulerFixture.explanation(name).orElseThrow().attempts().getFirst();
    return attempt.flavorRejections().getFirst();
  }

  @Test
  void aGuaranteedWorkloadIsHeldToNominalQuotaWhereOthersBorrow() {
    queue("q", "co", COUNTS, 4);
    queue("other", "co", COUNTS, 4);
    submitGuaranteed("guaranteed", "q", 5, 9);
    schedulerFixture.submit("borrower", "q", 5, 0, 0);

    assertThat(schedulerFixture.admitted()).containsExactly("borrower");
    assertThat(schedulerFixture.waitsFor("guaranteed")).contains(PendingReason.EXCEEDS_MAX_QUOTA);
    assertThat(rejection("guaranteed")).isEqualTo(new FlavorRejection.ExceedsMaximum("cpu", 5, 4));
  }

  @Test
  void onlyOtherGuaranteedWorkloadsTakeOfItsQuota() {
    queue("q", "co", COUNTS, 4);
    queue("other", "co", COUNTS, 6);
    submitGuaranteed("first", "q", 2, 0);
    schedulerFixture.submit("usual", "q", 2, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("first", "usual");

    // 4 of 4 are used, 2 of them by a guaranteed one; the third borrows, and so may be guaranteed
    submitGuaranteed("second", "q", 2, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("second");

    submitGuaranteed("third", "q", 1, 0);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.waitsFor("third")).contains(PendingReason.WAITING_FOR_QUOTA);
    assertThat(rejection("third"))
        .isEqualTo(new FlavorRejection.InsufficientGuarantee("cpu", 1, 0, 4));

    schedulerFixture.finish("usual");
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.finish("first");
    assertThat(schedulerFixture.admitted()).containsExactly("third");
  }

  @Test
  void theRateMultipliesWhatIsGuaranteed() {
    queue("q", "", COUNTS.withQuota(new QuotaRules(new BigDecimal("2"), OptionalInt.empty())), 4);
    submitGuaranteed("eight", "q", 8, 0);

    assertThat(schedulerFixture.admitted()).containsExactly("eight");
  }

  @Test
  void aQueueWithoutQuotaOfItsOwnMayHaveThatOfItsCohortGuaranteed() {
    QuotaRules ofCohort = new QuotaRules(BigDecimal.ONE, OptionalInt.empty(), true);
    queue("q", "co", COUNTS.withQuota(ofCohort), 0);
    queue("other", "co", COUNTS, 4);
    queue("alone", "", COUNTS.withQuota(ofCohort), 0);
    submitGuaranteed("three", "q", 3, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("three");

    submitGuaranteed("two", "q", 2, 1);
    submitGuaranteed("one", "alone", 1, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(rejection("two"))
        .isEqualTo(new FlavorRejection.InsufficientGuarantee("cpu", 2, 1, 4));
  }

  @Test
  void nobodyPreemptsAGuaranteedWorkload() {
    queue("q", "", COUNTS, 4);
    submitGuaranteed("guaranteed", "q", 2, 0);
    schedulerFixture.submit("usual", "q", 2, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("guaranteed", "usual");

    schedulerFixture.submit("four", "q", 4, 9, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();
    schedulerFixture.submit("two", "q", 2, 5, 3);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("usual for two: InClusterQueue");
  }

  @Test
  void theMarkCountsOnlyWhereTheQueueSaysSo() {
    queue("q", "", QueueRules.DEFAULT, 4);
    submitGuaranteed("marked", "q", 4, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("marked");

    // once it counts, the marked one is safe
    queue("q", "", COUNTS, 4);
    schedulerFixture.submit("high", "q", 4, 9, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).isEmpty();

    queue("q", "", QueueRules.DEFAULT, 4);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("marked for high: InClusterQueue");
  }
}

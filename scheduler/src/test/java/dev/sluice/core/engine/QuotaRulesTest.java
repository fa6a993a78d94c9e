package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static dev.sluice.core.model.ResourceAmounts.UNLIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import java.math.BigDecimal;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Over-selling and limits on the number of Workloads (docs/queueing-policies.md). */
class QuotaRulesTest {

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  @BeforeEach
  void oneFlavor() {
    schedulerFixture.flavor("f");
  }

  private void queue(
      String name,
      String cohort,
      QueueingStrategy strategy,
      QuotaRules rules,
      ResourceGroup.FlavorQuotas quotas) {
    schedulerFixture.queue(name, cohort, strategy, QueueRules.DEFAULT.withQuota(rules), quotas);
  }

  private void queue(
      String name, String cohort, QuotaRules rules, ResourceGroup.FlavorQuotas quotas) {
    queue(name, cohort, QueueingStrategy.BEST_EFFORT_FIFO, rules, quotas);
  }

  private void cohort(String name, QuotaRules rules) {
    schedulerFixture.engine.apply(
        new SchedulerEvent.CohortChanged(
            new CohortSpec(name, "", List.of(), BigDecimal.ONE, rules)));
  }

  private static QuotaRules rate(String rate) {
    return new QuotaRules(new BigDecimal(rate), OptionalInt.empty());
  }

  private static QuotaRules most(int workloads) {
    return new QuotaRules(BigDecimal.ONE, OptionalInt.of(workloads));
  }

  private String whyWaits(String name) {
    Explanation explanation = schedulerFixture.explanation(name).orElseThrow();
    assertThat(explanation.reason()).isEqualTo(PendingReason.WAITING_FOR_QUOTA);
    return explanation.detail();
  }

  @Test
  void aRateMultipliesTheQuotaRoundedDown() {
    queue("q", "", rate("1.5"), quota("f", 5));
    schedulerFixture.submit("seven", "q", 7, 0, 0);
    schedulerFixture.submit("one", "q", 1, 0, 1);

    assertThat(schedulerFixture.admitted()).containsExactly("seven");
    assertThat(schedulerFixture.waitsFor("one")).contains(PendingReason.WAITING_FOR_QUOTA);
  }

  @Test
  void aRateMultipliesTheBorrowingLimit() {
    queue("q", "co", rate("2"), quota("f", 2, 1, UNLIMITED));
    queue("other", "co", rate("2"), quota("f", 10));
    schedulerFixture.submit("seven", "q", 7, 9, 0);
    schedulerFixture.submit("six", "q", 6, 0, 1);

    assertThat(schedulerFixture.admitted()).containsExactly("six");
  }

  @Test
  void theQuotaThatIsNeverLentIsNotMultiplied() {
    // S of keeper is 2 * 4, of which 4 - 1 are kept; q has 2 * 2, and may use 5 of keeper's
    queue("keeper", "co", rate("2"), quota("f", 4, UNLIMITED, 1));
    queue("q", "co", rate("2"), quota("f", 2));
    schedulerFixture.submit("ten", "q", 10, 9, 0);
    schedulerFixture.submit("nine", "q", 9, 0, 1);

    assertThat(schedulerFixture.admitted()).containsExactly("nine");

    schedulerFixture.submit("four", "keeper", 4, 9, 2);
    schedulerFixture.submit("three", "keeper", 3, 0, 3);
    assertThat(schedulerFixture.admitted()).containsExactly("three");
  }

  @Test
  void viewsShowWhatIsDeclared() {
    queue("q", "co", rate("3"), quota("f", 2, 1, 1));
    schedulerFixture.admitted();
    ViewPublisher views = new ViewPublisher();
    views.publish(schedulerFixture.engine);
    assertThat(views.clusterQueue("q").orElseThrow().usage()).hasSize(1);
    views
        .clusterQueue("q")
        .orElseThrow()
        .usage()
        .forEach(
            usage -> {
              assertThat(usage.nominal()).isEqualTo(2);
              assertThat(usage.borrowingLimit()).isEqualTo(1);
              assertThat(usage.lendingLimit()).isEqualTo(1);
            });
  }

  @Test
  void aClusterQueueAdmitsNoMoreWorkloadsThanItsLimit() {
    queue("q", "", most(2), quota("f", 10));
    for (String name : List.of("a", "b", "c", "d")) {
      schedulerFixture.submit(name, "q", 1, 0, name.charAt(0));
    }

    assertThat(schedulerFixture.admitted()).containsExactly("a", "b");
    assertThat(whyWaits("c"))
        .isEqualTo(
            "ClusterQueue q has as many workloads with quota as"
                + " sluice.dev/max-concurrent-workloads allows: 2");

    schedulerFixture.finish("a");
    assertThat(schedulerFixture.admitted()).containsExactly("c");
    schedulerFixture.finish("b");
    schedulerFixture.finish("c");
    assertThat(schedulerFixture.admitted()).containsExactly("d");
  }

  @Test
  void aLimitThatIsRaisedLetsOthersIn() {
    queue("q", "", most(1), quota("f", 10));
    schedulerFixture.submit("a", "q", 1, 0, 0);
    schedulerFixture.submit("b", "q", 1, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("a");

    queue("q", "", most(2), quota("f", 10));

    assertThat(schedulerFixture.admitted()).containsExactly("b");
  }

  @Test
  void aCohortCountsTheWorkloadsOfAllItsQueues() {
    cohort("co", most(2));
    queue("p", "co", QuotaRules.DEFAULT, quota("f", 10));
    queue("q", "co", QueueingStrategy.STRICT_FIFO, QuotaRules.DEFAULT, quota("f", 10));
    schedulerFixture.submit("a", "p", 1, 0, 0);
    schedulerFixture.submit("b", "q", 1, 0, 1);
    schedulerFixture.submit("c", "p", 1, 0, 2);
    schedulerFixture.submit("d", "q", 1, 0, 3);

    assertThat(schedulerFixture.admitted()).containsExactly("a", "b");
    assertThat(whyWaits("d")).startsWith("Cohort co has as many workloads with quota as");

    schedulerFixture.finish("a");
    assertThat(schedulerFixture.admitted()).containsExactly("c");
  }

  @Test
  void aLocalQueueAtItsLimitDoesNotHoldUpOthers() {
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(
                new LocalQueueId("ns", "few"), "q", StopPolicy.NONE, 1, OptionalInt.of(1))));
    schedulerFixture.submit("a", "few", 1, 0, 0);
    schedulerFixture.submit("b", "few", 1, 0, 1);
    schedulerFixture.submit("c", "q", 1, 0, 2);

    assertThat(schedulerFixture.admitted()).containsExactly("a", "c");
    assertThat(whyWaits("b"))
        .isEqualTo(
            "LocalQueue few has as many workloads with quota as"
                + " sluice.dev/max-concurrent-workloads allows: 1");

    schedulerFixture.finish("a");
    assertThat(schedulerFixture.admitted()).containsExactly("b");
  }
}

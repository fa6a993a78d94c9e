package dev.sluice.workload.lifecycle;

import static dev.sluice.workload.lifecycle.GivenWorkload.workload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.queueing.QueueAnnotations.PriorityAging;
import dev.sluice.workload.lifecycle.LifecycleAction.Annotate;
import dev.sluice.workload.lifecycle.LifecyclePolicy.AgingPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** docs/queueing-policies.md#ageing, computed by hand. */
class AgingPolicyTest {

  private static final PriorityAging AGING = new PriorityAging(Duration.ofHours(1), 10, 25);
  private static final Instant CREATED = Instant.parse("2026-03-01T09:00:00Z");

  private static LifecycleAction decide(GivenWorkload given, String waited) {
    return AgingPolicy.decide(given.get(), AGING, true, CREATED.plus(Duration.parse(waited)));
  }

  private static GivenWorkload boosted(String boost, String own) {
    return workload()
        .annotation(KueueConstants.PRIORITY_BOOST, boost)
        .annotation(KueueConstants.AGED_BY, own);
  }

  @ParameterizedTest
  @CsvSource({"PT1H, 10", "PT1H59M59S, 10", "PT2H, 20", "PT3H, 25", "PT300000H, 25"})
  void eachIntervalAddsAStepUpToTheMost(String waited, String boost) {
    assertThat(decide(workload(), waited).action())
        .contains(
            new Annotate(
                Map.of(KueueConstants.PRIORITY_BOOST, boost, KueueConstants.AGED_BY, boost),
                "boost=" + boost + ", waits since " + CREATED));
  }

  @Test
  void betweenTwoStepsNothingIsWritten() {
    LifecycleAction early = decide(workload(), "PT59M59S");
    assertThat(early.action()).isEmpty();
    assertThat(early.reconcileAt()).contains(CREATED.plus(Duration.ofHours(1)));

    LifecycleAction later = decide(boosted("10", "10"), "PT1H30M");
    assertThat(later.action()).isEmpty();
    assertThat(later.reconcileAt()).contains(CREATED.plus(Duration.ofHours(2)));

    assertThat(decide(boosted("25", "25"), "PT9H")).isEqualTo(LifecycleAction.NOTHING);
    assertThat(decide(workload(), "-PT5H").action()).as("a clock that was set back").isEmpty();
  }

  @Test
  void aBoostOfSomebodyElseStays() {
    GivenWorkload others = workload().annotation(KueueConstants.PRIORITY_BOOST, "7");
    assertThat(decide(others, "PT9H")).isEqualTo(LifecycleAction.NOTHING);
    assertThat(decide(boosted("7", "10"), "PT9H")).isEqualTo(LifecycleAction.NOTHING);
  }

  @Test
  void anEvictedWorkloadBeginsAnew() {
    GivenWorkload evicted =
        boosted("25", "25").condition("Evicted", "False", "QuotaReserved", ""); // since 10:00
    assertThat(((Annotate) decide(evicted, "PT1H30M").action().orElseThrow()).annotations())
        .containsEntry(KueueConstants.PRIORITY_BOOST, "0");
    assertThat(((Annotate) decide(evicted, "PT2H").action().orElseThrow()).annotations())
        .containsEntry(KueueConstants.PRIORITY_BOOST, "10");
  }

  @Test
  void whatIsKeptOutHasNoBoost() {
    assertThat(AgingPolicy.decide(workload().get(), AGING, false, CREATED.plusSeconds(99_000)))
        .isEqualTo(LifecycleAction.NOTHING);
    LifecycleAction boosted =
        AgingPolicy.decide(boosted("10", "10").get(), AGING, false, CREATED.plusSeconds(9_000));
    assertThat(boosted)
        .isEqualTo(
            LifecycleAction.of(
                new Annotate(
                    Map.of(KueueConstants.PRIORITY_BOOST, "0", KueueConstants.AGED_BY, "0"),
                    "boost=0, kept out")));
    assertThat(
            AgingPolicy.decide(boosted("0", "0").get(), AGING, false, CREATED.plusSeconds(9_000)))
        .isEqualTo(LifecycleAction.NOTHING);
  }

  /** Such as one that was inactive, or whose devices couldn't be counted. */
  @Test
  void timeOutOfTheQueueDoesNotCount() {
    GivenWorkload requeued = workload().condition("Requeued", "True", "Reactivated", ""); // 10:00
    assertThat(decide(requeued, "PT1H59M59S").action()).isEmpty();
    assertThat(((Annotate) decide(requeued, "PT2H").action().orElseThrow()).annotations())
        .containsEntry(KueueConstants.PRIORITY_BOOST, "10");
  }
}

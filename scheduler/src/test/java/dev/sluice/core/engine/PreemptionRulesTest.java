package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.CycleStatistics.RuleUse;
import dev.sluice.core.model.CycleStatistics.TimedRule;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The rules of docs/preemption.md#rules-that-protect, one by one. */
class PreemptionRulesTest {

  private static final PreemptionPolicies ALL =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.ANY, false, OptionalInt.empty());

  private SchedulerFixture fixture = new SchedulerFixture();
  private long version = 1_000;

  private static PreemptionRules minRunTime(int seconds) {
    return new PreemptionRules(
        Optional.of(Duration.ofSeconds(seconds)), Optional.empty(), Optional.empty(), false);
  }

  private static PreemptionRules limit(int preemptions, int seconds) {
    return new PreemptionRules(
        Optional.empty(),
        Optional.of(new PreemptionLimit(preemptions, Duration.ofSeconds(seconds))),
        Optional.empty(),
        false);
  }

  private static PreemptionRules delay(int seconds) {
    return new PreemptionRules(
        Optional.empty(), Optional.empty(), Optional.of(Duration.ofSeconds(seconds)), false);
  }

  private static Instant at(int second) {
    return SchedulerFixture.START.plusSeconds(second);
  }

  private void queue(String name, String cohort, PreemptionRules rules, long cpus) {
    queue(name, cohort, QueueingStrategy.BEST_EFFORT_FIFO, rules, cpus);
  }

  private void queue(
      String name, String cohort, QueueingStrategy strategy, PreemptionRules rules, long cpus) {
    fixture.flavor("f");
    fixture.queue(
        name, cohort, strategy, ALL, FlavorFungibility.DEFAULT, SchedulerFixture.quota("f", cpus));
    fixture.engine.apply(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                name,
                cohort,
                List.of(
                    new ResourceGroup(List.of("cpu"), List.of(SchedulerFixture.quota("f", cpus)))),
                strategy,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                ALL,
                FlavorFungibility.DEFAULT,
                BigDecimal.ONE,
                List.of(),
                List.of(),
                false,
                false,
                QueueRules.DEFAULT.withQuota(QuotaRules.DEFAULT.withPreemption(rules)),
                Set.of())));
  }

  private void pending(
      String name,
      String queue,
      long priority,
      PreemptionRules ofClass,
      PreemptionHistory history) {
    pending(name, queue, priority, SchedulerFixture.shape(2).withPreemption(ofClass), history);
  }

  private void pending(
      String name, String queue, long priority, RequestShape shape, PreemptionHistory history) {
    fixture.engine.apply(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                    new WorkloadId("uid-" + name, "ns", name),
                    version++,
                    queue,
                    shape,
                    priority,
                    SchedulerFixture.START,
                    SchedulerFixture.START,
                    Optional.empty(),
                    false,
                    Optional.empty())
                .withHistory(history)));
  }

  private void ready(String name, int second) {
    ready(name, second, PreemptionRules.NONE);
  }

  private void ready(String name, int second, PreemptionRules ofClass) {
    Decision.Admit admit = fixture.admission(name);
    fixture.engine.apply(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                    admit.id(),
                    version++,
                    admit.clusterQueue(),
                    admit.clusterQueue(),
                    admit.podSets(),
                    0,
                    admit.queuedAt(),
                    false,
                    true,
                    true,
                    admit.at())
                .protectedBy(
                    new PreemptionProtection(
                        ofClass, new PreemptionHistory(Optional.of(at(second)), List.of())))));
  }

  private List<String> preemptedAt(int second) {
    fixture.passed(Duration.ofSeconds(second));
    assertThat(fixture.admitted()).isEmpty();
    return fixture.preempted();
  }

  private String whyWaits(String name) {
    return fixture.explanation(name).orElseThrow().detail();
  }

  private void runs(String name, String queue) {
    fixture.submit(name, queue, 2);
    assertThat(fixture.admitted()).containsExactly(name);
    fixture.preempted();
  }

  @Test
  void whoHasNotRunLongEnoughIsNoTarget() {
    queue("q", "", minRunTime(30), 2);
    runs("lazy", "q");
    fixture.submit("urgent", "q", 2, 5, 0);

    assertThat(preemptedAt(29)).isEmpty();
    assertThat(whyWaits("urgent")).endsWith("protects, the first of them until " + at(30) + ")");
    assertThat(preemptedAt(30)).containsExactly("lazy for urgent: InClusterQueue");
  }

  @Test
  void theTimeBeginsWhenPodsAreReady() {
    queue("q", "", minRunTime(30), 2);
    runs("lazy", "q");
    fixture.submit("urgent", "q", 2, 5, 0);
    assertThat(preemptedAt(10)).isEmpty();

    ready("lazy", 10);

    assertThat(preemptedAt(39)).isEmpty();
    assertThat(preemptedAt(40)).containsExactly("lazy for urgent: InClusterQueue");
  }

  @Test
  void theHeadOfAStrictQueueIsLookedAtThenToo() {
    queue("q", "", QueueingStrategy.STRICT_FIFO, minRunTime(30), 2);
    runs("lazy", "q");
    fixture.submit("urgent", "q", 2, 5, 0);
    assertThat(preemptedAt(29)).isEmpty();
    assertThat(preemptedAt(30)).containsExactly("lazy for urgent: InClusterQueue");
  }

  @Test
  void whatIsReclaimedRunsLongEnoughByTheRulesOfItsOwnQueue() {
    queue("owner", "co", minRunTime(1_000), 2);
    queue("borrower", "co", minRunTime(30), 0);
    runs("lent", "borrower");
    fixture.submit("mine", "owner", 2, 0, 0);
    assertThat(preemptedAt(29)).isEmpty();
    assertThat(preemptedAt(30)).containsExactly("lent for mine: InCohortReclamation");
  }

  @Test
  void sharesProtectNobodyLess() {
    fixture =
        new SchedulerFixture(
            Optional.of(
                new FairSharing(
                    List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), false, false)));
    queue("owner", "co", PreemptionRules.NONE, 2);
    queue("borrower", "co", minRunTime(30), 0);
    runs("lent", "borrower");
    fixture.submit("mine", "owner", 2, 0, 0);
    assertThat(preemptedAt(29)).isEmpty();
    assertThat(preemptedAt(30)).singleElement().asString().startsWith("lent for mine");
  }

  @Test
  void theNearestRuleCounts() {
    fixture.engine.apply(
        new SchedulerEvent.CohortChanged(
            new CohortSpec(
                "co",
                "",
                List.of(),
                BigDecimal.ONE,
                QuotaRules.DEFAULT.withPreemption(minRunTime(30)))));
    queue("far", "co", limit(5, 60), 2);
    queue("near", "co", minRunTime(10), 2);
    queue("class", "co", minRunTime(10), 2);
    runs("a", "far");
    runs("b", "near");
    pending("c", "class", 0, minRunTime(20), PreemptionHistory.NONE);
    assertThat(fixture.admitted()).containsExactly("c");
    fixture.submit("x", "far", 2, 5, 0);
    fixture.submit("y", "near", 2, 5, 0);
    fixture.submit("z", "class", 2, 5, 0);

    assertThat(preemptedAt(9)).isEmpty();
    assertThat(preemptedAt(10)).containsExactly("b for y: InClusterQueue");
    assertThat(preemptedAt(19)).isEmpty();
    assertThat(preemptedAt(20)).containsExactly("c for z: InClusterQueue");
    assertThat(preemptedAt(29)).isEmpty();
    assertThat(preemptedAt(30)).containsExactly("a for x: InClusterQueue");
  }

  @Test
  void whoIsExemptDoesNotMindHowLongOthersRan() {
    queue("q", "", minRunTime(30), 2);
    runs("lazy", "q");
    PreemptionRules exempt =
        new PreemptionRules(Optional.empty(), Optional.empty(), Optional.empty(), true);
    pending("emergency", "q", 5, exempt, PreemptionHistory.NONE);
    assertThat(preemptedAt(1)).containsExactly("lazy for emergency: InClusterQueue");
  }

  @Test
  void whoWasPreemptedTooOftenIsNoTargetUntilTheWindowHasPassed() {
    queue("q", "", limit(2, 100), 2);
    pending(
        "lazy",
        "q",
        0,
        PreemptionRules.NONE,
        new PreemptionHistory(Optional.empty(), List.of(at(-200), at(-50), at(-20))));
    assertThat(fixture.admitted()).containsExactly("lazy");
    fixture.submit("urgent", "q", 2, 5, 0);
    assertThat(preemptedAt(49)).isEmpty();
    assertThat(preemptedAt(50)).containsExactly("lazy for urgent: InClusterQueue");
    assertThat(fixture.lastPreemption().targets().getFirst().rules().maxPreemptions())
        .contains(new PreemptionLimit(2, Duration.ofSeconds(100)));
  }

  /** The rules that the next cycle counts. */
  private List<TimedRule> rulesAt(int second) {
    fixture.passed(Duration.ofSeconds(second));
    assertThat(fixture.engine.cycle()).isTrue();
    List<TimedRule> rules =
        fixture.engine.statistics().ruleUses().stream().map(RuleUse::rule).toList();
    fixture.preempted();
    return rules;
  }

  @Test
  void eachRuleThatMatteredIsCounted() {
    queue("ran", "", minRunTime(30), 2);
    runs("lazy", "ran");
    fixture.submit("urgent", "ran", 2, 5, 0);
    assertThat(rulesAt(1)).containsExactly(TimedRule.MIN_RUN_TIME);
    PreemptionRules exempt =
        new PreemptionRules(Optional.empty(), Optional.empty(), Optional.empty(), true);
    pending("emergency", "ran", 6, exempt, PreemptionHistory.NONE);
    assertThat(rulesAt(2)).containsExactly(TimedRule.MIN_RUN_TIME_EXEMPT);

    queue("often", "", limit(1, 100), 2);
    pending(
        "tired",
        "often",
        0,
        PreemptionRules.NONE,
        new PreemptionHistory(Optional.empty(), List.of(at(-20))));
    assertThat(fixture.admitted()).containsExactly("tired");
    fixture.submit("second", "often", 2, 5, 0);
    assertThat(rulesAt(3)).containsExactly(TimedRule.MAX_PREEMPTIONS);

    queue("late", "", delay(60), 2);
    runs("calm", "late");
    fixture.submit("third", "late", 2, 5, 0);
    assertThat(rulesAt(4)).containsExactly(TimedRule.PREEMPTION_DELAY);
  }

  @Test
  void whoLosesLeastSinceTheCheckpointGoesFirst() {
    queue("q", "", PreemptionRules.NONE, 6);
    pending("a", "q", 0, PreemptionRules.NONE, PreemptionHistory.NONE);
    pending("b", "q", 0, PreemptionRules.NONE, checkpoint(20));
    pending("c", "q", 0, PreemptionRules.NONE, checkpoint(10));
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("a", "b", "c");
    fixture.submit("urgent", "q", 4, 5, 0);
    assertThat(preemptedAt(30))
        .containsExactlyInAnyOrder("b for urgent: InClusterQueue", "c for urgent: InClusterQueue");
  }

  @Test
  void theAmountCountsWhereSomebodySavesItsWork() {
    queue("q", "", PreemptionRules.NONE, 9);
    pending("large", "q", 0, SchedulerFixture.shape(8), checkpoint(20));
    pending("small", "q", 0, SchedulerFixture.shape(1), PreemptionHistory.NONE);
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("large", "small");
    // at 30 the large one would lose 8/9 of 10 s, the small one 1/9 of 30 s
    fixture.submit("urgent", "q", 1, 5, 0);
    assertThat(preemptedAt(30)).containsExactly("small for urgent: InClusterQueue");
  }

  @Test
  void manyDoNotGoInPlaceOfOneThatLosesLess() {
    queue("q", "", PreemptionRules.NONE, 12);
    pending("large", "q", 0, SchedulerFixture.shape(8), checkpoint(20));
    for (String name : List.of("a", "b", "c", "d")) {
      pending(name, "q", 0, SchedulerFixture.shape(1), PreemptionHistory.NONE);
    }
    assertThat(fixture.admitted()).hasSize(5);
    // each of the small ones would lose less than the large one, but all four of them more
    fixture.submit("urgent", "q", 4, 5, 0);
    assertThat(preemptedAt(30)).containsExactly("large for urgent: InClusterQueue");
  }

  @Test
  void theAmountDoesNotCountWhereNobodySavesItsWork() {
    queue("q", "", PreemptionRules.NONE, 9);
    pending("small", "q", 0, SchedulerFixture.shape(1), PreemptionHistory.NONE);
    assertThat(fixture.admitted()).containsExactly("small");
    fixture.passed(Duration.ofSeconds(10));
    pending("large", "q", 0, SchedulerFixture.shape(8), PreemptionHistory.NONE);
    assertThat(fixture.admitted()).containsExactly("large");
    fixture.submit("urgent", "q", 1, 5, 0);
    assertThat(preemptedAt(30)).containsExactly("large for urgent: InClusterQueue");
  }

  @Test
  void aLowerPriorityGoesFirstWhateverItLoses() {
    queue("q", "", PreemptionRules.NONE, 4);
    pending("low", "q", 0, PreemptionRules.NONE, PreemptionHistory.NONE);
    pending("saved", "q", 1, PreemptionRules.NONE, checkpoint(20));
    assertThat(fixture.admitted()).containsExactlyInAnyOrder("low", "saved");
    fixture.submit("urgent", "q", 2, 5, 0);
    assertThat(preemptedAt(30)).containsExactly("low for urgent: InClusterQueue");
  }

  @Test
  void aTargetIsToldOfTheTimeThatItHasForACheckpoint() {
    Optional<Duration> grace = Optional.of(Duration.ofMinutes(2));
    queue("q", "", PreemptionRules.NONE.withCheckpointGrace(grace), 2);
    runs("lazy", "q");
    fixture.submit("urgent", "q", 2, 5, 0);
    assertThat(preemptedAt(0)).containsExactly("lazy for urgent: InClusterQueue");
    assertThat(fixture.lastPreemption().targets().getFirst().rules().checkpointGrace())
        .isEqualTo(grace);
  }

  private static PreemptionHistory checkpoint(int second) {
    return new PreemptionHistory(Optional.empty(), List.of(), Optional.of(at(second)));
  }

  @Test
  void aPreemptorWaitsForQuotaFirst() {
    queue("q", "", delay(60), 2);
    runs("lazy", "q");
    fixture.submit("urgent", "q", 2, 5, 0);
    assertThat(preemptedAt(59)).isEmpty();
    assertThat(whyWaits("urgent"))
        .isEqualTo(
            "it waits for quota to become free, and may preempt from "
                + at(60)
                + " on (sluice.dev/preemption-delay)");
    assertThat(preemptedAt(60)).containsExactly("lazy for urgent: InClusterQueue");
  }

  @Test
  void whoWasEvictedWaitsAgainBeforeItPreempts() {
    queue("q", "", delay(60), 2);
    runs("lazy", "q");
    pending(
        "urgent",
        "q",
        5,
        PreemptionRules.NONE,
        new PreemptionHistory(Optional.of(at(30)), List.of()));
    assertThat(preemptedAt(89)).isEmpty();
    assertThat(preemptedAt(90)).containsExactly("lazy for urgent: InClusterQueue");
  }

  @Test
  void whoGetsQuotaMeanwhilePreemptsNobody() {
    queue("q", "", delay(60), 4);
    runs("lazy", "q");
    runs("idle", "q");
    fixture.submit("urgent", "q", 2, 5, 0);
    assertThat(preemptedAt(10)).isEmpty();
    fixture.finish("idle");
    assertThat(fixture.admitted()).containsExactly("urgent");
    assertThat(preemptedAt(100)).isEmpty();
  }

  @Test
  void aRuleThatIsTakenAwayProtectsNoLonger() {
    queue("q", "", minRunTime(1_000), 2);
    runs("lazy", "q");
    fixture.submit("urgent", "q", 2, 5, 0);
    assertThat(preemptedAt(10)).isEmpty();
    queue("q", "", PreemptionRules.NONE, 2);
    assertThat(preemptedAt(10)).containsExactly("lazy for urgent: InClusterQueue");
  }

  @Test
  void aRuleThatComesLaterProtectsWhoRunsAlready() {
    queue("q", "", PreemptionRules.NONE, 2);
    runs("lazy", "q");
    queue("q", "", minRunTime(30), 2);
    fixture.submit("urgent", "q", 2, 5, 0);
    assertThat(preemptedAt(29)).isEmpty();
    assertThat(preemptedAt(30)).containsExactly("lazy for urgent: InClusterQueue");
  }

  @Test
  void aDelayOfAClassEndsWhereItsQueueMayPreemptOnlyLater() {
    fixture.flavor("f");
    fixture.queue("q", "", SchedulerFixture.quota("f", 2));
    runs("lazy", "q");
    pending("urgent", "q", 5, delay(60), PreemptionHistory.NONE);
    assertThat(preemptedAt(10)).isEmpty();

    queue("q", "", PreemptionRules.NONE, 2);

    assertThat(preemptedAt(59)).isEmpty();
    assertThat(preemptedAt(60)).containsExactly("lazy for urgent: InClusterQueue");
  }

  @Test
  void theRunOfAClassEndsWhereItsQueueIsKnownOnlyLater() {
    queue("q", "", PreemptionRules.NONE, 2);
    runs("lazy", "q");
    fixture.engine.apply(new SchedulerEvent.ClusterQueueRemoved("q"));
    assertThat(preemptedAt(1)).isEmpty();
    ready("lazy", 10, minRunTime(30));

    queue("q", "", PreemptionRules.NONE, 2);
    fixture.submit("urgent", "q", 2, 5, 0);

    assertThat(preemptedAt(39)).isEmpty();
    assertThat(preemptedAt(40)).containsExactly("lazy for urgent: InClusterQueue");
  }

  @Test
  void theNextTimeThatSomebodyWaitsForIsNoNews() {
    queue("q", "", QueueingStrategy.STRICT_FIFO, minRunTime(30), 4);
    runs("one", "q");
    assertThat(preemptedAt(10)).isEmpty();
    runs("two", "q");
    fixture.submit("urgent", "q", 4, 5, 10);
    assertThat(preemptedAt(10)).isEmpty();
    assertThat(fixture.engine.unreported().take(10)).hasSize(1);

    assertThat(preemptedAt(30)).isEmpty();

    assertThat(whyWaits("urgent")).contains("until " + at(40));
    assertThat(fixture.engine.unreported().take(10)).isEmpty();
    assertThat(preemptedAt(40)).hasSize(2);
  }
}

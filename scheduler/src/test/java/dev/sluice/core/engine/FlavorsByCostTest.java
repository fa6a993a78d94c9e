package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.ScanProgress;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorAttempt.Cost;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import dev.sluice.core.model.ResourceGroup.FlavorQuotas;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Flavors by cost (docs/prices.md#flavors-by-cost), in one small world each. */
class FlavorsByCostTest {

  private final SchedulerFixture scheduler = new SchedulerFixture();
  private final List<String> rulesUsed = new ArrayList<>();

  private void flavor(String name, String price) {
    flavor(name, price, "0", "1");
  }

  private void flavor(String name, String price, String interruptionRate, String speed) {
    scheduler.engine.apply(
        new SchedulerEvent.FlavorChanged(
            new Flavor(name, Map.of("type", name), List.of(), List.of())
                .withPace(
                    Optional.of(
                        new Flavor.Pace(
                            new BigDecimal(interruptionRate), new BigDecimal(speed))))));
    scheduler.engine.apply(
        new SchedulerEvent.PricesChanged(
            name, price.isEmpty() ? Map.of() : Map.of("cpu", new BigDecimal(price))));
  }

  private void cheapest(FlavorQuotas... quotas) {
    scheduler.queue(
        "q",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        QueueRules.DEFAULT.withCheapest(Optional.of(new CheapestFirst(Optional.empty()))),
        quotas);
  }

  private void waiting(Duration delay, FlavorQuotas... quotas) {
    waiting("", delay, quotas);
  }

  private void waiting(String cohort, Duration delay, FlavorQuotas... quotas) {
    scheduler.queue(
        "q",
        cohort,
        QueueingStrategy.BEST_EFFORT_FIFO,
        QueueRules.DEFAULT.withCheapest(Optional.of(new CheapestFirst(Optional.of(delay)))),
        quotas);
  }

  /** A Workload that runs for so long at the most, counted with a minute and a second more. */
  private void bounded(String name, long cpu, Duration limit, Optional<Duration> ownDelay) {
    scheduler.engine.apply(new SchedulerEvent.RunBounded(id(name), RunBound.of(limit)));
    scheduler.submit(
        name,
        "q",
        SchedulerFixture.shape(cpu)
            .costing(
                ownDelay.map(delay -> new CostRules(Optional.empty(), Optional.empty(), ownDelay))),
        0);
    cycles();
  }

  private static WorkloadId id(String name) {
    return new WorkloadId("uid-" + name, "ns", name);
  }

  private void twoFlavors() {
    flavor("spot", "1");
    flavor("safe", "2");
  }

  private void submit(String name, long cpu, Optional<Duration> run, Optional<String> maxPrice) {
    scheduler.submit(
        name,
        "q",
        SchedulerFixture.shape(cpu)
            .costing(
                Optional.of(new CostRules(run, maxPrice.map(BigDecimal::new), Optional.empty()))),
        0);
  }

  private void cycles() {
    while (scheduler.engine.cycle()) {
      scheduler
          .engine
          .statistics()
          .costRuleUses()
          .forEach(use -> rulesUsed.add(use.clusterQueue() + " " + use.rule().text()));
    }
  }

  private String flavorOf(String name) {
    cycles();
    return scheduler.decisions.stream()
        .filter(decision -> decision.id().name().equals(name))
        .map(Decision.Admit.class::cast)
        .map(admit -> admit.podSets().getFirst().flavors().get("cpu"))
        .findFirst()
        .orElse("none");
  }

  private List<FlavorRejection> rejections(String name) {
    return explanation(name).attempts().stream()
        .flatMap(attempt -> attempt.flavorRejections().stream())
        .toList();
  }

  private Explanation explanation(String name) {
    cycles();
    return scheduler
        .engine
        .queries()
        .pendingReason(id(name))
        .flatMap(SchedulerQueries.PendingReport::explanation)
        .orElseThrow();
  }

  @Test
  void withoutARunTimeThePriceOfAnHoursWorkDecides() {
    flavor("dear", "4");
    flavor("cheap", "1");
    flavor("slow", "0.8", "0", "0.5");
    cheapest(
        SchedulerFixture.quota("dear", 4),
        SchedulerFixture.quota("slow", 4),
        SchedulerFixture.quota("cheap", 4));
    submit("a", 4, Optional.empty(), Optional.empty());
    submit("b", 4, Optional.empty(), Optional.empty());
    submit("c", 4, Optional.empty(), Optional.empty());
    assertThat(flavorOf("a")).isEqualTo("cheap");
    assertThat(flavorOf("b")).isEqualTo("slow");
    assertThat(flavorOf("c")).isEqualTo("dear");
  }

  @Test
  void aLongRunIsCheaperWhereNobodyInterruptsIt() {
    flavor("spot", "1", "0.1", "1");
    flavor("safe", "2");
    cheapest(SchedulerFixture.quota("safe", 100), SchedulerFixture.quota("spot", 100));
    submit("short", 1, Optional.of(Duration.ofHours(10)), Optional.empty());
    submit("long", 1, Optional.of(Duration.ofHours(13)), Optional.empty());
    assertThat(flavorOf("short")).isEqualTo("spot");
    assertThat(flavorOf("long")).isEqualTo("safe");
  }

  @Test
  void equalOnesKeepTheListedOrderAndThoseWithoutAPriceComeLast() {
    flavor("unknown", "");
    flavor("first", "2");
    flavor("second", "2");
    cheapest(
        SchedulerFixture.quota("unknown", 1),
        SchedulerFixture.quota("first", 1),
        SchedulerFixture.quota("second", 1));
    for (String name : List.of("a", "b", "c")) {
      submit(name, 1, Optional.empty(), Optional.empty());
    }
    assertThat(flavorOf("a")).isEqualTo("first");
    assertThat(flavorOf("b")).isEqualTo("second");
    assertThat(flavorOf("c")).isEqualTo("unknown");
  }

  @Test
  void aPriceThatChangesCountsFromThenOn() {
    flavor("a", "1");
    flavor("b", "2");
    cheapest(SchedulerFixture.quota("a", 10), SchedulerFixture.quota("b", 10));
    submit("before", 1, Optional.empty(), Optional.empty());
    assertThat(flavorOf("before")).isEqualTo("a");
    flavor("a", "3");
    submit("after", 1, Optional.empty(), Optional.empty());
    assertThat(flavorOf("after")).isEqualTo("b");
  }

  @Test
  void whoMayNotCostSoMuchGetsNoMatchingFlavorWithTheNumbers() {
    flavor("a", "2");
    flavor("b", "3");
    scheduler.queue("q", "", SchedulerFixture.quota("b", 10), SchedulerFixture.quota("a", 10));
    submit("takes a", 2, Optional.empty(), Optional.of("5"));
    submit("none", 2, Optional.empty(), Optional.of("3.50"));
    assertThat(flavorOf("takes a")).isEqualTo("a");
    assertThat(flavorOf("none")).isEqualTo("none");
    assertThat(explanation("none").reason()).isEqualTo(PendingReason.NO_MATCHING_FLAVOR);
    assertThat(explanation("none").attempts())
        .extracting(FlavorAttempt::flavor)
        .containsExactlyInAnyOrder("a", "b");
    assertThat(rejections("none"))
        .containsExactlyInAnyOrder(
            new FlavorRejection.DearerThanMax(new BigDecimal(6), new BigDecimal("3.50")),
            new FlavorRejection.DearerThanMax(new BigDecimal(4), new BigDecimal("3.50")));

    flavor("a", "1.75");
    assertThat(flavorOf("none")).isEqualTo("a");
  }

  /** What the first pod set may get without borrowing decides what is left for the second one. */
  @Test
  void whoIsTooDearBecauseOfAnotherPodSetIsLookedAtWhenQuotaIsGivenBack() {
    flavor("cheap", "1");
    flavor("dear", "2");
    scheduler.queue("lender", "co", SchedulerFixture.quota("cheap", 10));
    scheduler.queue(
        "q",
        "co",
        QueueingStrategy.BEST_EFFORT_FIFO,
        PreemptionPolicies.NEVER,
        new FlavorFungibility(true, true, false, ScanProgress.PRESERVED),
        SchedulerFixture.quota("cheap", 3),
        SchedulerFixture.quota("dear", 10));
    submit("runs", 2, Optional.empty(), Optional.empty());
    assertThat(flavorOf("runs")).isEqualTo("cheap");
    scheduler.submit(
        "waits",
        "q",
        new RequestShape(
                List.of(
                    SchedulerFixture.pods("first", 2, 2), SchedulerFixture.pods("second", 1, 1)))
            .costing(
                Optional.of(
                    new CostRules(
                        Optional.empty(), Optional.of(new BigDecimal("4")), Optional.empty()))),
        0);
    assertThat(flavorOf("waits")).isEqualTo("none");

    scheduler.finish("runs");
    assertThat(flavorOf("waits")).isEqualTo("cheap");
  }

  @Test
  void theExplanationTellsWhatEachFlavorWouldHaveCost() {
    flavor("spot", "1", "0.1", "1");
    flavor("safe", "2");
    cheapest(SchedulerFixture.quota("safe", 10), SchedulerFixture.quota("spot", 10));
    submit("fits", 2, Optional.of(Duration.ofHours(10)), Optional.empty());
    submit("large", 11, Optional.of(Duration.ofHours(10)), Optional.empty());
    cycles();
    assertThat(((Decision.Admit) scheduler.decisions.getFirst()).considered())
        .extracting(FlavorAttempt::flavor, attempt -> attempt.cost().orElseThrow())
        .containsExactly(
            tuple("spot", new Cost(new BigDecimal("2"), Optional.of(new BigDecimal("34.3656")))),
            tuple("safe", new Cost(new BigDecimal("4"), Optional.of(new BigDecimal("40")))));
    assertThat(explanation("large").attempts())
        .extracting(FlavorAttempt::flavor)
        .containsExactly("spot", "safe");
  }

  @Test
  void whoMayWaitTakesTheCheaperFlavorWhenItIsFreeInTime() {
    twoFlavors();
    waiting(
        Duration.ofHours(2), SchedulerFixture.quota("safe", 4), SchedulerFixture.quota("spot", 4));
    bounded("runs", 4, Duration.ofHours(1), Optional.empty());
    bounded("waits", 4, Duration.ofHours(1), Optional.empty());
    assertThat(flavorOf("waits")).isEqualTo("none");
    assertThat(rejections("waits"))
        .contains(
            new FlavorRejection.WaitsForCheaper(
                "spot",
                Instant.parse("2026-01-01T01:01:01Z"),
                Instant.parse("2026-01-01T02:00:00Z")));
    bounded("hurries", 2, Duration.ofHours(1), Optional.of(Duration.ofMinutes(30)));
    assertThat(flavorOf("hurries")).isEqualTo("safe");
    assertThat(flavorOf("waits")).isEqualTo("none");

    scheduler.passed(Duration.ofMinutes(50));
    scheduler.finish("runs");
    assertThat(flavorOf("waits")).isEqualTo("spot");
  }

  @Test
  void eachRuleThatMatteredIsCounted() {
    twoFlavors();
    waiting(
        Duration.ofHours(2), SchedulerFixture.quota("safe", 4), SchedulerFixture.quota("spot", 4));
    bounded("runs", 4, Duration.ofHours(1), Optional.empty());
    assertThat(rulesUsed).containsExactly("q cheapest");
    bounded("waits", 4, Duration.ofHours(1), Optional.empty());
    assertThat(rulesUsed).containsExactly("q cheapest", "q max-delay-for-cheaper");
    bounded("hurries", 2, Duration.ofHours(1), Optional.of(Duration.ZERO));
    assertThat(rulesUsed).as("spot is full, and safe is no choice of cost").hasSize(2);
    submit("poor", 2, Optional.empty(), Optional.of("1"));
    cycles();
    assertThat(rulesUsed).containsExactly("q cheapest", "q max-delay-for-cheaper", "q max-price");
  }

  /** What was expected in the cheaper flavor goes to somebody else, so that the wait is over. */
  @Test
  void whoWaitsGoesWhenAnotherTakesTheCheaperFlavor() {
    twoFlavors();
    waiting(
        Duration.ofHours(2), SchedulerFixture.quota("safe", 4), SchedulerFixture.quota("spot", 4));
    bounded("runs", 2, Duration.ofHours(1), Optional.empty());
    bounded("waits", 4, Duration.ofHours(1), Optional.empty());
    assertThat(flavorOf("runs")).isEqualTo("spot");
    assertThat(flavorOf("waits")).isEqualTo("none");
    bounded("long", 2, Duration.ofHours(9), Optional.empty());
    assertThat(flavorOf("long")).isEqualTo("spot");
    assertThat(flavorOf("waits")).isEqualTo("safe");
  }

  @Test
  void whoWaitsGoesWhenNothingIsExpectedInTimeAnyMore() {
    twoFlavors();
    waiting(
        Duration.ofHours(2), SchedulerFixture.quota("safe", 4), SchedulerFixture.quota("spot", 4));
    bounded("runs", 4, Duration.ofHours(1), Optional.empty());
    bounded("waits", 4, Duration.ofHours(1), Optional.empty());
    scheduler.engine.apply(
        new SchedulerEvent.RunBounded(id("runs"), RunBound.of(Duration.ofMinutes(90))));
    assertThat(flavorOf("waits")).isEqualTo("none");
    scheduler.engine.apply(
        new SchedulerEvent.RunBounded(id("runs"), RunBound.of(Duration.ofHours(9))));
    assertThat(flavorOf("waits")).isEqualTo("safe");
  }

  @Test
  void nobodyWaitsLongerThanTheDelayWhateverIsExpected() {
    twoFlavors();
    waiting(
        Duration.ofHours(2), SchedulerFixture.quota("safe", 4), SchedulerFixture.quota("spot", 4));
    bounded("runs", 4, Duration.ofHours(1), Optional.empty());
    bounded("waits", 4, Duration.ofHours(1), Optional.empty());
    // The run is beyond its bound, and expected to end in a minute, again and again.
    for (int minute = 1; minute < 120; minute++) {
      scheduler.passed(Duration.ofMinutes(minute));
      assertThat(flavorOf("waits")).isEqualTo("none");
    }
    scheduler.passed(Duration.ofHours(2));
    assertThat(flavorOf("waits")).isEqualTo("safe");
  }

  @Test
  void withoutAnEstimateNobodyWaits() {
    twoFlavors();
    waiting(
        Duration.ofHours(2), SchedulerFixture.quota("safe", 4), SchedulerFixture.quota("spot", 4));
    submit("runs", 4, Optional.empty(), Optional.empty());
    cycles();
    bounded("next", 4, Duration.ofHours(1), Optional.empty());
    assertThat(flavorOf("next")).isEqualTo("safe");
  }

  /** Why nobody waits for quota that is only borrowed: a queue may leave such quota free. */
  @Test
  void aQueueThatPrefersNotToBorrowTakesTheDearerFlavor() {
    twoFlavors();
    scheduler.cohort("co", "", SchedulerFixture.quota("spot", 3));
    scheduler.queue(
        "q",
        "co",
        QueueingStrategy.BEST_EFFORT_FIFO,
        PreemptionPolicies.NEVER,
        new FlavorFungibility(true, true, false),
        SchedulerFixture.quota("safe", 8),
        SchedulerFixture.quota("spot", 2));
    ClusterQueueSpec listed =
        Objects.requireNonNull(scheduler.engine.registry().cacheOf("q")).spec();
    scheduler.engine.apply(
        new SchedulerEvent.ClusterQueueChanged(
            listed.with(
                listed.strategy(),
                listed
                    .rules()
                    .withCheapest(
                        Optional.of(new CheapestFirst(Optional.of(Duration.ofHours(2))))))));
    bounded("within", 2, Duration.ofHours(1), Optional.empty());
    assertThat(flavorOf("within")).isEqualTo("spot");
    bounded("borrows", 3, Duration.ofHours(1), Optional.empty());
    assertThat(flavorOf("borrows")).isEqualTo("safe");
  }

  /** The queue only borrows that quota, also where no other queue of the tree can take any. */
  @Test
  void nobodyWaitsForACheaperFlavorInTheQuotaOfACohort() {
    twoFlavors();
    scheduler.cohort("co", "", SchedulerFixture.quota("spot", 3));
    waiting(
        "co",
        Duration.ofHours(2),
        SchedulerFixture.quota("safe", 8),
        SchedulerFixture.quota("spot", 2));
    bounded("runs", 4, Duration.ofHours(1), Optional.empty());
    assertThat(flavorOf("runs")).isEqualTo("spot");
    bounded("larger", 3, Duration.ofHours(1), Optional.empty());
    assertThat(flavorOf("larger")).isEqualTo("safe");
    bounded("within", 2, Duration.ofHours(1), Optional.empty());
    assertThat(flavorOf("within")).isEqualTo("none");
    scheduler.finish("runs");
    assertThat(flavorOf("within")).isEqualTo("spot");
  }

  @Test
  void whoHasAnOlderPlaceInTheQueueThanThoseWhoWaitIsNotLate() {
    twoFlavors();
    waiting(
        Duration.ofHours(2), SchedulerFixture.quota("safe", 8), SchedulerFixture.quota("spot", 4));
    bounded("runs", 4, Duration.ofHours(3), Optional.empty());
    scheduler.passed(Duration.ofMinutes(90));
    scheduler.submit("younger", "q", SchedulerFixture.shape(4), 0, 90 * 60);
    assertThat(flavorOf("younger")).isEqualTo("none");
    scheduler.submit("older", "q", SchedulerFixture.shape(4), 0, 30 * 60);
    assertThat(flavorOf("older")).isEqualTo("none");
    scheduler.passed(Duration.ofMinutes(150));
    assertThat(flavorOf("older")).isEqualTo("safe");
    assertThat(flavorOf("younger")).isEqualTo("none");
  }
}

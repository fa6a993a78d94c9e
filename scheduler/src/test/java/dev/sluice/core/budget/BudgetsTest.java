package dev.sluice.core.budget;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.budget.Budgets.Hours;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Period;
import dev.sluice.core.model.BudgetSpec.Scope;
import dev.sluice.core.model.BudgetSpec.Unit;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the page says of budgets, one thing after the other (docs/budgets.md). */
class BudgetsTest {

  private static final Instant START = Instant.parse("2026-11-27T00:00:00Z");
  private static final Optional<Duration> HOUR = Optional.of(Duration.ofHours(1));

  private final Budgets budgets = empty();

  private static Budgets empty() {
    Budgets budgets =
        new Budgets(
            new Budgets.ScopeLookup() {
              @Override
              public List<String> cohortsAbove(String clusterQueue) {
                return List.of("cohort-of-" + clusterQueue, "root");
              }

              @Override
              public Map<String, String> labels(String namespace) {
                return Map.of("team", namespace);
              }
            });
    budgets.timePassed(START);
    return budgets;
  }

  private static BudgetSpec spec(int hours, String carryOver, boolean reserves) {
    return new BudgetSpec(
        "team",
        new Scope.OfClusterQueue("queue"),
        List.of(new Limit("cpu", Set.of(), Hours.of("cpu", BigDecimal.valueOf(hours)))),
        new Period(Unit.DAILY, "UTC", Optional.empty()),
        new BigDecimal(carryOver),
        true,
        reserves);
  }

  private static Budgets.Use cores(long cores) {
    return new Budgets.Use(
        "queue",
        new LocalQueueId("ns", "lq"),
        Map.of(new FlavorResource("f", "cpu"), cores * 1_000));
  }

  private void at(Duration later) {
    budgets.timePassed(START.plus(later));
  }

  private void start(String uid, long cores, Optional<Duration> run) {
    budgets.changed(uid, cores(cores));
    budgets.starts(uid, run);
  }

  private String refusal(long cores, Optional<Duration> run) {
    return budgets.refusal(cores(cores), run).map(Explanation::detail).orElse("");
  }

  @Test
  void aWholeRunIsPromisedAndWhatItDoesNotNeedIsRefunded() {
    budgets.declare(spec(10, "0", true), Optional.empty());
    assertThat(refusal(10, HOUR)).isEmpty();
    assertThat(refusal(11, HOUR))
        .isEqualTo(
            "BudgetExhausted: Budget team has 0 spent and 0 reserved of 10 cpu-hours, and this"
                + " workload needs 11; the next period begins at 2026-11-28T00:00:00Z");
    start("a", 8, HOUR);
    assertThat(refusal(3, HOUR)).contains("8 reserved of 10");
    at(Duration.ofMinutes(30));
    assertThat(refusal(3, HOUR)).contains("4 spent and 4 reserved");
    budgets.changed("a", null);
    assertThat(refusal(6, HOUR)).isEmpty();
    assertThat(refusal(7, HOUR)).contains("4 spent and 0 reserved");
  }

  private void declare(String name, Scope scope) {
    BudgetSpec spec = spec(10, "0", true);
    budgets.declare(
        new BudgetSpec(
            name,
            scope,
            spec.limits(),
            spec.period(),
            spec.carryOver(),
            spec.holds(),
            spec.reserves()),
        Optional.empty());
  }

  /** Names that are the same in another namespace, or another branch of the tree, are not. */
  @Test
  void nobodySpendsTheBudgetOfAnotherTeam() {
    declare("local", new Scope.OfLocalQueue(new LocalQueueId("ns", "lq")));
    declare(
        "labels",
        new Scope.OfNamespaces(
            new LabelSelector.Requirements(
                List.of(
                    new LabelSelector.LabelRequirement(
                        "team", LabelSelector.LabelRequirement.Operator.IN, List.of("ns"))))));
    declare("queue", new Scope.OfClusterQueue("queue"));
    declare("cohort", new Scope.OfCohort("cohort-of-queue"));
    Budgets.Use others =
        new Budgets.Use(
            "queue-2",
            new LocalQueueId("ns-2", "lq"),
            Map.of(new FlavorResource("f", "cpu"), 1_000_000L));
    assertThat(budgets.refusal(others, HOUR)).as("larger than all budgets").isEmpty();
    budgets.changed("theirs", others);
    budgets.starts("theirs", HOUR);
    assertThat(refusal(10, HOUR)).as("all of it is left").isEmpty();
    start("ours", 10, HOUR);
    for (String name : List.of("cohort", "labels", "local", "queue")) {
      assertThat(refusal(1, HOUR)).startsWith("BudgetExhausted: Budget " + name + " ");
      budgets.remove(name);
    }
    assertThat(refusal(1, HOUR)).as("no budget is left").isEmpty();
  }

  /** Use is counted by resource and flavors: nobody knows what others of them used before. */
  @Test
  void aLimitOfOtherFlavorsBeginsWithNothingSpent() {
    budgets.declare(ofFlavors(10, "f"), Optional.empty());
    start("a", 4, HOUR);
    at(Duration.ofHours(1));
    assertThat(refusal(7, HOUR)).contains("4 spent and 0 reserved of 10");
    budgets.declare(ofFlavors(10, "f", "g"), Optional.empty());
    budgets.compare(Map.of("a", cores(4)), uid -> Optional.empty());
    assertThat(refusal(11, HOUR)).contains("0 spent and 0 reserved of 10");
    at(Duration.ofHours(2));
    assertThat(refusal(7, HOUR)).as("what runs counts from then on").contains("4 spent");
    budgets.declare(ofFlavors(9, "f"), Optional.empty());
    budgets.compare(Map.of("a", cores(4)), uid -> Optional.empty());
    assertThat(refusal(7, HOUR)).as("another amount").contains("4 spent and 0 reserved of 9");
  }

  private static BudgetSpec ofFlavors(int hours, String... flavors) {
    BudgetSpec spec = spec(hours, "0", true);
    return new BudgetSpec(
        spec.name(),
        spec.scope(),
        List.of(new Limit("cpu", Set.of(flavors), spec.limits().getFirst().amount())),
        spec.period(),
        spec.carryOver(),
        spec.holds(),
        spec.reserves());
  }

  @Test
  void oneCycleDoesNotPromiseTheSameTwice() {
    budgets.declare(spec(10, "0", true), Optional.empty());
    budgets.plan(cores(6), HOUR);
    assertThat(refusal(6, HOUR)).isNotEmpty();
    budgets.endCycle();
    assertThat(refusal(6, HOUR)).isEmpty();
  }

  @Test
  void whoDoesNotSayHowLongItRunsIsHeldWhereRunsAreReserved() {
    budgets.declare(spec(10, "0", true), Optional.empty());
    assertThat(refusal(1, Optional.empty())).contains("sluice.dev/expected-run-time");
    budgets.declare(spec(10, "0", false), Optional.empty());
    assertThat(refusal(1, Optional.empty())).isEmpty();
  }

  @Test
  void aRunIsSharedByItsPeriods() {
    budgets.declare(spec(10, "0", false), Optional.empty());
    at(Duration.ofHours(23));
    start("a", 10, Optional.empty());
    at(Duration.ofHours(24));
    assertThat(refusal(1, HOUR)).isEmpty();
    at(Duration.ofHours(25));
    assertThat(refusal(1, HOUR)).contains("10 spent of 10");
  }

  @Test
  void whatIsLeftIsCarriedOverUpToItsPart() {
    budgets.declare(spec(10, "0.5", true), Optional.empty());
    start("a", 2, HOUR);
    at(Duration.ofHours(1));
    budgets.changed("a", null);
    at(Duration.ofHours(24));
    assertThat(refusal(15, HOUR)).isEmpty();
    assertThat(refusal(16, HOUR)).contains("of 15 cpu-hours");
  }

  /** What is carried over is of this period: runs that reach into the next one don't get it. */
  @Test
  void aRunIntoTheNextPeriodFitsThereToo() {
    budgets.declare(spec(10, "1", true), Optional.empty());
    at(Duration.ofHours(47).plusMinutes(30));
    assertThat(refusal(18, HOUR)).isEmpty();
    start("a", 18, HOUR);
    assertThat(refusal(2, HOUR)).isEmpty();
    start("b", 2, HOUR);
    assertThat(refusal(1, HOUR)).isNotEmpty();
    at(Duration.ofHours(48));
    assertThat(refusal(11, HOUR)).contains("10 reserved of 20");
  }

  @Test
  void useLeavesARollingWindow() {
    BudgetSpec daily = spec(10, "0", false);
    budgets.declare(
        new BudgetSpec(
            "team",
            daily.scope(),
            daily.limits(),
            new Period(Unit.DAILY, "UTC", Optional.of(Duration.ofHours(24))),
            BigDecimal.ZERO,
            true,
            false),
        Optional.empty());
    start("a", 10, Optional.empty());
    at(Duration.ofHours(1));
    budgets.changed("a", null);
    assertThat(refusal(1, HOUR)).isNotEmpty();
    at(Duration.ofHours(24));
    assertThat(refusal(1, HOUR)).isNotEmpty();
    at(Duration.ofHours(24).plusMinutes(15));
    assertThat(refusal(1, HOUR)).isEmpty();
  }

  private static BudgetSpec with(BudgetSpec spec, Period period) {
    return new BudgetSpec(
        spec.name(),
        spec.scope(),
        spec.limits(),
        period,
        spec.carryOver(),
        spec.holds(),
        spec.reserves());
  }

  /** A core of flavor f costs 0.5 for an hour, then 2; memory has no price. */
  @Test
  void moneyIsSpentAtThePriceOfItsTime() {
    BudgetSpec money =
        new BudgetSpec(
            "team",
            new Scope.OfClusterQueue("queue"),
            List.of(new Limit(Limit.COST, Set.of(), Hours.of(Limit.COST, BigDecimal.TEN))),
            new Period(Unit.DAILY, "UTC", Optional.empty()),
            BigDecimal.ZERO,
            true,
            true);
    budgets.declare(money, Optional.empty());
    Budgets.Use use =
        new Budgets.Use(
            "queue",
            new LocalQueueId("ns", "lq"),
            Map.of(new FlavorResource("f", "cpu"), 4_000L, new FlavorResource("f", "memory"), 7L));
    assertThat(budgets.refusal(use, Optional.of(Duration.ofDays(9)))).as("no price").isEmpty();
    assertThat(budgets.price("f", Map.of("cpu", new BigDecimal("0.0005")))).isTrue();
    assertThat(budgets.price("f", Map.of("cpu", new BigDecimal("0.0005")))).isFalse();
    budgets.changed("a", use);
    budgets.starts("a", Optional.of(Duration.ofHours(2)));
    at(Duration.ofHours(1));
    assertThat(refusal(13, HOUR))
        .isEqualTo(
            "BudgetExhausted: Budget team has 2 spent and 2 reserved of 10 of money, and this"
                + " workload needs 6.5; the next period begins at 2026-11-28T00:00:00Z");
    assertThat(budgets.price("f", Map.of("cpu", new BigDecimal("0.002")))).isTrue();
    budgets.compare(Map.of("a", use), uid -> Optional.empty());
    at(Duration.ofMinutes(90));
    assertThat(refusal(1, HOUR)).contains("6 spent and 4 reserved of 10 of money");
    budgets.changed("a", null);
    assertThat(refusal(2, HOUR)).isEmpty();
    assertThat(refusal(3, HOUR)).contains("needs 6");
  }

  @Test
  void otherPeriodsTakeNothingOver() {
    budgets.declare(spec(10, "1", true), Optional.empty());
    at(Duration.ofHours(24));
    assertThat(refusal(20, HOUR)).isEmpty();
    Period window = new Period(Unit.DAILY, "UTC", Optional.of(Duration.ofHours(24)));
    budgets.declare(with(spec(10, "0", true), window), Optional.empty());
    assertThat(refusal(10, HOUR)).isEmpty();
    assertThat(refusal(11, HOUR)).contains("of 10 cpu-hours");
  }

  /** The periods of the account are of a spec that changed while no operator ran. */
  @Test
  void anAccountOfOtherPeriodsIsTakenOverIntoThoseOfTheSpec() {
    budgets.declare(spec(10, "0", true), Optional.empty());
    start("a", 1, HOUR);
    BudgetAccount account = budgets.export().getFirst().account();
    budgets.remove("team");
    Period yearly = new Period(Unit.YEARLY, "UTC", Optional.empty());
    budgets.declare(with(spec(10, "0", true), yearly), Optional.of(account));
    at(Duration.ofHours(2));
    budgets.compare(Map.of("a", cores(1)), uid -> Optional.empty());
    BudgetAccount now = budgets.export().getFirst().account();
    assertThat(now.start()).isEqualTo(Instant.parse("2026-01-01T00:00:00Z"));
    assertThat(now.end()).isEqualTo(Instant.parse("2027-01-01T00:00:00Z"));
    assertThat(refusal(9, HOUR)).contains("2 spent and 0 reserved of 10");
  }

  @Test
  void noUseIsSettledUpToATimeToCome() {
    Instant far = Instant.parse("9998-01-01T00:00:00Z");
    budgets.declare(
        spec(10, "0", false),
        Optional.of(
            new BudgetAccount(
                far,
                far.plusSeconds(1),
                Map.of(),
                Map.of("cpu", Hours.of("cpu", BigDecimal.valueOf(1_000))),
                List.of(),
                List.of(
                    new BudgetAccount.Charge(
                        "a",
                        far,
                        Optional.of(far),
                        true,
                        Map.of("cpu", BigDecimal.valueOf(1_000)))))));
    budgets.compare(Map.of("a", cores(1)), uid -> Optional.empty());
    at(Duration.ofHours(10));
    assertThat(refusal(1, HOUR)).contains("10 spent of 10");
  }

  /** The status has to name each Workload before it starts. */
  @Test
  void aBudgetTakesNoMoreWorkloadsThanItsStatusCanName() {
    budgets.declare(spec(1_000_000, "0", true), Optional.empty());
    int started = 0;
    while (refusal(1, HOUR).isEmpty() && started < 10_000) {
      start("uid-" + started, 1, HOUR);
      started++;
    }
    assertThat(started).isBetween(3_000, 5_000);
    assertThat(refusal(1, HOUR)).contains("counts " + started + " workloads with quota");
    budgets.changed("uid-7", null);
    assertThat(refusal(1, HOUR)).isEmpty();
  }

  @Test
  void aClockThatGoesBackRefundsNothing() {
    budgets.declare(spec(1, "0", false), Optional.empty());
    start("a", 1, Optional.empty());
    at(Duration.ofHours(1));
    budgets.timePassed(START.minus(Duration.ofDays(3)));
    assertThat(refusal(1, HOUR)).contains("1 spent of 1");
  }

  @Test
  void aClockThatLeapsAheadEndsSoon() {
    budgets.declare(spec(1, "0.5", false), Optional.empty());
    budgets.timePassed(Instant.parse("9999-01-01T12:00:00Z"));
    assertThat(refusal(1, HOUR)).isEmpty();
  }

  private void restart(Map<String, Budgets.Use> holders, Map<String, Instant> waiting) {
    BudgetAccount account = budgets.export().getFirst().account();
    BudgetSpec spec = budgets.export().getFirst().spec();
    budgets.remove("team");
    budgets.declare(spec, Optional.of(account));
    at(Duration.ofHours(2));
    budgets.compare(holders, uid -> Optional.ofNullable(waiting.get(uid)));
  }

  @Test
  void afterARestartRunsGoOnAndEndedOnesAreSettled() {
    budgets.declare(spec(20, "0", false), Optional.empty());
    for (String uid : List.of("runs", "deleted", "evicted", "unwritten")) {
      start(uid, 1, Optional.empty());
      if (!uid.equals("unwritten")) {
        budgets.written(uid);
      }
    }
    restart(
        Map.of("runs", cores(1)),
        Map.of("evicted", START.plus(Duration.ofHours(1)), "unwritten", START));
    // 2 hours of the one that runs, 2 of the one that is gone, 1 of the evicted one
    assertThat(BigDecimal.valueOf(5_000L * 3_600_000)).isEqualByComparingTo(spent());
  }

  @Test
  void anAdmissionThatWasNotWrittenCostsNothing() {
    budgets.declare(spec(20, "0", false), Optional.empty());
    start("a", 1, Optional.empty());
    at(Duration.ofHours(1));
    budgets.refused("a");
    assertThat(spent()).isEqualByComparingTo(BigDecimal.ZERO);
  }

  /** Neither where the part of a window that it began in has ended since. */
  @Test
  void anAdmissionThatIsRefusedInALaterPartOfTheWindowCostsNothing() {
    Period window = new Period(Unit.DAILY, "UTC", Optional.of(Duration.ofHours(24)));
    for (boolean refused : List.of(true, false)) {
      budgets.remove("team");
      budgets.declare(with(spec(10, "0", false), window), Optional.empty());
      Instant begin = budgets.export().getFirst().account().start();
      start("a", 10, Optional.empty());
      budgets.timePassed(begin.plus(Duration.ofMinutes(60)));
      assertThat(refusal(1, HOUR)).contains("10 spent of 10");
      if (refused) {
        budgets.refused("a");
        assertThat(refusal(1, HOUR)).isEmpty();
      } else {
        budgets.written("a");
        budgets.changed("a", null);
        assertThat(budgets.export().getFirst().account().parts())
            .hasSize(4)
            .allSatisfy(
                part ->
                    assertThat(part.get("cpu"))
                        .isEqualByComparingTo(BigDecimal.valueOf(10_000L * 15 * 60_000)));
      }
      budgets.timePassed(begin.plus(Duration.ofHours(refused ? 24 : 48)));
    }
  }

  private BigDecimal spent() {
    budgets.changed("runs", null);
    return budgets.export().getFirst().account().spent().getOrDefault("cpu", BigDecimal.ZERO);
  }

  /**
   * No order of starts, ends, periods and exports spends more than a limit, as long as runs keep to
   * their times; what was exported goes on in the same way. {@code -Dsluice.property.factor=N}
   * plays N times as many.
   */
  @Test
  void noLimitIsOverspentByWorkloadsThatKeepTheirTimes() {
    Random random = new Random(7);
    for (int world = 0; world < 60 * Integer.getInteger("sluice.property.factor", 1); world++) {
      Budgets mine = empty();
      BudgetSpec spec = spec(20, random.nextBoolean() ? "0.5" : "0", true);
      mine.declare(spec, Optional.empty());
      Map<String, Instant> ends = new HashMap<>();
      Instant now = START;
      int started = 0;
      for (int step = 0; step < 400; step++) {
        Optional<Duration> run = Optional.of(Duration.ofMinutes(1 + random.nextInt(600)));
        long cores = 1 + random.nextInt(4);
        if (mine.refusal(cores(cores), run).isEmpty()) {
          started++;
          String uid = "w" + step;
          mine.changed(uid, cores(cores));
          mine.starts(uid, run);
          ends.put(uid, now.plus(run.get()));
        }
        now = now.plus(Duration.ofMinutes(random.nextInt(90)));
        Budgets played = mine;
        Instant until = now;
        ends.entrySet().stream()
            .filter(each -> !each.getValue().isAfter(until))
            .sorted(Map.Entry.comparingByValue())
            .forEach(
                each -> {
                  played.timePassed(each.getValue());
                  assertWithin(played, each.getValue());
                  played.changed(each.getKey(), null);
                });
        ends.values().removeIf(end -> !end.isAfter(until));
        mine.timePassed(now);
        assertWithin(mine, now);
        if (random.nextInt(20) == 0) {
          Budgets copy = empty();
          copy.restore(mine.export(), now, mine.isReleased());
          assertThat(copy.export()).isEqualTo(mine.export());
          mine = copy;
        }
      }
      assertThat(started).isGreaterThan(10);
    }
  }

  private static void assertWithin(Budgets mine, Instant now) {
    BudgetAccount.OfBudget budget = mine.export().getFirst();
    Limit limit = budget.spec().limits().getFirst();
    BigDecimal used = budget.account().spent().getOrDefault("cpu", BigDecimal.ZERO);
    for (BudgetAccount.Charge charge : budget.account().charges()) {
      used =
          used.add(
              charge
                  .rates()
                  .getOrDefault("cpu", BigDecimal.ZERO)
                  .multiply(BigDecimal.valueOf(Duration.between(charge.since(), now).toMillis())));
    }
    assertThat(used)
        .isLessThanOrEqualTo(
            limit.amount().add(budget.account().carried().getOrDefault("cpu", BigDecimal.ZERO)));
  }
}

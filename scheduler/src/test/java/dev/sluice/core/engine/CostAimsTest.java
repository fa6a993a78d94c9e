package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import dev.sluice.core.model.ResourceGroup.FlavorQuotas;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * The same jobs with flavors as they are listed, by cost, and with a wait for cheaper ones: what
 * they cost, and how long they wait (docs/prices.md#measured).
 */
class CostAimsTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private record Kind(String name, double price, double rate, double speed, int quota) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind("on-demand", 3, 0, 1, 60),
          new Kind("spot", 1, 0.08, 1, 60),
          new Kind("old", 1.2, 0, 0.5, 60));

  private record Arrival(long at, int size, long lasts) {}

  private record End(long at, int number, int attempt, boolean finished) {}

  private record Outcome(double money, double meanWait, double meanEnd, int interruptions) {}

  private enum Way {
    /** On-demand first, as many list them. */
    LISTED(List.of(0, 1, 2), false, Duration.ZERO),
    /** By the price of an hour. */
    LISTED_BY_PRICE(List.of(1, 2, 0), false, Duration.ZERO),
    CHEAPEST(List.of(0, 1, 2), true, Duration.ZERO),
    CHEAPEST_WAITING(List.of(0, 1, 2), true, Duration.ofHours(2));

    @SuppressWarnings("ImmutableEnumChecker") // List.of
    private final List<Integer> listed;

    private final boolean byCost;
    private final Duration delay;

    Way(List<Integer> listed, boolean byCost, Duration delay) {
      this.listed = listed;
      this.byCost = byCost;
      this.delay = delay;
    }
  }

  /**
   * Run times from minutes to a day.
   *
   * @param load which part of the quota they need together
   */
  private static List<Arrival> jobs(int count, double load) {
    Random random = new Random(11);
    List<Arrival> arrivals = new ArrayList<>();
    double at = 0;
    for (int i = 0; i < count; i++) {
      int size = 1 + random.nextInt(12);
      long lasts = Math.min(86_400, (long) Math.exp(9 + 1.2 * random.nextGaussian()) + 60);
      arrivals.add(new Arrival((long) at, size, lasts));
      at += size * (double) lasts / 180 / load * -Math.log(1 - random.nextDouble());
    }
    return arrivals;
  }

  private static Outcome play(List<Arrival> jobs, Way way) {
    SchedulerFixture scheduler = new SchedulerFixture();
    for (Kind kind : KINDS) {
      scheduler.engine.apply(
          new SchedulerEvent.FlavorChanged(
              new Flavor(kind.name(), Map.of(), List.of(), List.of())
                  .withPace(
                      Optional.of(
                          new Flavor.Pace(
                              BigDecimal.valueOf(kind.rate()),
                              BigDecimal.valueOf(kind.speed()))))));
      scheduler.engine.apply(
          new SchedulerEvent.PricesChanged(
              kind.name(), Map.of("cpu", BigDecimal.valueOf(kind.price()))));
    }
    scheduler.queue(
        "q",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        QueueRules.DEFAULT.withCheapest(
            way.byCost ? Optional.of(new CheapestFirst(Optional.of(way.delay))) : Optional.empty()),
        way.listed.stream()
            .map(KINDS::get)
            .map(kind -> SchedulerFixture.quota(kind.name(), kind.quota()))
            .toArray(FlavorQuotas[]::new));
    PriorityQueue<End> ends =
        new PriorityQueue<>(Comparator.comparingLong(End::at).thenComparing(End::number));
    Map<Integer, Long> started = new HashMap<>();
    Map<Integer, Integer> attempts = new HashMap<>();
    double money = 0;
    double ended = 0;
    int interruptions = 0;
    int next = 0;
    long now = 0;
    while (next < jobs.size() || !ends.isEmpty() || started.size() < jobs.size()) {
      long arrives = next < jobs.size() ? jobs.get(next).at() : Long.MAX_VALUE;
      // The time passes also where nothing happens.
      now = Math.min(now + 60, ends.isEmpty() ? arrives : Math.min(arrives, ends.peek().at()));
      scheduler.engine.apply(new SchedulerEvent.TimePassed(START.plusSeconds(now)));
      while (!ends.isEmpty() && ends.peek().at() <= now) {
        End end = ends.remove();
        scheduler.engine.apply(
            new SchedulerEvent.WorkloadReleased(id(end.number()), scheduler.nextVersion()));
        if (end.finished()) {
          ended += now - jobs.get(end.number()).at();
        } else {
          interruptions++;
          submit(scheduler, end.number(), jobs.get(end.number()), now);
        }
      }
      while (next < jobs.size() && jobs.get(next).at() <= now) {
        submit(scheduler, next, jobs.get(next), now);
        next++;
      }
      int decided = scheduler.decisions.size();
      while (scheduler.engine.cycle()) {
        // until nothing is left to evaluate
      }
      for (Decision each :
          List.copyOf(scheduler.decisions.subList(decided, scheduler.decisions.size()))) {
        int number = Integer.parseInt(each.id().name());
        String flavor =
            ((Decision.Admit) each).podSets().getFirst().flavors().getOrDefault("cpu", "");
        Kind kind =
            KINDS.stream().filter(one -> one.name().equals(flavor)).findFirst().orElseThrow();
        Arrival job = jobs.get(number);
        started.putIfAbsent(number, now - job.at());
        int attempt = attempts.merge(number, 1, Integer::sum);
        long needs = (long) Math.ceil(job.lasts() / kind.speed());
        long interrupted = interruption(number, attempt, kind);
        money += job.size() * kind.price() * Math.min(needs, interrupted) / 3600.0;
        ends.add(
            new End(now + Math.min(needs, interrupted), number, attempt, needs <= interrupted));
        scheduler.engine.apply(
            new SchedulerEvent.AdmissionWritten(each.id(), scheduler.nextVersion()));
      }
    }
    return new Outcome(
        money,
        started.values().stream().mapToLong(Long::longValue).average().orElse(0),
        ended / jobs.size(),
        interruptions);
  }

  /** The same attempt is interrupted at the same time under all ways. */
  private static long interruption(int number, int attempt, Kind kind) {
    if (kind.rate() == 0) {
      return Long.MAX_VALUE;
    }
    double drawn = new SplittableRandom(number * 1_000L + attempt).nextDouble();
    return 1 + (long) (-Math.log(1 - drawn) / kind.rate() * 3600);
  }

  private static void submit(SchedulerFixture scheduler, int number, Arrival job, long now) {
    Instant at = START.plusSeconds(now).plusMillis(number % 1000);
    scheduler.engine.apply(
        new SchedulerEvent.RunBounded(
            id(number), RunBound.of(Duration.ofSeconds(2 * job.lasts()))));
    scheduler.engine.apply(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                id(number),
                scheduler.nextVersion(),
                "q",
                SchedulerFixture.shape(job.size())
                    .costing(
                        Optional.of(
                            new CostRules(
                                Optional.of(Duration.ofSeconds(job.lasts())),
                                Optional.empty(),
                                Optional.empty()))),
                0,
                at,
                at,
                Optional.empty(),
                false,
                Optional.empty())));
  }

  private static WorkloadId id(int number) {
    return new WorkloadId("uid-" + number, "ns", "" + number);
  }

  @Test
  void theCheapestOrderCostsLessThanAnyListedOne() {
    for (double load : new double[] {0.3, 0.6}) {
      Map<Way, Outcome> outcomes = new HashMap<>();
      List<Arrival> jobs = jobs(Integer.getInteger("sluice.cost.jobs", 1_000), load);
      for (Way way : Way.values()) {
        Outcome outcome = play(jobs, way);
        outcomes.put(way, outcome);
        System.out.printf(
            Locale.ROOT,
            "cost: load=%.1f %s money=%.0f wait=%.0fs end=%.0fs interruptions=%d%n",
            load,
            way,
            outcome.money(),
            outcome.meanWait(),
            outcome.meanEnd(),
            outcome.interruptions());
      }
      double cheapest = money(outcomes, Way.CHEAPEST);
      assertThat(cheapest)
          .isLessThan(money(outcomes, Way.LISTED))
          .isLessThan(money(outcomes, Way.LISTED_BY_PRICE));
      assertThat(money(outcomes, Way.CHEAPEST_WAITING)).isLessThan(cheapest);
    }
  }

  private static double money(Map<Way, Outcome> outcomes, Way way) {
    return Objects.requireNonNull(outcomes.get(way)).money();
  }
}

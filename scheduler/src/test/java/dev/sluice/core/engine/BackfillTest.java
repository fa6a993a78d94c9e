package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.core.engine.SchedulerQueries.BackfillReport;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.PlannedStart.LateCause;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup.FlavorQuotas;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Users;
import dev.sluice.core.model.WorkloadId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Planned starts, and who may start before them (docs/backfill.md), in one small world each. */
class BackfillTest {

  private final SchedulerFixture scheduler = new SchedulerFixture();
  private final List<BackfillEvent> events = new ArrayList<>();

  private void strict(int depth, UnknownRunTime unknown, FlavorQuotas... quotas) {
    strict("q", "", depth, unknown, quotas);
  }

  private void strict(
      String name, String cohort, int depth, UnknownRunTime unknown, FlavorQuotas... quotas) {
    scheduler.flavor("f");
    scheduler.queue(
        name,
        cohort,
        QueueingStrategy.STRICT_FIFO,
        QueueRules.DEFAULT.withBackfill(Optional.of(new BackfillRules(depth, unknown))),
        quotas);
  }

  private void submit(String name, long cpu, int second, Duration limit) {
    submit("q", name, cpu, second, RunBound.of(limit));
  }

  private void submit(String queue, String name, long cpu, int second, RunBound bound) {
    bound(name, bound);
    scheduler.submit(name, queue, cpu, 0, second);
  }

  private void bound(String name, RunBound bound) {
    scheduler.engine.apply(new SchedulerEvent.RunBounded(id(name), bound));
  }

  private static WorkloadId id(String name) {
    return new WorkloadId("uid-" + name, "ns", name);
  }

  private List<String> admitted() {
    int before = scheduler.decisions.size();
    while (scheduler.engine.cycle()) {
      events.addAll(scheduler.engine.statistics().backfill());
    }
    events.addAll(scheduler.engine.statistics().backfill());
    List<String> names = new ArrayList<>();
    scheduler
        .decisions
        .subList(before, scheduler.decisions.size())
        .forEach(decision -> names.add(decision.id().name()));
    return names;
  }

  @Test
  void whoWouldMakeTheHeadLaterInOneFlavorGetsAnother() {
    scheduler.flavor("g");
    strict(
        1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10), SchedulerFixture.quota("g", 3));
    submit("first", 6, 0, Duration.ofSeconds(100));
    submit("large", 8, 1, Duration.ofSeconds(100));
    submit("long", 3, 2, Duration.ofSeconds(10_000));
    assertThat(admitted()).containsExactly("first", "long");
    assertThat(scheduler.admission("long").podSets().getFirst().flavors())
        .containsEntry("cpu", "g");
  }

  /** The limit is what the whole Workload costs for an hour, so that 8 of cpu can't be in g. */
  @Test
  void headIsPlannedInFlavorsThatItMayPay() {
    scheduler.flavor("g");
    strict(
        1, UnknownRunTime.REFUSE, SchedulerFixture.quota("g", 10), SchedulerFixture.quota("f", 10));
    scheduler.tell(new SchedulerEvent.PricesChanged("f", Map.of("cpu", BigDecimal.ONE)));
    scheduler.tell(new SchedulerEvent.PricesChanged("g", Map.of("cpu", BigDecimal.TWO)));
    submitPaying("first", 6, 0, Duration.ofSeconds(100), 6);
    submitPaying("large", 8, 1, Duration.ofSeconds(100), 8);
    submitPaying("long", 4, 2, Duration.ofSeconds(10_000), 4);
    submitPaying("rich", 4, 3, Duration.ofSeconds(10_000), 8);
    assertThat(admitted()).containsExactly("first", "rich");
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofSeconds(100)));
    scheduler.tell(new SchedulerEvent.PricesChanged("g", Map.of("cpu", BigDecimal.TEN)));
    scheduler.tell(new SchedulerEvent.PricesChanged("f", Map.of("cpu", BigDecimal.TEN)));
    assertThat(admitted()).isEmpty();
    assertThat(planned("large")).isEmpty();
  }

  /** A Workload that may cost so much for an hour. */
  private void submitPaying(String name, long cpu, int second, Duration limit, int most) {
    bound(name, RunBound.of(limit));
    scheduler.submit(
        name,
        "q",
        SchedulerFixture.shape(cpu)
            .costing(
                Optional.of(
                    new CostRules(
                        Optional.empty(),
                        Optional.of(BigDecimal.valueOf(most)),
                        Optional.empty()))),
        0,
        second);
  }

  private Optional<PlannedStart> planned(String name) {
    return report(name).own();
  }

  private BackfillReport report(String name) {
    return scheduler
        .engine
        .queries()
        .pendingReason(id(name))
        .orElseThrow()
        .backfill()
        .orElseThrow();
  }

  /** A run's bound, one second for what is rounded, and a minute for its pods to start and stop. */
  private static Instant after(Duration limit) {
    return SchedulerFixture.START.plus(limit).plusSeconds(61);
  }

  /** As one that is stopped and resumed while it waits: nobody tells its bound again. */
  @Test
  void theBoundOfOneThatLeavesItsQueueForAWhileStaysKnown() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
    submit("short", 4, 3, Duration.ofMinutes(59));
    scheduler.tell(new SchedulerEvent.WorkloadReleased(id("short"), 1_000));
    assertThat(admitted()).containsExactly("runs");
    scheduler.submit("short", "q", 4, 0, 3);
    assertThat(admitted()).containsExactly("short");

    scheduler.tell(new SchedulerEvent.WorkloadReleased(id("short"), Long.MAX_VALUE));
    scheduler.submit("short", "q", 4, 0, 3);
    assertThat(admitted()).as("another one of its name").isEmpty();
  }

  @Test
  void whoEndsBeforeThePlannedStartOfTheHeadRunsBeforeIt() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
    submit("long", 4, 2, Duration.ofHours(1).plusSeconds(1));
    submit("short", 4, 3, Duration.ofMinutes(59));
    assertThat(admitted()).containsExactly("runs", "short");
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    assertThat(planned("long")).isEmpty();
    assertThat(report("long").first().orElseThrow().id()).isEqualTo(id("large"));
    assertThat(events)
        .extracting(BackfillEvent::kind, event -> event.id().name())
        .containsExactly(tuple(BackfillEvent.Kind.BACKFILLED, "short"));
  }

  @Test
  void withoutTheRuleNobodyPassesTheHead() {
    scheduler.flavor("f");
    scheduler.queue("q", "", QueueingStrategy.STRICT_FIFO, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
    submit("short", 4, 3, Duration.ofMinutes(5));
    assertThat(admitted()).containsExactly("runs");
  }

  @Test
  void whoLeavesWhatIsPlannedAloneRunsHoweverLong() {
    strict(1, UnknownRunTime.USE_LIMIT, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 8, 1, Duration.ofHours(2));
    submit("q", "small", 2, 2, RunBound.UNKNOWN);
    submit("q", "other", 1, 3, RunBound.UNKNOWN);
    assertThat(admitted()).containsExactly("runs", "small");
  }

  @Test
  void whoseRunTimeIsUnknownIsRefusedUnlessTheQueueSaysOtherwise() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 8, 1, Duration.ofHours(2));
    RunBound others =
        new RunBound(
            Optional.empty(),
            Optional.of(Duration.ofMinutes(30)),
            Optional.of(Duration.ofMinutes(10)));
    submit("q", "small", 2, 2, others);
    assertThat(admitted()).containsExactly("runs");
    strict(1, UnknownRunTime.USE_LIMIT, SchedulerFixture.quota("f", 10));
    assertThat(report("small").bound()).contains(Duration.ofSeconds(30 * 60 + 61));
    assertThat(admitted()).containsExactly("small");
  }

  @Test
  void learnedRunTimesCountWhereTheQueueSaysSo() {
    strict(1, UnknownRunTime.USE_LEARNED, SchedulerFixture.quota("f", 10));
    RunBound learned =
        new RunBound(Optional.empty(), Optional.empty(), Optional.of(Duration.ofMinutes(10)));
    submit("q", "runs", 6, 0, learned);
    submit("q", "large", 8, 1, RunBound.UNKNOWN);
    assertThat(admitted()).containsExactly("runs");
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofMinutes(10)));
  }

  @Test
  void behindARunWithoutABoundNothingIsPlannedAndNobodyPasses() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("q", "runs", 6, 0, RunBound.UNKNOWN);
    submit("large", 8, 1, Duration.ofHours(2));
    submit("short", 1, 2, Duration.ofMinutes(1));
    assertThat(admitted()).containsExactly("runs");
    assertThat(planned("large")).isEmpty();
    assertThat(report("large").first()).isEmpty();
  }

  @Test
  void moreThanNominalQuotaIsNeverPlanned() {
    scheduler.flavor("f");
    scheduler.queue("lender", "c", SchedulerFixture.quota("f", 10));
    strict("q", "c", 1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("q", "runs", 6, 0, RunBound.of(Duration.ofHours(1)));
    submit("q", "large", 18, 1, RunBound.of(Duration.ofHours(2)));
    submit("q", "short", 1, 2, RunBound.of(Duration.ofMinutes(1)));
    assertThat(admitted()).containsExactly("runs");
    assertThat(planned("large")).isEmpty();
  }

  @Test
  void thePlanWaitsForTheBoundsOfThoseWhoBorrowFromTheQueue() {
    scheduler.flavor("f");
    scheduler.queue("borrower", "c", SchedulerFixture.quota("f", 0));
    strict("q", "c", 1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("borrower", "guest", 4, 0, RunBound.of(Duration.ofHours(3)));
    assertThat(admitted()).containsExactly("guest");
    submit("q", "large", 10, 1, RunBound.of(Duration.ofHours(2)));
    submit("q", "short", 4, 2, RunBound.of(Duration.ofHours(2)));
    submit("borrower", "late", 1, 3, RunBound.of(Duration.ofHours(9)));
    assertThat(admitted()).as("the head keeps its quota from others").containsExactly("short");
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(3)));
  }

  @Test
  void severalPlannedStartsAreInQueueOrderAndBindThoseBehindThem() {
    strict(2, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("first", 10, 1, Duration.ofHours(1));
    submit("second", 5, 2, Duration.ofHours(2));
    submit("third", 4, 3, Duration.ofHours(3));
    assertThat(admitted()).containsExactly("runs");
    assertThat(planned("first").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    assertThat(planned("second").orElseThrow().at())
        .isEqualTo(after(Duration.ofHours(2)).plusSeconds(61));
    assertThat(planned("third")).isEmpty();
  }

  @Test
  void anEarlierEndMakesThePlanEarlierAndTheHeadStarts() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("more", 4, 1, Duration.ofHours(2));
    submit("large", 10, 2, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("runs", "more");
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(2)));
    scheduler.passed(Duration.ofMinutes(30));
    scheduler.finish("more");
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow())
        .isEqualTo(
            new PlannedStart(
                id("large"), after(Duration.ofHours(1)), after(Duration.ofHours(2)), List.of()));
    scheduler.finish("runs");
    assertThat(admitted()).containsExactly("large");
    assertThat(events).extracting(BackfillEvent::kind).containsExactly(BackfillEvent.Kind.KEPT);
  }

  @Test
  void whoIsOvertakenByAnUrgentOneThatStaysIsLate() {
    strict(2, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 3));
    submit("bounded", 2, 0, Duration.ofSeconds(40));
    submit("head", 2, 1, Duration.ofHours(1));
    assertThat(admitted()).containsExactly("bounded");
    submit("filler", 1, 2, Duration.ofHours(1));
    assertThat(admitted()).containsExactly("filler");
    bound("hurried", RunBound.of(Duration.ofHours(1)));
    scheduler.submit("hurried", "q", 2, 100, 3);
    assertThat(admitted()).isEmpty();
    scheduler.passed(Duration.ofSeconds(40));
    scheduler.finish("bounded");
    assertThat(admitted()).containsExactly("hurried");
    scheduler.passed(Duration.ofSeconds(120));
    scheduler.finish("hurried");
    assertThat(admitted()).containsExactly("head");
    assertThat(events)
        .extracting(BackfillEvent::kind)
        .contains(BackfillEvent.Kind.BACKFILLED, BackfillEvent.Kind.MOVED, BackfillEvent.Kind.LATE);
  }

  @Test
  void aRunBeyondItsBoundMakesThePlanLateAndIsNamed() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("runs");
    scheduler.passed(Duration.ofMinutes(61));
    assertThat(admitted()).isEmpty();
    assertThat(events).isEmpty();
    scheduler.passed(Duration.ofMinutes(62));
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().lateBy()).containsExactly(LateCause.RUN_BEYOND_BOUND);
    assertThat(planned("large").orElseThrow().at())
        .isEqualTo(SchedulerFixture.START.plus(Duration.ofMinutes(63)));
    scheduler.finish("runs");
    assertThat(admitted()).containsExactly("large");
    assertThat(events)
        .extracting(BackfillEvent::kind)
        .containsExactly(BackfillEvent.Kind.MOVED, BackfillEvent.Kind.LATE);
    assertThat(events.getLast().cause()).contains(LateCause.RUN_BEYOND_BOUND);
  }

  /** The head is an invalid Workload during the first pass, so that the queue isn't planned. */
  @Test
  void aLaterBoundOfARunIsNamedAlsoAfterAPassThatDidNotPlanTheQueue() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("runs");
    written("runs");
    bound("runs", RunBound.of(Duration.ofHours(4)));
    invalid(9);
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    scheduler.finish("invalid");
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(4)));
    assertThat(planned("large").orElseThrow().lateBy()).containsExactly(LateCause.RUN_BEYOND_BOUND);
  }

  @Test
  void aLaterBoundOfOneThatWaitsIsNoRunBeyondItsBound() {
    strict(2, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("first", 10, 1, Duration.ofHours(1));
    submit("second", 10, 2, Duration.ofHours(1));
    assertThat(admitted()).containsExactly("runs");
    bound("first", RunBound.of(Duration.ofHours(4)));
    scheduler.finish("runs");
    assertThat(admitted()).containsExactly("first");
    assertThat(planned("second").orElseThrow().at()).isEqualTo(after(Duration.ofHours(4)));
    assertThat(planned("second").orElseThrow().lateBy()).containsExactly(LateCause.OTHER);
  }

  @Test
  void aHigherPriorityMakesThePlanLateAndIsNamed() {
    strict(2, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("runs");
    bound("urgent", RunBound.of(Duration.ofHours(5)));
    scheduler.submit("urgent", "q", 9, 100, 2);
    assertThat(admitted()).isEmpty();
    assertThat(planned("urgent").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    assertThat(planned("large").orElseThrow().lateBy()).containsExactly(LateCause.HIGHER_PRIORITY);
  }

  @Test
  void lessQuotaMakesThePlanLateAndIsNamed() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("more", 3, 1, Duration.ofHours(2));
    submit("large", 7, 2, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("runs", "more");
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 9));
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(2)));
    assertThat(planned("large").orElseThrow().lateBy()).containsExactly(LateCause.QUOTA_REDUCED);
  }

  @Test
  void noStartIsPlannedThatAWindowWouldHold() {
    strict(2, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    keep(new Scope.OfFlavors(Set.of("f")), Duration.ofHours(2), Duration.ofHours(3));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 7, 1, Duration.ofHours(1));
    submit("next", 9, 2, Duration.ofMinutes(10));
    submit("short", 4, 3, Duration.ofMinutes(110));
    assertThat(admitted()).containsExactly("runs", "short");
    Instant opened = SchedulerFixture.START.plus(Duration.ofHours(3));
    assertThat(planned("large").orElseThrow().at()).isEqualTo(opened);
    assertThat(planned("next").orElseThrow().at()).isEqualTo(opened.plusSeconds(3_661));
  }

  @Test
  void aWindowThatIsDeclaredMakesThePlanLateAndIsNamed() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 7, 1, Duration.ofHours(1));
    assertThat(admitted()).containsExactly("runs");
    keep(new Scope.OfFlavors(Set.of("f")), Duration.ofHours(2), Duration.ofHours(3));
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().at())
        .isEqualTo(SchedulerFixture.START.plus(Duration.ofHours(3)));
    assertThat(planned("large").orElseThrow().lateBy()).containsExactly(LateCause.QUOTA_REDUCED);
  }

  /** The head is kept back before and after; what changed is the end of the run. */
  @Test
  void aRunBeyondItsBoundIsNamedAlsoBesideWhatIsReserved() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    keepFour();
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(10));
    assertThat(admitted()).containsExactly("runs");
    written("runs");
    bound("runs", RunBound.of(Duration.ofHours(4)));
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().lateBy()).containsExactly(LateCause.RUN_BEYOND_BOUND);
  }

  @Test
  void aStartIsPlannedBesideWhatIsReservedForOthers() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    keepFour();
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("fits", 6, 1, Duration.ofHours(10));
    assertThat(admitted()).containsExactly("runs");
    assertThat(planned("fits").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
  }

  @Test
  void aStartThatLeavesTooLittleForOthersIsPlannedAfterThem() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    keepFour();
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("outlives", 7, 1, Duration.ofHours(10));
    assertThat(admitted()).containsExactly("runs");
    assertThat(planned("outlives").orElseThrow().at())
        .isEqualTo(SchedulerFixture.START.plus(Duration.ofHours(3)));
  }

  private void keepFour() {
    keep(
        new Scope.OfQueue("q", List.of(new Share("f", "cpu", 4))),
        Duration.ofHours(2),
        Duration.ofHours(3));
  }

  private void keep(Scope scope, Duration from, Duration until) {
    scheduler.engine.apply(
        new SchedulerEvent.ReservationsChanged(
            List.of(
                new ReservedCapacity(
                    "w",
                    scope,
                    Users.NOBODY,
                    false,
                    List.of(
                        new Occurrence(
                            SchedulerFixture.START.plus(from),
                            SchedulerFixture.START.plus(until)))))));
  }

  @Test
  void eachFlavorHasItsOwnPlan() {
    scheduler.flavor("g");
    strict(
        1,
        UnknownRunTime.USE_LIMIT,
        SchedulerFixture.quota("f", 4),
        SchedulerFixture.quota("g", 9));
    submit("runs", 4, 0, Duration.ofHours(1));
    submit("fills", 9, 1, Duration.ofHours(2));
    submit("large", 4, 2, Duration.ofHours(2));
    submit("q", "waits", 5, 3, RunBound.UNKNOWN);
    assertThat(admitted()).containsExactly("runs", "fills");
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    scheduler.passed(Duration.ofMinutes(1));
    scheduler.finish("fills");
    assertThat(admitted()).as("both fit flavor g").containsExactly("large", "waits");
  }

  @Test
  void aHeadThatWaitsForItsTargetsKeepsItsQuotaFromOthers() {
    scheduler.flavor("f");
    scheduler.queue(
        "q",
        "",
        QueueingStrategy.STRICT_FIFO,
        QueueRules.DEFAULT.withBackfill(Optional.of(new BackfillRules(1, UnknownRunTime.REFUSE))),
        new PreemptionPolicies(
            PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
            PreemptionPolicies.ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty()),
        SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    assertThat(admitted()).containsExactly("runs");
    bound("urgent", RunBound.of(Duration.ofHours(1)));
    scheduler.submit("urgent", "q", 10, 100, 2);
    submit("short", 4, 3, Duration.ofMinutes(1));
    assertThat(admitted()).containsExactly("urgent"); // the decision to preempt for it
    assertThat(scheduler.preempted()).hasSize(1);
  }

  @Test
  void aHeadWhoseBackOffIsOverIsPlanned() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    assertThat(admitted()).containsExactly("runs");
    bound("large", RunBound.of(Duration.ofHours(1)));
    scheduler.submitResting("large", "q", 10, SchedulerFixture.START.plusSeconds(60));
    assertThat(admitted()).isEmpty();
    scheduler.passed(Duration.ofSeconds(60));
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
  }

  @Test
  void whoseBackOffIsOverRunsBeforeTheHead() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    assertThat(admitted()).containsExactly("runs");
    submit("large", 10, -1, Duration.ofHours(1));
    bound("short", RunBound.of(Duration.ofMinutes(5)));
    scheduler.submitResting("short", "q", 4, SchedulerFixture.START.plusSeconds(60));
    assertThat(admitted()).isEmpty();
    scheduler.passed(Duration.ofSeconds(60));
    assertThat(admitted()).containsExactly("short");
  }

  private void invalid(long priority) {
    Instant created = SchedulerFixture.START.plusSeconds(2);
    bound("invalid", RunBound.of(Duration.ofMinutes(5)));
    scheduler.tell(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                id("invalid"),
                scheduler.nextVersion(),
                "q",
                SchedulerFixture.shape(4),
                priority,
                created,
                created,
                Optional.empty(),
                false,
                Optional.of("resources exceed the limits"))));
  }

  @Test
  void anInvalidWorkloadHidesNobodyThatAsksForTheSame() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("runs");
    invalid(0);
    submit("short", 4, 3, Duration.ofMinutes(5));
    assertThat(admitted()).containsExactly("short");
  }

  /** Flavor g has no memory: what the first one might get of it is more than there is. */
  @Test
  void whoAsksForNothingOfAResourceNeedsNoneOfIt() {
    scheduler.flavor("g");
    strict(2, UnknownRunTime.REFUSE, quotas("f", 3, 5), quotas("g", 5, 0));
    submit("runs", 3, 0, Duration.ofHours(1));
    submit("fills", 5, 1, Duration.ofHours(1));
    assertThat(admitted()).containsExactly("runs", "fills");
    scheduler.submit("large", "q", asking(3, 3), 0, 2);
    scheduler.submit("small", "q", asking(2, 0), 0, 3);
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    assertThat(planned("small").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
  }

  /** The pods that run have these flavors, and so must those that come. */
  @Test
  void aSliceIsPlannedInTheFlavorsOfTheOneThatItReplaces() {
    scheduler.flavor("g");
    strict(
        1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 1), SchedulerFixture.quota("g", 9));
    bound("a", RunBound.of(Duration.ofHours(1)));
    scheduler.submit("a", "q", slice("a", "", podSet("one", 3), podSet("two", 1)), 0, 0);
    assertThat(admitted()).containsExactly("a");
    written("a");
    scheduler.submit("b", "q", slice("b", "a", podSet("one", 3), podSet("two", 2)), 0, 1);
    assertThat(admitted()).isEmpty();
    assertThat(planned("b")).isEmpty();
  }

  /** Of a quota of 10, slice a has 4 for an hour, and another Workload so much for two hours. */
  private void runsBesideASlice(int cpu) {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    bound("a", RunBound.of(Duration.ofHours(1)));
    scheduler.submit("a", "q", slice("a", "", podSet("one", 4)), 0, 0);
    submit("runs", cpu, 1, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("a", "runs");
    written("a");
  }

  @Test
  void aSliceIsPlannedWithAllThatItNeedsOnceTheOtherOneHasToEnd() {
    runsBesideASlice(5);
    scheduler.submit("b", "q", slice("b", "a", podSet("one", 8)), 0, 2);
    assertThat(admitted()).isEmpty();
    assertThat(planned("b").orElseThrow().at()).isEqualTo(after(Duration.ofHours(2)));
  }

  @Test
  void aSliceThatGoesOnForTheOneThatItReplacesDoesNotTakeWhatThatLeaves() {
    runsBesideASlice(4);
    submit("large", 5, 2, Duration.ofHours(1));
    bound("b", RunBound.of(Duration.ofHours(3)));
    scheduler.submit("b", "q", slice("b", "a", podSet("one", 5)), 0, 3);
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    bound("b", RunBound.of(Duration.ofMinutes(59)));
    assertThat(admitted()).containsExactly("b");
  }

  @Test
  void whoStartsBeforeThoseThatWereBeforeItMakesThemLateByItsPriority() {
    strict(2, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
    submit("other", 4, 2, Duration.ofHours(5));
    assertThat(admitted()).containsExactly("runs");
    assertThat(planned("other")).isPresent();
    scheduler.submit("other", "q", 4, 100, 2);
    assertThat(admitted()).containsExactly("other");
    assertThat(planned("large").orElseThrow().lateBy()).containsExactly(LateCause.HIGHER_PRIORITY);
  }

  @Test
  void aBoundThatChangedBeforeTheRunBeganMakesNobodyLate() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("runs");
    bound("guest", RunBound.of(Duration.ofMinutes(10)));
    bound("guest", RunBound.of(Duration.ofHours(9)));
    scheduler.running("guest", "q", 4, 0, true);
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().lateBy()).containsExactly(LateCause.OTHER);
  }

  @Test
  void aBoundThatDoesNotCountMakesNobodyLate() {
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    Optional<Duration> hour = Optional.of(Duration.ofHours(1));
    submit("q", "runs", 6, 0, new RunBound(hour, Optional.empty(), hour));
    submit("large", 10, 1, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("runs");
    bound("runs", new RunBound(hour, Optional.empty(), Optional.of(Duration.ofHours(3))));
    bound("guest", RunBound.of(Duration.ofHours(9)));
    scheduler.running("guest", "q", 4, 0, true);
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().lateBy()).containsExactly(LateCause.OTHER);
  }

  @Test
  void oneMoreFlavorIsNoLessQuota() {
    scheduler.flavor("g");
    strict(1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("runs");
    strict(
        1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 10), SchedulerFixture.quota("g", 1));
    bound("guest", RunBound.of(Duration.ofHours(9)));
    scheduler.running("guest", "q", 4, 0, true);
    assertThat(admitted()).isEmpty();
    assertThat(planned("large").orElseThrow().lateBy()).containsExactly(LateCause.OTHER);
  }

  private void written(String name) {
    scheduler.tell(new SchedulerEvent.AdmissionWritten(id(name), scheduler.nextVersion()));
  }

  private static RequestShape slice(String name, String replaces, PodSetRequest... podSets) {
    return new RequestShape(List.of(podSets))
        .withSlice(Optional.of(new JobSlice("job", name, replaces)));
  }

  private static PodSetRequest podSet(String name, long cpu) {
    return new PodSetRequest(
        name, 1, 0, new TreeMap<>(Map.of("cpu", cpu)), NodeConstraints.ANYWHERE, "");
  }

  private static FlavorQuotas quotas(String flavor, long cpu, long memory) {
    long unlimited = ResourceAmounts.UNLIMITED;
    return new FlavorQuotas(
        flavor,
        Map.of(
            "cpu", new Quota(cpu, unlimited, unlimited),
            "memory", new Quota(memory, unlimited, unlimited)));
  }

  private static RequestShape asking(long cpu, long memory) {
    return new RequestShape(
        List.of(
            new PodSetRequest(
                "main",
                1,
                0,
                new TreeMap<>(Map.of("cpu", cpu, "memory", memory)),
                NodeConstraints.ANYWHERE,
                "")));
  }

  private void headOfTenBehindSix() {
    scheduler.flavor("f");
    scheduler.cohort("co", "", SchedulerFixture.quota("f", 8));
    strict("q", "co", 1, UnknownRunTime.REFUSE, SchedulerFixture.quota("f", 2));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("large", 10, 1, Duration.ofHours(2));
  }

  private void another(long nominal, long borrow) {
    scheduler.queue(
        "other", "co", SchedulerFixture.quota("f", nominal, borrow, ResourceAmounts.UNLIMITED));
  }

  @Test
  void aQueueAloneBelowACohortPlansWithTheCohortsQuota() {
    headOfTenBehindSix();
    submit("long", 4, 2, Duration.ofHours(1).plusSeconds(1));
    submit("short", 4, 3, Duration.ofMinutes(59));
    assertThat(admitted()).containsExactly("runs", "short");
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
  }

  @Test
  void soDoesOneBesideOthersThatBorrowNothing() {
    headOfTenBehindSix();
    another(3, 0);
    assertThat(admitted()).containsExactly("runs");
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    submit("other", "own", 3, 2, RunBound.UNKNOWN);
    assertThat(admitted()).containsExactly("own");
    assertThat(planned("large").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    scheduler.finish("runs");
    assertThat(admitted()).containsExactly("large");
  }

  @Test
  void noQueuePlansWithWhatAnotherMayBorrow() {
    headOfTenBehindSix();
    assertThat(admitted()).containsExactly("runs");
    assertThat(planned("large")).isPresent();
    another(0, ResourceAmounts.UNLIMITED);
    assertThat(admitted()).isEmpty();
    assertThat(planned("large")).isEmpty();
    assertThat(events)
        .extracting(BackfillEvent::kind, BackfillEvent::cause)
        .containsExactly(
            tuple(BackfillEvent.Kind.MOVED, Optional.of(PlannedStart.LateCause.QUOTA_REDUCED)));
  }

  @Test
  void noQueuePlansWithMoreThanItMayBorrow() {
    scheduler.flavor("f");
    scheduler.cohort("co", "", SchedulerFixture.quota("f", 8));
    strict(
        "q",
        "co",
        1,
        UnknownRunTime.REFUSE,
        SchedulerFixture.quota("f", 2, 5, ResourceAmounts.UNLIMITED));
    submit("runs", 6, 0, Duration.ofHours(1));
    submit("seven", 7, 1, Duration.ofHours(2));
    assertThat(admitted()).containsExactly("runs");
    assertThat(planned("seven").orElseThrow().at()).isEqualTo(after(Duration.ofHours(1)));
    scheduler.submit("eight", "q", 8, 9, 2);
    assertThat(admitted()).isEmpty();
    assertThat(planned("eight")).isEmpty();
  }
}

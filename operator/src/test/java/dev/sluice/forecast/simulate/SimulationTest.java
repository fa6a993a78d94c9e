package dev.sluice.forecast.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.budget.Budgets.Hours;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.FlavorAttempt.Cost;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Users;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.play.OneQueue;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.forecast.starts.StartEstimate.Basis;
import dev.sluice.forecast.starts.StartForecast;
import dev.sluice.queues.status.BudgetStatus;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SimulationTest {

  private static final PreemptionPolicies LOWER_PRIORITY =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  private final Map<String, Duration> runTimes = new HashMap<>();
  private Play.Source source = OneQueue.source(PreemptionPolicies.NEVER);
  private Instant now = OneQueue.BEGIN;
  private RunBound bound = RunBound.UNKNOWN;

  private void arrives(String name, int cpus, long priority) {
    now = now.plusSeconds(60);
    source.scheduler().apply(new SchedulerEvent.TimePassed(now));
    source
        .scheduler()
        .apply(new SchedulerEvent.WorkloadPending(OneQueue.workload(name, cpus, priority, now)));
    source.scheduler().decide();
    for (Decision decision : source.decisions()) {
      source.scheduler().apply(new SchedulerEvent.AdmissionWritten(decision.id(), 1));
    }
    source.decisions().clear();
  }

  private RunTimeEstimate runTime(WorkloadId id) {
    return RunTimeEstimate.of(
        Optional.ofNullable(runTimes.get(id.name())), Optional.empty(), Optional.empty());
  }

  private SimulationResult ask(PendingWorkload asked) {
    EngineState state = source.scheduler().export();
    SimulationResult result =
        Simulation.of(state, asked, bound, this::runTime, StartForecast.Options.DEFAULT, () -> true)
            .orElseThrow();
    assertThat(source.scheduler().export()).isEqualTo(state);
    return result;
  }

  private SimulationResult ask(int cpus, long priority) {
    return ask(OneQueue.workload("asked", cpus, priority, now.plusSeconds(1)));
  }

  @Test
  void whatFitsStartsNow() {
    arrives("first", 2, 0);

    SimulationResult result = ask(2, 0);

    assertThat(result.feasibility()).isEqualTo(Feasibility.NOW);
    assertThat(result.admission().orElseThrow().podSets().getFirst().flavors())
        .containsEntry("cpu", "any");
    assertThat(result.pendingReport().clusterQueue()).isEqualTo("cq");
    assertThat(result.pendingReport().position().inClusterQueue()).isZero();
    assertThat(result.lender()).isEmpty();
    assertThat(result.start()).isEmpty();
    assertThat(result.computedAt()).isEqualTo(now);
  }

  /** The queue and another one of four CPUs, in a cohort that has nothing itself, below others. */
  private void inCohort() {
    for (String name : new String[] {"cq", "other"}) {
      ClusterQueueSpec alone =
          source.scheduler().export().clusterQueues().getFirst().spec().orElseThrow();
      source
          .scheduler()
          .apply(
              new SchedulerEvent.ClusterQueueChanged(
                  new ClusterQueueSpec(
                      name,
                      "team-cohort",
                      alone.groups(),
                      alone.strategy(),
                      alone.namespaceSelector(),
                      alone.stopPolicy(),
                      false,
                      alone.preemption(),
                      alone.fungibility(),
                      alone.fairWeight(),
                      List.of(),
                      List.of(),
                      false)));
    }
    source
        .scheduler()
        .apply(
            new SchedulerEvent.CohortChanged(new CohortSpec("team-cohort", "company", List.of())));
  }

  @Test
  void whatIsBorrowedIsToldByTheCohort() {
    inCohort();

    assertThat(ask(6, 0).feasibility()).isEqualTo(Feasibility.NOW);
    assertThat(ask(6, 0).lender()).contains("team-cohort");
    assertThat(ask(4, 0).lender()).isEmpty();
    assertThat(ask(9, 0).feasibility()).isEqualTo(Feasibility.NEVER);
  }

  @Test
  void whatDoesNotFitStartsLaterAndTheEstimateSaysWhen() {
    runTimes.put("first", Duration.ofMinutes(30));
    arrives("first", 3, 0);

    SimulationResult result = ask(2, 0);

    assertThat(result.feasibility()).isEqualTo(Feasibility.LATER);
    StartEstimate start = result.start().orElseThrow();
    assertThat(start.basis()).isEqualTo(Basis.DECLARED);
    assertThat(start.range().orElseThrow().expected()).isEqualTo(now.plusSeconds(1_800));
    assertThat(result.pendingReport().explanation().orElseThrow().reason())
        .isEqualTo(PendingReason.WAITING_FOR_QUOTA);
    assertThat(result.pendingReport().holders()).hasSize(1);
  }

  @Test
  void withoutRunTimesItStillStartsLaterWithoutADate() {
    arrives("first", 3, 0);

    SimulationResult result = ask(2, 0);

    assertThat(result.feasibility()).isEqualTo(Feasibility.LATER);
    assertThat(result.start().orElseThrow().basis()).isEqualTo(Basis.UNKNOWN);
    assertThat(result.start().orElseThrow().range()).isEmpty();
  }

  @Test
  void largerThanTheQuotaItNeverStarts() {
    runTimes.put("first", Duration.ofMinutes(30));
    arrives("first", 3, 0);

    SimulationResult result = ask(5, 0);

    assertThat(result.feasibility()).isEqualTo(Feasibility.NEVER);
    assertThat(result.pendingReport().explanation().orElseThrow().reason())
        .isEqualTo(PendingReason.EXCEEDS_MAX_QUOTA);
    assertThat(result.start()).isEmpty();
  }

  @Test
  void higherPriorityPreempts() {
    source = OneQueue.source(LOWER_PRIORITY);
    arrives("first", 2, 0);
    arrives("second", 2, 0);

    SimulationResult result = ask(2, 5);

    assertThat(result.feasibility()).isEqualTo(Feasibility.AFTER_PREEMPTION);
    assertThat(result.targets()).extracting(target -> target.id().name()).containsExactly("second");
    assertThat(result.admission()).isEmpty();
  }

  @Test
  void afterAPreemptionItStartsWhenTheOtherHasStopped() {
    source = OneQueue.source(LOWER_PRIORITY);
    arrives("first", 4, 0);

    assertThat(ask(2, 5).start().orElseThrow().range().orElseThrow().expected())
        .isEqualTo(now.plus(StartForecast.Options.DEFAULT.stopping()));
  }

  @Test
  void whatItCostsIsToldWhereItsFlavorHasAPrice() {
    assertThat(ask(2, 0).bill().cost()).isEmpty();
    source
        .scheduler()
        .apply(new SchedulerEvent.PricesChanged("any", Map.of("cpu", new BigDecimal("0.0005"))));

    Cost cost = ask(2, 0).bill().cost().orElseThrow();
    assertThat(cost.perHour()).isEqualByComparingTo("1");
    assertThat(cost.toFinish()).as("nobody knows how long it runs").isEmpty();

    runTimes.put("asked", Duration.ofHours(3));
    assertThat(ask(2, 0).bill().cost().orElseThrow().toFinish().orElseThrow())
        .isEqualByComparingTo("3");
  }

  /** Time axis, section 4: whoever has to wait wants to know it, too. */
  @Test
  void whatItCostsLaterIsToldOfTheFlavorThatItWaitsFor() {
    source = OneQueue.source(LOWER_PRIORITY);
    source
        .scheduler()
        .apply(new SchedulerEvent.PricesChanged("any", Map.of("cpu", new BigDecimal("0.0005"))));
    arrives("first", 4, 0);
    SimulationResult preempting = ask(2, 5);
    assertThat(preempting.feasibility()).isEqualTo(Feasibility.AFTER_PREEMPTION);
    assertThat(preempting.bill().cost().orElseThrow().perHour()).isEqualByComparingTo("1");
    assertThat(preempting.bill().expectedFlavors()).containsExactly("any");
    assertThat(ask(5, 0).bill()).as("never").isEqualTo(SimulationResult.Bill.NONE);

    budget("elsewhere", "other");
    budget("here", "cq");
    SimulationResult later = ask(running(2, 3));
    assertThat(later.feasibility()).isEqualTo(Feasibility.LATER);
    assertThat(later.bill().cost().orElseThrow().perHour()).isEqualByComparingTo("1");
    assertThat(later.bill().expectedFlavors()).containsExactly("any");
    assertThat(later.bill().budgets())
        .singleElement()
        .satisfies(budget -> assertThat(budget.spec().name()).isEqualTo("here"))
        .satisfies(
            budget ->
                assertThat(
                        Hours.text(
                            "cpu", BudgetStatus.balances(budget, now).getFirst().remaining()))
                    .as("of 100")
                    .isEqualTo("94"));
  }

  @Test
  void whatRemainsOfBudgetsIsToldWithWhatIsReservedForIt() {
    assertThat(ask(running(2, 3)).bill().budgets()).isEmpty();
    budget("elsewhere", "other");
    budget("here", "cq");

    List<BudgetAccount.OfBudget> budgets = ask(running(2, 3)).bill().budgets();
    assertThat(budgets).hasSize(1);
    BudgetAccount.OfBudget budget = budgets.getFirst();
    assertThat(budget.spec().name()).isEqualTo("here");
    assertThat(BudgetStatus.balances(budget, now))
        .singleElement()
        .satisfies(
            balance ->
                assertThat(Hours.text("cpu", balance.remaining())).as("of 100").isEqualTo("94"));

    assertThat(ask(running(2, 60)).feasibility()).as("120 of 100").isEqualTo(Feasibility.NEVER);
  }

  private void budget(String name, String clusterQueue) {
    source
        .scheduler()
        .apply(
            new SchedulerEvent.BudgetChanged(
                new BudgetSpec(
                    name,
                    new BudgetSpec.Scope.OfClusterQueue(clusterQueue),
                    List.of(
                        new BudgetSpec.Limit(
                            "cpu", Set.of(), Hours.of("cpu", BigDecimal.valueOf(100)))),
                    new BudgetSpec.Period(BudgetSpec.Unit.YEARLY, "UTC", Optional.empty()),
                    BigDecimal.ZERO,
                    true,
                    true),
                Optional.empty()));
  }

  /** The Workload that is asked about, with its run time. */
  private PendingWorkload running(int cpus, int hours) {
    PendingWorkload asked = OneQueue.workload("asked", cpus, 0, now.plusSeconds(1));
    return new PendingWorkload(
        asked.id(),
        asked.version(),
        asked.queueName(),
        asked.shape().running(Optional.of(Duration.ofHours(hours))),
        asked.priority(),
        asked.createdAt(),
        asked.queuedAt(),
        asked.notBefore(),
        asked.held(),
        asked.defect());
  }

  @Test
  void thoseAheadHaveTheirTurnFirst() {
    arrives("holder", 3, 0);
    // pending, and not decided on yet
    source
        .scheduler()
        .apply(new SchedulerEvent.WorkloadPending(OneQueue.workload("ahead", 1, 0, now)));

    SimulationResult result = ask(1, 0);

    assertThat(result.feasibility()).isEqualTo(Feasibility.LATER);
    assertThat(result.pendingReport().position().inClusterQueue()).isEqualTo(1);
    assertThat(ask(1, 7).feasibility()).isEqualTo(Feasibility.NOW);
  }

  @Test
  void queueThatDoesNotExistNeverAdmits() {
    PendingWorkload asked =
        new PendingWorkload(
            new WorkloadId("uid-asked", "team", "asked"),
            1,
            "missing",
            OneQueue.workload("asked", 1, 0, now).shape(),
            0,
            now,
            now,
            Optional.empty(),
            false,
            Optional.empty());

    SimulationResult result = ask(asked);

    assertThat(result.feasibility()).isEqualTo(Feasibility.NEVER);
    assertThat(result.pendingReport().explanation().orElseThrow().detail())
        .isEqualTo("LocalQueue missing doesn't exist");
  }

  @Test
  void engineThatOnlyListensAnswersTheSame() {
    source.scheduler().apply(new SchedulerEvent.DecidingEnabled(false));

    assertThat(ask(2, 0).feasibility()).isEqualTo(Feasibility.NOW);
  }

  @Test
  void withoutTimeToDecideThereIsNoResult() {
    assertThat(
            Simulation.of(
                source.scheduler().export(),
                OneQueue.workload("asked", 2, 0, now),
                RunBound.UNKNOWN,
                this::runTime,
                StartForecast.Options.DEFAULT,
                () -> false))
        .isEmpty();
  }

  @Test
  void withoutTimeItIsLaterUnlessTheReasonLasts() {
    arrives("first", 3, 0);
    EngineState state = source.scheduler().export();
    int[] left = {2};

    SimulationResult waits =
        Simulation.of(
                state,
                OneQueue.workload("asked", 2, 0, now),
                RunBound.UNKNOWN,
                this::runTime,
                StartForecast.Options.DEFAULT,
                () -> left[0]-- > 0)
            .orElseThrow();
    assertThat(waits.feasibility()).isEqualTo(Feasibility.LATER);
    assertThat(waits.start().orElseThrow().assumptions())
        .containsExactly("it takes too long to compute");

    left[0] = 2;
    SimulationResult never =
        Simulation.of(
                state,
                OneQueue.workload("asked", 5, 0, now),
                RunBound.UNKNOWN,
                this::runTime,
                StartForecast.Options.DEFAULT,
                () -> left[0]-- > 0)
            .orElseThrow();
    assertThat(never.feasibility()).isEqualTo(Feasibility.NEVER);
  }

  /** All four CPUs are kept for others from a time on, for an hour. */
  private void reserved(Duration in) {
    source
        .scheduler()
        .apply(
            new SchedulerEvent.ReservationsChanged(
                List.of(
                    new ReservedCapacity(
                        "demo",
                        new Scope.OfQueue("cq", List.of(new Share("any", "cpu", 4_000))),
                        Users.NOBODY,
                        false,
                        List.of(new Occurrence(now.plus(in), now.plus(in).plusSeconds(3_600)))))));
  }

  @Test
  void whoEndsBeforeAReservationStartsNow() {
    reserved(Duration.ofMinutes(30));
    bound = RunBound.of(Duration.ofMinutes(10));

    assertThat(ask(2, 0).feasibility()).isEqualTo(Feasibility.NOW);
  }

  @Test
  void whoMayRunForEverStartsWhenTheReservationIsOver() {
    reserved(Duration.ofMinutes(30));

    SimulationResult result = ask(2, 0);

    assertThat(result.feasibility()).isEqualTo(Feasibility.LATER);
    assertThat(result.pendingReport().explanation().orElseThrow().detail())
        .contains("nothing limits how long this workload runs");
    assertThat(result.start().orElseThrow().range().orElseThrow().expected())
        .isEqualTo(now.plus(Duration.ofMinutes(90)));
  }

  @Test
  void whoFitsBeforeTheHeadStartsNow() {
    ClusterQueueSpec plain =
        source.scheduler().export().clusterQueues().getFirst().spec().orElseThrow();
    source
        .scheduler()
        .apply(
            new SchedulerEvent.ClusterQueueChanged(
                plain.with(
                    QueueingStrategy.STRICT_FIFO,
                    plain
                        .rules()
                        .withBackfill(Optional.of(new BackfillRules(1, UnknownRunTime.REFUSE))))));
    source
        .scheduler()
        .apply(
            new SchedulerEvent.RunBounded(
                OneQueue.workload("holder", 3, 0, now).id(), RunBound.of(Duration.ofHours(1))));
    arrives("holder", 3, 0);
    arrives("head", 4, 0);

    assertThat(ask(1, 0).feasibility()).isEqualTo(Feasibility.LATER);
    bound = RunBound.of(Duration.ofMinutes(10));
    assertThat(ask(1, 0).feasibility()).isEqualTo(Feasibility.NOW);
  }
}

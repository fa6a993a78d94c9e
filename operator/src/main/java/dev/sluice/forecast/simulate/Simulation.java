package dev.sluice.forecast.simulate;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.EngineState.ClusterQueueExport;
import dev.sluice.core.engine.EngineState.LocalQueueExport;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.Flavor.Pace;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorAttempt.Cost;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.scheduling.flavor.FlavorCosts;
import dev.sluice.core.waiting.WaitingExport.TreeRoot;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.simulate.SimulationResult.Bill;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.forecast.starts.StartEstimate.Basis;
import dev.sluice.forecast.starts.StartForecast;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * Adds a Workload to a copy of the engine, and tells what the engine decides on it. The same input
 * leads to the same result.
 */
public final class Simulation {

  /**
   * How long each run lasts, and its pods take to stop, when the question is whether a Workload
   * ever starts: what runs ends before backoffs do, or afterwards.
   */
  private static final List<Duration> ANY_RUNS = List.of(Duration.ofMillis(1), Duration.ofHours(1));

  /** All runs last equally long from now on, however long they have lasted. */
  private final class AlikeRuns implements StartForecast.Knowledge {

    private final RunTimeEstimate estimate;

    AlikeRuns(RunTimeEstimate estimate) {
      this.estimate = estimate;
    }

    @Override
    public RunTimeEstimate runTime(WorkloadId id) {
      return estimate;
    }

    @Override
    public Instant startedAt(WorkloadId id, Instant reservedAt) {
      return state.now();
    }
  }

  /** How far a play of runs that all end reaches: many thousands of them, one after the other. */
  private static final Duration TO_THE_END = Duration.ofDays(36_500);

  /** Reasons that no end of a run changes. */
  private static final Set<PendingReason> LASTING =
      EnumSet.of(
          PendingReason.NO_MATCHING_FLAVOR, PendingReason.SUSPENDED, PendingReason.MISCONFIGURED);

  private static final double MEDIAN = 0.5;

  /** A bound for cycles in which the Workload's turn doesn't come. */
  private static final int MOST_ROUNDS = 1_000;

  /** A resourceVersion that no Workload reaches. */
  private static final long FIRST_VERSION = 1L << 62;

  private final EngineState state;
  private final PendingWorkload askedWorkload;
  private final RunBound runBound;
  private final StartForecast.Knowledge knowledge;
  private final StartForecast.Options options;
  private final BooleanSupplier goesOn;
  private final Optional<LocalQueueSpec> localQueue;
  private final List<Decision> decisions = new ArrayList<>();
  private long version = FIRST_VERSION;
  private Optional<Decision.Admit> admission = Optional.empty();
  private List<Decision.Target> targets = List.of();

  private Simulation(
      EngineState wholeState,
      PendingWorkload askedWorkload,
      RunBound runBound,
      StartForecast.Knowledge knowledge,
      StartForecast.Options options,
      BooleanSupplier goesOn) {
    this.askedWorkload = askedWorkload;
    this.runBound = runBound;
    this.knowledge = knowledge;
    this.options = options;
    this.goesOn = goesOn;
    localQueue =
        wholeState.localQueues().stream()
            .filter(queue -> queue.id().equals(askedWorkload.localQueue()))
            .findFirst()
            .flatMap(LocalQueueExport::spec);
    String root =
        localQueue
            .map(LocalQueueSpec::clusterQueue)
            .flatMap(queue -> Optional.ofNullable(wholeState.roots().get(queue)))
            .map(TreeRoot::name)
            .orElse("");
    // before the trees are rebuilt, a part of them doesn't know which cohorts form a circle
    state = wholeState.specs().rebuildDue() ? wholeState : wholeState.ofTree(root);
  }

  /**
   * What the engine would decide on a Workload.
   *
   * @param state the state that the Workload is added to
   * @param askedWorkload the Workload; the engine has none of its UID
   * @param runBound how long it runs at most, as the engine is told when it exists
   * @param knowledge how long runs last, that of the Workload included
   * @param options how the start is estimated
   * @param goesOn asked all the time: false ends the computation, and the result is what is known
   * @return empty if the computation ended before the engine had decided on the Workload
   */
  public static Optional<SimulationResult> of(
      EngineState state,
      PendingWorkload askedWorkload,
      RunBound runBound,
      StartForecast.Knowledge knowledge,
      StartForecast.Options options,
      BooleanSupplier goesOn) {
    return new Simulation(state, askedWorkload, runBound, knowledge, options, goesOn).result();
  }

  /** A copy of the engine that has the Workload, and has not decided on it. */
  private InlineScheduler copy() {
    InlineScheduler scheduler = new InlineScheduler(state, decisions::add);
    // the part of a tree has no LocalQueue whose ClusterQueue doesn't exist
    localQueue.ifPresent(spec -> scheduler.apply(new SchedulerEvent.LocalQueueChanged(spec)));
    scheduler.apply(new SchedulerEvent.WorkloadPending(askedWorkload));
    scheduler.apply(new SchedulerEvent.RunBounded(askedWorkload.id(), runBound));
    return scheduler;
  }

  private Optional<SimulationResult> result() {
    InlineScheduler scheduler = copy();
    PendingReport arrived = report(scheduler);
    boolean isDecided = decide(scheduler);
    if (admission.isPresent()) {
      Bill bill =
          new Bill(
              admission.flatMap(admit -> cost(admit.podSets())), charged(scheduler), List.of());
      return Optional.of(result(Feasibility.NOW, arrived, Optional.empty(), bill));
    }
    PendingReport now = report(scheduler);
    if (!isDecided && now.explanation().isEmpty()) {
      return Optional.empty();
    }
    PendingReport pendingReport =
        new PendingReport(
            arrived.position(),
            now.clusterQueue(),
            now.explanation(),
            now.holders(),
            now.earlierLocalQueues(),
            now.backfill());
    if (!targets.isEmpty()) {
      return Optional.of(
          result(
              Feasibility.AFTER_PREEMPTION,
              pendingReport,
              start(copy().export(), knowledge, options)
                  .filter(estimate -> estimate.range().isPresent()),
              billWithoutTargets(scheduler)));
    }
    if (now.explanation().map(Explanation::reason).filter(this::lasts).isPresent()) {
      return Optional.of(result(Feasibility.NEVER, pendingReport, Optional.empty(), Bill.NONE));
    }
    EngineState before = copy().export();
    if (!mayOvertake() && isNever(before)) {
      return Optional.of(result(Feasibility.NEVER, pendingReport, Optional.empty(), Bill.NONE));
    }
    return Optional.of(
        result(
            Feasibility.LATER,
            pendingReport,
            start(before, knowledge, options).map(this::sure),
            expectedBill(scheduler, pendingReport)));
  }

  /**
   * What it would cost, and of which budgets, when those are gone that it preempts.
   *
   * @param scheduler loses them, and isn't asked for anything else afterwards
   */
  private Bill billWithoutTargets(InlineScheduler scheduler) {
    List<Decision.Target> preempted = targets;
    targets = List.of();
    preempted.forEach(
        target -> scheduler.apply(new SchedulerEvent.WorkloadReleased(target.id(), version++)));
    Bill bill =
        decide(scheduler) && admission.isPresent()
            ? new Bill(
                cost(admission.get().podSets()),
                charged(scheduler),
                flavors(admission.get().podSets()))
            : Bill.NONE;
    admission = Optional.empty();
    targets = preempted;
    return bill;
  }

  private static List<String> flavors(List<PodSetAssignment> podSets) {
    return podSets.stream()
        .flatMap(podSet -> podSet.flavors().values().stream())
        .distinct()
        .sorted()
        .toList();
  }

  /**
   * What it would cost, and of which budgets, in the first flavors that it may use. Nothing if no
   * flavor was tried so far.
   *
   * @param scheduler gets its reservation, and isn't asked for anything else afterwards
   */
  private Bill expectedBill(InlineScheduler scheduler, PendingReport pendingReport) {
    List<PodSetAssignment> podSets =
        pendingReport
            .explanation()
            .map(explanation -> expected(explanation.attempts(), pendingReport.clusterQueue()))
            .orElse(List.of());
    List<String> flavors = flavors(podSets);
    if (flavors.isEmpty()) {
      return Bill.NONE;
    }
    scheduler.apply(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                askedWorkload.id(),
                version++,
                askedWorkload.localQueue().name(),
                pendingReport.clusterQueue(),
                podSets,
                askedWorkload.priority(),
                askedWorkload.queuedAt(),
                false,
                false,
                true,
                state.now(),
                true,
                false,
                Optional.empty(),
                Optional.empty(),
                PreemptionProtection.NONE)));
    return new Bill(
        cost(podSets), charged(scheduler).stream().map(this::withReserve).toList(), flavors);
  }

  /** With what is reserved by an admission; who has quota already is charged as used. */
  private BudgetAccount.OfBudget withReserve(BudgetAccount.OfBudget budget) {
    BudgetAccount account = budget.account();
    Optional<Duration> run = askedWorkload.shape().run();
    if (run.isEmpty() || !budget.spec().reserves()) {
      return budget;
    }
    List<BudgetAccount.Charge> charges =
        account.charges().stream()
            .map(
                charge ->
                    charge.uid().equals(askedWorkload.id().uid())
                        ? new BudgetAccount.Charge(
                            charge.uid(),
                            charge.since(),
                            Optional.of(charge.since().plus(run.get())),
                            charge.written(),
                            charge.rates())
                        : charge)
            .toList();
    return new BudgetAccount.OfBudget(
        budget.spec(),
        new BudgetAccount(
            account.start(),
            account.end(),
            account.spent(),
            account.carried(),
            account.parts(),
            charges),
        budget.found());
  }

  private List<PodSetAssignment> expected(List<FlavorAttempt> attempts, String clusterQueue) {
    List<ResourceGroup> groups =
        state.clusterQueues().stream()
            .filter(queue -> queue.name().equals(clusterQueue))
            .flatMap(queue -> queue.spec().stream())
            .flatMap(spec -> spec.groups().stream())
            .toList();
    List<PodSetRequest> podSets = askedWorkload.shape().podSets();
    List<PodSetAssignment> assignments = new ArrayList<>();
    for (PodSetRequest podSet : podSets) {
      // pod sets of a group are tried together, by the name of the first
      String tried =
          podSets.stream()
              .filter(each -> !each.group().isEmpty() && each.group().equals(podSet.group()))
              .findFirst()
              .orElse(podSet)
              .name();
      SortedMap<String, String> flavors = new TreeMap<>();
      SortedMap<String, Long> usage = new TreeMap<>();
      for (ResourceGroup group : groups) {
        expected(attempts, tried, group)
            .ifPresent(
                flavor ->
                    podSet
                        .perPod()
                        .forEach(
                            (resource, amount) -> {
                              if (group.resources().contains(resource)) {
                                flavors.put(resource, flavor);
                                usage.put(
                                    resource, ResourceAmounts.multiply(amount, podSet.count()));
                              }
                            }));
      }
      assignments.add(new PodSetAssignment(podSet.name(), flavors, usage, podSet.count()));
    }
    return assignments;
  }

  /** The first flavor of a group that it may use. */
  private static Optional<String> expected(
      List<FlavorAttempt> attempts, String podSet, ResourceGroup group) {
    return attempts.stream()
        .filter(attempt -> attempt.podSet().equals(podSet))
        .filter(attempt -> attempt.flavorRejections().stream().allMatch(Simulation::lacksQuota))
        .map(FlavorAttempt::flavor)
        .filter(flavor -> group.flavors().stream().anyMatch(each -> each.flavor().equals(flavor)))
        .findFirst();
  }

  private static boolean lacksQuota(FlavorRejection rejection) {
    return rejection instanceof FlavorRejection.InsufficientQuota
        || rejection instanceof FlavorRejection.InsufficientGuarantee;
  }

  /**
   * Whether a reason stays whatever ends. Of several pod sets one may have too little beside what
   * another one gets in the same flavor, and have enough when that one gets a better flavor.
   */
  private boolean lasts(PendingReason reason) {
    return LASTING.contains(reason)
        || (reason == PendingReason.EXCEEDS_MAX_QUOTA
            && askedWorkload.shape().podSets().size() == 1);
  }

  /**
   * Whether it may start before others of its queue that don't fit: then it depends on the order in
   * which runs end whether it ever starts, and plays in one order don't tell.
   */
  private boolean mayOvertake() {
    return localQueue.stream()
        .flatMap(
            queue ->
                state.clusterQueues().stream()
                    .filter(each -> each.name().equals(queue.clusterQueue())))
        .flatMap(queue -> queue.spec().stream())
        .flatMap(spec -> spec.rules().backfill().stream())
        .findAny()
        .isPresent();
  }

  /** An estimate of a Workload that may start, whatever the plays say. */
  private StartEstimate sure(StartEstimate estimate) {
    return estimate.basis() == Basis.NEVER
        ? new StartEstimate(
            Basis.UNKNOWN,
            Optional.empty(),
            estimate.computedAt(),
            List.of("it starts only if it can end before those ahead of it start"))
        : estimate;
  }

  private SimulationResult result(
      Feasibility feasibility,
      PendingReport pendingReport,
      Optional<StartEstimate> start,
      Bill bill) {
    return new SimulationResult(
        feasibility,
        pendingReport,
        admission,
        admission.flatMap(admit -> Lender.of(state, admit)),
        targets,
        start,
        bill,
        state.now());
  }

  /** The budgets that count the Workload, which has quota. */
  private List<BudgetAccount.OfBudget> charged(InlineScheduler scheduler) {
    return scheduler.budgets().stream()
        .filter(
            budget ->
                budget.account().charges().stream()
                    .anyMatch(charge -> charge.uid().equals(askedWorkload.id().uid())))
        .toList();
  }

  /** What it costs in all flavors of an assignment; empty if none of them has a price. */
  private Optional<Cost> cost(List<PodSetAssignment> podSets) {
    Map<String, Map<String, BigDecimal>> prices = state.workloads().budgets().prices();
    SortedMap<String, BigDecimal> perHour = new TreeMap<>();
    for (PodSetAssignment podSet : podSets) {
      podSet
          .flavors()
          .forEach(
              (resource, flavor) -> {
                BigDecimal price = prices.getOrDefault(flavor, Map.of()).get(resource);
                if (price != null) {
                  long amount = podSet.usage().getOrDefault(resource, 0L);
                  perHour.merge(
                      flavor, price.multiply(BigDecimal.valueOf(amount)), BigDecimal::add);
                }
              });
    }
    Optional<Duration> run = knowledge.runTime(askedWorkload.id()).remaining(Duration.ZERO, MEDIAN);
    return perHour.entrySet().stream()
        .map(each -> FlavorCosts.cost(each.getValue(), run, pace(each.getKey())))
        .reduce(Simulation::sum);
  }

  private Pace pace(String flavor) {
    return state.specs().flavors().stream()
        .filter(known -> known.name().equals(flavor))
        .findFirst()
        .flatMap(Flavor::pace)
        .orElse(Pace.USUAL);
  }

  private static Cost sum(Cost one, Cost other) {
    return new Cost(
        one.perHour().add(other.perHour()),
        one.toFinish().flatMap(sum -> other.toFinish().map(sum::add)));
  }

  private PendingReport report(InlineScheduler scheduler) {
    return scheduler.pendingReason(askedWorkload.id()).orElseThrow();
  }

  /**
   * Runs cycles until nothing changes, or the Workload gets quota or preempts. Admissions are
   * written at once; who is preempted keeps the quota. False if the time ended before that.
   */
  private boolean decide(InlineScheduler scheduler) {
    for (int round = 0; round < MOST_ROUNDS && goesOn.getAsBoolean(); round++) {
      int cycles = scheduler.decide();
      List<Decision> made = List.copyOf(decisions);
      decisions.clear();
      made.forEach(decision -> carryOut(scheduler, decision));
      if (admission.isPresent() || !targets.isEmpty()) {
        return true;
      }
      if (made.isEmpty() && (cycles == 0 || report(scheduler).explanation().isPresent())) {
        return true;
      }
    }
    return goesOn.getAsBoolean();
  }

  private void carryOut(InlineScheduler scheduler, Decision decision) {
    switch (decision) {
      case Decision.Admit admit -> {
        if (isAsked(admit.id())) {
          admission = Optional.of(admit);
        }
        scheduler.apply(new SchedulerEvent.AdmissionWritten(admit.id(), version++));
      }
      case Decision.Preempt preempt -> {
        if (isAsked(preempt.id())) {
          targets = preempt.targets();
        }
      }
      case PlacementDecision _ -> {}
    }
  }

  private boolean isAsked(WorkloadId id) {
    return id.equals(askedWorkload.id());
  }

  /** Whether it is known not to start even if all runs end. */
  private boolean isNever(EngineState before) {
    for (Duration runTime : ANY_RUNS) {
      Basis basis =
          start(
                  before,
                  new AlikeRuns(
                      RunTimeEstimate.of(Optional.of(runTime), Optional.empty(), Optional.empty())),
                  new StartForecast.Options(1, TO_THE_END, runTime, 1))
              .map(StartEstimate::basis)
              .orElse(Basis.UNKNOWN);
      if (basis != Basis.NEVER) {
        return false;
      }
    }
    return true;
  }

  private Optional<StartEstimate> start(
      EngineState before, StartForecast.Knowledge known, StartForecast.Options playOptions) {
    return Optional.ofNullable(
        StartForecast.of(
                before, known, playOptions, new StartForecast.Wanted(this::isAsked, goesOn))
            .get(askedWorkload.id()));
  }

  /** Finds the cohort that an admission borrows from. */
  private static final class Lender {

    private final Map<String, String> parents = new HashMap<>();
    private final Map<String, Integer> heights = new HashMap<>();

    private Lender(EngineState state) {
      for (CohortSpec cohort : state.specs().cohorts()) {
        parents.put(cohort.name(), cohort.parent());
      }
      state.clusterQueues().forEach(queue -> raise(chain(queue)));
      parents.keySet().forEach(cohort -> raise(chain(cohort)));
    }

    /**
     * The lowest cohort above the ClusterQueue that has what is borrowed; empty if nothing is
     * borrowed.
     */
    static Optional<String> of(EngineState state, Decision.Admit admit) {
      int level =
          admit.considered().stream()
              .filter(attempt -> attempt.mode() == AssignmentMode.FIT)
              .filter(
                  attempt ->
                      admit.podSets().stream()
                          .anyMatch(
                              podSet ->
                                  podSet.name().equals(attempt.podSet())
                                      && podSet.flavors().containsValue(attempt.flavor())))
              .mapToInt(attempt -> attempt.borrowLevel())
              .max()
              .orElse(0);
      if (level == 0) {
        return Optional.empty();
      }
      Lender lender = new Lender(state);
      return state.clusterQueues().stream()
          .filter(queue -> queue.name().equals(admit.clusterQueue()))
          .flatMap(queue -> lender.chain(queue).stream())
          .filter(cohort -> lender.heights.getOrDefault(cohort, 0) >= level)
          .findFirst();
    }

    private List<String> chain(ClusterQueueExport queue) {
      return chain(queue.spec().map(spec -> spec.cohort()).orElse(""));
    }

    /** A cohort and those above it; each is there once, even if the parents form a circle. */
    private List<String> chain(String lowest) {
      List<String> chain = new ArrayList<>();
      for (String name = lowest;
          !name.isEmpty() && !chain.contains(name);
          name = parents.getOrDefault(name, "")) {
        chain.add(name);
      }
      return chain;
    }

    /** Each cohort is one level above what is below it. */
    private void raise(List<String> chain) {
      for (int i = 0; i < chain.size(); i++) {
        heights.merge(chain.get(i), i + 1, Math::max);
      }
    }
  }
}

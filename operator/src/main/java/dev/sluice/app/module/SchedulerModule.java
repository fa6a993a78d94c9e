package dev.sluice.app.module;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.api.sluice.PreemptionConfigReader;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.engine.SchedulerThread;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.journal.JournalRecorder;
import dev.sluice.journal.JournalWriter;
import dev.sluice.metrics.BuildInfo;
import dev.sluice.metrics.JournalMetrics;
import dev.sluice.metrics.PendingGauges;
import dev.sluice.metrics.WorkloadMetrics;
import dev.sluice.queues.BudgetAccounts;
import dev.sluice.queues.cache.CachedPreemptionConfigs;
import dev.sluice.queues.cache.CachedPreemptionRules;
import dev.sluice.queues.cache.CachedQueueRules;
import dev.sluice.queues.cache.CachedQueues.CachedRequiredChecks;
import dev.sluice.queues.cache.CachedStartRules;
import dev.sluice.queues.cache.CachedVariantPolicies;
import dev.sluice.queues.mapping.CheckStrategy;
import dev.sluice.server.endpoints.SharedPositions;
import dev.sluice.visibility.ExplanationText;
import dev.sluice.workload.feed.TranslationOptions.WorkloadRules;
import dev.sluice.workload.feed.VariantFamilies;
import dev.sluice.workload.feed.WorkloadEventFeed;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.UnsupportedRequests;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.writing.DecisionExecutor;
import dev.sluice.workload.writing.DecisionExecutor.FirstNomination;
import dev.sluice.workload.writing.NewerVersionWaiter;
import dev.sluice.workload.writing.PendingReasonReporter;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine's thread, the feed of Workloads into it, and the executor of its decisions. */
public final class SchedulerModule implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(SchedulerModule.class);

  /** How long the shutdown waits for writes in flight. */
  private static final Duration DRAIN_LIMIT = Duration.ofSeconds(10);

  /** How long a write that depends on another one waits for that one to be in the cache. */
  private static final Duration NEWER_VERSION_LIMIT = Duration.ofSeconds(5);

  private final OperatorContext context;
  private final WorkloadModule workloads;
  private final SchedulerThread engine;
  private final SchedulerQueries clientQueries;
  private final SchedulingEventRecorder events;
  private final PendingReasonReporter pendingReasons;
  private final DecisionExecutor executor;
  private final BudgetModule budgets;
  private final Optional<CachedPreemptionConfigs> preemptionConfigs;
  private final WorkloadCosts costs;
  private final ReservationModule reservations;
  private final EngineWatchdog watchdog;
  private final WorkloadMetrics counts;
  private final PendingGauges pendingGauges;
  private final Optional<JournalWriter> journal;
  private final Runnable runTimesRestated;
  private final WorkloadTranslator translator;
  private final VariantFamilies families;
  private final CachedVariantPolicies variantPolicies;
  private volatile FirstNomination nomination = FirstNomination.NONE;
  private volatile boolean running;

  /** Connected to the Workloads that {@code workloads} reads. */
  public SchedulerModule(
      OperatorContext context,
      MetricsModule metrics,
      InformerModule informers,
      WorkloadModule workloads,
      AccountingModule accounting) {
    this.context = context;
    this.workloads = workloads;
    engine =
        new SchedulerThread(
            context.options().engine(),
            this::execute,
            new CycleRecorder(metrics),
            context.clock(),
            this::failed);
    journal = journal();
    journal.ifPresent(writer -> engine.record(new JournalRecorder(writer)));
    clientQueries = new SharedPositions(engine, engine.views(), context.clock());
    counts = metrics.workloads(engine.views(), workloads.reflector(), informers.caches());
    pendingGauges =
        metrics.pending(
            engine.views(), engine::pendingTotals, new QueriedWorkloads(engine, workloads.cache()));
    events = new SchedulingEventRecorder(context.events(), context.clock(), counts::preempted);
    budgets = new BudgetModule(context, informers, engine, workloads);
    CachedQueueRules cheapestFirst =
        new CachedQueueRules(informers.caches(), rules -> rules.cheapest().isPresent());
    costs = new WorkloadCosts(cheapestFirst);
    reservations = new ReservationModule(context, informers, engine, workloads);
    CachedPreemptionRules preemptionRules = new CachedPreemptionRules(informers.caches());
    preemptionConfigs =
        context.isEnabled(FeatureGate.CONFIGURABLE_PREEMPTIONS)
            ? Optional.of(new CachedPreemptionConfigs(informers.caches(), context.reflectors()))
            : Optional.empty();
    variantPolicies = new CachedVariantPolicies(informers.caches());
    families =
        context.isEnabled(FeatureGate.CONCURRENT_ADMISSION)
            ? new VariantFamilies(
                workloads.cache(), workload -> variantPolicies.of(workload).flatMap(each -> each))
            : VariantFamilies.NONE;
    AttendedKinds attended = new AttendedKinds(context);
    CachedRequiredChecks requiredChecks = new CachedRequiredChecks(informers.caches());
    translator =
        new WorkloadTranslator(
            informers.resources(),
            context.options().translation(),
            informers.localClusters()::avoidedBy,
            new UnsupportedRequests(
                workload ->
                    context.isEnabled(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES)
                        && !AttendedKinds.isResizable(workload),
                workload ->
                    informers
                        .localClusters()
                        .runsElsewhere(workload.id().namespace(), workload.spec().queueName())),
            workload -> attended.mayBePreempted(families.first(workload)),
            new WorkloadRules(
                new CachedStartRules(informers.caches()),
                workload -> preemptionRules(preemptionRules, workload),
                slice -> workloads.cache().get(slice.id().namespace(), slice.replacedSlice()),
                budgets::run,
                costs,
                requiredChecks::lackOfRoom,
                families));
    WorkloadEventFeed feed =
        new WorkloadEventFeed(translator, workloads.cache(), engine, accounting);
    accounting.whenReleased(feed::podsGone);
    accounting.whenOutlasted(feed::outlasted);
    preemptionRules.onChange(feed::annotatedRulesChanged);
    preemptionConfigs.ifPresent(configs -> configs.onWorkloadsChange(feed::annotatedRulesChanged));
    budgets.onPresence(feed::annotatedRulesChanged);
    runTimesRestated =
        () -> {
          if (!budgets.isEmpty() || cheapestFirst.getAsBoolean()) {
            feed.annotatedRulesChanged();
          }
        };
    cheapestFirst.onFirst(feed::annotatedRulesChanged);
    connectFeed(feed, informers);
    NewerVersionWaiter newerVersions =
        new NewerVersionWaiter(workloads.cache(), NEWER_VERSION_LIMIT);
    workloads.reflector().listen(newerVersions);
    pendingReasons = pendingReasons();
    engine.listen(pendingReasons);
    watchdog = new EngineWatchdog(engine, System::nanoTime);
    executor = executor(requiredChecks, newerVersions);
  }

  /** The journal of this process; empty unless it is configured. */
  private Optional<JournalWriter> journal() {
    return context
        .options()
        .journal()
        .map(
            options ->
                new JournalWriter(
                    options,
                    new JournalWriter.Source(
                        context.process().identity(),
                        BuildInfo.ofThisProcess().version(),
                        context.leadership()::term),
                    context.clock(),
                    System::nanoTime,
                    new JournalMetrics(context.metrics().registry())));
  }

  private void connectFeed(WorkloadEventFeed feed, InformerModule informers) {
    informers.resources().listen(feed);
    informers.localClusters().observe(feed::avoidedClustersChanged);
    informers
        .caches()
        .clusterQueues()
        .observe(
            (before, after) -> {
              if (after != null
                  && (!startRules(before).equals(startRules(after))
                      || CheckStrategy.differ(before, after))) {
                feed.annotatedRulesChanged();
              } else if (context.isEnabled(FeatureGate.CONCURRENT_ADMISSION)
                  && CachedVariantPolicies.differ(before, after)) {
                feed.annotatedRulesChanged();
              }
            });
    workloads.reflector().listen(feed);
  }

  private static StartRules startRules(@Nullable ClusterQueue queue) {
    return StartRules.of(queue == null ? null : queue.getMetadata().getAnnotations());
  }

  private PendingReasonReporter pendingReasons() {
    return new PendingReasonReporter(
        engine,
        workloads.cache(),
        workloads.writer(),
        translator,
        ExplanationText::message,
        context.options().readiness(),
        events,
        context.clock(),
        context.latency()::share);
  }

  private DecisionExecutor executor(
      CachedRequiredChecks requiredChecks, NewerVersionWaiter newerVersions) {
    return new DecisionExecutor(
        workloads.cache(),
        workloads.writer(),
        engine,
        requiredChecks,
        context.options().readiness(),
        events,
        context.clock(),
        context.executor(),
        newerVersions,
        (workload, checks) -> nomination.of(workload, checks));
  }

  /** From now on Workloads are nominated so for worker clusters when they get quota. */
  void nominateBy(FirstNomination firstNomination) {
    nomination = firstNomination;
  }

  /** A queue says something else of run times: Workloads that wait may ask for another one. */
  void runTimesRestated() {
    runTimesRestated.run();
  }

  /** What Budgets count. */
  BudgetModule budgets() {
    return budgets;
  }

  /** What counts for the costs of Workloads. */
  WorkloadCosts costs() {
    return costs;
  }

  /** Which Workloads are parents and variants of concurrent admission. */
  VariantFamilies families() {
    return families;
  }

  /** The rules of concurrent admission of ClusterQueues. */
  CachedVariantPolicies variantPolicies() {
    return variantPolicies;
  }

  /** Makes of a Workload what the engine is told of it. */
  WorkloadTranslator translator() {
    return translator;
  }

  /** The Budget of a name, and since when it counts; empty if nobody counts it. */
  Optional<BudgetAccounts.CountedBudget> budget(String name) {
    return budgets.budget(name);
  }

  /** The thread of the engine, which takes events and publishes views. */
  public SchedulerThread engine() {
    return engine;
  }

  /** What clients of the servers ask the engine. */
  public SchedulerQueries clientQueries() {
    return clientQueries;
  }

  /** What is kept for some Workloads, or for none. */
  ReservationModule reservations() {
    return reservations;
  }

  /** Records what happens to Workloads. */
  SchedulingEventRecorder events() {
    return events;
  }

  /** The engine's thread calls this method, and starts after the constructor has returned. */
  private void execute(Decision decision) {
    if (!(decision instanceof Decision.Admit admit) || budgets.isEmpty()) {
      executor.accept(decision);
      return;
    }
    var unused =
        budgets
            .named(admit.id())
            .thenAccept(
                named -> {
                  if (named) {
                    executor.accept(admit);
                  } else {
                    engine.submit(
                        new SchedulerEvent.AdmissionRefused(admit.id(), admit.version(), false));
                  }
                });
  }

  /** The engine's thread calls it, and starts after the constructor has returned. */
  private final class CycleRecorder implements SchedulerThread.CycleListener {

    private final MetricsModule metrics;

    CycleRecorder(MetricsModule metrics) {
      this.metrics = metrics;
    }

    @Override
    public void cycled(long nanos, boolean success) {
      metrics.recordCycle(nanos, success);
    }

    @Override
    public void measured(CycleStatistics statistics) {
      pendingGauges.preemptionSkips(statistics.preemptionSkips());
      statistics.recomputations().forEach(counts::recomputed);
      statistics.ruleUses().forEach(counts::ruleUsed);
      statistics.costRuleUses().forEach(counts::costRuleUsed);
      statistics.backfill().forEach(counts::backfill);
      statistics.backfill().forEach(events::backfill);
    }

    @Override
    public void notApplied(String message, RuntimeException e) {
      LOG.error("event={} result=not-applied", message, e);
    }
  }

  private void failed(Throwable fault) {
    LOG.error("engine failed", fault);
    context.fatal("the engine failed");
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    journal.ifPresent(JournalWriter::start);
    engine.start();
    if (preemptionConfigs.isPresent()) {
      startPreemptionConfigs(preemptionConfigs.get(), cacheSync);
    }
    budgets.start(cacheSync);
    reservations.start(cacheSync);
    running = true;
  }

  /** A cluster without the kind starts nevertheless: configs count from when they can be read. */
  private void startPreemptionConfigs(CachedPreemptionConfigs configs, CacheSyncWaiter cacheSync)
      throws IOException {
    CompletableFuture<Void> listed = configs.start();
    Optional<String> unreadable =
        context.unreadable(CachedPreemptionConfigs.API, List.of(PreemptionConfigReader.PLURAL));
    if (unreadable.isPresent()) {
      LOG.warn("preemptionConfigs=unread reason=\"{}\"", unreadable.get());
    } else {
      cacheSync.await("preemption configs", listed);
    }
  }

  /** What a priority class says, and what PreemptionConfigs compare. */
  private Optional<PreemptionRules> preemptionRules(
      CachedPreemptionRules classRules, CachedWorkload workload) {
    Optional<PreemptionRules> rules = classRules.apply(workload);
    return preemptionConfigs
        .flatMap(configs -> configs.traits(workload))
        .map(traits -> rules.orElse(PreemptionRules.NONE).withTraits(traits))
        .or(() -> rules);
  }

  /** The PreemptionConfigs; empty while they are turned off. */
  Optional<CachedPreemptionConfigs> preemptionConfigs() {
    return preemptionConfigs;
  }

  /** Whether the engine's thread takes messages, if it was started and not stopped. */
  public boolean alive() {
    return !running || watchdog.alive();
  }

  @Override
  public void leadershipStarted() {
    journal.ifPresent(JournalWriter::termChanged);
    engine.submit(new SchedulerEvent.DecidingEnabled(true));
    pendingReasons.start();
  }

  @Override
  public void leadershipEnded() {
    engine.submit(new SchedulerEvent.DecidingEnabled(false));
  }

  @Override
  public void stop() {
    running = false;
    preemptionConfigs.ifPresent(CachedPreemptionConfigs::close);
    budgets.close();
    reservations.close();
    try {
      engine.close();
      journal.ifPresent(JournalWriter::close);
      pendingReasons.close();
    } finally {
      workloads.writer().drain(DRAIN_LIMIT).join();
    }
  }

  /** The pending Workloads that the engine is asked about. */
  private record QueriedWorkloads(SchedulerQueries queries, WorkloadLister workloads)
      implements PendingGauges.PendingWorkloads {

    @Override
    public CompletableFuture<Optional<List<PendingPosition>>> in(String clusterQueue) {
      return queries.pendingInClusterQueue(clusterQueue, 0, Integer.MAX_VALUE);
    }

    @Override
    public Optional<CachedWorkload> find(WorkloadId id) {
      return workloads.get(id.namespace(), id.name());
    }
  }

  /**
   * Tells whether the engine's thread still takes messages. Each check asks the engine a question,
   * unless an earlier one is still without an answer: one that waits for a minute means that the
   * thread is busy or blocked in one step. Thread-safe.
   */
  static final class EngineWatchdog {

    static final Duration LIMIT = Duration.ofMinutes(1);

    private static final WorkloadId NOBODY = new WorkloadId("", "", "");

    private final SchedulerQueries queries;
    private final LongSupplier nanoTime;
    private CompletableFuture<?> question = CompletableFuture.completedFuture(null);
    private long askedAt;

    /** Over an engine that has started; {@code nanoTime} is monotonic. */
    EngineWatchdog(SchedulerQueries queries, LongSupplier nanoTime) {
      this.queries = queries;
      this.nanoTime = nanoTime;
    }

    /** Whether no question has waited for longer than {@link #LIMIT}; to be called regularly. */
    synchronized boolean alive() {
      long now = nanoTime.getAsLong();
      if (question.isDone()) {
        question = queries.pendingReason(NOBODY);
        askedAt = now;
      }
      return now - askedAt < LIMIT.toNanos();
    }
  }

  /**
   * What counts for the costs of Workloads: nothing, unless they say so or any queue tries its
   * flavors in the order of cost. Thread-safe.
   */
  public static final class WorkloadCosts implements Function<CachedWorkload, Optional<CostRules>> {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final BooleanSupplier cheapestFirst;
    private volatile Function<CachedWorkload, RunTimeEstimate> estimates =
        workload ->
            RunTimeEstimate.of(
                RunTimeAnnotations.expected(workload.annotations()),
                Optional.empty(),
                Optional.empty());

    /**
     * Costs by what Workloads declare, until somebody estimates run times.
     *
     * @param cheapestFirst whether any queue tries its flavors in the order of cost
     */
    public WorkloadCosts(BooleanSupplier cheapestFirst) {
      this.cheapestFirst = cheapestFirst;
    }

    /** From now on run times are estimated so. */
    public void estimateBy(Function<CachedWorkload, RunTimeEstimate> better) {
      estimates = better;
    }

    @Override
    public Optional<CostRules> apply(CachedWorkload workload) {
      Map<String, String> annotations = workload.annotations();
      boolean ordered = cheapestFirst.getAsBoolean();
      Optional<BigDecimal> maxPrice = CostAnnotations.maxPrice(annotations);
      if (!ordered && maxPrice.isEmpty()) {
        return Optional.empty();
      }
      CostRules rules =
          new CostRules(
              ordered ? expected(estimates.apply(workload)) : Optional.empty(),
              maxPrice,
              ordered ? CostAnnotations.maxDelay(annotations) : Optional.empty());
      return rules.equals(CostRules.NONE) ? Optional.empty() : Optional.of(rules);
    }

    /** A limit alone says nothing about how long a run is expected to take. */
    private static Optional<Duration> expected(RunTimeEstimate estimate) {
      return switch (estimate.basis()) {
        case DECLARED -> estimate.remaining(Duration.ZERO, 0.5);
        case LEARNED -> estimate.remaining(Duration.ZERO, 0.5).map(WorkloadCosts::wholeMinutes);
        case LIMIT, UNKNOWN -> Optional.empty();
      };
    }

    /** Rounded up, so that a little more experience makes no other request. */
    private static Duration wholeMinutes(Duration duration) {
      return Duration.ofMinutes(duration.plus(MINUTE).minusNanos(1).toMinutes());
    }
  }
}

package dev.sluice.lab.bench.month;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.Flavor.Pace;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.lab.bench.BenchException;
import dev.sluice.lab.bench.month.SimulatedJob.Phase;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A month in simulated time: jobs arrive, are admitted, fail, are evicted and end, while people
 * change quotas and policies. The engine is the real one; the API server and the pods are played.
 * Each admission is judged by {@link MonthLedger}.
 */
final class MonthSimulation {

  private static final Instant MONDAY = Instant.parse("2026-06-01T00:00:00Z");
  private static final String NAMESPACE = "month";

  private static final long SECOND = 1_000;
  private static final long HOUR = 3_600 * SECOND;
  private static final long DAY = 24 * HOUR;

  /** How long a write takes until all watchers have seen it. */
  private static final long WRITE = 20;

  /** How long an evicted job's pods take to stop. */
  private static final long GRACE = 30 * SECOND;

  /** How long after the last arrival all jobs must have ended. */
  private static final long PATIENCE_DAYS = 30;

  private static final double FAILS = 0.04;
  private static final int MOST_FAILURES = 3;
  private static final double REFUSED = 0.003;

  private record TimedAction(long at, long number, Runnable action) {}

  private final MonthSize size;
  private final MonthCosts costs;
  private final MonthFigures figures;
  private final JobTrace trace;
  private final List<DeclaredQueue> queues = new ArrayList<>();
  private final DeclarationChanges changes;
  private final MonthLedger ledger;
  private final FairnessIndex fairness;
  private final Random random;
  private final Map<String, SimulatedJob> live = new HashMap<>();
  private final List<Decision> decisions = new ArrayList<>();
  private final InlineScheduler scheduler;
  private final Consumer<MonthFigures.Midnight> onMidnight;
  private final Consumer<WorkloadId> onCreated;
  private final PriorityQueue<TimedAction> actions =
      new PriorityQueue<>(
          (one, two) ->
              one.at != two.at
                  ? Long.compare(one.at, two.at)
                  : Long.compare(one.number, two.number));
  private long now;
  private long number;
  private long version = 1;
  private long arrivedBefore;
  private long endedBefore;

  /** A month that has not begun, in which nothing has a price. */
  MonthSimulation(
      MonthSize size, Consumer<MonthFigures.Midnight> onMidnight, Consumer<WorkloadId> onCreated) {
    this(size, MonthCosts.NONE, onMidnight, onCreated);
  }

  /**
   * A month that has not begun.
   *
   * @param onMidnight called when the memory of a day was measured
   * @param onCreated called with the identity of each job
   */
  MonthSimulation(
      MonthSize size,
      MonthCosts costs,
      Consumer<MonthFigures.Midnight> onMidnight,
      Consumer<WorkloadId> onCreated) {
    this.size = size;
    this.costs = costs;
    this.onMidnight = onMidnight;
    this.onCreated = onCreated;
    this.figures = new MonthFigures(size);
    int perQueue = cpusOfQueue(size);
    // Fits into the quota of any queue and its tree, however that is changed.
    this.trace = new JobTrace(size, perQueue);
    this.random = new Random(size.seed() + 2);
    for (int i = 0; i < size.allQueues(); i++) {
      queues.add(new DeclaredQueue(i, size, perQueue, costs));
    }
    this.changes = new DeclarationChanges(queues, size);
    this.ledger = new MonthLedger(queues, size);
    this.fairness = new FairnessIndex(queues, ledger, size);
    this.scheduler = new InlineScheduler(options(), decisions::add);
  }

  /**
   * The nominal quota of each queue: what the jobs need at the average use. The largest jobs are
   * cut to it, so less quota is needed if there is less: found step by step.
   */
  private static int cpusOfQueue(MonthSize size) {
    int cpus = Integer.MAX_VALUE;
    for (int i = 0; i < 50; i++) {
      double needed = size.jobs() * JobTrace.meanCpuSeconds(cpus) / (size.days() * DAY / 1_000.0);
      cpus = (int) Math.max(4, Math.round(needed / size.load() / size.allQueues()));
    }
    return cpus;
  }

  private static EngineOptions options() {
    return new EngineOptions(
        Optional.of(
            new FairSharing(
                List.of(
                    FairSharing.Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,
                    FairSharing.Strategy.LESS_THAN_INITIAL_SHARE),
                true,
                true)),
        false);
  }

  /**
   * Plays the month, and what is left to do after it.
   *
   * @throws IllegalStateException when quota is exceeded, or when a job waits for ever
   */
  MonthFigures run() {
    declare();
    actions.add(new TimedAction(0, number++, this::hour));
    actions.add(new TimedAction(0, number++, this::midnight));
    for (int i = 1; i <= size.days() * size.changesPerDay(); i++) {
      at(i * DAY / size.changesPerDay(), this::change);
    }
    JobTrace.Submission next = trace.hasNext() ? trace.next() : null;
    while (next != null || !live.isEmpty()) {
      TimedAction action = actions.peek();
      if (next != null && (action == null || next.at() <= action.at)) {
        now = next.at();
        create(next);
        next = trace.hasNext() ? trace.next() : null;
        if (next != null && next.at() == now) {
          continue; // One burst is one batch of events.
        }
      } else if (action != null) {
        actions.remove();
        now = action.at;
        action.action.run();
        if (!actions.isEmpty() && actions.peek().at == now) {
          continue;
        }
      } else {
        throw new BenchException(live.size() + " jobs wait, and nothing happens any more");
      }
      decide();
      if (now > (size.days() + PATIENCE_DAYS) * DAY) {
        throw new BenchException(unended());
      }
    }
    // The last hours: nothing is live, and the hours since the last one are told.
    hour();
    figures.admissions = ledger.admissions();
    return figures;
  }

  private String unended() {
    SimulatedJob one = live.values().iterator().next();
    return "%d jobs have not ended %d days after the last arrived; of these %s in %s is %s: %s"
        .formatted(
            live.size(),
            PATIENCE_DAYS,
            one.id,
            queues.get(one.submission.queue()).name,
            one.phase,
            scheduler.pendingReason(one.id));
  }

  private void declare() {
    apply(new SchedulerEvent.TimePassed(MONDAY));
    apply(new SchedulerEvent.NamespaceChanged(NAMESPACE, Map.of()));
    for (int i = 0; i < DeclaredQueue.FLAVORS.size(); i++) {
      String name = DeclaredQueue.FLAVORS.get(i);
      Flavor flavor = new Flavor(name, Map.of(), List.of(), List.of());
      apply(
          new SchedulerEvent.FlavorChanged(
              costs.counted() ? flavor.withPace(MonthCosts.pace(i)) : flavor));
      if (costs.counted()) {
        apply(
            new SchedulerEvent.PricesChanged(
                name, Map.of(DeclaredQueue.RESOURCES.getFirst(), MonthCosts.price(i))));
      }
    }
    for (int team = 0; team < size.allTeams(); team++) {
      apply(
          new SchedulerEvent.CohortChanged(
              new CohortSpec("team-" + team, "tree-" + team / size.teams(), List.of())));
    }
    for (DeclaredQueue queue : queues) {
      apply(new SchedulerEvent.ClusterQueueChanged(queue.spec()));
      apply(
          new SchedulerEvent.LocalQueueChanged(
              new LocalQueueSpec(
                  new LocalQueueId(NAMESPACE, queue.name), queue.name, StopPolicy.NONE)));
    }
    apply(new SchedulerEvent.DecidingEnabled(true));
  }

  private void at(long millis, Runnable action) {
    actions.add(new TimedAction(millis, number++, action));
  }

  private void later(long millis, Runnable action) {
    at(now + millis, action);
  }

  private Instant clock() {
    return MONDAY.plusMillis(now);
  }

  private void apply(SchedulerEvent event) {
    figures.events++;
    scheduler.apply(event);
  }

  private void create(JobTrace.Submission submission) {
    String name = "job-" + figures.arrived++;
    WorkloadId id = new WorkloadId(name + "-uid", NAMESPACE, name);
    TreeMap<String, Long> request =
        new TreeMap<>(
            Map.of(
                DeclaredQueue.RESOURCES.get(0), submission.cpus() * 1_000L,
                DeclaredQueue.RESOURCES.get(1), submission.cpus() * DeclaredQueue.MEMORY_PER_CPU));
    RequestShape shape =
        new RequestShape(
            List.of(new PodSetRequest("main", 1, 0, request, NodeConstraints.ANYWHERE, "")));
    if (costs.counted()) {
      shape = shape.costing(Optional.of(expected(id, submission)));
    }
    SimulatedJob job =
        new SimulatedJob(
            id,
            submission,
            shape,
            clock(),
            new SplittableRandom(size.seed() * 1_000_003 + figures.arrived));
    live.put(id.uid(), job);
    onCreated.accept(id);
    pending(job, Optional.empty());
  }

  /** Owners know how long their jobs run, to the minute; the bound is twice that. */
  private CostRules expected(WorkloadId id, JobTrace.Submission submission) {
    Duration run = Duration.ofMinutes(1 + submission.millis() / 60_000);
    apply(new SchedulerEvent.RunBounded(id, RunBound.of(run.multipliedBy(2))));
    return new CostRules(Optional.of(run), Optional.empty(), Optional.empty());
  }

  private void pending(SimulatedJob job, Optional<Instant> notBefore) {
    job.phase = Phase.PENDING;
    job.run++;
    apply(
        new SchedulerEvent.WorkloadPending(
            job.pending(version++, MONDAY.plusMillis(job.submission.at()), notBefore)));
  }

  private void decide() {
    scheduler.apply(new SchedulerEvent.TimePassed(clock()));
    figures.cycles += scheduler.decide();
    figures.explanations += scheduler.takeExplanations().size();
    for (Decision decision : decisions) {
      SimulatedJob job = job(decision.id());
      switch (decision) {
        case Decision.Admit admit -> admit(job, admit);
        case Decision.Preempt preempt -> {
          for (Decision.Target target : preempt.targets()) {
            SimulatedJob evicted = job(target.id());
            decided("evict", evicted);
            int run = evicted.run;
            later(WRITE, () -> evict(evicted, run, target));
          }
        }
        case PlacementDecision placement ->
            throw new IllegalStateException("a job without topology is placed: " + placement);
      }
    }
    decisions.clear();
  }

  private void decided(String what, SimulatedJob job) {
    figures.decided(queues.get(job.submission.queue()).tree, now, what, job.id.uid());
  }

  private SimulatedJob job(WorkloadId id) {
    SimulatedJob job = live.get(id.uid());
    if (job == null) {
      throw new IllegalStateException("decided about " + id + ", which has ended");
    }
    return job;
  }

  private void admit(SimulatedJob job, Decision.Admit admit) {
    if (job.phase != Phase.PENDING) {
      throw new IllegalStateException(job.id + " is admitted while it is " + job.phase);
    }
    decided("admit", job);
    job.podSets = admit.podSets();
    job.reservedAt = admit.at();
    job.decidedAt = now;
    job.phase = Phase.DECIDED;
    ledger.admit(job.submission.queue(), job.podSets);
    int run = ++job.run;
    boolean refused = job.random.nextDouble() < REFUSED;
    later(WRITE, () -> written(job, run, admit.version(), refused));
  }

  private void written(SimulatedJob job, int run, long decided, boolean refused) {
    if (job.run != run) {
      return;
    }
    if (refused) {
      figures.refused++;
      release(job);
      job.phase = Phase.PENDING;
      job.run++;
      apply(new SchedulerEvent.AdmissionRefused(job.id, decided, false));
      later(11 * SECOND, () -> {}); // The engine tries again when it hears of the time.
      return;
    }
    apply(new SchedulerEvent.AdmissionWritten(job.id, version++));
    job.phase = Phase.RUNNING;
    if (job.admissions++ == 0) {
      figures.waited(
          queues.get(job.submission.queue()).team,
          job.submission.sizeClass(),
          now - job.submission.at());
    }
    boolean fails = job.submission.broken() || job.random.nextDouble() < FAILS;
    long millis =
        fails
            ? 1 + (long) (job.random.nextDouble() * job.submission.millis())
            : job.submission.millis();
    long interrupted = costs.interruption(job.flavor(), job.random);
    if (interrupted < millis) {
      later(interrupted, () -> interrupted(job, run));
    } else {
      later(millis, () -> stopped(job, run, fails));
    }
  }

  /** Gives quota back, and pays for it. */
  private void release(SimulatedJob job) {
    if (costs.counted()) {
      String flavor = job.flavor();
      double money = MonthCosts.money(flavor, job.submission.cpus(), now - job.decidedAt);
      figures.money += money;
      figures.moneyForSpot += DeclaredQueue.FLAVORS.indexOf(flavor) > 0 ? money : 0;
    }
    ledger.release(job.submission.queue(), job.podSets);
  }

  /** The nodes of a job were taken away: it begins anew. */
  private void interrupted(SimulatedJob job, int run) {
    if (job.run == run) {
      figures.interruptions++;
      release(job);
      job.queuedAt = clock();
      pending(job, Optional.empty());
    }
  }

  /** The job's pods have stopped by themselves. */
  private void stopped(SimulatedJob job, int run, boolean failed) {
    if (job.run != run) {
      return;
    }
    release(job);
    if (!failed || ++job.failures > MOST_FAILURES) {
      figures.succeeded += failed ? 0 : 1;
      figures.failed += failed ? 1 : 0;
      end(job);
      return;
    }
    figures.runsFailed++;
    long backoff = (60 * SECOND) << job.failures;
    job.queuedAt = clock();
    pending(job, Optional.of(clock().plusMillis(backoff)));
    later(backoff, () -> {});
  }

  private void end(SimulatedJob job) {
    job.phase = Phase.ENDED;
    job.run++;
    live.remove(job.id.uid());
    figures.lastEndMillis = now;
    apply(new SchedulerEvent.WorkloadReleased(job.id, version++));
  }

  private void evict(SimulatedJob job, int run, Decision.Target target) {
    if (job.run != run) {
      return; // It has ended, or was never admitted.
    }
    if (job.random.nextDouble() < REFUSED) {
      figures.evictionsRefused++;
      apply(new SchedulerEvent.EvictionRefused(job.id, target.version()));
      return;
    }
    figures.evictions++;
    job.phase = Phase.STOPPING;
    int stopping = ++job.run;
    apply(new SchedulerEvent.WorkloadReserving(job.evicted(version++)));
    later(
        GRACE,
        () -> {
          if (job.run == stopping) {
            release(job);
            job.queuedAt = clock();
            pending(job, Optional.empty());
          }
        });
  }

  private void change() {
    DeclaredQueue queue = changes.change();
    figures.changes++;
    apply(new SchedulerEvent.ClusterQueueChanged(queue.spec()));
    if (queue.stop != StopPolicy.NONE) {
      later(
          HOUR + random.nextInt((int) (2 * HOUR)),
          () -> {
            queue.stop = StopPolicy.NONE;
            apply(new SchedulerEvent.ClusterQueueChanged(queue.spec()));
          });
    }
  }

  private void hour() {
    long pending = live.values().stream().filter(job -> job.phase == Phase.PENDING).count();
    fairness.sample(live.values());
    figures.hours.add(
        new MonthFigures.Hour(
            (now + HOUR - 1) / HOUR,
            figures.arrived - arrivedBefore,
            figures.ended() - endedBefore,
            pending,
            fairness.use(),
            fairness.index()));
    arrivedBefore = figures.arrived;
    endedBefore = figures.ended();
    scheduler.views();
    later(HOUR, this::hour);
  }

  private void midnight() {
    MonthFigures.Midnight measured =
        new MonthFigures.Midnight(now / DAY, HeapMeasurement.mebibytes(), live.size());
    figures.midnights.add(measured);
    onMidnight.accept(measured);
    later(DAY, this::midnight);
  }

  /** The views, published now. */
  SchedulerViews views() {
    return scheduler.views();
  }

  /** Whether nothing is in use, as the ledger adds it up. */
  boolean nothingInUse() {
    return ledger.isEmpty();
  }

  /** Measures what the heap holds. */
  private static final class HeapMeasurement {

    private static final int COLLECTIONS = 3;

    private HeapMeasurement() {}

    /** What the heap holds after collections, in MiB. */
    static double mebibytes() {
      for (int i = 0; i < COLLECTIONS; i++) {
        System.gc();
      }
      return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / (1024.0 * 1024);
    }
  }

  /** Declares queues, and declares them anew while jobs run, as people do. */
  private static final class DeclarationChanges {

    private static final List<PreemptionPolicies> POLICIES =
        List.of(
            PreemptionPolicies.NEVER,
            new PreemptionPolicies(
                WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY, false, OptionalInt.empty()),
            new PreemptionPolicies(
                WithinClusterQueue.LOWER_PRIORITY,
                ReclaimWithinCohort.ANY,
                false,
                OptionalInt.empty()),
            new PreemptionPolicies(
                WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY,
                ReclaimWithinCohort.LOWER_PRIORITY,
                false,
                OptionalInt.empty()));

    private final List<DeclaredQueue> queues;
    private final int teamsPerTree;
    private final Random random;

    DeclarationChanges(List<DeclaredQueue> queues, MonthSize size) {
      this.queues = queues;
      this.teamsPerTree = size.teams();
      this.random = new Random(size.seed() + 1);
      for (int i = 0; i < queues.size(); i++) {
        DeclaredQueue queue = queues.get(i);
        queue.preemption = POLICIES.get(i % 2 + 1);
        queue.strategy =
            i % 10 == 3 ? QueueingStrategy.STRICT_FIFO : QueueingStrategy.BEST_EFFORT_FIFO;
      }
    }

    /** Changes one queue, and returns it; a queue that is held is to be resumed later. */
    DeclaredQueue change() {
      DeclaredQueue queue = queues.get(random.nextInt(queues.size()));
      switch (random.nextInt(6)) {
        case 0, 1 -> queue.scale = 0.7 + 0.6 * random.nextDouble();
        case 2 -> queue.preemption = POLICIES.get(random.nextInt(POLICIES.size()));
        case 3 -> queue.stop = StopPolicy.HOLD;
        case 4 -> queue.team = queue.tree * teamsPerTree + random.nextInt(teamsPerTree);
        default -> queue.weight = BigDecimal.valueOf(1 + random.nextInt(3));
      }
      return queue;
    }
  }

  /**
   * What the flavors of a simulated month cost, and how often spot nodes are taken away.
   *
   * @param counted whether money is counted; otherwise nothing has a price, and nothing is taken
   *     away
   * @param cheapest how queues try their flavors in the order of cost; empty: as they are listed
   * @param spotEverywhere whether all queues have spot nodes, and not every fifth alone
   */
  record MonthCosts(boolean counted, Optional<CheapestFirst> cheapest, boolean spotEverywhere) {

    /** Nothing has a price. */
    static final MonthCosts NONE = new MonthCosts(false, Optional.empty(), false);

    /** What a core costs for an hour, by the number of the flavor. */
    private static final List<Double> PRICES = List.of(1.0, 0.35);

    private static final double INTERRUPTIONS = 0.02;
    private static final double HOUR_MILLIS = 3_600_000;

    /** What a thousandth of a core costs for an hour. */
    static BigDecimal price(int flavor) {
      return BigDecimal.valueOf(PRICES.get(flavor)).movePointLeft(3);
    }

    static Optional<Pace> pace(int flavor) {
      return flavor == 0
          ? Optional.empty()
          : Optional.of(new Pace(BigDecimal.valueOf(INTERRUPTIONS), BigDecimal.ONE));
    }

    static double money(String flavor, long cpus, long millis) {
      return PRICES.get(DeclaredQueue.FLAVORS.indexOf(flavor)) * cpus * millis / HOUR_MILLIS;
    }

    /** After how long the nodes of a run are taken away. */
    long interruption(String flavor, SplittableRandom random) {
      return counted && DeclaredQueue.FLAVORS.indexOf(flavor) > 0
          ? 1 + (long) (-Math.log(1 - random.nextDouble()) / INTERRUPTIONS * HOUR_MILLIS)
          : Long.MAX_VALUE;
    }
  }
}

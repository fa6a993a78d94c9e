package dev.sluice.bench;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * A full cluster in which work ends and waits: so many ClusterQueues in cohorts, all quota in use,
 * so many Workloads pending. In each round some that run in one cohort end, as many new ones arrive
 * there, and the engine decides until nothing is left to look at; the next round is another
 * cohort's turn. Everything the engine hears of in production is part of it: arrivals, written
 * admissions, ends; explanations are taken, views are published.
 *
 * <p>Where queues may preempt, all ask for the same amount of CPU, of which a queue's quota is a
 * multiple: unequal ones could take the same quota from each other for ever. Every fifth queue has
 * nobody waiting in the beginning, so that the others borrow from it. Time passes so that runs take
 * an hour on average, since the engine remembers for an hour who preempted whom.
 */
public final class EngineScenario {

  /** How many end between two rounds of cycles. */
  public static final int ENDS_PER_ROUND = 10;

  private static final int ROUNDS_PER_VIEW = 1_000;
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final long CPU_OF_QUEUE = 20_000;
  private static final long CPU_WHERE_PREEMPTED = 2_000;
  private static final int RUNNING_PER_QUEUE = (int) (CPU_OF_QUEUE / CPU_WHERE_PREEMPTED);

  /** How long runs take on average where queues may preempt. */
  private static final Duration RUN_TIME = Duration.ofHours(1);

  private static final Duration LONG = Duration.ofDays(100);

  /** No rule counts preemptions for longer than that. */
  private static final Duration LATELY = Duration.ofMinutes(5);

  /** Stands for those of whom nothing needs to be known: they are never preempted. */
  private static final PendingWorkload NOBODY =
      new PendingWorkload(
          new WorkloadId("", "", ""),
          0,
          "",
          new RequestShape(List.of()),
          0,
          START,
          START,
          Optional.empty(),
          false,
          Optional.empty());

  private final EngineProbe engine;
  private final Random random = new Random(1);
  private final List<Map<WorkloadId, PendingWorkload>> running = new ArrayList<>();
  private final Map<WorkloadId, PendingWorkload> waiting = new HashMap<>();
  private final Map<WorkloadId, List<Instant>> preempted = new HashMap<>();
  private final Size size;
  private final Policies policies;
  private final Durations cycleTimes = new Durations();
  private long version = 1;
  private long arrivals;
  private long rounds;
  private long decisions;
  private long facts;
  private long victims;

  /**
   * How large the cluster is.
   *
   * @param queues how many ClusterQueues
   * @param perCohort how many of them share a cohort; at most all
   * @param shapes how many different requests there are
   */
  public record Size(int queues, int perCohort, int shapes) {
    public Size {
      perCohort = Math.min(perCohort, queues);
    }
  }

  /** Whom the queues may preempt, and how many priorities there are for that. */
  public enum Policies {
    /** Nobody; all have the same priority. */
    NONE(PreemptionPolicies.NEVER, 1, Optional.empty(), 1, Optional.empty()),
    /** Whoever the API lets them, with five priorities. */
    ALL(
        new PreemptionPolicies(
            WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY,
            ReclaimWithinCohort.ANY,
            true,
            OptionalInt.empty()),
        5,
        Optional.empty(),
        1,
        Optional.empty()),
    /** The same, and queues share by weight. */
    FAIR(
        new PreemptionPolicies(
            WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY,
            ReclaimWithinCohort.ANY,
            false,
            OptionalInt.empty()),
        5,
        Optional.of(
            new FairSharing(
                List.of(
                    FairSharing.Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,
                    FairSharing.Strategy.LESS_THAN_INITIAL_SHARE),
                true,
                true)),
        1,
        Optional.empty()),
    /** As all, and rules protect and delay some for a while. */
    RULED(ALL.preemption, 5, Optional.empty(), 1, Optional.empty()),
    /** The same rules, so short that they protect and delay nobody beyond the present moment. */
    LENIENT(ALL.preemption, 5, Optional.empty(), 1, Optional.empty()),
    /**
     * Nobody; every tenth queue keeps half of its quota for an hour that comes, and runs are bound.
     */
    RESERVED(PreemptionPolicies.NEVER, 1, Optional.empty(), 1, Optional.empty()),
    /** The same, for a time that began before. */
    LASTING(PreemptionPolicies.NEVER, 1, Optional.empty(), 1, Optional.empty()),
    /** The same, for a time that no run reaches. */
    AHEAD(PreemptionPolicies.NEVER, 1, Optional.empty(), 1, Optional.empty()),
    /** Nobody; the first that waits in each queue is planned, and others may start before it. */
    PLANNED(PreemptionPolicies.NEVER, 1, Optional.empty(), 1, Optional.empty()),
    /** Nobody; and queues are strict. */
    STRICT(PreemptionPolicies.NEVER, 1, Optional.empty(), 1, Optional.empty()),
    /** Nobody; each ClusterQueue has four LocalQueues, and time passes. */
    TEAMS(PreemptionPolicies.NEVER, 1, Optional.empty(), 4, Optional.empty()),
    /** The same, and these LocalQueues take turns: who used least lately comes first. */
    TURNS(
        PreemptionPolicies.NEVER,
        1,
        Optional.empty(),
        4,
        Optional.of(
            new AdmissionFairSharing(
                Duration.ofMinutes(10),
                Duration.ofMinutes(5),
                Map.of(),
                AdmissionFairSharing.Anchor.QUOTA_RESERVATION)));

    private final PreemptionPolicies preemption;
    private final int priorities;
    private final Optional<FairSharing> sharing;
    private final int localQueues;
    private final Optional<AdmissionFairSharing> turns;

    Policies(
        PreemptionPolicies preemption,
        int priorities,
        Optional<FairSharing> sharing,
        int localQueues,
        Optional<AdmissionFairSharing> turns) {
      this.preemption = preemption;
      this.priorities = priorities;
      this.sharing = sharing;
      this.localQueues = localQueues;
      this.turns = turns;
    }

    private boolean isBound() {
      return this == PLANNED || isReserved();
    }

    private boolean isReserved() {
      return this == RESERVED || this == LASTING || this == AHEAD;
    }

    private boolean isStrict() {
      return this == STRICT || this == PLANNED;
    }

    private boolean isRuled() {
      return this == RULED || this == LENIENT;
    }

    private boolean passesTime() {
      return localQueues > 1 || preempts() || isBound();
    }

    /** How much time passes between two rounds. */
    private Duration step(Size size) {
      return preempts() && !isRuled()
          ? RUN_TIME.multipliedBy(ENDS_PER_ROUND).dividedBy(size.queues * RUNNING_PER_QUEUE)
          : Duration.ofMillis(100);
    }

    private QueueRules rules() {
      return switch (this) {
        case RULED ->
            protecting(
                Duration.ofSeconds(20),
                new PreemptionLimit(3, Duration.ofMinutes(5)),
                Duration.ofSeconds(2));
        case LENIENT ->
            protecting(
                Duration.ofMillis(1),
                new PreemptionLimit(100, Duration.ofSeconds(10)),
                Duration.ofMillis(1));
        case PLANNED ->
            QueueRules.DEFAULT.withBackfill(
                Optional.of(new BackfillRules(1, UnknownRunTime.REFUSE)));
        default -> QueueRules.DEFAULT;
      };
    }

    private static QueueRules protecting(
        Duration minRunTime, PreemptionLimit limit, Duration delay) {
      return QueueRules.DEFAULT.withQuota(
          QuotaRules.DEFAULT.withPreemption(
              new PreemptionRules(
                  Optional.of(minRunTime), Optional.of(limit), Optional.of(delay), false)));
    }

    private boolean preempts() {
      return !preemption.equals(PreemptionPolicies.NEVER);
    }
  }

  /** A cluster without a Workload. */
  public EngineScenario(Size size, Policies policies) {
    this.size = size;
    this.policies = policies;
    this.engine =
        new EngineProbe(
            new EngineOptions(policies.sharing, false, policies.turns, OrderingRules.DEFAULT));
    fold(new SchedulerEvent.TimePassed(START));
    fold(new SchedulerEvent.NamespaceChanged("team", Map.of()));
    fold(new SchedulerEvent.FlavorChanged(new Flavor("default", Map.of(), List.of(), List.of())));
    for (int i = 0; i < size.queues; i++) {
      if (i % size.perCohort == 0) {
        running.add(new LinkedHashMap<>());
      }
      fold(
          new SchedulerEvent.ClusterQueueChanged(
              queue("queue-" + i, "cohort-" + i / size.perCohort)));
      for (int j = 0; j < policies.localQueues; j++) {
        fold(
            new SchedulerEvent.LocalQueueChanged(
                new LocalQueueSpec(
                    new LocalQueueId("team", localQueue(i, j)), "queue-" + i, StopPolicy.NONE)));
      }
    }
    if (policies.isReserved()) {
      reserve();
    }
  }

  private void reserve() {
    List<ReservedCapacity> kept = new ArrayList<>();
    Occurrence occurrence =
        switch (policies) {
          case LASTING -> new Occurrence(START, START.plus(LONG));
          case AHEAD -> new Occurrence(START.plus(LONG), START.plus(LONG.multipliedBy(2)));
          default ->
              new Occurrence(START.plus(Duration.ofHours(1)), START.plus(Duration.ofHours(2)));
        };
    for (int i = 0; i < size.queues; i += 10) {
      kept.add(
          new ReservedCapacity(
              "kept-" + i,
              new ReservedCapacity.Scope.OfQueue(
                  "queue-" + i,
                  List.of(new ReservedCapacity.Share("default", "cpu", CPU_OF_QUEUE / 2))),
              new ReservedCapacity.Users(Set.of(), Set.of(7L)),
              false,
              List.of(occurrence)));
    }
    fold(new SchedulerEvent.ReservationsChanged(kept));
  }

  /** The state of the engine as a value. */
  public EngineState export() {
    return engine.export();
  }

  /** The first LocalQueue has the name of its ClusterQueue. */
  private static String localQueue(int queue, int number) {
    return "queue-" + queue + (number == 0 ? "" : "-" + number);
  }

  private ClusterQueueSpec queue(String name, String cohort) {
    Quota cpu = new Quota(CPU_OF_QUEUE, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    Quota memory =
        new Quota(CPU_OF_QUEUE << 20, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    ClusterQueueSpec spec =
        new ClusterQueueSpec(
            name,
            cohort,
            List.of(
                new ResourceGroup(
                    List.of("cpu", "memory"),
                    List.of(
                        new ResourceGroup.FlavorQuotas(
                            "default", Map.of("cpu", cpu, "memory", memory))))),
            QueueingStrategy.BEST_EFFORT_FIFO,
            new LabelSelector.Requirements(List.of()),
            StopPolicy.NONE,
            false,
            policies.preemption,
            FlavorFungibility.DEFAULT,
            List.of(),
            List.of());
    ClusterQueueSpec ruled =
        spec.with(
            policies.isStrict() ? QueueingStrategy.STRICT_FIFO : QueueingStrategy.BEST_EFFORT_FIFO,
            policies.rules());
    return policies.turns.isPresent() ? ruled.orderedByUsage() : ruled;
  }

  private void fold(SchedulerEvent schedulerEvent) {
    facts++;
    engine.fold(schedulerEvent);
  }

  /** Lets Workloads arrive, and runs as many of them as fit. */
  public void fill(int workloads) {
    fold(new SchedulerEvent.DecidingEnabled(false));
    for (int i = 0; i < workloads; i++) {
      int queue = random.nextInt(size.queues);
      arrive(!policies.preempts() || queue % 5 != 0 ? queue : queue + 1);
    }
    fold(new SchedulerEvent.DecidingEnabled(true));
    decide();
  }

  private void arrive(int queue) {
    long number = arrivals++;
    int shape = random.nextInt(size.shapes);
    boolean sizesDiffer = !policies.preempts();
    int team = policies.localQueues == 1 ? 0 : random.nextInt(policies.localQueues);
    long cpu = sizesDiffer ? 1_000L + 4_000L * shape / size.shapes : CPU_WHERE_PREEMPTED;
    long memory = sizesDiffer ? 500L << 20 : (500L + shape) << 20;
    RequestShape requests =
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", cpu, "memory", memory)),
                    NodeConstraints.ANYWHERE,
                    "")));
    Instant created = START.plusMillis(number);
    UUID uid = new UUID(random.nextLong(), random.nextLong());
    wait(
        new PendingWorkload(
            new WorkloadId(uid.toString(), "team", "job-sample-" + number),
            version++,
            localQueue(queue, team),
            requests,
            random.nextInt(policies.priorities),
            created,
            created,
            Optional.empty(),
            false,
            Optional.empty()));
  }

  private void wait(PendingWorkload workload) {
    if (policies.preempts()) {
      waiting.put(workload.id(), workload);
    }
    if (policies.isBound()) {
      fold(
          new SchedulerEvent.RunBounded(
              workload.id(), RunBound.of(Duration.ofMinutes(10 + workload.version() % 90))));
    }
    fold(
        new SchedulerEvent.WorkloadPending(
            policies.isRuled()
                ? workload.withHistory(
                    new PreemptionHistory(
                        Optional.empty(), preempted.getOrDefault(workload.id(), List.of())))
                : workload));
  }

  private void decide() {
    while (cycle()) {
      for (Decision decision : engine.takeDecisions()) {
        switch (decision) {
          case Decision.Admit admit -> {
            decisions++;
            running
                .get(cohortOf(admit.clusterQueue()))
                .put(admit.id(), waiting.getOrDefault(admit.id(), NOBODY));
            waiting.remove(admit.id());
            fold(new SchedulerEvent.AdmissionWritten(admit.id(), version++));
          }
          case Decision.Preempt preempt -> {
            decisions++;
            for (Decision.Target target : preempt.targets()) {
              stop(target.id(), cohortOf(preempt.clusterQueue()));
            }
          }
          case PlacementDecision placement -> {}
        }
      }
    }
    engine.untold();
    if (rounds++ % ROUNDS_PER_VIEW == 0) {
      engine.views();
    }
  }

  private boolean cycle() {
    long start = System.nanoTime();
    boolean any = engine.cycle();
    cycleTimes.add(System.nanoTime() - start);
    return any;
  }

  /** A victim's job stops at once, and it is in line again where it was. */
  private void stop(WorkloadId victim, int cohort) {
    PendingWorkload known = running.get(cohort).remove(victim);
    if (known == null) {
      throw new IllegalStateException(victim + " doesn't run");
    }
    victims++;
    if (policies.isRuled()) {
      List<Instant> lately = preempted.computeIfAbsent(victim, any -> new ArrayList<>());
      lately.removeIf(each -> each.isBefore(now().minus(LATELY)));
      lately.add(now());
    }
    wait(
        new PendingWorkload(
            known.id(),
            version++,
            known.queueName(),
            known.shape(),
            known.priority(),
            known.createdAt(),
            known.queuedAt(),
            known.notBefore(),
            known.held(),
            known.defect()));
  }

  private int cohortOf(String queue) {
    return Integer.parseInt(queue, "queue-".length(), queue.length(), 10) / size.perCohort;
  }

  /** One round; returns how many admissions and preemptions were decided in it. */
  public long round() {
    long before = decisions;
    int cohort = (int) (rounds % running.size());
    Iterator<WorkloadId> eldest = running.get(cohort).keySet().iterator();
    for (int i = 0; i < ENDS_PER_ROUND && eldest.hasNext(); i++) {
      WorkloadId ended = eldest.next();
      eldest.remove();
      fold(new SchedulerEvent.WorkloadReleased(ended, version++));
      arrive(cohort * size.perCohort + random.nextInt(size.perCohort));
    }
    if (policies.passesTime()) {
      fold(new SchedulerEvent.TimePassed(now()));
    }
    decide();
    return decisions - before;
  }

  private Instant now() {
    return START.plus(policies.step(size).multipliedBy(rounds));
  }

  /** How long cycles took since the last call. */
  public Durations takeCycleTimes() {
    return cycleTimes.take();
  }

  /** How many facts were folded in since the beginning. */
  public long facts() {
    return facts;
  }

  /** How many were preempted since the beginning. */
  public long victims() {
    return victims;
  }

  /** How many hold quota now. */
  public int running() {
    return running.stream().mapToInt(Map::size).sum();
  }
}

package dev.sluice.core.engine;

import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.backfill.QueuePlanner;
import dev.sluice.core.backfill.QuotaProfile;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ActiveInOrder;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.scheduling.CycleOutcome;
import dev.sluice.core.scheduling.SchedulingCycle;
import dev.sluice.core.waiting.CycleHeads.Admissions;
import dev.sluice.core.waiting.QueueHead;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Plans the blocked Workloads of queues with back-fill, and admits those that may start before them
 * (docs/backfill.md). Runs when no head is left to evaluate.
 */
final class BackfillPass {

  /** How many Workloads of a queue a pass looks at, beside those of requests that don't fit. */
  static final int MOST_CANDIDATES = 1_000;

  /** Evaluates Workloads now. */
  interface Cycles {

    /** A cycle without heads. */
    SchedulingCycle begin();

    /** Applies an admission. */
    void apply(CycleOutcome.Admitted outcome);
  }

  private final SpecRegistry specRegistry;
  private final WaitingWorkloads waiting;
  private final PlannedStarts plannedStarts;
  private final Cycles cycles;

  /** Whether a run of the queue that is planned has gone on beyond its bound. */
  private boolean beyondBound;

  /** Creates it. */
  BackfillPass(
      SpecRegistry specRegistry,
      WaitingWorkloads waiting,
      PlannedStarts plannedStarts,
      Cycles cycles) {
    this.specRegistry = specRegistry;
    this.waiting = waiting;
    this.plannedStarts = plannedStarts;
    this.cycles = cycles;
  }

  /**
   * Plans all queues with back-fill anew.
   *
   * @return how many Workloads were admitted
   */
  int run(Instant now) {
    plannedStarts.begin();
    int admitted = 0;
    Set<String> planned = new HashSet<>();
    for (ClusterQueueState state : specRegistry.clusterQueues.values()) {
      ClusterQueueCache queue = state.cache;
      BackfillRules rules = rulesOf(queue);
      if (queue != null && rules != null && queue.active()) {
        planned.add(queue.name());
        admitted += run(queue, rules, now);
      }
    }
    plannedStarts.queues().stream()
        .filter(name -> !planned.contains(name))
        .forEach(plannedStarts::forgetQueue);
    plannedStarts.end();
    return admitted;
  }

  /** The rules of a queue; null if nobody starts before its head. */
  static @Nullable BackfillRules rulesOf(@Nullable ClusterQueueCache queue) {
    return queue == null || !queue.queueing().headBlocks()
        ? null
        : queue.spec().rules().backfill().orElse(null);
  }

  private int run(ClusterQueueCache queue, BackfillRules rules, Instant now) {
    QueuedWorkload headWorkload = waiting.blockingHead(queue.name());
    if (headWorkload == null || headWorkload != queue.pending().head()) {
      // Whoever is planned is looked at in the next cycle, or has left.
      if (queue.pending().head() == null) {
        plannedStarts.forgetQueue(queue.name());
      }
      return 0;
    }
    SchedulingCycle cycle = cycles.begin();
    List<QueueHead> others =
        waiting.claimsIn(queue.node().root()).stream()
            .filter(claim -> claim.queue() != queue)
            .toList();
    if (!cycle.waitsForQuota(new QueueHead(queue, headWorkload))) {
      return 0;
    }
    QueuePlanner planner = plan(queue, headWorkload, rules, now);
    if (planner.plannedAt(headWorkload).isEmpty()) {
      return 0;
    }
    return admit(cycle, new Candidates(queue, headWorkload, rules, planner), others);
  }

  private QueuePlanner plan(
      ClusterQueueCache queue, QueuedWorkload headWorkload, BackfillRules rules, Instant now) {
    long micros = Instants.micros(now);
    beyondBound = false;
    QuotaProfile profile =
        QuotaProfile.of(
            queue,
            specRegistry.queuesBelow(queue.node().root()),
            quotaHolder -> end(quotaHolder, rules, micros),
            micros);
    QueuePlanner planner =
        new QueuePlanner(
            queue,
            profile,
            specRegistry.flavors,
            workload -> plannedStarts.longest(workload.id().uid(), rules),
            micros);
    Map<WorkloadId, Instant> planned = new LinkedHashMap<>();
    QueuedWorkload next = headWorkload;
    ActiveInOrder inOrder = queue.pending().activeInOrder();
    while (next != null && planned.size() < rules.depth() && planner.plan(next)) {
      planned.put(next.id(), Instants.ofMicros(planner.plannedAt(next).orElseThrow()));
      next = nextOf(inOrder, headWorkload);
    }
    Optional<WorkloadId> without =
        next == null || planned.size() == rules.depth() ? Optional.empty() : Optional.of(next.id());
    if (profile.firstEnd() != QuotaProfile.NEVER) {
      plannedStarts.planAgainAt(profile.firstEnd());
    }
    plannedStarts.replace(
        queue.name(),
        planned,
        new PlannedStarts.Evidence(
            stillWaiting(queue), without, quotaOf(queue), beyondBound, profile.lent()));
    return planner;
  }

  /** Those with a planned start that are still in the queue. */
  private Set<WorkloadId> stillWaiting(ClusterQueueCache queue) {
    Set<WorkloadId> waitingIds = new HashSet<>();
    List<PlannedStart> before = plannedStarts.of(queue.name());
    if (!before.isEmpty()) {
      ActiveInOrder all = queue.pending().activeInOrder();
      for (int i = 0; all.hasNext() && i < MOST_CANDIDATES; i++) {
        waitingIds.add(all.next().id());
      }
    }
    return waitingIds;
  }

  private static @Nullable QueuedWorkload nextOf(
      ActiveInOrder inOrder, QueuedWorkload headWorkload) {
    while (inOrder.hasNext()) {
      QueuedWorkload next = inOrder.next();
      if (next != headWorkload) {
        return next;
      }
    }
    return null;
  }

  /** Until when a Workload has its quota at most. */
  private long end(QuotaHolder quotaHolder, BackfillRules rules, long now) {
    String uid = quotaHolder.id().uid();
    beyondBound |= plannedStarts.isExtended(uid);
    long longest = plannedStarts.longest(uid, rules);
    if (longest == QuotaProfile.NEVER) {
      return longest;
    }
    long end = ResourceAmounts.add(quotaHolder.reservedAtMicros(), longest);
    if (end > now) {
      return end;
    }
    beyondBound = true;
    return now + PlannedStarts.OVERHEAD.toSeconds() * 1_000_000;
  }

  private static List<Long> quotaOf(ClusterQueueCache queue) {
    List<Long> quota = new ArrayList<>();
    for (ClusterQueueCache.Group group : queue.groups()) {
      for (int[] ofFlavor : group.pairs()) {
        for (int pair : ofFlavor) {
          quota.add(queue.node().nominal(pair));
          quota.add(queue.node().potential(pair));
        }
      }
    }
    return quota;
  }

  /** Who may start before the head of a queue. */
  private record Candidates(
      ClusterQueueCache queue,
      QueuedWorkload headWorkload,
      BackfillRules rules,
      QueuePlanner planner) {}

  private int admit(SchedulingCycle cycle, Candidates candidates, List<QueueHead> claims) {
    Admissions admissions = waiting.admissions();
    int most =
        switch (admissions) {
          case ANY -> Integer.MAX_VALUE;
          case ONE -> 1;
          case NONE -> 0;
        };
    int admitted = 0;
    int looked = 0;
    cycle.beginBackfill(claims);
    ActiveInOrder inOrder = candidates.queue().pending().activeInOrder();
    while (admitted < most && looked < MOST_CANDIDATES && inOrder.hasNext()) {
      QueuedWorkload workload = inOrder.next();
      if (workload == candidates.headWorkload()) {
        continue;
      }
      looked++;
      SchedulingCycle.Fit fit = tried(cycle, candidates, workload);
      if (!fit.fits()) {
        inOrder.dropClass();
      }
      Optional<CycleOutcome.Admitted> outcome = fit.admitted();
      if (outcome.isPresent()) {
        cycle.endBackfill();
        candidates.planner().started(workload, outcome.get().assignment().usage());
        cycles.apply(outcome.get());
        admitted++;
        cycle.beginBackfill(claims);
      }
    }
    cycle.endBackfill();
    return admitted;
  }

  private SchedulingCycle.Fit tried(
      SchedulingCycle cycle, Candidates candidates, QueuedWorkload workload) {
    return candidates.rules().unknown() == BackfillRules.UnknownRunTime.REFUSE
            && !plannedStarts.isBounded(workload.id().uid(), candidates.rules())
        ? SchedulingCycle.Fit.NOT_THIS_ONE
        : cycle.backfill(
            workload,
            candidates.queue(),
            usage ->
                candidates.planner().inTheWay(workload, usage).stream()
                    .map(pair -> specRegistry.pairs.pair(pair).flavor())
                    .collect(Collectors.toSet()));
  }
}

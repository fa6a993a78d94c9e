package dev.sluice.core.engine;

import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.backfill.QuotaProfile;
import dev.sluice.core.engine.SchedulerQueries.BackfillReport;
import dev.sluice.core.engine.SchedulerQueries.EarlierLocalQueues;
import dev.sluice.core.engine.SchedulerQueries.Holder;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.PendingTotals;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.topology.TopologyUsage;
import dev.sluice.core.topology.TopologyView;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Answers queries on the current state. Cost: proportional to the pending Workloads of the queue.
 */
public final class QueryHandler {

  private static final int MAX_HOLDERS = 10;

  private static final Explanation EVALUATION_PAUSED =
      new Explanation(
          PendingReason.PENDING_EVALUATION,
          List.of(),
          "no workload is evaluated until the pods of all admitted workloads are ready");

  private final SpecRegistry specRegistry;
  private final WorkloadTable workloads;
  private final Explanations explanations;
  private final WaitingWorkloads waiting;
  private final PlannedStarts plannedStarts;

  QueryHandler(
      SpecRegistry specRegistry,
      WorkloadTable workloads,
      Explanations explanations,
      WaitingWorkloads waiting,
      PlannedStarts plannedStarts) {
    this.plannedStarts = plannedStarts;
    this.specRegistry = specRegistry;
    this.workloads = workloads;
    this.explanations = explanations;
    this.waiting = waiting;
  }

  /** The pending Workloads of a ClusterQueue in queue order; none if it is unknown. */
  public List<PendingPosition> pendingIn(String clusterQueue) {
    ClusterQueueState queue = specRegistry.clusterQueues.get(clusterQueue);
    if (queue == null) {
      return List.of();
    }
    List<PendingPosition> result = new ArrayList<>();
    Map<LocalQueueId, Integer> nextPositions = new HashMap<>();
    for (QueuedWorkload item : queue.pending.inOrder()) {
      int inLocalQueue = nextPositions.merge(item.localQueue(), 1, Integer::sum) - 1;
      boolean inadmissible =
          queue.pending.isHeld(item) || item.equivalenceClass().explanation() != null;
      result.add(
          new PendingPosition(
              item.id(),
              item.localQueue().name(),
              item.equivalenceClass().priority(),
              item.createdAt(),
              result.size(),
              inLocalQueue,
              inadmissible));
    }
    return result;
  }

  /**
   * The pending Workloads of every ClusterQueue, in sums.
   *
   * @param names whether requests with other names of pod sets are different ones
   */
  public Map<String, PendingTotals> pendingTotals(boolean names) {
    Map<String, PendingTotals> result = new HashMap<>();
    for (ClusterQueueState queue : specRegistry.clusterQueues.values()) {
      if (queue.spec != null) {
        result.put(queue.name, queue.pending.summary(queue.active() ? queue.cache : null, names));
      }
    }
    return result;
  }

  /** Whether there is such a ClusterQueue; one that others name may not exist. */
  boolean isKnown(String clusterQueue) {
    ClusterQueueState queue = specRegistry.clusterQueues.get(clusterQueue);
    return queue != null && queue.spec != null;
  }

  /** Whether there is such a LocalQueue; one that Workloads name may not exist. */
  boolean isKnown(LocalQueueId localQueue) {
    LocalQueueState queue = specRegistry.localQueues.get(localQueue);
    return queue != null && queue.exists();
  }

  List<PendingPosition> pendingIn(LocalQueueId localQueue) {
    LocalQueueState queue = specRegistry.localQueues.get(localQueue);
    if (queue == null) {
      return List.of();
    }
    return pendingIn(queue.clusterQueue()).stream()
        .filter(
            position ->
                position.queueName().equals(localQueue.name())
                    && position.id().namespace().equals(localQueue.namespace()))
        .toList();
  }

  /** Why a Workload is pending; empty when it is not pending. */
  public Optional<PendingReport> pendingReason(WorkloadId id) {
    WorkloadEntry entry = workloads.find(id.uid());
    if (entry == null || entry.stage != WorkloadEntry.Stage.PENDING) {
      return Optional.empty();
    }
    String clusterQueue = entry.localQueue.clusterQueue();
    Optional<PendingPosition> position =
        pendingIn(clusterQueue).stream().filter(each -> each.id().equals(id)).findFirst();
    QueuedWorkload item = entry.item;
    Optional<Explanation> explanation = Optional.ofNullable(explanations.of(entry));
    if (explanation.isEmpty() && item != null) {
      explanation =
          Optional.ofNullable(waiting.blockingHead(clusterQueue))
              .map(this::blockedBy)
              .or(
                  () ->
                      waiting.waitsForPodsReady()
                          ? Optional.of(EVALUATION_PAUSED)
                          : Optional.empty());
    }
    return Optional.of(
        new PendingReport(
            position.orElseGet(() -> notQueued(entry)),
            clusterQueue,
            explanation,
            item == null ? List.of() : holders(item.equivalenceClass(), clusterQueue),
            item == null ? Optional.empty() : usageOrder(item, clusterQueue),
            backfill(id, clusterQueue)));
  }

  /** The planned starts of a ClusterQueue, in queue order. */
  public List<PlannedStart> plannedStarts(String clusterQueue) {
    return List.copyOf(plannedStarts.of(clusterQueue));
  }

  private Optional<BackfillReport> backfill(WorkloadId id, String clusterQueue) {
    BackfillRules rules = BackfillPass.rulesOf(specRegistry.cacheOf(clusterQueue));
    if (rules == null) {
      return Optional.empty();
    }
    List<PlannedStart> starts = plannedStarts.of(clusterQueue);
    long longest = plannedStarts.longest(id.uid(), rules);
    return Optional.of(
        new BackfillReport(
            starts.stream().filter(each -> each.id().equals(id)).findFirst(),
            starts.stream().findFirst().filter(first -> !first.id().equals(id)),
            longest == QuotaProfile.NEVER
                ? Optional.empty()
                : Optional.of(Duration.of(longest, ChronoUnit.MICROS)),
            rules.unknown() == BackfillRules.UnknownRunTime.REFUSE));
  }

  /** The LocalQueues whose Workloads come first because they have less usage. */
  private Optional<EarlierLocalQueues> usageOrder(QueuedWorkload item, String clusterQueue) {
    ClusterQueueState queue = specRegistry.clusterQueues.get(clusterQueue);
    if (queue == null || !queue.pending.isOrderedByUsage()) {
      return Optional.empty();
    }
    Map<LocalQueueId, Double> before = new LinkedHashMap<>();
    for (QueuedWorkload other : queue.pending.inOrder()) {
      if (other.usage().compareTo(item.usage()) < 0 && !queue.pending.isHeld(other)) {
        before.putIfAbsent(other.localQueue(), other.usage().amount());
      }
    }
    return before.entrySet().stream()
        .findFirst()
        .map(
            first ->
                new EarlierLocalQueues(
                    item.usage().amount(), first.getKey(), first.getValue(), before.size()));
  }

  /** What the nodes of a flavor have, and who uses them; empty if the flavor has no topology. */
  Optional<TopologyView> topology(String flavor) {
    Map<WorkloadId, TopologyUsage> holders = new LinkedHashMap<>();
    for (ClusterQueueState queue : specRegistry.clusterQueues.values()) {
      queue.quotaHolders.forEach(
          quotaHolder -> {
            TopologyUsage usage = quotaHolder.topology();
            if (usage != null) {
              holders.put(quotaHolder.id(), usage);
            }
          });
    }
    return specRegistry.topologies.view(flavor, holders);
  }

  private Explanation blockedBy(QueuedWorkload head) {
    return new Explanation(
        PendingReason.PENDING_EVALUATION,
        List.of(),
        "waits behind " + head.id() + ", which doesn't fit, in a StrictFIFO queue");
  }

  private static PendingPosition notQueued(WorkloadEntry entry) {
    return new PendingPosition(
        entry.id, entry.localQueue.id.name(), 0, Instant.EPOCH, -1, -1, true);
  }

  /**
   * The Workloads that have most of the missing quota of the class reserved, anywhere in the tree.
   */
  private List<Holder> holders(EquivalenceClass equivalenceClass, String clusterQueue) {
    ClusterQueueCache cache = specRegistry.cacheOf(clusterQueue);
    if (cache == null) {
      return List.of();
    }
    List<Holder> holders = new ArrayList<>();
    for (ClusterQueueState other : specRegistry.clusterQueues.values()) {
      ClusterQueueCache otherCache = other.cache;
      if (otherCache == null || otherCache.node().root() != cache.node().root()) {
        continue;
      }
      for (EquivalenceClass.Shortage shortage : equivalenceClass.missingQuota()) {
        other.quotaHolders.forEach(
            quotaHolder -> {
              long amount = quotaHolder.amountOf(shortage.pair());
              if (amount > 0) {
                holders.add(
                    new Holder(
                        quotaHolder.id(),
                        other.name,
                        specRegistry.pairs.pair(shortage.pair()),
                        amount));
              }
            });
      }
    }
    holders.sort(
        Comparator.comparingLong(Holder::amount).reversed().thenComparing(h -> h.id().uid()));
    return holders.size() > MAX_HOLDERS ? holders.subList(0, MAX_HOLDERS) : holders;
  }
}

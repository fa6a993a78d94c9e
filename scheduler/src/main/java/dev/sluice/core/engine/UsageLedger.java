package dev.sluice.core.engine;

import dev.sluice.core.engine.LocalQueueView.LocalQueueUsageView;
import dev.sluice.core.engine.QuotaAccounting.DirtySet;
import dev.sluice.core.engine.QuotaAccounting.Reservation;
import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.AdmissionFairSharing.Anchor;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.LocalQueueUsage;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.UsageVector;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the usage over time of LocalQueues, if admission fair sharing is configured. Usage is
 * sampled at a fixed interval while the engine decides. It orders the pending Workloads of
 * ClusterQueues whose admission scope says so; for LocalQueues of other ClusterQueues it is only
 * published.
 */
final class UsageLedger {

  private record ScheduledSample(Instant at, LocalQueueState queue, DecayingUsage history) {

    static final Comparator<ScheduledSample> ORDER =
        Comparator.comparing(ScheduledSample::at).thenComparing(due -> due.queue.id);
  }

  private final @Nullable AdmissionFairSharing parameters;
  private final SpecRegistry specRegistry;
  private final WaitingWorkloads waiting;
  private final DirtySet dirtySet;
  private final Runnable orderOfTargetsChanged;
  private final PriorityQueue<ScheduledSample> samples = new PriorityQueue<>(ScheduledSample.ORDER);
  private Instant now = Instant.EPOCH;
  private boolean deciding;

  UsageLedger(
      Optional<AdmissionFairSharing> parameters,
      SpecRegistry specRegistry,
      WaitingWorkloads waiting,
      DirtySet dirtySet,
      Runnable orderOfTargetsChanged) {
    this.parameters = parameters.orElse(null);
    this.specRegistry = specRegistry;
    this.waiting = waiting;
    this.dirtySet = dirtySet;
    this.orderOfTargetsChanged = orderOfTargetsChanged;
  }

  /**
   * Takes over the time, the usage of LocalQueues, and the order of ClusterQueues by usage; without
   * admission fair sharing there is none of these.
   */
  void restore(EngineState state) {
    AdmissionFairSharing options = parameters;
    if (options == null) {
      return;
    }
    now = state.now();
    deciding = state.deciding();
    for (EngineState.LocalQueueExport exported : state.localQueues()) {
      LocalQueueState queue = specRegistry.localQueue(exported.id());
      queue.usage.amount(exported.usage());
      queue.reportedUsage = exported.reportedUsage().orElse(null);
      exported
          .history()
          .ifPresent(
              history -> {
                DecayingUsage usage = DecayingUsage.restored(options, history);
                queue.history = usage;
                schedule(queue, usage);
              });
    }
    specRegistry.clusterQueues.values().forEach(this::orderByUsage);
  }

  /** Whether a ClusterQueue with this spec orders its LocalQueues by usage. */
  private boolean isOrderedByUsage(@Nullable ClusterQueueSpec spec) {
    return parameters != null && spec != null && spec.ordersByUsage();
  }

  void timePassed(Instant instant) {
    now = instant;
    while (deciding && !samples.isEmpty() && !samples.element().at.isAfter(now)) {
      ScheduledSample due = samples.remove();
      if (due.queue.history == due.history) {
        sample(due.queue, due.history);
      }
    }
  }

  /** Starts or stops sampling; while it is stopped, reported usage is used. */
  void deciding(boolean enabled) {
    if (parameters == null || enabled == deciding) {
      return;
    }
    deciding = enabled;
    samples.clear();
    if (enabled) {
      for (LocalQueueState queue : specRegistry.localQueues.values()) {
        if (queue.history != null) {
          queue.history = newHistory(queue, parameters);
          schedule(queue, queue.history);
          usageChanged(queue);
        }
      }
      timePassed(now);
    }
  }

  /** Takes over usage that was reported by an event, unless the engine's own value is better. */
  void usageReported(SchedulerEvent.LocalQueueUsed used) {
    if (parameters == null) {
      return;
    }
    LocalQueueState queue = specRegistry.localQueue(used.id());
    if (!deciding || queue.history == null) {
      queue.reportedUsage = used;
      if (queue.history != null) {
        queue.history = newHistory(queue, parameters);
        usageChanged(queue);
      }
    }
  }

  private DecayingUsage newHistory(LocalQueueState queue, AdmissionFairSharing options) {
    SchedulerEvent.LocalQueueUsed before = queue.reportedUsage;
    if (deciding) {
      queue.reportedUsage = null;
    }
    if (before == null) {
      return new DecayingUsage(options, Map.of(), now);
    }
    Instant at = before.sampledAt().isAfter(now) ? now : before.sampledAt();
    return new DecayingUsage(options, before.consumed(), at);
  }

  /**
   * Updates the order of a ClusterQueue, and the usage of its LocalQueues, after the spec changed.
   */
  void specChanged(ClusterQueueState queue) {
    orderByUsage(queue);
    specRegistry.localQueuesOf(queue.name).forEach(this::specChanged);
  }

  private void orderByUsage(ClusterQueueState queue) {
    boolean isOrderedByUsage = isOrderedByUsage(queue.spec);
    queue.pending.orderByUsage(isOrderedByUsage ? id -> specRegistry.localQueue(id).usage : null);
    queue.quotaHolders.orderByUsage(
        isOrderedByUsage ? id -> specRegistry.localQueue(id).usage : null);
  }

  /** Updates the usage of a LocalQueue after its spec or the spec of its ClusterQueue changed. */
  void specChanged(LocalQueueState queue) {
    if (parameters == null) {
      return;
    }
    ClusterQueueState clusterQueue = specRegistry.clusterQueues.get(queue.clusterQueue());
    boolean isCounted = clusterQueue != null && clusterQueue.spec != null;
    if (isCounted && queue.history == null) {
      queue.history = newHistory(queue, parameters);
      schedule(queue, queue.history);
    } else if (!isCounted && queue.history != null) {
      queue.history = null;
      samples.removeIf(scheduled -> scheduled.queue == queue);
    }
    if (!queue.exists()) {
      queue.reportedUsage = null;
    }
    usageChanged(queue);
    timePassed(now);
  }

  private void schedule(LocalQueueState queue, DecayingUsage history) {
    if (deciding) {
      samples.add(new ScheduledSample(history.nextSample(), queue, history));
    }
  }

  private void sample(LocalQueueState queue, DecayingUsage history) {
    boolean wasEmpty = history.consumed().isEmpty();
    history.sample(now, currentUsage(queue));
    schedule(queue, history);
    if (!wasEmpty || !history.consumed().isEmpty()) {
      usageChanged(queue);
    }
  }

  /** Whether the use of a Workload counts before it is admitted. */
  private boolean countsReservations() {
    return parameters != null && parameters.anchor() == Anchor.QUOTA_RESERVATION;
  }

  /** The current usage of the Workloads that count, by resource. */
  private Map<String, Long> currentUsage(LocalQueueState queue) {
    UsageVector current = countsReservations() ? queue.reserved : queue.admitted;
    ClusterQueueCache cache = specRegistry.cacheOf(queue.clusterQueue());
    Map<String, Long> used = new HashMap<>();
    if (cache != null) {
      for (ClusterQueueCache.Group group : cache.groups()) {
        for (int[] pairs : group.pairs()) {
          for (int pair : pairs) {
            long amount = current.get(pair);
            if (amount != 0) {
              used.merge(resource(pair), amount, ResourceAmounts::add);
            }
          }
        }
      }
    }
    return used;
  }

  private String resource(int pair) {
    return specRegistry.pairs.pair(pair).resource();
  }

  /** Called when a Workload got quota. */
  void quotaReserved(WorkloadEntry entry, Reservation reservation) {
    DecayingUsage history = entry.localQueue.history;
    if (history == null) {
      return;
    }
    Map<String, Long> requests = new HashMap<>();
    QuotaHolder quotaHolder = reservation.quotaHolder();
    for (int i = 0; i < quotaHolder.size(); i++) {
      if (quotaHolder.amount(i) != 0) {
        requests.merge(resource(quotaHolder.pair(i)), quotaHolder.amount(i), ResourceAmounts::add);
      }
    }
    history.addPenalty(entry.id.uid(), requests);
    usageChanged(entry.localQueue);
  }

  /** Called when the API server knows of the quota of a Workload, and whether it is admitted. */
  void confirmed(WorkloadEntry entry, boolean admitted) {
    DecayingUsage history = entry.localQueue.history;
    if (history != null
        && (admitted || countsReservations())
        && history.convertPenalty(entry.id.uid())) {
      usageChanged(entry.localQueue);
    }
  }

  /** Called when a Workload lost its quota or was deleted. */
  void quotaReleased(WorkloadEntry entry) {
    DecayingUsage history = entry.localQueue.history;
    if (history != null && history.removePenalty(entry.id.uid())) {
      usageChanged(entry.localQueue);
    }
  }

  private void usageChanged(LocalQueueState queue) {
    dirtySet.localQueues.add(queue.id);
    LocalQueueUsage usage = queue.usage;
    double amount = amount(queue);
    if (Double.compare(amount, usage.amount()) == 0) {
      return;
    }
    usage.amount(amount);
    orderOfTargetsChanged.run();
    ClusterQueueState clusterQueue = specRegistry.clusterQueues.get(queue.clusterQueue());
    if (clusterQueue != null && clusterQueue.pending.isOrderedByUsage()) {
      clusterQueue.pending.usageChanged(usage);
      if (clusterQueue.cache != null) {
        waiting.activate(clusterQueue.cache);
      }
    }
  }

  private static double amount(LocalQueueState queue) {
    DecayingUsage history = queue.history;
    LocalQueueSpec spec = queue.spec;
    return history == null || spec == null ? 0 : history.amount(spec.weight());
  }

  /** The view of a LocalQueue's usage; empty without admission fair sharing. */
  static Optional<LocalQueueUsageView> view(LocalQueueState queue) {
    DecayingUsage history = queue.history;
    return history == null
        ? Optional.empty()
        : Optional.of(
            new LocalQueueUsageView(history.consumed(), history.sampledAt(), queue.usage.amount()));
  }
}

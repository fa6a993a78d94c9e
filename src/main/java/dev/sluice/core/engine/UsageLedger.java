package dev.sluice.core.engine;

import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.LocalQueueUsage;
import dev.sluice.core.queue.QuotaHolder;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * What LocalQueues used over time, where they take turns by that: it is kept for those whose
 * ClusterQueue says so, sampled at a steady pace while the engine decides, and orders who waits.
 */
final class UsageLedger {

  private record Due(Instant at, LocalQueueState queue, DecayingUsage history) {

    static final Comparator<Due> ORDER =
        Comparator.comparing(Due::at).thenComparing(due -> due.queue.id);
  }

  private final @Nullable AdmissionFairSharing rules;
  private final SpecRegistry specRegistry;
  private final ActiveQueues activeQueues;
  private final DirtySet dirtySet;
  private final PriorityQueue<Due> samples = new PriorityQueue<>(Due.ORDER);
  private Instant now = Instant.EPOCH;
  private boolean deciding;

  UsageLedger(
      Optional<AdmissionFairSharing> rules,
      SpecRegistry specRegistry,
      ActiveQueues activeQueues,
      DirtySet dirtySet) {
    this.rules = rules.orElse(null);
    this.specRegistry = specRegistry;
    this.activeQueues = activeQueues;
    this.dirtySet = dirtySet;
  }

  /** Whether it matters in a queue of this kind what its LocalQueues used. */
  private boolean counts(@Nullable ClusterQueueSpec spec) {
    return rules != null && spec != null && spec.takesTurnsByUse();
  }

  void timePassed(Instant instant) {
    now = instant;
    while (deciding && !samples.isEmpty() && !samples.element().at.isAfter(now)) {
      Due due = samples.remove();
      if (due.queue.history == due.history) {
        sample(due.queue, due.history);
      }
    }
  }

  /** From here on use is sampled, or it is left to others to tell. */
  void deciding(boolean enabled) {
    if (rules == null || enabled == deciding) {
      return;
    }
    deciding = enabled;
    samples.clear();
    if (enabled) {
      for (LocalQueueState queue : specRegistry.localQueues.values()) {
        if (queue.history != null) {
          queue.history = started(queue, rules);
          schedule(queue, queue.history);
          changed(queue);
        }
      }
      timePassed(now);
    }
  }

  /** What is told of the past counts as long as nothing better is known. */
  void restored(SchedulerEvent.LocalQueueUsed used) {
    if (rules == null) {
      return;
    }
    LocalQueueState queue = specRegistry.localQueue(used.id());
    if (!deciding || queue.history == null) {
      queue.usedBefore = used;
      if (queue.history != null) {
        queue.history = started(queue, rules);
        changed(queue);
      }
    }
  }

  private DecayingUsage started(LocalQueueState queue, AdmissionFairSharing by) {
    SchedulerEvent.LocalQueueUsed before = queue.usedBefore;
    if (deciding) {
      queue.usedBefore = null;
    }
    if (before == null) {
      return new DecayingUsage(by, Map.of(), now);
    }
    Instant at = before.sampledAt().isAfter(now) ? now : before.sampledAt();
    return new DecayingUsage(by, before.consumed(), at);
  }

  /** How queues of this name are ordered from now on, and what is known of its LocalQueues. */
  void declared(ClusterQueueState queue) {
    boolean counts = counts(queue.spec);
    queue.pending.orderByUsage(counts ? id -> specRegistry.localQueue(id).use : null);
    queue.quotaHolders.byUse(counts ? id -> specRegistry.localQueue(id).use : null);
    specRegistry.localQueuesOf(queue.name).forEach(this::declared);
  }

  /** The LocalQueue, or the ClusterQueue behind it, came, went or is another one. */
  void declared(LocalQueueState queue) {
    if (rules == null) {
      return;
    }
    ClusterQueueState above = specRegistry.clusterQueues.get(queue.clusterQueue());
    boolean counts = above != null && counts(above.spec);
    if (counts && queue.history == null) {
      queue.history = started(queue, rules);
      schedule(queue, queue.history);
    } else if (!counts) {
      queue.history = null;
    }
    if (!queue.exists()) {
      queue.usedBefore = null;
    }
    changed(queue);
    timePassed(now);
  }

  private void schedule(LocalQueueState queue, DecayingUsage history) {
    if (deciding) {
      samples.add(new Due(history.nextSample(), queue, history));
    }
  }

  private void sample(LocalQueueState queue, DecayingUsage history) {
    boolean blank = history.consumed().isEmpty();
    history.sample(now, used(queue));
    schedule(queue, history);
    if (!blank || !history.consumed().isEmpty()) {
      changed(queue);
    }
  }

  /** What its admitted Workloads use now, by resource. */
  private Map<String, Long> used(LocalQueueState queue) {
    ClusterQueueCache state = specRegistry.queueState(queue.clusterQueue());
    Map<String, Long> used = new HashMap<>();
    if (state != null) {
      for (ClusterQueueCache.Group group : state.groups()) {
        for (int[] pairs : group.pairs()) {
          for (int pair : pairs) {
            long amount = queue.admitted.get(pair);
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

  /** A Workload was given quota. */
  void entered(WorkloadEntry entry, Reservation reservation) {
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
    history.enter(entry.id.uid(), requests);
    changed(entry.localQueue);
  }

  /** A Workload that was given quota is admitted. */
  void admitted(WorkloadEntry entry) {
    DecayingUsage history = entry.localQueue.history;
    if (history != null && history.admit(entry.id.uid())) {
      changed(entry.localQueue);
    }
  }

  /** A Workload gave its quota back, or is gone. */
  void left(WorkloadEntry entry) {
    DecayingUsage history = entry.localQueue.history;
    if (history != null && history.leave(entry.id.uid())) {
      changed(entry.localQueue);
    }
  }

  private void changed(LocalQueueState queue) {
    dirtySet.localQueues.add(queue.id);
    LocalQueueUsage use = queue.use;
    double amount = amount(queue);
    if (Double.compare(amount, use.amount()) == 0) {
      return;
    }
    use.amount(amount);
    ClusterQueueState above = specRegistry.clusterQueues.get(queue.clusterQueue());
    if (above != null) {
      above.pending.usageChanged(use);
      if (above.state != null) {
        activeQueues.add(above.state);
      }
    }
  }

  private static double amount(LocalQueueState queue) {
    DecayingUsage history = queue.history;
    LocalQueueSpec spec = queue.spec;
    return history == null || spec == null ? 0 : history.amount(spec.weight());
  }

  /** What there is to tell of a LocalQueue; empty where use doesn't count. */
  static Optional<LocalQueueUsageView> view(LocalQueueState queue) {
    DecayingUsage history = queue.history;
    return history == null
        ? Optional.empty()
        : Optional.of(
            new LocalQueueUsageView(history.consumed(), history.sampledAt(), queue.use.amount()));
  }
}

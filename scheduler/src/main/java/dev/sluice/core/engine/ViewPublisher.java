package dev.sluice.core.engine;

import dev.sluice.core.engine.QuotaAccounting.DirtySet;
import dev.sluice.core.engine.SchedulerThread.ViewListener;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.PendingCount;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.quota.UsageVector;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Publishes immutable views of queues and cohorts that changed. The engine's thread writes, any
 * thread reads. Cost of publishing: proportional to the queues that changed, and to the queues
 * below the cohorts above them.
 */
final class ViewPublisher implements SchedulerViews {

  private final Map<String, ClusterQueueView> clusterQueues = new ConcurrentHashMap<>();
  private final Map<LocalQueueId, LocalQueueView> localQueues = new ConcurrentHashMap<>();
  private final Map<String, CohortView> cohorts = new ConcurrentHashMap<>();
  private final List<ViewListener> listeners = new CopyOnWriteArrayList<>();

  void listen(ViewListener listener) {
    listeners.add(listener);
  }

  /** Publishes what changed in the engine since the last call. */
  void publish(Engine engine) {
    DirtySet dirtySet = engine.changes();
    if (dirtySet.isEmpty()) {
      return;
    }
    SpecRegistry specRegistry = engine.registry();
    if (dirtySet.all) {
      dirtySet.clusterQueues.addAll(specRegistry.clusterQueues.keySet());
      dirtySet.clusterQueues.addAll(clusterQueues.keySet());
      dirtySet.localQueues.addAll(specRegistry.localQueues.keySet());
      dirtySet.localQueues.addAll(localQueues.keySet());
    }
    Set<String> changedCohorts = dirtySet.all ? allCohorts(specRegistry) : new HashSet<>();
    for (String name : dirtySet.clusterQueues) {
      replace(clusterQueues, name, clusterQueue(engine, name));
      addAncestors(specRegistry, name, changedCohorts);
    }
    for (LocalQueueId id : dirtySet.localQueues) {
      replace(localQueues, id, localQueue(specRegistry, id));
    }
    for (String name : changedCohorts) {
      replace(cohorts, name, cohort(engine, name));
    }
    for (ViewListener listener : listeners) {
      listener.changed(
          Set.copyOf(dirtySet.clusterQueues),
          Set.copyOf(dirtySet.localQueues),
          Set.copyOf(changedCohorts));
    }
    dirtySet.clear();
  }

  private static <K, V> void replace(Map<K, V> views, K key, @Nullable V view) {
    if (view == null) {
      views.remove(key);
    } else {
      views.put(key, view);
    }
  }

  private Set<String> allCohorts(SpecRegistry specRegistry) {
    Set<String> names = new HashSet<>(specRegistry.hierarchy.cohortNames());
    names.addAll(cohorts.keySet());
    return names;
  }

  private static void addAncestors(
      SpecRegistry specRegistry, String clusterQueue, Set<String> names) {
    ClusterQueueCache cache = specRegistry.cacheOf(clusterQueue);
    QuotaNode node = cache == null ? null : cache.node().parent();
    while (node != null) {
      names.add(node.name());
      node = node.parent();
    }
  }

  private static @Nullable ClusterQueueView clusterQueue(Engine engine, String name) {
    SpecRegistry specRegistry = engine.registry();
    ClusterQueueState queue = specRegistry.clusterQueues.get(name);
    ClusterQueueSpec spec = queue == null ? null : queue.spec;
    ClusterQueueCache cache = queue == null ? null : queue.cache;
    if (queue == null || spec == null || cache == null) {
      return null;
    }
    PendingCount pending = queue.pending.count();
    boolean active = queue.active();
    return new ClusterQueueView(
        name,
        spec.cohort(),
        root(specRegistry, spec.cohort(), cache.node()),
        queue.problems,
        active ? pending.active() : 0,
        active ? pending.inadmissible() : pending.active() + pending.inadmissible(),
        queue.quotaHolders.size(),
        queue.admittedCount,
        engine.share(cache.node()),
        usage(specRegistry, cache, null, queue.admitted));
  }

  /** The cohort above all others of a node in this cohort; empty without cohort, or in a circle. */
  private static String root(SpecRegistry specRegistry, String cohort, QuotaNode node) {
    return cohort.isEmpty() || specRegistry.hierarchy.inCycle(cohort) ? "" : node.root().name();
  }

  private static List<FlavorUsage> usage(
      SpecRegistry specRegistry,
      ClusterQueueCache cache,
      @Nullable UsageVector reserved,
      UsageVector admitted) {
    List<FlavorUsage> usage = new ArrayList<>();
    QuotaNode node = cache.node();
    for (ClusterQueueCache.Group group : cache.groups()) {
      for (int[] pairs : group.pairs()) {
        for (int pair : pairs) {
          FlavorResource names = specRegistry.pairs.pair(pair);
          Quota declared = node.declared(pair);
          usage.add(
              new FlavorUsage(
                  names.flavor(),
                  names.resource(),
                  declared.nominal(),
                  declared.borrowingLimit(),
                  declared.lendingLimit(),
                  reserved == null ? node.usage(pair) : reserved.get(pair),
                  admitted.get(pair)));
        }
      }
    }
    return usage;
  }

  private static @Nullable LocalQueueView localQueue(SpecRegistry specRegistry, LocalQueueId id) {
    LocalQueueState queue = specRegistry.localQueues.get(id);
    LocalQueueSpec spec = queue == null ? null : queue.spec;
    if (queue == null || spec == null) {
      return null;
    }
    ClusterQueueState clusterQueue = specRegistry.clusterQueues.get(spec.clusterQueue());
    ClusterQueueCache cache = clusterQueue == null ? null : clusterQueue.cache;
    PendingCount pending =
        clusterQueue == null ? PendingCount.NONE : clusterQueue.pending.count(id);
    boolean active = clusterQueue != null && clusterQueue.active() && !queue.stopped();
    int unqueued = queue.unqueued.size();
    // What still has quota of a ClusterQueue that is gone has quota of nothing.
    boolean gone = cache == null;
    return new LocalQueueView(
        id,
        spec.clusterQueue(),
        problems(queue, spec, clusterQueue),
        active ? pending.active() : 0,
        (active ? pending.inadmissible() : pending.active() + pending.inadmissible()) + unqueued,
        gone ? 0 : queue.reserving,
        gone ? 0 : queue.admittedCount,
        cache == null ? List.of() : usage(specRegistry, cache, queue.reserved, queue.admitted),
        UsageLedger.view(queue));
  }

  private static List<InactiveReason> problems(
      LocalQueueState queue, LocalQueueSpec spec, @Nullable ClusterQueueState clusterQueue) {
    if (queue.stopped()) {
      return List.of(new InactiveReason("Stopped", "LocalQueue is stopped"));
    }
    if (clusterQueue == null || clusterQueue.spec == null) {
      return List.of(
          new InactiveReason(
              "ClusterQueueDoesNotExist",
              "Can't submit new workloads to ClusterQueue "
                  + spec.clusterQueue()
                  + ": it doesn't exist"));
    }
    return clusterQueue.active()
        ? List.of()
        : List.of(
            new InactiveReason(
                "ClusterQueueIsInactive",
                "Can't submit new workloads to ClusterQueue "
                    + spec.clusterQueue()
                    + ": it is inactive"));
  }

  private static @Nullable CohortView cohort(Engine engine, String name) {
    SpecRegistry specRegistry = engine.registry();
    QuotaNode node = specRegistry.hierarchy.cohort(name);
    if (node == null) {
      return null;
    }
    List<FlavorUsage> usage = new ArrayList<>();
    UsageVector reserved = node.subtreeUsage();
    for (int pair = 0; pair < specRegistry.pairs.count(); pair++) {
      if (node.subtreeQuota(pair) != 0 || reserved.get(pair) != 0) {
        FlavorResource names = specRegistry.pairs.pair(pair);
        Quota declared = node.declared(pair);
        usage.add(
            new FlavorUsage(
                names.flavor(),
                names.resource(),
                node.declaredSubtreeQuota(pair),
                declared.borrowingLimit(),
                declared.lendingLimit(),
                reserved.get(pair),
                ResourceAmounts.UNLIMITED));
      }
    }
    CohortSpec spec = specRegistry.cohorts.get(name);
    return new CohortView(
        name,
        spec == null ? "" : spec.parent(),
        root(specRegistry, name, node),
        engine.share(node),
        usage);
  }

  @Override
  public Optional<ClusterQueueView> clusterQueue(String name) {
    return Optional.ofNullable(clusterQueues.get(name));
  }

  @Override
  public Optional<LocalQueueView> localQueue(LocalQueueId id) {
    return Optional.ofNullable(localQueues.get(id));
  }

  @Override
  public Optional<CohortView> cohort(String name) {
    return Optional.ofNullable(cohorts.get(name));
  }

  @Override
  public Collection<ClusterQueueView> clusterQueues() {
    return clusterQueues.values();
  }

  @Override
  public Collection<LocalQueueView> localQueues() {
    return localQueues.values();
  }

  @Override
  public Collection<CohortView> cohorts() {
    return cohorts.values();
  }
}

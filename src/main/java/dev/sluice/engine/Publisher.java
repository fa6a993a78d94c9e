package dev.sluice.engine;

import dev.sluice.model.Amounts;
import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.CohortSpec;
import dev.sluice.model.FlavorResource;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.LocalQueueSpec;
import dev.sluice.model.QueueProblem;
import dev.sluice.queue.PendingCount;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.AmountSums;
import dev.sluice.quota.QuotaNode;
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
 * Publishes immutable views of what changed. Written by the engine's thread, read by any. Cost of
 * publishing: the queues that changed and the cohorts above them.
 */
final class Publisher implements Views {

  private final Map<String, ClusterQueueView> clusterQueues = new ConcurrentHashMap<>();
  private final Map<LocalQueueId, LocalQueueView> localQueues = new ConcurrentHashMap<>();
  private final Map<String, CohortView> cohorts = new ConcurrentHashMap<>();
  private final List<ViewListener> listeners = new CopyOnWriteArrayList<>();

  void listen(ViewListener listener) {
    listeners.add(listener);
  }

  /** Publishes what changed in the engine since the last call. */
  void publish(Engine engine) {
    Changes changes = engine.changes();
    if (changes.isEmpty()) {
      return;
    }
    Registry registry = engine.registry();
    if (changes.all) {
      changes.clusterQueues.addAll(registry.clusterQueues.keySet());
      changes.clusterQueues.addAll(clusterQueues.keySet());
      changes.localQueues.addAll(registry.localQueues.keySet());
      changes.localQueues.addAll(localQueues.keySet());
    }
    Set<String> aboveChanged = changes.all ? allCohorts(registry) : new HashSet<>();
    for (String name : changes.clusterQueues) {
      replace(clusterQueues, name, clusterQueue(engine, name));
      addAncestors(registry, name, aboveChanged);
    }
    for (LocalQueueId id : changes.localQueues) {
      replace(localQueues, id, localQueue(registry, id));
    }
    for (String name : aboveChanged) {
      replace(cohorts, name, cohort(engine, name));
    }
    for (ViewListener listener : listeners) {
      listener.changed(
          Set.copyOf(changes.clusterQueues),
          Set.copyOf(changes.localQueues),
          Set.copyOf(aboveChanged));
    }
    changes.clear();
  }

  private static <K, V> void replace(Map<K, V> views, K key, @Nullable V view) {
    if (view == null) {
      views.remove(key);
    } else {
      views.put(key, view);
    }
  }

  private Set<String> allCohorts(Registry registry) {
    Set<String> names = new HashSet<>(registry.forest.cohortNames());
    names.addAll(cohorts.keySet());
    return names;
  }

  private static void addAncestors(Registry registry, String clusterQueue, Set<String> names) {
    QueueState state = registry.queueState(clusterQueue);
    QuotaNode node = state == null ? null : state.node().parent();
    while (node != null) {
      names.add(node.name());
      node = node.parent();
    }
  }

  private static @Nullable ClusterQueueView clusterQueue(Engine engine, String name) {
    Registry registry = engine.registry();
    ClusterQueueState queue = registry.clusterQueues.get(name);
    ClusterQueueSpec spec = queue == null ? null : queue.spec;
    QueueState state = queue == null ? null : queue.state;
    if (queue == null || spec == null || state == null) {
      return null;
    }
    PendingCount pending = queue.pending.count();
    boolean active = queue.active();
    return new ClusterQueueView(
        name,
        spec.cohort(),
        spec.cohort().isEmpty() ? "" : state.node().root().name(),
        queue.problems,
        active ? pending.active() : 0,
        active ? pending.inadmissible() : pending.active() + pending.inadmissible(),
        queue.holders.size(),
        queue.admittedCount,
        engine.share(state.node()),
        usage(registry, state, null, queue.admitted));
  }

  private static List<FlavorUsage> usage(
      Registry registry, QueueState state, @Nullable AmountSums reserved, AmountSums admitted) {
    List<FlavorUsage> usage = new ArrayList<>();
    QuotaNode node = state.node();
    for (QueueState.Group group : state.groups()) {
      for (int[] pairs : group.pairs()) {
        for (int pair : pairs) {
          FlavorResource names = registry.pairs.pair(pair);
          usage.add(
              new FlavorUsage(
                  names.flavor(),
                  names.resource(),
                  node.nominal(pair),
                  node.borrowingLimit(pair),
                  node.lendingLimit(pair),
                  reserved == null ? node.usage(pair) : reserved.get(pair),
                  admitted.get(pair)));
        }
      }
    }
    return usage;
  }

  private static @Nullable LocalQueueView localQueue(Registry registry, LocalQueueId id) {
    LocalQueueState queue = registry.localQueues.get(id);
    LocalQueueSpec spec = queue == null ? null : queue.spec;
    if (queue == null || spec == null) {
      return null;
    }
    ClusterQueueState above = registry.clusterQueues.get(spec.clusterQueue());
    QueueState state = above == null ? null : above.state;
    PendingCount pending = above == null ? PendingCount.NONE : above.pending.count(id);
    boolean active = above != null && above.active() && !queue.stopped();
    int keptOut = queue.keptOut.size();
    return new LocalQueueView(
        id,
        spec.clusterQueue(),
        problems(queue, spec, above),
        active ? pending.active() : 0,
        (active ? pending.inadmissible() : pending.active() + pending.inadmissible()) + keptOut,
        queue.reserving,
        queue.admittedCount,
        state == null ? List.of() : usage(registry, state, queue.reserved, queue.admitted),
        Ledger.view(queue));
  }

  private static List<QueueProblem> problems(
      LocalQueueState queue, LocalQueueSpec spec, @Nullable ClusterQueueState above) {
    if (queue.stopped()) {
      return List.of(new QueueProblem("Stopped", "LocalQueue is stopped"));
    }
    if (above == null || above.spec == null) {
      return List.of(
          new QueueProblem(
              "ClusterQueueDoesNotExist",
              "Can't submit new workloads to ClusterQueue "
                  + spec.clusterQueue()
                  + ": it doesn't exist"));
    }
    return above.active()
        ? List.of()
        : List.of(
            new QueueProblem(
                "ClusterQueueIsInactive",
                "Can't submit new workloads to ClusterQueue "
                    + spec.clusterQueue()
                    + ": it is inactive"));
  }

  private static @Nullable CohortView cohort(Engine engine, String name) {
    Registry registry = engine.registry();
    QuotaNode node = registry.forest.cohort(name);
    if (node == null) {
      return null;
    }
    List<FlavorUsage> usage = new ArrayList<>();
    for (int pair = 0; pair < registry.pairs.count(); pair++) {
      if (node.subtreeQuota(pair) != 0 || node.usage(pair) != 0) {
        FlavorResource names = registry.pairs.pair(pair);
        usage.add(
            new FlavorUsage(
                names.flavor(),
                names.resource(),
                node.subtreeQuota(pair),
                node.borrowingLimit(pair),
                node.lendingLimit(pair),
                node.usage(pair),
                Amounts.UNLIMITED));
      }
    }
    CohortSpec spec = registry.cohorts.get(name);
    return new CohortView(
        name,
        spec == null ? "" : spec.parent(),
        registry.forest.inCycle(name) ? "" : node.root().name(),
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

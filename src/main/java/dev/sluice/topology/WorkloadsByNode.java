package dev.sluice.topology;

import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.record.CachedWorkload;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The Workloads whose assignment names a node, by node. Thread-safe. */
final class WorkloadsByNode {

  private final Map<String, Set<PodStore.Key>> byNode = new ConcurrentHashMap<>();

  /** A Workload was created, changed or deleted. */
  void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    Set<String> had = nodesOf(before);
    Set<String> has = nodesOf(after);
    if (after != null) {
      has.stream()
          .filter(node -> !had.contains(node))
          .forEach(
              node ->
                  byNode
                      .computeIfAbsent(node, any -> ConcurrentHashMap.newKeySet(1))
                      .add(keyOf(after.id())));
    }
    if (before != null) {
      had.stream()
          .filter(node -> !has.contains(node))
          .forEach(node -> remove(node, keyOf(before.id())));
    }
  }

  private void remove(String node, PodStore.Key key) {
    byNode.computeIfPresent(
        node,
        (same, keys) -> {
          keys.remove(key);
          return keys.isEmpty() ? null : keys;
        });
  }

  /** The Workloads that are assigned to a node. */
  List<PodStore.Key> of(String node) {
    return List.copyOf(byNode.getOrDefault(node, Set.of()));
  }

  private static PodStore.Key keyOf(WorkloadId id) {
    return new PodStore.Key(id.namespace(), id.name());
  }

  private static Set<String> nodesOf(@Nullable CachedWorkload workload) {
    Set<String> nodes = new HashSet<>();
    if (workload != null) {
      workload
          .assignments()
          .forEach(assignment -> nodes.addAll(FailedNodePolicy.nodesOf(assignment)));
    }
    return nodes;
  }
}

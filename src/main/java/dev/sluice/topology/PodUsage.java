package dev.sluice.topology;

import dev.sluice.core.model.ResourceAmounts;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * What pods that are not placed by a topology request on each node, summed. Used by one thread at a
 * time.
 */
final class PodUsage {

  private final Map<UUID, Share> pods = new HashMap<>();
  private final Map<String, SortedMap<String, Long>> byNode = new HashMap<>();

  /** What a pod uses of its node. The amounts are shared between pods. */
  private record Share(String node, SortedMap<String, Long> used) {}

  /** Counts a pod on a node; returns the node whose sum changed. */
  Optional<String> put(UUID pod, String node, SortedMap<String, Long> used) {
    Share share = new Share(node, used);
    Share before = pods.get(pod);
    if (share.equals(before)) {
      return Optional.empty();
    }
    // A pod never moves to another node; its requests may be resized in place.
    remove(pod);
    pods.put(pod, share);
    SortedMap<String, Long> sum = byNode.computeIfAbsent(node, any -> new TreeMap<>());
    used.forEach((resource, amount) -> sum.merge(resource, amount, ResourceAmounts::add));
    return Optional.of(node);
  }

  /** Counts a pod no more; returns the node whose sum changed. */
  Optional<String> remove(UUID pod) {
    Share share = pods.remove(pod);
    if (share == null) {
      return Optional.empty();
    }
    SortedMap<String, Long> sum = byNode.getOrDefault(share.node(), new TreeMap<>());
    share
        .used()
        .forEach(
            (resource, amount) ->
                sum.computeIfPresent(
                    resource, (same, total) -> total <= amount ? null : total - amount));
    if (sum.isEmpty()) {
      byNode.remove(share.node());
    }
    return Optional.of(share.node());
  }

  /** What is used of a node. */
  SortedMap<String, Long> of(String node) {
    return Collections.unmodifiableSortedMap(
        new TreeMap<>(byNode.getOrDefault(node, Collections.emptySortedMap())));
  }

  /** The pods that are not among these. */
  List<UUID> others(Set<UUID> these) {
    return pods.keySet().stream().filter(pod -> !these.contains(pod)).toList();
  }

  /** The number of pods. */
  int size() {
    return pods.size();
  }
}

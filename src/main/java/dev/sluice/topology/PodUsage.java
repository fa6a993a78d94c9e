package dev.sluice.topology;

import dev.sluice.accounting.PodRecord;
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
import java.util.function.BiConsumer;

/**
 * What pods that are not placed by a topology request on each node, summed. Used by one thread at a
 * time.
 */
final class PodUsage {

  private static final String PODS = "pods";

  private final Map<UUID, PodRecord> pods = new HashMap<>();
  private final Map<String, SortedMap<String, Long>> byNode = new HashMap<>();

  /** Counts a pod on its node; returns the node whose sum changed. */
  Optional<String> put(PodRecord pod) {
    PodRecord before = pods.get(pod.uid());
    if (before != null
        && before.node().equals(pod.node())
        && before.amounts().equals(pod.amounts())) {
      return Optional.empty();
    }
    // A pod never moves to another node; its requests may be resized in place.
    remove(pod.uid());
    pods.put(pod.uid(), pod);
    SortedMap<String, Long> sum = byNode.computeIfAbsent(pod.node(), any -> new TreeMap<>());
    forEach(pod, (resource, amount) -> sum.merge(resource, amount, ResourceAmounts::add));
    return Optional.of(pod.node());
  }

  /** What a pod requests, itself as one of {@code pods} included. */
  private static void forEach(PodRecord pod, BiConsumer<String, Long> action) {
    SortedMap<String, Long> requested = pod.amounts().requested();
    requested.forEach(
        (resource, amount) -> {
          if (!resource.equals(PODS)) {
            action.accept(resource, amount);
          }
        });
    action.accept(PODS, ResourceAmounts.add(requested.getOrDefault(PODS, 0L), 1L));
  }

  /** What a pod requests, itself as one of {@code pods} included. */
  static SortedMap<String, Long> requests(PodRecord pod) {
    SortedMap<String, Long> requests = new TreeMap<>();
    forEach(pod, requests::put);
    return requests;
  }

  /** Counts a pod no more; returns the node whose sum changed. */
  Optional<String> remove(UUID uid) {
    PodRecord pod = pods.remove(uid);
    if (pod == null) {
      return Optional.empty();
    }
    SortedMap<String, Long> sum = byNode.getOrDefault(pod.node(), new TreeMap<>());
    forEach(
        pod,
        (resource, amount) ->
            sum.computeIfPresent(
                resource, (same, total) -> total <= amount ? null : total - amount));
    if (sum.isEmpty()) {
      byNode.remove(pod.node());
    }
    return Optional.of(pod.node());
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

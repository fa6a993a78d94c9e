package dev.sluice.reference;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.Mode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All ways to place pods in a tiny topology, tried one after the other. */
final class ExhaustivePlaces {

  private final List<String> levels;
  private final TopologyRequest asked;
  private final List<String> leaves = new ArrayList<>();
  private final List<List<ClusterNode>> nodes = new ArrayList<>();
  private final List<Toleration> tolerations;
  private final boolean eachNode;
  private int fewest;

  /**
   * @param eachNode whether the nodes of a leaf that is no node are judged one by one
   */
  ExhaustivePlaces(
      List<String> levels,
      List<ClusterNode> members,
      List<Toleration> tolerations,
      TopologyRequest asked,
      boolean eachNode) {
    this.eachNode = eachNode && !levels.getLast().equals("kubernetes.io/hostname");
    this.levels = levels;
    this.asked = asked;
    this.tolerations = tolerations;
    TreeMap<String, List<ClusterNode>> byLeaf = new TreeMap<>();
    for (ClusterNode node : members) {
      if (node.usable()) {
        ReferenceTopology.path(levels, node)
            .ifPresent(path -> byLeaf.computeIfAbsent(path, p -> new ArrayList<>()).add(node));
      }
    }
    leaves.addAll(byLeaf.keySet());
    nodes.addAll(byLeaf.values());
  }

  /** The fewest leaves that the pods (without their leader) need; 0 if they can't be placed. */
  int fewestLeaves(ReferenceTopology.Pods pods, ReferenceTopology.@Nullable Pods leader) {
    fewest = Integer.MAX_VALUE;
    if (leader == null) {
      fill(pods, null, -1, new int[leaves.size()], 0, pods.count());
    } else {
      for (int host = 0; host < leaves.size(); host++) {
        if (capacity(host, leader, null) > 0) {
          fill(pods, leader, host, new int[leaves.size()], 0, pods.count());
        }
      }
    }
    return fewest == Integer.MAX_VALUE ? 0 : fewest;
  }

  private void fill(
      ReferenceTopology.Pods pods,
      ReferenceTopology.@Nullable Pods leader,
      int host,
      int[] counts,
      int leaf,
      int left) {
    if (leaf == counts.length) {
      if (left == 0 && isAllowed(counts, host)) {
        int used = 0;
        for (int count : counts) {
          used += count > 0 ? 1 : 0;
        }
        fewest = Math.min(fewest, used);
      }
      return;
    }
    long most = Math.min(left, capacity(leaf, pods, leaf == host ? leader : null));
    for (int count = 0; count <= most; count++) {
      counts[leaf] = count;
      fill(pods, leader, host, counts, leaf + 1, left - count);
    }
    counts[leaf] = 0;
  }

  private long capacity(
      int leaf, ReferenceTopology.Pods pods, ReferenceTopology.@Nullable Pods before) {
    if (!eachNode) {
      return capacity(nodes.get(leaf), pods, before);
    }
    if (before == null) {
      return nodes.get(leaf).stream().mapToLong(node -> capacity(node, pods, null)).sum();
    }
    return nodes.get(leaf).stream()
        .filter(host -> capacity(host, before, null) > 0)
        .mapToLong(
            host ->
                nodes.get(leaf).stream()
                    .mapToLong(node -> capacity(node, pods, node == host ? before : null))
                    .sum())
        .max()
        .orElse(0);
  }

  private long capacity(
      ClusterNode node, ReferenceTopology.Pods pods, ReferenceTopology.@Nullable Pods before) {
    return ReferenceTopology.mayRun(pods.constraints(), node, tolerations)
        ? capacity(List.of(node), pods, before)
        : 0;
  }

  private long capacity(
      List<ClusterNode> members,
      ReferenceTopology.Pods pods,
      ReferenceTopology.@Nullable Pods before) {
    Map<String, Long> free = new HashMap<>();
    for (ClusterNode node : members) {
      node.allocatable().forEach((resource, amount) -> free.merge(resource, amount, Long::sum));
    }
    if (before != null) {
      before.perPod().forEach((resource, each) -> free.merge(resource, -each, Long::sum));
      free.merge("pods", -1L, Long::sum);
    }
    if (levels.getLast().equals("kubernetes.io/hostname")) {
      for (ClusterNode node : members) {
        if (!ReferenceTopology.mayRun(pods.constraints(), node, tolerations)) {
          return 0;
        }
      }
    }
    long most = 0;
    while (most < 100 && hasRoom(free, pods, most + 1)) {
      most++;
    }
    return most;
  }

  private static boolean hasRoom(Map<String, Long> free, ReferenceTopology.Pods pods, long count) {
    boolean room = free.getOrDefault("pods", 0L) >= count;
    for (Map.Entry<String, Long> each : pods.perPod().entrySet()) {
      room &=
          each.getValue() == 0 || free.getOrDefault(each.getKey(), 0L) >= each.getValue() * count;
    }
    return room;
  }

  /** Whether required domains hold all, and slices are whole; of one layer, all but one. */
  private boolean isAllowed(int[] counts, int host) {
    if (asked.mode() == Mode.REQUIRED) {
      Map<String, Integer> sums = sums(counts, levels.indexOf(asked.level()));
      if (host >= 0) {
        sums.merge(ancestor(leaves.get(host), levels.indexOf(asked.level())), 1, Integer::sum);
      }
      if (sums.size() > 1) {
        return false;
      }
    }
    int pods = 0;
    for (int count : counts) {
      pods += count;
    }
    for (TopologyRequest.Slice slice : asked.slices()) {
      int left = asked.slices().size() == 1 ? pods % slice.size() : 0;
      for (int sum : sums(counts, levels.indexOf(slice.level())).values()) {
        if (left > 0 && sum % slice.size() == left) {
          left = 0;
        } else if (sum % slice.size() != 0) {
          return false;
        }
      }
    }
    return true;
  }

  private Map<String, Integer> sums(int[] counts, int level) {
    Map<String, Integer> sums = new HashMap<>();
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        sums.merge(ancestor(leaves.get(i), level), counts[i], Integer::sum);
      }
    }
    return sums;
  }

  private static String ancestor(String path, int level) {
    int end = 0;
    for (int i = 0; i <= level; i++) {
      end = path.indexOf('/', end + 1);
    }
    return end < 0 ? path : path.substring(0, end);
  }
}

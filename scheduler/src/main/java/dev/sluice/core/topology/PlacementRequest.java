package dev.sluice.core.topology;

import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.TopologyRequest;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Pods to place in one tree of domains.
 *
 * @param pods the pods
 * @param leader one more pod, which has to be placed together with them; null without leader
 * @param topology what they ask of the topology
 */
public record PlacementRequest(Pods pods, @Nullable Pods leader, TopologyRequest topology) {

  /** The same request, in which the leader may run where the pods may. */
  PlacementRequest withLeaderLikePods() {
    return leader == null
        ? this
        : new PlacementRequest(
            pods, new Pods(leader.count, leader.perPod, pods.constraints), topology);
  }

  /**
   * Equal pods.
   *
   * @param count the number of pods
   * @param perPod what one pod requests of its node, by resource
   * @param constraints the nodes that the pods may run on
   */
  public record Pods(int count, SortedMap<String, Long> perPod, NodeConstraints constraints) {

    /** The pods of a pod set. */
    public static Pods of(PodSetRequest podSet) {
      return new Pods(podSet.count(), podSet.nodeRequests(), podSet.nodeConstraints());
    }
  }
}

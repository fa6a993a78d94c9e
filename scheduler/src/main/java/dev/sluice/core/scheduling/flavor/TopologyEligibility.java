package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.PodSetRequest;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.topology.TopologyCache;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether the topology of a flavor is what a pod set asks for
 * (docs/scheduling-semantics.md#topology).
 */
final class TopologyEligibility {

  private TopologyEligibility() {}

  /** Whether a pod set is placed by topology: it asks for it, or the queue implies it. */
  static boolean isPlaced(PodSetRequest podSet, ClusterQueueCache queue) {
    return podSet.count() > 0 && (podSet.topology().isExplicit() || queue.impliesTopology());
  }

  /**
   * Why a pod set can't get a flavor; empty if it can.
   *
   * @param chosen the flavor with a topology that the pod set has already for other resources; null
   *     if none
   */
  static Optional<FlavorRejection> rejection(
      TopologyCache topologies,
      ClusterQueueCache queue,
      ClusterQueueCache.Group group,
      @Nullable Flavor flavor,
      PodSetRequest podSet,
      @Nullable String chosen) {
    if (flavor == null || podSet.count() == 0 || !topologies.options().enabled()) {
      return Optional.empty();
    }
    boolean placed = isPlaced(podSet, queue);
    if (!topologies.isTopologyFlavor(flavor)) {
      return placed && requestsAny(podSet, group)
          ? Optional.of(new FlavorRejection.NoTopology())
          : Optional.empty();
    }
    if (!placed) {
      return Optional.of(new FlavorRejection.OnlyByTopology());
    }
    if (chosen != null && !chosen.equals(flavor.name())) {
      return Optional.of(new FlavorRejection.OtherTopologyFlavor(chosen));
    }
    TopologySpec spec = topologies.topology(flavor.topology());
    if (spec == null) {
      return Optional.of(
          new FlavorRejection.TopologyLevelMissing(flavor.topology(), "", List.of()));
    }
    TopologyRequest request = podSet.topology();
    if (TopologyCache.hasLevels(request, spec)) {
      return request.cuts(podSet.count(), topologies.options().placement().partialSlices())
          ? Optional.empty()
          : Optional.of(
              new FlavorRejection.UnevenSlices(podSet.count(), request.slices().getFirst().size()));
    }
    String level = request.level();
    for (TopologyRequest.Slice slice : request.slices()) {
      level = level.isEmpty() || spec.levels().contains(level) ? slice.level() : level;
    }
    return Optional.of(
        new FlavorRejection.TopologyLevelMissing(flavor.topology(), level, spec.levels()));
  }

  /** Whether the pods themselves request a resource of a group; what quota adds doesn't count. */
  private static boolean requestsAny(PodSetRequest podSet, ClusterQueueCache.Group group) {
    for (String resource : group.resources()) {
      if (podSet.nodeRequests().containsKey(resource)) {
        return true;
      }
    }
    return false;
  }
}

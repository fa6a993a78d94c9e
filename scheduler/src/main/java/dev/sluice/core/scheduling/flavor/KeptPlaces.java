package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.Mode;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.topology.PlacementRequest;
import dev.sluice.core.topology.PlacementRequest.Pods;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.core.topology.TopologyTree;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The places that a slice of an elastic job takes over from the slice that it replaces: pods that
 * run stay where they are, and only the additional ones are placed
 * (docs/elastic-jobs.md#where-nodes-are-assigned-by-topology).
 */
final class KeptPlaces {

  private KeptPlaces() {}

  /**
   * The places that a pod set keeps; null if it has none.
   *
   * @param replaced the pod sets of the slice that is replaced; empty if none is
   */
  static @Nullable TopologyAssignment of(List<PodSetAssignment> replaced, String podSet) {
    return placesOf(find(replaced, podSet));
  }

  private static @Nullable TopologyAssignment placesOf(@Nullable PodSetAssignment podSet) {
    return podSet == null ? null : podSet.topology().assignment().orElse(null);
  }

  private static @Nullable PodSetAssignment find(List<PodSetAssignment> replaced, String podSet) {
    for (PodSetAssignment each : replaced) {
      if (each.name().equals(podSet)) {
        return each;
      }
    }
    return null;
  }

  /**
   * Whether the pod sets of a bundle can have a flavor with a topology beside the pods that run.
   * That is so if they replace nothing, or don't grow, or ask neither for a level nor for slices
   * nor to be placed together; what runs is of the same size and in the same topology. The pods of
   * a set that had no pods can't be held back until they have places.
   */
  static boolean mayGrow(
      TopologyCache topologies,
      ResourceDemand demand,
      ResourceDemand.Bundle bundle,
      @Nullable Flavor flavor) {
    if (!demand.replaces() || flavor == null) {
      return true;
    }
    TopologySpec spec = topologies.topology(flavor.topology());
    if (spec == null) {
      // Pods that are asked for are refused later, for the topology that is missing.
      return bundle.members().stream()
          .map(member -> demand.podSets().get(member))
          .allMatch(each -> each.count() > 0 || of(demand.replaced(), each.name()) == null);
    }
    if (!topologies.options().grows()) {
      return false;
    }
    for (int member : bundle.members()) {
      PodSetRequest podSet = demand.podSets().get(member);
      PodSetAssignment before = find(demand.replaced(), podSet.name());
      TopologyAssignment kept = placesOf(before);
      if (before != null
          && kept != null
          && !(kept.levels().equals(spec.assignedLevels())
              && before.flavors().containsValue(flavor.name())
              && before.topology().perPod().equals(podSet.nodeRequests()))) {
        return false;
      }
      boolean later = before != null && before.topology().delay() != PodSetTopology.Delay.NONE;
      if (podSet.count() > 0 && kept == null && !later) {
        return false;
      }
      if (podSet.count() > (kept == null ? 0 : kept.pods())
          && (bundle.members().size() > 1 || !isAnywhere(podSet.topology()))) {
        return false;
      }
    }
    return true;
  }

  static boolean isAnywhere(TopologyRequest request) {
    return (request.mode() == Mode.NONE || request.mode() == Mode.UNCONSTRAINED)
        && request.slices().isEmpty();
  }

  /**
   * Finds places for pods, some of which may have theirs. More places than pods are all kept: which
   * of them the remaining pods are in is known when the others are gone.
   *
   * @param kept the places of the pods that run, whose usage counts already; null if none run
   * @param empty whether what Workloads use is ignored
   */
  static Placement place(
      TopologyCache topologies,
      TopologyTree tree,
      PlacementRequest request,
      @Nullable TopologyAssignment kept,
      boolean empty) {
    if (kept == null) {
      return topologies.place(tree, request, empty);
    }
    Pods pods = request.pods();
    long more = pods.count() - kept.pods();
    if (more <= 0) {
      return new Placement.Placed(kept, null);
    }
    Pods added = new Pods((int) more, pods.perPod(), pods.constraints());
    return switch (topologies.place(
        tree, new PlacementRequest(added, null, request.topology()), empty)) {
      case Placement.Failed failed -> failed;
      case Placement.Placed(var places, var leader) ->
          new Placement.Placed(tree.union(kept, places), null);
    };
  }
}

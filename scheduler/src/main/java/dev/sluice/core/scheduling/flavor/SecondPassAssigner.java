package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.FlavorRejection.TopologyShortage;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.SecondPass;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.core.topology.PlacementRequest;
import dev.sluice.core.topology.PlacementRequest.Pods;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.core.topology.TopologyTree;
import dev.sluice.core.topology.TopologyUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds the places that a Workload with quota lacks (docs/topology.md#the-second-pass), in the
 * flavors that it has. The usage of its other places has to count.
 */
public final class SecondPassAssigner {

  /** The result of a search. */
  public sealed interface Result {}

  /** The assignments, with places for all pod sets. */
  public record Assigned(List<PodSetAssignment> podSets) implements Result {}

  /**
   * A pod set without places.
   *
   * @param shortage why there is no room; empty if its topology, or the domain of a place that
   *     stays, doesn't exist
   */
  public record Unplaced(String podSet, Optional<TopologyShortage> shortage) implements Result {}

  private final TopologyCache topologies;
  private final SecondPass lacking;
  private final List<PodSetAssignment> podSets;
  private final List<PodSetAssignment> replaced;
  private final List<Runnable> undo = new ArrayList<>();

  private SecondPassAssigner(
      TopologyCache topologies,
      List<PodSetAssignment> podSets,
      List<PodSetAssignment> replaced,
      SecondPass lacking) {
    this.topologies = topologies;
    this.replaced = replaced;
    this.podSets = new ArrayList<>(podSets);
    this.lacking = lacking;
  }

  /**
   * Finds the places that {@code podSets} lack; changes nothing.
   *
   * @param replaced the pod sets of the slice that the Workload replaces, whose usage counts; empty
   *     if it replaces none
   */
  public static Result assign(
      TopologyCache topologies,
      List<PodSetAssignment> podSets,
      List<PodSetAssignment> replaced,
      SecondPass lacking) {
    SecondPassAssigner search = new SecondPassAssigner(topologies, podSets, replaced, lacking);
    try {
      Unplaced unplaced = search.assign();
      return unplaced == null ? new Assigned(List.copyOf(search.podSets)) : unplaced;
    } finally {
      search.undo.reversed().forEach(Runnable::run);
    }
  }

  private @Nullable Unplaced assign() {
    for (int i = 0; i < podSets.size(); i++) {
      Unplaced unplaced = null;
      if (podSets.get(i).topology().delay() == PodSetTopology.Delay.PENDING) {
        boolean alone = !replaced.isEmpty();
        unplaced = alone ? place(i, -1) : isLeader(i) ? null : place(i, leaderOf(i));
      } else if (topologies.options().replacesNodes() && isLost(podSets.get(i))) {
        unplaced = replace(i);
      }
      if (unplaced != null) {
        return unplaced;
      }
    }
    return null;
  }

  private boolean isLost(PodSetAssignment podSet) {
    return podSet
        .topology()
        .assignment()
        .filter(TopologyAssignment::isOfNodes)
        .filter(
            places ->
                places.domains().stream()
                    .anyMatch(domain -> lacking.lostNodes().contains(domain.values().getLast())))
        .isPresent();
  }

  private @Nullable Unplaced place(int podSet, int leader) {
    PodSetRequest request = request(podSet);
    String flavor = flavorOf(podSet);
    TopologyTree tree = flavor == null ? null : topologies.tree(flavor);
    if (request == null
        || flavor == null
        || tree == null
        || !TopologyCache.hasLevels(request.topology(), tree.spec())) {
      return new Unplaced(podSets.get(podSet).name(), Optional.empty());
    }
    PodSetRequest leading = leader < 0 ? null : request(leader);
    PlacementRequest wanted =
        new PlacementRequest(
            Pods.of(request), leading == null ? null : Pods.of(leading), request.topology());
    TopologyAssignment kept = KeptPlaces.of(replaced, request.name());
    if (kept != null && !kept.levels().equals(tree.spec().assignedLevels())) {
      return new Unplaced(podSets.get(podSet).name(), Optional.empty());
    }
    return switch (KeptPlaces.place(topologies, tree, wanted, kept, false)) {
      case Placement.Failed failed ->
          new Unplaced(podSets.get(podSet).name(), Optional.of(failed.shortage()));
      case Placement.Placed(var places, var ofLeader) -> {
        set(podSet, flavor, PodSetTopology.Delay.READY, places, kept);
        if (ofLeader != null) {
          set(leader, flavor, PodSetTopology.Delay.READY, ofLeader, null);
        }
        yield null;
      }
    };
  }

  private @Nullable Unplaced replace(int podSet) {
    PodSetAssignment assignment = podSets.get(podSet);
    TopologyAssignment current = assignment.topology().assignment().orElse(null);
    PodSetRequest request = request(podSet);
    String flavor = flavorOf(podSet);
    TopologyTree tree = flavor == null ? null : topologies.tree(flavor);
    if (current == null
        || request == null
        || flavor == null
        || tree == null
        || !tree.spec().endsAtNodes()
        || !TopologyCache.hasLevels(request.topology(), tree.spec())) {
      return new Unplaced(assignment.name(), Optional.empty());
    }
    int partner = partnerOf(podSet);
    TopologyAssignment together =
        partner < 0 ? null : podSets.get(partner).topology().assignment().orElse(null);
    Placement found =
        topologies.replace(
            tree, Pods.of(request), request.topology(), current, together, lacking.lostNodes());
    return switch (found) {
      case null -> new Unplaced(assignment.name(), Optional.empty());
      case Placement.Failed failed ->
          new Unplaced(assignment.name(), Optional.of(failed.shortage()));
      case Placement.Placed(var places, var ofLeader) -> {
        TopologyUsage former = topologies.usage(flavor, current, assignment.topology().perPod());
        former.forget(false);
        undo.add(() -> former.assume(false));
        set(podSet, flavor, assignment.topology().delay(), places, null);
        yield null;
      }
    };
  }

  /**
   * Sets places.
   *
   * @param counted the part of them whose usage counts; null if none does
   */
  private void set(
      int podSet,
      String flavor,
      PodSetTopology.Delay delay,
      TopologyAssignment places,
      @Nullable TopologyAssignment counted) {
    PodSetAssignment assignment = podSets.get(podSet);
    PodSetRequest request = request(podSet);
    PodSetTopology topology =
        new PodSetTopology(
            delay,
            Optional.of(places),
            request == null ? assignment.topology().perPod() : request.nodeRequests(),
            request == null
                ? assignment.topology().member()
                : request.topology().spreading().map(Spreading::member));
    podSets.set(podSet, assignment.with(topology));
    TopologyUsage usage =
        TopologyUsage.beyond(
            topologies.usage(flavor, topology),
            counted == null ? null : topologies.usage(flavor, counted, topology.perPod()));
    if (usage != null) {
      usage.assume(false);
      undo.add(() -> usage.forget(false));
    }
  }

  /** What a pod set asks for, for as many pods as it has: fewer after a partial admission. */
  private @Nullable PodSetRequest request(int podSet) {
    for (PodSetRequest request : lacking.podSets()) {
      if (request.name().equals(podSets.get(podSet).name())) {
        return request.withCount(podSets.get(podSet).count());
      }
    }
    return null;
  }

  private @Nullable String flavorOf(int podSet) {
    for (String flavor : podSets.get(podSet).flavors().values()) {
      if (topologies.isTopologyFlavor(flavor)) {
        return flavor;
      }
    }
    return null;
  }

  /** The other one of a group of two pod sets that have pods; -1 without. */
  private int partnerOf(int podSet) {
    PodSetRequest request = request(podSet);
    int partner = -1;
    if (request != null && !request.group().isEmpty()) {
      for (int i = 0; i < podSets.size(); i++) {
        PodSetRequest other = i == podSet ? null : request(i);
        if (other != null && other.count() > 0 && other.group().equals(request.group())) {
          if (partner >= 0) {
            return -1;
          }
          partner = i;
        }
      }
    }
    return partner;
  }

  /** The pod set whose only pod is placed together with those of this one; -1 without. */
  private int leaderOf(int podSet) {
    int partner = partnerOf(podSet);
    return partner >= 0 && isLeader(partner) ? partner : -1;
  }

  /** Whether a pod set is the smaller one of its group: one pod, placed with those of the other. */
  private boolean isLeader(int podSet) {
    int partner = partnerOf(podSet);
    PodSetRequest request = request(podSet);
    PodSetRequest other = partner < 0 ? null : request(partner);
    if (request == null || other == null || request.count() != 1) {
      return false;
    }
    return other.count() > 1 || podSet < partner;
  }
}

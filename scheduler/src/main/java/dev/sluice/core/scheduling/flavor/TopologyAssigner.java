package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.topology.PlacementRequest;
import dev.sluice.core.topology.PlacementRequest.Pods;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.core.topology.TopologyTree;
import dev.sluice.core.topology.TopologyUsage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds places for the pods of a Workload whose flavors are assigned
 * (docs/topology.md#in-the-engine). Pod sets are placed one after the other, each with the usage of
 * the ones before it; no usage is changed in the end.
 */
public final class TopologyAssigner {

  /**
   * Pod sets that are placed together.
   *
   * @param pods the index of the pod set
   * @param leader the index of the leader's pod set; -1 without leader
   * @param flavor the flavor whose nodes are assigned
   * @param bundle the index of the bundle of the pod sets
   */
  private record Group(int pods, int leader, String flavor, int bundle) {}

  /** A pod set without room. */
  private record Failure(Group group, Placement.Failed placement) {}

  private final TopologyCache topologies;
  private final ResourceDemand demand;
  private final int[] chosen;
  private final PodSetTopology[] result;
  private final List<TopologyUsage> assumed = new ArrayList<>();
  private final List<TopologyUsage> whole = new ArrayList<>();

  /** The requests whose places depend on the groups of other Workloads, and their flavors. */
  private final Map<TopologyRequest, String> spread = new LinkedHashMap<>(0);

  /** Whether some nodes of the domains may be closed to pods of the Workload. */
  private boolean restricted;

  /** What the slice that the Workload replaces uses; null if it replaces none. */
  private final @Nullable TopologyUsage held;

  private TopologyAssigner(TopologyCache topologies, ResourceDemand demand, int[] chosen) {
    this.topologies = topologies;
    this.demand = demand;
    this.chosen = chosen;
    this.result = new PodSetTopology[demand.podSets().size()];
    this.held = topologies.usage(demand.replaced());
  }

  /**
   * Adds places to an assignment. If there is no room at the moment, the pairs of the pod set need
   * preemption; if empty nodes have no room either, the request doesn't fit.
   */
  public static Assignment assign(
      TopologyCache topologies, ResourceDemand demand, Assignment assignment) {
    if (assignment.noFit() != null || !demand.queue().topologyAware()) {
      return assignment;
    }
    if (assignment.fits()) {
      TopologyAssigner now = new TopologyAssigner(topologies, demand, assignment.chosen());
      Failure failure = now.place(false);
      if (failure == null) {
        return assignment.with(now.places());
      }
      return needingPreemption(topologies, demand, assignment, now, failure);
    }
    return onEmptyNodes(topologies, demand, assignment);
  }

  /** Finds places with the usage that counts at the moment; empty if there is no room. */
  public static Optional<AssignedPlaces> places(
      TopologyCache topologies, ResourceDemand demand, int[] chosen) {
    TopologyAssigner now = new TopologyAssigner(topologies, demand, chosen);
    return now.place(false) == null ? Optional.of(now.places()) : Optional.empty();
  }

  private static Assignment needingPreemption(
      TopologyCache topologies,
      ResourceDemand demand,
      Assignment assignment,
      TopologyAssigner now,
      Failure failure) {
    Assignment possible = onEmptyNodes(topologies, demand, assignment);
    if (possible.noFit() != null) {
      return possible;
    }
    TreeSet<Integer> needed = new TreeSet<>();
    ClusterQueueCache queue = demand.queue();
    ResourceDemand.Bundle bundle = demand.bundles().get(failure.group.bundle);
    for (int i = 0; i < queue.groups().size(); i++) {
      ClusterQueueCache.Group group = queue.groups().get(i);
      int flavor = assignment.chosen()[FlavorAssigner.slot(queue, bundle, i)];
      for (int j = 0; flavor >= 0 && j < group.resources().size(); j++) {
        if (bundle.amounts().containsKey(group.resources().get(j))) {
          needed.add(group.pairs()[flavor][j]);
        }
      }
    }
    if (needed.isEmpty()) {
      // The pods use no quota, and yet wait for what others use.
      needed.add(queue.groups().getFirst().pairs()[0][0]);
    }
    return assignment.lackingPlaces(
        new AssignedPlaces(
            List.of(), null, List.of(now.attempt(failure, false, AssignmentMode.NO_CANDIDATES))),
        needed.stream().mapToInt(Integer::intValue).toArray());
  }

  private static Assignment onEmptyNodes(
      TopologyCache topologies, ResourceDemand demand, Assignment assignment) {
    TopologyAssigner empty = new TopologyAssigner(topologies, demand, assignment.chosen());
    Failure failure = empty.place(true);
    return failure == null
        ? assignment
        : assignment.withoutPlaces(
            PendingReason.TOPOLOGY_PLACEMENT_FAILED,
            new AssignedPlaces(
                List.of(), null, List.of(empty.attempt(failure, true, AssignmentMode.NO_FIT))));
  }

  private FlavorAttempt attempt(Failure failure, boolean everEmpty, AssignmentMode mode) {
    return new FlavorAttempt(
        demand.podSets().get(failure.group.pods).name(),
        failure.group.flavor,
        mode,
        0,
        List.of(
            new FlavorRejection.NoPlacement(
                failure.placement.shortage(), everEmpty, failure.placement.crowding())));
  }

  private AssignedPlaces places() {
    List<PodSetTopology> podSets = new ArrayList<>(result.length);
    for (PodSetTopology each : result) {
      podSets.add(each == null ? PodSetTopology.NONE : each);
    }
    TopologyUsage usage = TopologyUsage.beyond(TopologyUsage.together(whole), held);
    TopologyUsage sure = usage != null && restricted ? usage.asFreeAsNow() : usage;
    return new AssignedPlaces(
        podSets,
        sure == null || spread.isEmpty() ? sure : topologies.asLongAsGroupsAreThere(sure, spread),
        List.of());
  }

  /** Places all pod sets; returns the first that has no room, or null. */
  private @Nullable Failure place(boolean empty) {
    if (empty && held != null) {
      held.assume(true);
      assumed.add(held);
    }
    Failure failure = null;
    for (Group group : groups()) {
      failure = place(group, empty);
      if (failure != null) {
        break;
      }
    }
    for (TopologyUsage usage : assumed.reversed()) {
      usage.forget(empty);
    }
    return failure;
  }

  private @Nullable Failure place(Group group, boolean empty) {
    PodSetRequest podSet = demand.podSets().get(group.pods);
    if (demand.queue().spec().delaysTopologyOf().contains(group.flavor)) {
      delay(group.pods);
      if (group.leader >= 0) {
        delay(group.leader);
      }
      return null;
    }
    TopologyTree tree = topologies.tree(group.flavor);
    if (tree == null) {
      throw new IllegalStateException("flavor " + group.flavor + " has no topology");
    }
    PodSetRequest leader = group.leader < 0 ? null : demand.podSets().get(group.leader);
    PlacementRequest request =
        new PlacementRequest(
            Pods.of(podSet), leader == null ? null : Pods.of(leader), podSet.topology());
    restricted |= topologies.isRestricted(tree, request);
    if (podSet.topology().spreading().filter(each -> !each.rules().isEmpty()).isPresent()) {
      spread.put(podSet.topology(), group.flavor);
    }
    TopologyAssignment kept = KeptPlaces.of(demand.replaced(), podSet.name());
    return switch (KeptPlaces.place(topologies, tree, request, kept, empty)) {
      case Placement.Failed failed -> new Failure(group, failed);
      case Placement.Placed placed -> {
        assume(group.pods, group.flavor, placed.pods(), kept, empty);
        TopologyAssignment place = placed.leader();
        if (place != null) {
          assume(group.leader, group.flavor, place, null, empty);
        }
        yield null;
      }
    };
  }

  private void delay(int podSet) {
    result[podSet] =
        new PodSetTopology(PodSetTopology.Delay.PENDING, Optional.empty(), new TreeMap<>());
  }

  private void assume(
      int podSet,
      String flavor,
      TopologyAssignment assignment,
      @Nullable TopologyAssignment kept,
      boolean empty) {
    PodSetTopology topology =
        new PodSetTopology(
            PodSetTopology.Delay.NONE,
            Optional.of(assignment),
            demand.podSets().get(podSet).nodeRequests(),
            demand.podSets().get(podSet).topology().spreading().map(Spreading::member));
    result[podSet] = topology;
    TopologyUsage usage = topologies.usage(flavor, topology);
    whole.add(usage);
    TopologyUsage more =
        kept == null
            ? usage
            : TopologyUsage.beyond(usage, topologies.usage(flavor, kept, topology.perPod()));
    if (more != null) {
      more.assume(empty);
      assumed.add(more);
    }
  }

  private List<Group> groups() {
    List<Group> groups = new ArrayList<>();
    for (int bundle = 0; bundle < demand.bundles().size(); bundle++) {
      List<Integer> members = new ArrayList<>(demand.bundles().get(bundle).members());
      String flavor = flavorOf(bundle);
      members.removeIf(each -> !hasPlaces(demand.podSets().get(each)));
      if (flavor == null) {
        continue;
      }
      if (members.size() == 2 && !demand.replaces()) {
        boolean ascending = count(members.getFirst()) <= count(members.getLast());
        int leader = ascending ? members.getFirst() : members.getLast();
        if (count(leader) == 1) {
          int pods = ascending ? members.getLast() : members.getFirst();
          groups.add(new Group(pods, leader, flavor, bundle));
          continue;
        }
      }
      for (int member : members) {
        groups.add(new Group(member, -1, flavor, bundle));
      }
    }
    return groups;
  }

  private boolean hasPlaces(PodSetRequest podSet) {
    return TopologyEligibility.isPlaced(podSet, demand.queue())
        || KeptPlaces.of(demand.replaced(), podSet.name()) != null;
  }

  private int count(int podSet) {
    return demand.podSets().get(podSet).count();
  }

  private @Nullable String flavorOf(int bundle) {
    ClusterQueueCache queue = demand.queue();
    for (int i = 0; i < queue.groups().size(); i++) {
      int flavor = chosen[FlavorAssigner.slot(queue, demand.bundles().get(bundle), i)];
      String name = flavor < 0 ? null : queue.groups().get(i).flavors().get(flavor);
      if (name != null && topologies.isTopologyFlavor(name)) {
        return name;
      }
    }
    return null;
  }

  /**
   * Checks whether the topology of a flavor is what a pod set asks for
   * (docs/scheduling-semantics.md#topology).
   */
  static final class TopologyEligibility {

    private TopologyEligibility() {}

    /** Whether a pod set is placed by topology: it asks for it, or the queue implies it. */
    static boolean isPlaced(PodSetRequest podSet, ClusterQueueCache queue) {
      return podSet.count() > 0 && (podSet.topology().isExplicit() || queue.impliesTopology());
    }

    /**
     * Why a pod set can't get a flavor; empty if it can.
     *
     * @param chosen the flavor with a topology that the pod set has already for other resources;
     *     null if none
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
                new FlavorRejection.UnevenSlices(
                    podSet.count(), request.slices().getFirst().size()));
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
}

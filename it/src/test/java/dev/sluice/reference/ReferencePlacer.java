package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.reference.ReferenceAssigner.Lack;
import dev.sluice.reference.ReferenceAssigner.Mode;
import dev.sluice.reference.ReferenceAssigner.Result;
import dev.sluice.reference.ReferenceNodes.Use;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Places for the pods of a Workload that has flavors, word by word
 * (docs/scheduling-semantics.md#topology).
 */
final class ReferencePlacer {

  private final ReferenceNodes nodes;
  private final ClusterQueueSpec queue;
  private final Map<String, Flavor> flavors;

  ReferencePlacer(ReferenceNodes nodes, ClusterQueueSpec queue, Map<String, Flavor> flavors) {
    this.nodes = nodes;
    this.queue = queue;
    this.flavors = flavors;
  }

  /** Whether the pods of a pod set get places: it says so, or all flavors of the queue do. */
  boolean isPlaced(PodSetRequest podSet) {
    List<String> all =
        queue.groups().stream()
            .flatMap(group -> group.flavors().stream())
            .map(ResourceGroup.FlavorQuotas::flavor)
            .toList();
    boolean implied =
        nodes.flaw != TopologyFlaw.NOTHING_IS_IMPLIED
            && !all.isEmpty()
            && all.stream().allMatch(nodes::isTopologyFlavor);
    return podSet.count() > 0 && (podSet.topology().isExplicit() || implied);
  }

  /**
   * Whether a pod set may get a flavor for the resources of a group.
   *
   * @param before the flavors that it was given for other groups
   */
  boolean mayGet(String flavor, PodSetRequest podSet, ResourceGroup group, Set<String> before) {
    if (podSet.count() == 0 && nodes.flaw != TopologyFlaw.NO_PODS_NEED_PLACES) {
      return true;
    }
    if (!nodes.isTopologyFlavor(flavor)) {
      return nodes.flaw == TopologyFlaw.FLAVORS_WITHOUT_TOPOLOGY
          || !isPlaced(podSet)
          || group.resources().stream().noneMatch(podSet.nodeRequests()::containsKey);
    }
    if (nodes.flaw == TopologyFlaw.TOPOLOGIES_FOR_EVERYBODY && !isPlaced(podSet)) {
      return true;
    }
    return isPlaced(podSet)
        && before.stream()
            .filter(nodes::isTopologyFlavor)
            .allMatch(other -> other.equals(flavor) || nodes.flaw == TopologyFlaw.TWO_TOPOLOGIES)
        && nodes.topologyOf(flavor).filter(spec -> has(spec, podSet.topology())).isPresent()
        && isCut(podSet);
  }

  /** Whether all slices are whole, or the last one may be smaller: then there is one layer. */
  private boolean isCut(PodSetRequest podSet) {
    List<TopologyRequest.Slice> slices = podSet.topology().slices();
    return slices.isEmpty()
        || podSet.count() % slices.getFirst().size() == 0
        || (nodes.options.placement().partialSlices() && slices.size() == 1);
  }

  /** Whether a topology has the levels of a request, in order, with sizes that divide. */
  private static boolean has(TopologySpec spec, TopologyRequest request) {
    int level =
        switch (request.mode()) {
          case REQUIRED, PREFERRED -> spec.levels().indexOf(request.level());
          case NONE, UNCONSTRAINED -> spec.levels().size() - 1;
          case SLICES -> 0;
        };
    int above = -1;
    int whole = 0;
    boolean ok = level >= 0;
    for (TopologyRequest.Slice slice : request.slices()) {
      int at = spec.levels().indexOf(slice.level());
      boolean first = above < 0;
      ok &= at >= 0 && slice.size() > 0;
      ok &= first ? at >= level : at > above;
      ok = ok && (first || whole % slice.size() == 0);
      above = at;
      whole = slice.size();
      if (!ok) {
        return false;
      }
    }
    return ok;
  }

  /**
   * Adds places to what was found for a Workload: without room it needs preemption, and if even
   * nodes that no Workload uses have no room, it doesn't fit.
   */
  Result complete(ReferenceSnapshot snapshot, RequestShape shape, Result found) {
    if (found.mode() == Mode.NO_FIT) {
      return found;
    }
    Result result = found;
    if (found.mode() == Mode.FIT) {
      Attempt now = new Attempt(shape, found, uses(snapshot));
      if (now.failed.isEmpty()) {
        return found.with(now.podSets());
      }
      result =
          nodes.flaw == TopologyFlaw.NO_PREEMPTION_FOR_PLACES
              ? noFit(found)
              : needing(found, now.failed);
    }
    if (nodes.flaw == TopologyFlaw.EMPTY_NODES_ARE_NOT_TRIED) {
      return result;
    }
    List<Use> running = nodes.uses(replaced(shape));
    return new Attempt(shape, found, running).failed.isEmpty() ? result : noFit(found);
  }

  private static Result noFit(Result found) {
    return new Result(
        Mode.NO_FIT,
        found.borrowLevel(),
        found.usage(),
        Set.of(),
        found.flavors(),
        List.of(),
        found.progress(),
        nothing(found.usage().keySet()),
        true,
        found.again());
  }

  /** Its pods have no room: any release of what it has quota of may help. */
  private static Result needing(Result found, List<Integer> failed) {
    Set<FlavorResource> needed = new HashSet<>();
    for (int index : failed) {
      found
          .podSets()
          .get(index)
          .flavors()
          .forEach((resource, flavor) -> needed.add(new FlavorResource(flavor, resource)));
    }
    return new Result(
        Mode.PREEMPT,
        found.borrowLevel(),
        found.usage(),
        needed,
        found.flavors(),
        found.podSets(),
        found.progress(),
        nothing(needed),
        true,
        found.again());
  }

  private static Set<Lack> nothing(Set<FlavorResource> pairs) {
    Set<Lack> lacks = new HashSet<>();
    pairs.forEach(pair -> lacks.add(new Lack(pair, 0)));
    return lacks;
  }

  /** The pod sets with places, as usage is in a snapshot; empty if there is no room. */
  Optional<List<PodSetAssignment>> places(
      ReferenceSnapshot snapshot, RequestShape shape, Result found) {
    Attempt now = new Attempt(shape, found, uses(snapshot));
    return now.failed.isEmpty() ? Optional.of(now.podSets()) : Optional.empty();
  }

  /**
   * Whether the places that are found are sure only as long as nobody uses more of their domains.
   */
  boolean isRestricted(ReferenceSnapshot snapshot, RequestShape shape, Result found) {
    return found.mode() != Mode.NO_FIT && new Attempt(shape, found, uses(snapshot)).restricted;
  }

  /** What the slice has that one of this shape replaces. */
  private static List<PodSetAssignment> replaced(RequestShape shape) {
    return shape.replaced().map(ReplacedSlice::podSets).orElse(List.of());
  }

  /** The places of a pod set that runs already; nothing if it doesn't. */
  private static Optional<PodSetAssignment> running(RequestShape shape, PodSetRequest podSet) {
    return replaced(shape).stream()
        .filter(each -> each.name().equals(podSet.name()))
        .filter(each -> each.topology().assignment().isPresent())
        .findFirst();
  }

  /** Whether a pod set may be in a flavor beside those of its pods that run. */
  boolean mayStay(String flavor, PodSetRequest podSet, boolean alone, RequestShape shape) {
    TopologySpec spec = nodes.topologyOf(flavor).orElse(null);
    if (shape.replaced().isEmpty() || !nodes.isTopologyFlavor(flavor)) {
      return true;
    }
    Optional<PodSetAssignment> running = running(shape, podSet);
    if (spec == null) {
      return podSet.count() > 0 || running.isEmpty();
    }
    List<String> levels = spec.endsAtNodes() ? List.of(TopologySpec.HOSTNAME) : spec.levels();
    boolean same =
        running
            .filter(
                each ->
                    !(places(each).levels().equals(levels)
                        && each.topology().perPod().equals(podSet.nodeRequests())
                        && each.flavors().containsValue(flavor)))
            .isEmpty();
    boolean hadNone =
        running.isEmpty()
            && podSet.count() > 0
            && replaced(shape).stream()
                .filter(each -> each.name().equals(podSet.name()))
                .allMatch(each -> each.topology().delay() == PodSetTopology.Delay.NONE);
    boolean grows = podSet.count() > running.map(each -> places(each).pods()).orElse(0L);
    boolean anywhere =
        switch (podSet.topology().mode()) {
          case NONE, UNCONSTRAINED -> podSet.topology().slices().isEmpty();
          case REQUIRED, PREFERRED, SLICES -> nodes.flaw == TopologyFlaw.ANYBODY_GROWS;
        };
    return nodes.options.grows() && same && !hadNone && (!grows || (alone && anywhere));
  }

  private static TopologyAssignment places(PodSetAssignment podSet) {
    return podSet.topology().assignment().orElseThrow();
  }

  private List<Use> uses(ReferenceSnapshot snapshot) {
    return nodes.flaw == TopologyFlaw.WORKLOADS_USE_NOTHING ? List.of() : snapshot.allUses(nodes);
  }

  /** Places are looked for, group after group, each with the use of those before it. */
  private final class Attempt {
    private final RequestShape shape;
    private final PodSetAssignment[] result;
    private final List<Use> uses;

    /** Whether some node is closed to some of the pods, where nodes are judged one by one. */
    private boolean restricted;

    /** The pod sets of the group that has no room. */
    private List<Integer> failed = List.of();

    Attempt(RequestShape shape, Result found, List<Use> uses) {
      this.shape = shape;
      this.uses = new ArrayList<>(uses);
      this.result = found.podSets().toArray(PodSetAssignment[]::new);
      for (List<Integer> group : ReferenceAssigner.groups(shape)) {
        if (failed.isEmpty() && !placed(group)) {
          failed = group;
        }
      }
    }

    List<PodSetAssignment> podSets() {
      return Arrays.asList(result);
    }

    private boolean placed(List<Integer> group) {
      Optional<String> flavor =
          group.stream()
              .flatMap(index -> result[index].flavors().values().stream())
              .filter(nodes::isTopologyFlavor)
              .findFirst();
      if (flavor.isEmpty()) {
        return true;
      }
      List<Integer> members = new ArrayList<>(group);
      members.removeIf(
          index ->
              !isPlaced(shape.podSets().get(index))
                  && running(shape, shape.podSets().get(index)).isEmpty());
      if (members.size() == 2
          && shape.replaced().isEmpty()
          && nodes.flaw != TopologyFlaw.LEADERS_ARE_ALONE) {
        int first = count(members.getFirst());
        int second = count(members.getLast());
        int leader = first <= second ? members.getFirst() : members.getLast();
        if (count(leader) == 1) {
          return placed(
              flavor.get(),
              leader == members.getFirst() ? members.getLast() : members.getFirst(),
              leader);
        }
      }
      return members.stream().allMatch(index -> placed(flavor.get(), index, -1));
    }

    private int count(int index) {
      return shape.podSets().get(index).count();
    }

    private boolean placed(String flavor, int index, int leader) {
      if (queue.delaysTopologyOf().contains(flavor) && nodes.flaw != TopologyFlaw.NO_DELAY) {
        delay(index);
        if (leader >= 0) {
          delay(leader);
        }
        return true;
      }
      TopologySpec spec = nodes.topologyOf(flavor).orElseThrow();
      Flavor known = Objects.requireNonNull(flavors.get(flavor));
      PodSetRequest podSet = shape.podSets().get(index);
      ReferenceTopology topology = topology(spec, known, labels -> true);
      restricted |=
          topology.isRestrictedFor(pods(index))
              || (leader >= 0 && topology.isRestrictedFor(leader(leader, index)));
      Optional<TopologyAssignment> running =
          running(shape, podSet)
              .filter(each -> nodes.flaw != TopologyFlaw.SLICES_ARE_PLACED_ANEW)
              .map(ReferencePlacer::places);
      if (running.isPresent()) {
        return grown(flavor, spec, index, running.get());
      }
      Optional<ReferenceTopology.Places> places =
          spread(
              spec,
              known,
              podSet.topology(),
              each ->
                  each.place(
                      podSet.topology(), pods(index), leader < 0 ? null : leader(leader, index)));
      if (places.isEmpty()) {
        return false;
      }
      assign(flavor, spec, index, places.get());
      String host = places.get().leader();
      if (host != null) {
        assign(
            flavor,
            spec,
            leader,
            new ReferenceTopology.Places(new TreeMap<>(Map.of(host, 1)), null, ""));
      }
      return true;
    }

    /** Looks for places where the rules allow it that spread groups. */
    private Optional<ReferenceTopology.Places> spread(
        TopologySpec spec,
        Flavor flavor,
        TopologyRequest request,
        Function<ReferenceTopology, Optional<ReferenceTopology.Places>> search) {
      return request
          .spreading()
          .map(
              spreading ->
                  new ReferenceSpreading(spec.levels(), spreading, uses)
                      .place(labels -> search.apply(topology(spec, flavor, labels))))
          .orElseGet(() -> search.apply(topology(spec, flavor, labels -> true)));
    }

    private ReferenceTopology topology(
        TopologySpec spec, Flavor flavor, Predicate<Map<String, String>> labels) {
      ReferenceTopology topology =
          new ReferenceTopology(
              spec.levels(),
              nodes.options.placement().mixedProfile(),
              nodes.options.placement().balanced(),
              nodes.open(flavor).stream().filter(node -> labels.test(node.labels())).toList(),
              nodes.used(flavor.name(), uses),
              flavor.tolerations(),
              nodes.flaw);
      return nodes.options.placement().eachNode() && nodes.flaw != TopologyFlaw.NODES_ARE_ONE
          ? topology.judgingNodes(nodes.others())
          : topology;
    }

    /** Pods that run stay; only those beyond them are placed. */
    private boolean grown(String flavor, TopologySpec spec, int index, TopologyAssignment running) {
      PodSetRequest podSet = shape.podSets().get(index);
      long more = podSet.count() - running.pods();
      TopologyAssignment added = new TopologyAssignment(running.levels(), List.of());
      if (more > 0) {
        Optional<ReferenceTopology.Places> found =
            spread(
                spec,
                Objects.requireNonNull(flavors.get(flavor)),
                podSet.topology(),
                each ->
                    each.place(
                        podSet.topology(),
                        new ReferenceTopology.Pods(
                            (int) more, podSet.nodeRequests(), podSet.nodeConstraints()),
                        null));
        if (found.isEmpty()) {
          return false;
        }
        added = assignment(spec, found.get());
      }
      Map<List<String>, Integer> sums = new LinkedHashMap<>();
      running
          .domains()
          .forEach(domain -> sums.merge(domain.values(), domain.count(), Integer::sum));
      added.domains().forEach(domain -> sums.merge(domain.values(), domain.count(), Integer::sum));
      List<TopologyAssignment.Domain> all = new ArrayList<>();
      sums.forEach((values, pods) -> all.add(new TopologyAssignment.Domain(values, pods)));
      if (more > 0) {
        all.sort(Comparator.comparing(domain -> order(flavor, spec, domain.values())));
      }
      result[index] =
          result[index].with(
              new PodSetTopology(
                  PodSetTopology.Delay.NONE,
                  Optional.of(new TopologyAssignment(running.levels(), all)),
                  podSet.nodeRequests(),
                  member(podSet)));
      uses.addAll(nodes.uses(flavor, added, podSet.nodeRequests(), member(podSet)));
      nodes.uses(flavor, running, new TreeMap<>(), member(podSet)).stream()
          .map(ReferenceNodes.Use::asGroupOnly)
          .forEach(uses::add);
      return true;
    }

    /** The position of a domain; a node that is lost comes last. */
    private String order(String flavor, TopologySpec spec, List<String> values) {
      if (!spec.endsAtNodes()) {
        return "/" + String.join("/", values);
      }
      return nodes.members(Objects.requireNonNull(flavors.get(flavor))).stream()
          .filter(
              node -> values.equals(List.of(node.labels().getOrDefault(TopologySpec.HOSTNAME, ""))))
          .flatMap(node -> ReferenceTopology.path(spec.levels(), node).stream())
          .findFirst()
          .orElse("~");
    }

    private ReferenceTopology.Pods pods(int index) {
      PodSetRequest podSet = shape.podSets().get(index);
      return new ReferenceTopology.Pods(
          podSet.count(), podSet.nodeRequests(), podSet.nodeConstraints());
    }

    /** A leader, which may run where its own template says, or its workers'. */
    private ReferenceTopology.Pods leader(int leader, int workers) {
      boolean own =
          nodes.options.placement().leaderLikeWorkers()
              == (nodes.flaw == TopologyFlaw.LEADERS_ARE_LIKE_WORKERS);
      return new ReferenceTopology.Pods(
          1,
          shape.podSets().get(leader).nodeRequests(),
          shape.podSets().get(own ? leader : workers).nodeConstraints());
    }

    private static Optional<Spreading.Member> member(PodSetRequest podSet) {
      return podSet.topology().spreading().map(Spreading::member);
    }

    private void delay(int index) {
      result[index] =
          result[index].with(
              new PodSetTopology(PodSetTopology.Delay.PENDING, Optional.empty(), new TreeMap<>()));
    }

    private void assign(
        String flavor, TopologySpec spec, int index, ReferenceTopology.Places places) {
      TopologyAssignment assignment = assignment(spec, places);
      SortedMap<String, Long> perPod = shape.podSets().get(index).nodeRequests();
      result[index] =
          result[index].with(
              new PodSetTopology(
                  PodSetTopology.Delay.NONE,
                  Optional.of(assignment),
                  perPod,
                  member(shape.podSets().get(index))));
      if (nodes.flaw != TopologyFlaw.GROUPS_DO_NOT_COUNT) {
        uses.addAll(nodes.uses(flavor, assignment, perPod, member(shape.podSets().get(index))));
      }
    }

    private TopologyAssignment assignment(TopologySpec spec, ReferenceTopology.Places places) {
      List<TopologyAssignment.Domain> domains = new ArrayList<>();
      for (String path : places.inOrder()) {
        List<String> values = List.of(path.substring(1).split("/"));
        domains.add(
            new TopologyAssignment.Domain(
                spec.endsAtNodes() ? List.of(values.getLast()) : values,
                places.pods().getOrDefault(path, 0)));
      }
      return new TopologyAssignment(
          spec.endsAtNodes() ? List.of(TopologySpec.HOSTNAME) : spec.levels(), domains);
    }
  }
}

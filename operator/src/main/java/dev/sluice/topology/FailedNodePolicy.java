package dev.sluice.topology;

import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Finds the nodes of an assignment that can't run its pods any more
 * (docs/topology.md#failed-nodes), or have no room for them. The result depends only on the
 * arguments.
 *
 * @param onPodTermination whether a node that isn't ready fails once no pod of the Workload is on
 *     it (TASReplaceNodeOnPodTermination)
 * @param onTaints whether the same is true of a node with a taint that is not tolerated
 *     (TASReplaceNodeOnNodeTaints)
 * @param afterFixedTime whether a node fails {@link #FIXED_TIME} after it stopped being ready
 *     (TASReplaceNodeDueToNotReadyOverFixedTime)
 * @param several whether several failed nodes of a Workload are replaced
 *     (TASReplaceMultipleFailedNodes)
 */
public record FailedNodePolicy(
    boolean onPodTermination, boolean onTaints, boolean afterFixedTime, boolean several) {

  /** The most failed nodes of a Workload that are replaced; a status lists no more. */
  static final int MOST = 8;

  /** The time after which a node that isn't ready fails, whatever pods are on it. */
  static final Duration FIXED_TIME = Duration.ofSeconds(30);

  /**
   * How long a pod has to wait for room on its node until it is placed anew. Pods of others that
   * were bound while its Workload was placed are no surprise that passes.
   */
  static final Duration CROWDED_TIME = Duration.ofSeconds(10);

  /**
   * What is known of the nodes and pods of a Workload.
   *
   * @param nodes finds nodes by hostname, which is what assignments name them by
   * @param pods the placed pods of the Workload that have not terminated
   * @param tolerations the tolerations of a pod set's pods
   * @param hasRoom whether a node has room for a pod beside the pods that are bound to it
   */
  public record NodeContext(
      Function<String, Optional<NodeState>> nodes,
      Collection<TopologyPod> pods,
      Function<CachedWorkload.Assignment, List<Toleration>> tolerations,
      BiPredicate<NodeState, TopologyPod> hasRoom,
      Instant now) {}

  /**
   * What is to be done about a Workload.
   *
   * @param unhealthy the nodes that its status is to list
   * @param evicted the message of its eviction, if it is to be evicted
   * @param lookAgainAt the time at which a further node fails, unless it recovers
   */
  public record NodeVerdict(
      List<String> unhealthy, Optional<String> evicted, Optional<Instant> lookAgainAt) {

    /** Copies the list. */
    public NodeVerdict {
      unhealthy = List.copyOf(unhealthy);
    }
  }

  /**
   * The pods by their nodes, so that a Workload of many pods on many nodes is judged by looking at
   * each of them once.
   *
   * @param bound the pods that are bound to a node, by its name
   * @param sent the pods that a scheduler may bind to a node at any moment, by its hostname
   */
  private record PodsByNode(
      Map<String, List<TopologyPod>> bound, Map<String, List<TopologyPod>> sent) {

    static PodsByNode of(NodeContext context) {
      return new PodsByNode(
          context.pods().stream()
              .filter(pod -> !pod.node().isEmpty())
              .collect(Collectors.groupingBy(TopologyPod::node)),
          FailedNodePolicy.sent(context.pods()).stream()
              .collect(Collectors.groupingBy(TopologyPod::target)));
    }

    /** A pod is bound to a node by its name, and sent to it by its hostname. */
    List<TopologyPod> on(NodeState node) {
      return bound.getOrDefault(node.node().name(), List.of());
    }

    List<TopologyPod> sentTo(String hostname) {
      return sent.getOrDefault(hostname, List.of());
    }

    boolean isEmpty(NodeState node) {
      return on(node).stream().allMatch(TopologyPod::deleting);
    }
  }

  /**
   * What is to be done about a Workload. One failed node is replaced; when another one fails
   * before, the Workload is evicted, unless several can be replaced.
   */
  public NodeVerdict of(CachedWorkload workload, NodeContext context) {
    PodsByNode pods = PodsByNode.of(context);
    Set<String> failed = new LinkedHashSet<>();
    Optional<Instant> next = Optional.empty();
    for (CachedWorkload.Assignment assignment : workload.assignments()) {
      List<Toleration> tolerations = context.tolerations().apply(assignment);
      for (String node : nodesOf(assignment)) {
        Optional<NodeState> state = context.nodes().apply(node);
        boolean listed = workload.status().unhealthyNodes().contains(node);
        Optional<Instant> crowded =
            state.flatMap(
                found -> crowdedSince(found, pods.sentTo(node), assignment.name(), context));
        boolean full = crowded.filter(since -> isOver(since, context)).isPresent();
        if (full && !pods.isEmpty(state.get())) {
          // To replace the node would move the places of pods that run there, too.
          return new NodeVerdict(
              workload.status().unhealthyNodes(),
              Optional.of("No room for all of its pods on " + node),
              next);
        }
        if (full || hasFailed(state, context, pods, tolerations, listed)) {
          failed.add(node);
        } else if (crowded.isPresent()) {
          next = earlier(next, crowded.get().plus(CROWDED_TIME));
        } else if (afterFixedTime && state.isPresent() && isNotReady(state.get())) {
          next = earlier(next, state.get().since().plus(FIXED_TIME));
        }
      }
    }
    List<String> listed =
        workload.status().unhealthyNodes().stream().filter(failed::contains).toList();
    List<String> names = new ArrayList<>(listed);
    failed.stream().filter(node -> !names.contains(node)).forEach(names::add);
    if (failed.size() > 1 && !canReplace(workload, failed)) {
      return new NodeVerdict(
          listed, Optional.of("Several of its nodes failed: " + String.join(", ", names)), next);
    }
    return new NodeVerdict(names, Optional.empty(), next);
  }

  /** Whether several nodes are replaced. */
  private boolean canReplace(CachedWorkload workload, Set<String> failed) {
    return several
        && failed.size() <= MOST
        && workload.assignments().stream()
            .filter(each -> nodesOf(each).stream().filter(failed::contains).count() > 1)
            .allMatch(each -> isInWholeSlices(workload, each));
  }

  /** Whether a pod set has no slices, or one layer of them without a partial one. */
  private static boolean isInWholeSlices(
      CachedWorkload workload, CachedWorkload.Assignment assignment) {
    List<TopologyRequest.Slice> slices =
        workload.spec().podSets().stream()
            .filter(podSet -> podSet.name().equals(assignment.name()))
            .findFirst()
            .map(podSet -> podSet.topology().slices())
            .orElse(List.of());
    long pods = assignment.topology().map(TopologyAssignment::pods).orElse(0L);
    return slices.isEmpty() || (slices.size() == 1 && pods % slices.getFirst().size() == 0);
  }

  private static Optional<Instant> earlier(Optional<Instant> next, Instant at) {
    return next.filter(other -> other.isBefore(at)).or(() -> Optional.of(at));
  }

  private static boolean isOver(Instant since, NodeContext context) {
    return !context.now().isBefore(since.plus(CROWDED_TIME));
  }

  /**
   * Since when a pod of a pod set that was sent to a node has waited, because there is no room for
   * it; empty if none does. Who took the room, such as pods that no queue holds, were bound before
   * it.
   */
  private static Optional<Instant> crowdedSince(
      NodeState node, List<TopologyPod> sent, String podSet, NodeContext context) {
    return sent.stream()
        .filter(pod -> pod.podSet().equals(podSet))
        .filter(pod -> pod.binding().unschedulableSince().isPresent())
        .filter(pod -> !context.hasRoom().test(node, pod))
        .flatMap(pod -> pod.binding().unschedulableSince().stream())
        .min(Instant::compareTo);
  }

  /**
   * Pods that wait for a failed node, and that no scheduler can bind any more: their places were
   * assigned, and the node failed, or was full, before they were bound. Those of a full node are
   * told when other places were found: until then they are what shows that it is full. A pod
   * without the label of its pod set may belong to any of them, so it is one only if that is true
   * of all.
   */
  public List<TopologyPod> stranded(CachedWorkload workload, NodeContext context) {
    PodsByNode pods = PodsByNode.of(context);
    List<Placement> placements =
        workload.assignments().stream()
            .map(
                each ->
                    new Placement(
                        each.name(), Set.copyOf(nodesOf(each)), context.tolerations().apply(each)))
            .filter(each -> !each.nodes().isEmpty())
            .toList();
    List<TopologyPod> result = new ArrayList<>();
    for (TopologyPod pod : sent(context.pods())) {
      Optional<NodeState> state = context.nodes().apply(pod.target());
      boolean listed = workload.status().unhealthyNodes().contains(pod.target());
      List<Placement> own =
          placements.stream()
              .filter(each -> pod.podSet().isEmpty() || pod.podSet().equals(each.podSet()))
              .toList();
      if (!own.isEmpty()
          && own.stream()
              .allMatch(
                  each -> {
                    boolean replaced = !each.nodes().contains(pod.target());
                    return (replaced || listed)
                        && (hasFailed(state, context, pods, each.tolerations(), true)
                            || (replaced && isFull(state, pod, context)));
                  })) {
        result.add(pod);
      }
    }
    return result;
  }

  /** Where a pod set was placed, and what its pods tolerate there. */
  private record Placement(String podSet, Set<String> nodes, List<Toleration> tolerations) {}

  private static boolean isFull(Optional<NodeState> state, TopologyPod pod, NodeContext context) {
    return state.filter(found -> !context.hasRoom().test(found, pod)).isPresent();
  }

  /**
   * Pods that were sent to a node, are not bound to it, and that a scheduler may bind at any
   * moment. If no Workload of theirs has an admission, they are left over from an earlier one, or
   * were never part of one.
   */
  static List<TopologyPod> sent(Collection<TopologyPod> pods) {
    return pods.stream()
        .filter(pod -> pod.gates().isEmpty() && pod.node().isEmpty() && !pod.deleting())
        .filter(pod -> !pod.target().isEmpty())
        .toList();
  }

  /** The nodes of an assignment; none if its domains are larger than a node. */
  static List<String> nodesOf(CachedWorkload.Assignment assignment) {
    return assignment
        .topology()
        .filter(TopologyAssignment::isOfNodes)
        .map(
            topology ->
                topology.domains().stream().map(domain -> domain.values().getLast()).toList())
        .orElse(List.of());
  }

  /**
   * Whether a node can't run pods with these tolerations any more.
   *
   * @param known whether the node has failed before, for as long as nothing shows that it recovered
   */
  private boolean hasFailed(
      Optional<NodeState> found,
      NodeContext context,
      PodsByNode pods,
      List<Toleration> tolerations,
      boolean known) {
    if (found.isEmpty() || found.get().readiness() == NodeState.Readiness.MISSING) {
      return true;
    }
    NodeState state = found.get();
    if (isNotReady(state)) {
      return (afterFixedTime && !context.now().isBefore(state.since().plus(FIXED_TIME)))
          || (onPodTermination && pods.isEmpty(state));
    }
    if (!onTaints || !pods.isEmpty(state)) {
      return false;
    }
    boolean leaving = known || !pods.on(state).isEmpty();
    return state.node().taints().stream()
        .filter(Taint::keepsPodsOff)
        .anyMatch(
            taint ->
                switch (tolerance(taint, tolerations)) {
                  case NONE -> true;
                  // pods may be placed there as long as none was taken off the node
                  case TEMPORARY -> leaving;
                  case LASTING -> false;
                });
  }

  private static boolean isNotReady(NodeState state) {
    return state.readiness() == NodeState.Readiness.NOT_READY;
  }

  /** How long pods stay on a node with a taint. */
  private enum Tolerance {
    NONE,
    TEMPORARY,
    LASTING
  }

  /** The first toleration that matches counts, as it does where the cluster takes pods off. */
  private static Tolerance tolerance(Taint taint, List<Toleration> tolerations) {
    return tolerations.stream()
        .filter(toleration -> toleration.tolerates(taint))
        .findFirst()
        .map(
            toleration ->
                toleration.temporary() && taint.effect().equals("NoExecute")
                    ? Tolerance.TEMPORARY
                    : Tolerance.LASTING)
        .orElse(Tolerance.NONE);
  }
}

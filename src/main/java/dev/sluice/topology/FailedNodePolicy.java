package dev.sluice.topology;

import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.workload.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Finds the nodes of an assignment that can't run its pods any more
 * (docs/topology-operating.md#failed-nodes). The result depends only on the arguments.
 *
 * @param onPodTermination whether a node that isn't ready fails once no pod of the Workload is on
 *     it (TASReplaceNodeOnPodTermination)
 * @param onTaints whether the same is true of a node with a taint that is not tolerated
 *     (TASReplaceNodeOnNodeTaints)
 * @param afterFixedTime whether a node fails {@link #FIXED_TIME} after it stopped being ready
 *     (TASReplaceNodeDueToNotReadyOverFixedTime)
 */
public record FailedNodePolicy(boolean onPodTermination, boolean onTaints, boolean afterFixedTime) {

  /** The time after which a node that isn't ready fails, whatever pods are on it. */
  static final Duration FIXED_TIME = Duration.ofSeconds(30);

  /**
   * What is known of the nodes and pods of a Workload.
   *
   * @param nodes finds nodes by name
   * @param pods the placed pods of the Workload that have not terminated
   * @param tolerations the tolerations of a pod set's pods
   */
  public record NodeContext(
      Function<String, Optional<NodeState>> nodes,
      Collection<TopologyPod> pods,
      Function<CachedWorkload.Assignment, List<Toleration>> tolerations,
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
   * What is to be done about a Workload. One failed node is replaced; when another one fails
   * before, the Workload is evicted.
   */
  public NodeVerdict of(CachedWorkload workload, NodeContext context) {
    Set<String> failed = new LinkedHashSet<>();
    Optional<Instant> next = Optional.empty();
    for (CachedWorkload.Assignment assignment : workload.assignments()) {
      List<Toleration> tolerations = context.tolerations().apply(assignment);
      for (String node : nodesOf(assignment)) {
        Optional<NodeState> state = context.nodes().apply(node);
        boolean listed = workload.status().unhealthyNodes().contains(node);
        if (hasFailed(node, state, context, tolerations, listed)) {
          failed.add(node);
        } else if (afterFixedTime && state.isPresent() && isNotReady(state.get())) {
          Instant at = state.get().since().plus(FIXED_TIME);
          next = next.filter(other -> other.isBefore(at)).or(() -> Optional.of(at));
        }
      }
    }
    List<String> listed =
        workload.status().unhealthyNodes().stream().filter(failed::contains).toList();
    if (failed.size() > 1) {
      List<String> names = new ArrayList<>(listed);
      failed.stream().filter(node -> !names.contains(node)).forEach(names::add);
      return new NodeVerdict(
          listed, Optional.of("Several of its nodes failed: " + String.join(", ", names)), next);
    }
    return new NodeVerdict(List.copyOf(failed), Optional.empty(), next);
  }

  /**
   * Pods that wait for a failed node, and that no scheduler can bind any more: their places were
   * assigned, and the node failed before they were bound. A pod without the label of its pod set
   * may belong to any of them, so it is one only if that is true of all.
   */
  public List<TopologyPod> stranded(CachedWorkload workload, NodeContext context) {
    List<TopologyPod> result = new ArrayList<>();
    for (TopologyPod pod : sent(context.pods())) {
      List<CachedWorkload.Assignment> own =
          workload.assignments().stream()
              .filter(each -> pod.podSet().isEmpty() || pod.podSet().equals(each.name()))
              .filter(each -> !nodesOf(each).isEmpty())
              .toList();
      if (!own.isEmpty() && own.stream().allMatch(each -> isLost(pod, workload, each, context))) {
        result.add(pod);
      }
    }
    return result;
  }

  private boolean isLost(
      TopologyPod pod,
      CachedWorkload workload,
      CachedWorkload.Assignment assignment,
      NodeContext context) {
    String node = pod.target();
    return (workload.status().unhealthyNodes().contains(node)
            || !nodesOf(assignment).contains(node))
        && hasFailed(
            node,
            context.nodes().apply(node),
            context,
            context.tolerations().apply(assignment),
            true);
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
      String name,
      Optional<NodeState> found,
      NodeContext context,
      List<Toleration> tolerations,
      boolean known) {
    if (found.isEmpty() || found.get().readiness() == NodeState.Readiness.MISSING) {
      return true;
    }
    NodeState state = found.get();
    if (isNotReady(state)) {
      return (afterFixedTime && !context.now().isBefore(state.since().plus(FIXED_TIME)))
          || (onPodTermination && isEmpty(name, context.pods()));
    }
    if (!onTaints || !isEmpty(name, context.pods())) {
      return false;
    }
    boolean leaving = known || context.pods().stream().anyMatch(pod -> pod.node().equals(name));
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

  private static boolean isEmpty(String node, Collection<TopologyPod> pods) {
    return pods.stream().noneMatch(pod -> pod.node().equals(node) && !pod.deleting());
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

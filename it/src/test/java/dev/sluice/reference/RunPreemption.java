package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.reference.ReferenceTree.Node;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the condition Preempted of a victim tells.
 *
 * @param reason the reason of the condition
 * @param preemptor the UID of the Workload that it goes for
 * @param path names from the root of the tree down to the preemptor's queue
 * @param victimPath the same of the victim's queue
 * @param priority the preemptor's effective priority
 * @param victimPriority the victim's
 */
record RunPreemption(
    String reason,
    String preemptor,
    List<String> path,
    List<String> victimPath,
    long priority,
    long victimPriority) {

  private static final Pattern MESSAGE =
      Pattern.compile(
          "Preempted to accommodate a workload \\(UID: (\\S+), JobUID: \\S+\\) due to .+;"
              + " preemptor path: /(\\S+); preemptee path: /(\\S+);"
              + " preemptor effective priority: (-?\\d+);"
              + " preemptee effective priority: (-?\\d+)");

  static Optional<RunPreemption> read(RunWorkload.Preempted condition) {
    Matcher matcher = MESSAGE.matcher(condition.message());
    return matcher.matches()
        ? Optional.of(
            new RunPreemption(
                condition.reason(),
                matcher.group(1),
                List.of(matcher.group(2).split("/")),
                List.of(matcher.group(3).split("/")),
                Long.parseLong(matcher.group(4)),
                Long.parseLong(matcher.group(5))))
        : Optional.empty();
  }

  /** What is wrong with it if it was decided in this world; nothing if it is right. */
  Optional<String> wrongIn(RunWorld world, RunWorkload victim, Optional<FairSharing> sharing) {
    RunWorkload other = world.workloads().get(preemptor);
    RunWorkload then = world.workloads().get(victim.id().uid());
    if (other == null || !other.waits()) {
      return Optional.of("preempted for one who doesn't wait");
    }
    if (then == null || !then.holds()) {
      return Optional.of("preempted before it held anything");
    }
    ClusterQueueSpec queue = world.queues().get(world.queueOf(other));
    if (queue == null) {
      return Optional.of("preempted for one without a queue");
    }
    ReferenceTree tree = world.tree();
    if (!path.equals(tree.path(queue.name()))
        || !victimPath.equals(tree.path(then.clusterQueue()))) {
      return Optional.of("preempted by another way than is told");
    }
    if (priority != other.priority() || victimPriority != then.priority()) {
      return Optional.of("preempted with other priorities than are told");
    }
    return queue.name().equals(then.clusterQueue())
        ? wrongWithin(queue.preemption(), other, then)
        : wrongBeyond(queue, then, tree, sharing);
  }

  private Optional<String> wrongWithin(
      PreemptionPolicies policies, RunWorkload other, RunWorkload victim) {
    if (!reason.equals("InClusterQueue")) {
      return Optional.of("preempted in its own queue as if it were in another");
    }
    boolean allowed =
        switch (policies.withinClusterQueue()) {
          case NEVER -> false;
          case LOWER_PRIORITY -> victimPriority < priority;
          case LOWER_OR_NEWER_EQUAL_PRIORITY ->
              victimPriority < priority
                  || (victimPriority == priority && other.createdAt().isBefore(victim.createdAt()));
        };
    return allowed
        ? Optional.empty()
        : Optional.of("preempted although " + WithinClusterQueue.class.getSimpleName());
  }

  private Optional<String> wrongBeyond(
      ClusterQueueSpec queue,
      RunWorkload victim,
      ReferenceTree tree,
      Optional<FairSharing> sharing) {
    PreemptionPolicies policies = queue.preemption();
    boolean lower = victimPriority < priority;
    if (policies.reclaimWithinCohort() == ReclaimWithinCohort.NEVER
        || (policies.reclaimWithinCohort() == ReclaimWithinCohort.LOWER_PRIORITY && !lower)) {
      return Optional.of("preempted although ReclaimWithinCohort");
    }
    if (!path.getFirst().equals(victimPath.getFirst())) {
      return Optional.of("preempted for one of another tree");
    }
    if (!borrowsUpTo(victim, tree, sharing.isPresent())) {
      return Optional.of("preempted although nobody there borrows");
    }
    boolean known =
        switch (reason) {
          case "InCohortReclamation" -> true;
          case "InCohortFairSharing" -> sharing.isPresent();
          case "InCohortReclaimWhileBorrowing" ->
              sharing.isEmpty()
                  && policies.borrowWithinCohort()
                  && lower
                  && (policies.borrowMaxPriorityThreshold().isEmpty()
                      || victimPriority <= policies.borrowMaxPriorityThreshold().getAsInt());
          default -> false;
        };
    return known ? Optional.empty() : Optional.of("preempted although not by " + reason);
  }

  /**
   * Its queue, and each cohort below the one that both have in common, use more than their own: of
   * what it holds or, where quota is shared fairly, a cohort of anything.
   */
  private boolean borrowsUpTo(RunWorkload victim, ReferenceTree tree, boolean fairly) {
    Set<FlavorResource> held = ReferenceEntry.usage(victim.podSets()).keySet();
    Node queue = new Node(true, victim.clusterQueue());
    List<Node> chain = tree.ancestors(queue);
    return borrows(queue, held, tree)
        && chain.stream()
            .takeWhile(node -> !path.contains(node.name()))
            .allMatch(node -> borrows(node, fairly ? tree.pairs() : held, tree));
  }

  private static boolean borrows(Node node, Set<FlavorResource> pairs, ReferenceTree tree) {
    return pairs.stream().anyMatch(pair -> tree.unused(node, pair) < 0);
  }
}

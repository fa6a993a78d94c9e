package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.reference.Decided.Preemption;
import dev.sluice.reference.Decided.Victim;
import dev.sluice.reference.ReferenceTree.Node;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What must hold of whom a single Workload preempts, told from the world before and the victims
 * alone: they make room, none of them can stay, and nobody is taken from a queue within its quota.
 * Only those preemptions can be judged so that nobody else in the tree interferes with, and that
 * are made for a single pod set.
 */
final class VictimSetChecks {

  private final ReferenceQuestions before;
  private int judged;

  VictimSetChecks(ReferenceQuestions before) {
    this.before = before;
  }

  /** How many were judged. */
  int judged() {
    return judged;
  }

  /** Judges those of a cycle. */
  void check(List<Decided> decided) {
    ReferenceSnapshot world = before.snapshot();
    for (Decided each : decided) {
      if (each instanceof Preemption preemption
          && !PreemptionChecks.isMigration(preemption)
          && undisturbed(preemption, decided, world)) {
        PendingWorkload preemptor = before.pendingOf(preemption.id().uid()).orElseThrow();
        if (preemptor.shape().podSets().size() == 1
            && !preemptor.shape().podSets().getFirst().topology().isExplicit()
            && !before.impliesTopology(preemption.clusterQueue())
            && !growsBeside(preemptor, world)) {
          judged++;
          check(preemption, preemptor.shape().podSets().getFirst(), world);
        }
      }
    }
  }

  /**
   * Whether it needs less than it asks for, since the slice that it replaces holds a part of it.
   */
  private static boolean growsBeside(PendingWorkload preemptor, ReferenceSnapshot world) {
    return preemptor.shape().slice().stream()
        .anyMatch(
            slice ->
                world.holders().stream()
                    .anyMatch(holder -> holder.id().name().equals(slice.replaces())));
  }

  /** Nobody else in the tree decided anything in this cycle, or waits for those who go. */
  private static boolean undisturbed(
      Preemption preemption, List<Decided> decided, ReferenceSnapshot world) {
    Collection<String> tree = world.tree().tree(preemption.clusterQueue());
    return decided.stream().filter(each -> tree.contains(each.clusterQueue())).count() == 1
        && world.holders().stream()
            .noneMatch(holder -> holder.evicted() && tree.contains(holder.queue()));
  }

  private void check(Preemption preemption, PodSetRequest podSet, ReferenceSnapshot world) {
    List<ReferenceHolder> victims = new ArrayList<>();
    for (ReferenceHolder holder : world.holders()) {
      if (preemption.victims().containsKey(holder.id().uid())) {
        victims.add(holder);
      }
    }
    ClusterQueueSpec queue = Objects.requireNonNull(before.queues().get(preemption.clusterQueue()));
    List<Map<FlavorResource, Long>> requests = requests(podSet, queue);
    boolean least =
        requests.stream()
            .anyMatch(
                request ->
                    isLeast(request, victims, world, preemption, true)
                        || isLeast(request, victims, world, preemption, false));
    require(least, "too few victims, or too many", preemption);
    for (ReferenceHolder holder : victims) {
      Victim victim = Objects.requireNonNull(preemption.victims().get(holder.id().uid()));
      if (victim.reason() != PreemptionReason.IN_CLUSTER_QUEUE
          && queue.rules().preemptionConfig().isEmpty()) {
        require(borrowsWhatIsAsked(holder, requests, world), "taken from its own quota", victim);
      }
    }
  }

  /** Whether another one was chosen by shares that count this one: then it goes in any case. */
  private static boolean lowersShare(
      ReferenceHolder holder, Preemption preemption, ReferenceSnapshot world) {
    Node self = new Node(true, preemption.clusterQueue());
    return world.holders().stream()
        .filter(
            other ->
                Optional.ofNullable(preemption.victims().get(other.id().uid()))
                    .filter(victim -> victim.reason() == PreemptionReason.IN_COHORT_FAIR_SHARING)
                    .isPresent())
        .anyMatch(
            other -> distance(self, other, world.tree()) > distance(self, holder, world.tree()));
  }

  private static int distance(Node self, ReferenceHolder holder, ReferenceTree tree) {
    List<Node> path = new ArrayList<>(List.of(self));
    path.addAll(tree.ancestors(self));
    Node queue = new Node(true, holder.queue());
    List<Node> other = new ArrayList<>(List.of(queue));
    other.addAll(tree.ancestors(queue));
    return (int) path.stream().takeWhile(node -> !other.contains(node)).count();
  }

  /** Whether the request fits without all of them, but not if any one of them stays. */
  private boolean isLeast(
      Map<FlavorResource, Long> request,
      List<ReferenceHolder> victims,
      ReferenceSnapshot world,
      Preemption preemption,
      boolean borrowing) {
    ClusterQueueSpec queue = Objects.requireNonNull(before.queues().get(preemption.clusterQueue()));
    if (!fits(request, world.without(victims).tree(), queue, borrowing)) {
      return false;
    }
    for (ReferenceHolder stays : victims) {
      if (lowersShare(stays, preemption, world)) {
        continue;
      }
      List<ReferenceHolder> others = new ArrayList<>(victims);
      others.remove(stays);
      if (fits(request, world.without(others).tree(), queue, borrowing)) {
        return false;
      }
    }
    return true;
  }

  private static boolean fits(
      Map<FlavorResource, Long> request,
      ReferenceTree tree,
      ClusterQueueSpec queue,
      boolean borrowing) {
    Node self = new Node(true, queue.name());
    return request.entrySet().stream()
        .allMatch(
            each ->
                each.getValue() <= tree.available(queue.name(), each.getKey())
                    && (borrowing
                        || tree.usage(self, each.getKey()) + each.getValue()
                            <= tree.quotaOfQueue(queue.name(), each.getKey()).nominal()));
  }

  private static boolean borrowsWhatIsAsked(
      ReferenceHolder holder, List<Map<FlavorResource, Long>> requests, ReferenceSnapshot world) {
    Node queue = new Node(true, holder.queue());
    return requests.stream()
        .flatMap(request -> request.keySet().stream())
        .anyMatch(pair -> world.tree().unused(queue, pair) < 0);
  }

  /** All that it may ask for: any flavor for each group of resources, for any count of pods. */
  private static List<Map<FlavorResource, Long>> requests(
      PodSetRequest podSet, ClusterQueueSpec queue) {
    List<Map<FlavorResource, Long>> all = new ArrayList<>();
    for (int count = podSet.minCount(); count <= podSet.count(); count++) {
      all.addAll(requests(podSet, count, queue));
    }
    return all;
  }

  private static List<Map<FlavorResource, Long>> requests(
      PodSetRequest podSet, int count, ClusterQueueSpec queue) {
    Map<String, Long> amounts = new HashMap<>();
    podSet.perPod().forEach((resource, one) -> amounts.put(resource, one * count));
    amounts.put("pods", (long) count);
    List<Map<FlavorResource, Long>> all = new ArrayList<>(List.of(Map.of()));
    for (ResourceGroup group : queue.groups()) {
      if (group.resources().stream().noneMatch(amounts::containsKey)) {
        continue;
      }
      List<Map<FlavorResource, Long>> more = new ArrayList<>();
      for (Map<FlavorResource, Long> sofar : all) {
        for (ResourceGroup.FlavorQuotas flavor : group.flavors()) {
          Map<FlavorResource, Long> request = new HashMap<>(sofar);
          for (String resource : group.resources()) {
            Long amount = amounts.get(resource);
            if (amount != null) {
              request.put(new FlavorResource(flavor.flavor(), resource), amount);
            }
          }
          more.add(request);
        }
      }
      all = more;
    }
    return all;
  }

  private static void require(boolean holds, String otherwise, Object of) {
    if (!holds) {
      throw new AssertionError(otherwise + ": " + of);
    }
  }
}

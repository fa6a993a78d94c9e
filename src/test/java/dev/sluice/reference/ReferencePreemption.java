package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.reference.ReferenceTree.Node;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Classical preemption, word by word (docs/scheduling-semantics.md#classical-preemption): whom to
 * evict so that one Workload fits.
 */
final class ReferencePreemption {

  /**
   * Who wants room; not that of the slice that it replaces.
   *
   * @param exempt whether it doesn't mind how long others have run
   */
  record Preemptor(
      ClusterQueueSpec queue, long priority, Instant queuedAt, String spared, boolean exempt) {}

  /** One that has to go, and why. */
  record Victim(ReferenceHolder holder, PreemptionReason reason) {}

  private enum Variant {
    WITHIN_QUEUE(PreemptionReason.IN_CLUSTER_QUEUE),
    HIERARCHICAL_RECLAIM(PreemptionReason.IN_COHORT_RECLAMATION),
    RECLAIM_WITHOUT_BORROWING(PreemptionReason.IN_COHORT_RECLAMATION),
    RECLAIM_WHILE_BORROWING(PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING);

    final PreemptionReason reason;

    Variant(PreemptionReason reason) {
      this.reason = reason;
    }
  }

  private record Candidate(ReferenceHolder holder, Variant variant) {}

  private static final Comparator<Candidate> ORDER =
      Comparator.comparing((Candidate each) -> each.holder().priority())
          .thenComparing(each -> each.holder().lossSince(), Comparator.reverseOrder())
          .thenComparing(each -> each.holder().id().uid());

  private final ReferenceSnapshot world;
  private final Preemptor preemptor;
  private final PreemptionPolicies policies;
  private final Node self;
  private final Map<FlavorResource, Long> requests;
  private final Set<FlavorResource> needed;
  private final Predicate<ReferenceSnapshot> hasPlaces;

  /**
   * @param requests all that is asked for
   * @param needed those pairs of it that need preemption
   * @param hasPlaces whether nodes have room for the pods
   */
  ReferencePreemption(
      ReferenceSnapshot world,
      Preemptor preemptor,
      Map<FlavorResource, Long> requests,
      Set<FlavorResource> needed,
      Predicate<ReferenceSnapshot> hasPlaces) {
    this.hasPlaces = hasPlaces;
    this.world = world;
    this.preemptor = preemptor;
    this.policies = preemptor.queue().preemption();
    this.self = new Node(true, preemptor.queue().name());
    this.requests = requests;
    this.needed = needed;
  }

  /** Whom to evict; empty when that would not help. */
  List<Victim> victims() {
    List<Candidate> own = ownQueue();
    List<Candidate> others = otherQueues();
    List<Candidate> hierarchical =
        others.stream().filter(each -> each.variant() == Variant.HIERARCHICAL_RECLAIM).toList();
    List<Candidate> byPriority =
        others.stream().filter(each -> each.variant() != Variant.HIERARCHICAL_RECLAIM).toList();
    List<Candidate> sequence = new ArrayList<>();
    for (boolean evicted : List.of(true, false)) {
      for (List<Candidate> list : List.of(hierarchical, byPriority, own)) {
        list.stream()
            .filter(each -> each.holder().evicted() == evicted)
            .sorted(ORDER)
            .forEach(sequence::add);
      }
    }
    boolean borrowing = true;
    List<Boolean> attempts;
    if (others.isEmpty() || (!policies.borrowWithinCohort() && !belowNominal())) {
      attempts = List.of(borrowing);
    } else if (!policies.borrowWithinCohort() && hierarchical.isEmpty()) {
      attempts = List.of(!borrowing, borrowing);
    } else {
      attempts = List.of(borrowing, !borrowing);
    }
    for (boolean attempt : attempts) {
      List<Victim> victims = attempt(sequence, attempt);
      if (!victims.isEmpty()) {
        return victims;
      }
    }
    return List.of();
  }

  private List<Candidate> ownQueue() {
    List<Candidate> candidates = new ArrayList<>();
    for (ReferenceHolder holder : world.holders()) {
      boolean lower = holder.priority() < preemptor.priority();
      boolean newerEqual =
          holder.priority() == preemptor.priority()
              && preemptor.queuedAt().isBefore(holder.queuedAt());
      boolean allowed =
          switch (policies.withinClusterQueue()) {
            case NEVER -> false;
            case LOWER_PRIORITY -> lower;
            case LOWER_OR_NEWER_EQUAL_PRIORITY -> lower || newerEqual;
          };
      if (holder.queue().equals(self.name()) && allowed && mayGo(holder)) {
        candidates.add(new Candidate(holder, Variant.WITHIN_QUEUE));
      }
    }
    return candidates;
  }

  /** Whether it has what is needed, somebody stops its pods, and no rule protects it. */
  private boolean mayGo(ReferenceHolder holder) {
    return holder.evictable()
        && holder.usesAnyOf(needed)
        && !holder.id().uid().equals(preemptor.spared())
        && !holder.isProtected(world, preemptor.exempt());
  }

  /** The walk from the parent to the root. */
  private List<Candidate> otherQueues() {
    List<Candidate> candidates = new ArrayList<>();
    if (policies.reclaimWithinCohort() == ReclaimWithinCohort.NEVER) {
      return candidates;
    }
    Set<Node> walked = new HashSet<>();
    Node below = self;
    Map<FlavorResource, Long> remaining = new HashMap<>(requests);
    boolean advantage = false;
    for (Node ancestor : world.tree().ancestors(self)) {
      advantage |= fitsInto(below, remaining);
      Node absorbing = below;
      remaining.replaceAll(
          (pair, amount) ->
              Math.max(
                  0, ResourceAmounts.subtract(amount, world.tree().localFree(absorbing, pair))));
      walked.add(below);
      collect(ancestor, walked, advantage, candidates);
      below = ancestor;
    }
    return candidates;
  }

  private boolean fitsInto(Node node, Map<FlavorResource, Long> amounts) {
    return amounts.entrySet().stream()
        .allMatch(each -> each.getValue() <= world.tree().unused(node, each.getKey()));
  }

  private void collect(
      Node cohort, Set<Node> walked, boolean advantage, List<Candidate> candidates) {
    for (Node child : world.tree().children(cohort)) {
      if (walked.contains(child) || withinQuota(world.tree(), child)) {
        continue;
      }
      if (!child.isQueue()) {
        collect(child, walked, advantage, candidates);
        continue;
      }
      for (ReferenceHolder holder : world.holders()) {
        boolean allowed =
            policies.reclaimWithinCohort() == ReclaimWithinCohort.ANY
                || holder.priority() < preemptor.priority();
        if (holder.queue().equals(child.name()) && allowed && mayGo(holder)) {
          candidates.add(new Candidate(holder, variant(holder, advantage)));
        }
      }
    }
  }

  private Variant variant(ReferenceHolder holder, boolean advantage) {
    if (advantage) {
      return Variant.HIERARCHICAL_RECLAIM;
    }
    boolean tooImportant =
        holder.priority() >= preemptor.priority()
            || (policies.borrowMaxPriorityThreshold().isPresent()
                && holder.priority() > policies.borrowMaxPriorityThreshold().getAsInt());
    return !policies.borrowWithinCohort() || tooImportant
        ? Variant.RECLAIM_WITHOUT_BORROWING
        : Variant.RECLAIM_WHILE_BORROWING;
  }

  /** Whether a queue or cohort uses no more than its subtree has, of everything needed. */
  private boolean withinQuota(ReferenceTree tree, Node node) {
    return needed.stream().allMatch(pair -> tree.usage(node, pair) <= tree.subtree(node, pair));
  }

  private boolean belowNominal() {
    return needed.stream()
        .allMatch(
            pair ->
                world.tree().usage(self, pair)
                    < world.tree().quotaOfQueue(self.name(), pair).nominal());
  }

  private List<Victim> attempt(List<Candidate> sequence, boolean borrowing) {
    List<Candidate> removed = new ArrayList<>();
    for (Candidate candidate : sequence) {
      if (passedOver(candidate, borrowing, treeWithout(removed))) {
        continue;
      }
      removed.add(candidate);
      if (fits(without(removed), borrowing)) {
        fillBack(removed, borrowing);
        return removed.stream()
            .map(each -> new Victim(each.holder(), each.variant().reason))
            .toList();
      }
    }
    return List.of();
  }

  private boolean passedOver(Candidate candidate, boolean borrowing, ReferenceTree tree) {
    if (candidate.variant() == Variant.WITHIN_QUEUE) {
      return false;
    }
    if (borrowing && candidate.variant() == Variant.RECLAIM_WITHOUT_BORROWING) {
      return true;
    }
    Node queue = new Node(true, candidate.holder().queue());
    if (withinQuota(tree, queue)) {
      return true;
    }
    List<Node> ofPreemptor = tree.ancestors(self);
    for (Node cohort : tree.ancestors(queue)) {
      if (ofPreemptor.contains(cohort)) {
        return false; // the common ancestor
      }
      if (withinQuota(tree, cohort)) {
        return true;
      }
    }
    return false;
  }

  private boolean fits(ReferenceSnapshot left, boolean borrowing) {
    ReferenceTree tree = left.tree();
    for (var each : requests.entrySet()) {
      FlavorResource pair = each.getKey();
      long after = ResourceAmounts.add(tree.usage(self, pair), each.getValue());
      if (!borrowing && after > tree.quotaOfQueue(self.name(), pair).nominal()) {
        return false;
      }
      if (each.getValue() > tree.available(self.name(), pair)) {
        return false;
      }
    }
    return hasPlaces.test(left);
  }

  private void fillBack(List<Candidate> removed, boolean borrowing) {
    for (int i = removed.size() - 2; i >= 0; i--) {
      Candidate candidate = removed.remove(i);
      if (!fits(without(removed), borrowing)) {
        removed.add(i, candidate);
      }
    }
  }

  private ReferenceTree treeWithout(List<Candidate> removed) {
    return without(removed).tree();
  }

  private ReferenceSnapshot without(List<Candidate> removed) {
    return world.without(removed.stream().map(Candidate::holder).toList());
  }
}

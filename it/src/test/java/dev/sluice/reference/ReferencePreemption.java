package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidateSelector;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.PreemptionRule;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Scope;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Trigger;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.reference.ReferenceTree.Node;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
   * @param spared UIDs of those who stay, whatever the policies say
   * @param exempt whether it doesn't mind how long others have run
   * @param traits what PreemptionConfigs compare of it
   */
  record Preemptor(
      ClusterQueueSpec queue,
      long priority,
      Instant queuedAt,
      Set<String> spared,
      boolean exempt,
      PreemptionTraits traits) {}

  /** One that has to go, and why. */
  record Victim(ReferenceHolder holder, PreemptionReason reason) {}

  private enum Variant {
    WITHIN_QUEUE(PreemptionReason.IN_CLUSTER_QUEUE),
    HIERARCHICAL_RECLAIM(PreemptionReason.IN_COHORT_RECLAMATION),
    RECLAIM_WITHOUT_BORROWING(PreemptionReason.IN_COHORT_RECLAMATION),
    RECLAIM_WHILE_BORROWING(PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING),
    BY_RULE_ELSEWHERE(PreemptionReason.IN_COHORT_RECLAMATION);

    final PreemptionReason reason;

    Variant(PreemptionReason reason) {
      this.reason = reason;
    }
  }

  /**
   * @param byRule whether a rule of a PreemptionConfig names it, too: its queue needn't borrow
   */
  private record Candidate(ReferenceHolder holder, Variant variant, boolean byRule) {}

  private final ReferenceSnapshot world;
  private final Preemptor preemptor;
  private final PreemptionPolicies policies;
  private final Node self;
  private final Map<FlavorResource, Long> requests;
  private final Set<FlavorResource> needed;
  private final Predicate<ReferenceSnapshot> hasPlaces;
  private final Comparator<Candidate> order;

  /**
   * @param requests all that is asked for
   * @param needed those pairs of it that need preemption
   * @param hasPlaces whether nodes have room for the pods
   * @param order who goes first of those who are otherwise equal
   */
  ReferencePreemption(
      ReferenceSnapshot world,
      Preemptor preemptor,
      Map<FlavorResource, Long> requests,
      Set<FlavorResource> needed,
      Predicate<ReferenceSnapshot> hasPlaces,
      Comparator<ReferenceHolder> order) {
    this.order = Comparator.comparing(Candidate::holder, order);
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
    List<CandidateSelector> selectors = new ArrayList<>();
    boolean enough = fitsQuota(world.tree(), true);
    for (Trigger tier : Trigger.values()) {
      List<CandidateSelector> added = selectors(tier);
      boolean counts =
          switch (tier) {
            case ALWAYS -> true;
            case INSUFFICIENT_QUOTA -> !enough;
            case QUOTA_FEASIBLE_AND_INSUFFICIENT_TOPOLOGY -> lacksPlacesAlone(selectors);
          };
      if (counts && (tier == Trigger.ALWAYS || !added.isEmpty())) {
        selectors.addAll(added);
        List<Victim> victims = victims(selectors);
        if (!victims.isEmpty()) {
          return victims;
        }
      }
    }
    return List.of();
  }

  private List<CandidateSelector> selectors(Trigger tier) {
    List<CandidateSelector> selectors = new ArrayList<>();
    for (PreemptionConfig config : preemptor.queue().rules().preemptionConfig().stream().toList()) {
      for (PreemptionRule rule : config.rules()) {
        if (rule.trigger() == tier && rule.isFor(preemptor.traits())) {
          selectors.addAll(rule.candidates());
        }
      }
    }
    return selectors;
  }

  /**
   * Whom rules name beyond those who go by their shares; empty when that would not help.
   *
   * @param byShares who goes by shares, which isn't enough
   */
  List<Victim> byRules(List<ReferenceHolder> byShares) {
    List<CandidateSelector> selectors = new ArrayList<>();
    for (Trigger tier : Trigger.values()) {
      List<CandidateSelector> added = selectors(tier);
      ReferenceSnapshot without = world.without(byShares).without(holders(named(selectors)));
      boolean counts =
          switch (tier) {
            case ALWAYS -> true;
            case INSUFFICIENT_QUOTA -> !fitsQuota(world.tree(), true);
            case QUOTA_FEASIBLE_AND_INSUFFICIENT_TOPOLOGY ->
                fitsQuota(without.tree(), true) && !hasPlaces.test(without);
          };
      if (counts && !added.isEmpty()) {
        selectors.addAll(added);
        List<Candidate> removed = new ArrayList<>();
        for (Candidate candidate : named(selectors)) {
          if (!byShares.contains(candidate.holder())) {
            removed.add(candidate);
            if (fits(world.without(byShares).without(holders(removed)), true)) {
              return asVictims(removed);
            }
          }
        }
      }
    }
    return List.of();
  }

  /** Whom rules alone name, in the order in which they are taken. */
  private List<Candidate> named(List<CandidateSelector> selectors) {
    List<Candidate> named = withRules(List.of(), selectors);
    named.sort(
        Comparator.comparing((Candidate each) -> !each.holder().evicted())
            .thenComparing(each -> each.variant() == Variant.WITHIN_QUEUE)
            .thenComparing(order));
    return named;
  }

  private static List<ReferenceHolder> holders(List<Candidate> candidates) {
    return candidates.stream().map(Candidate::holder).toList();
  }

  private static List<Victim> asVictims(List<Candidate> candidates) {
    return candidates.stream()
        .map(each -> new Victim(each.holder(), each.variant().reason))
        .toList();
  }

  /** Whether there is quota but no room on nodes once all of these have gone. */
  private boolean lacksPlacesAlone(List<CandidateSelector> selectors) {
    List<Candidate> all = new ArrayList<>(ownQueue());
    all.addAll(otherQueues());
    all.removeIf(each -> each.variant() == Variant.RECLAIM_WITHOUT_BORROWING);
    ReferenceSnapshot left = without(withRules(all, selectors));
    return fitsQuota(left.tree(), true) && !hasPlaces.test(left);
  }

  /** The candidates, those among them marked whom a rule names, and whom rules alone name. */
  private List<Candidate> withRules(List<Candidate> found, List<CandidateSelector> selectors) {
    List<Candidate> result = new ArrayList<>();
    Set<String> known = new HashSet<>();
    for (Candidate each : found) {
      known.add(each.holder().id().uid());
      result.add(new Candidate(each.holder(), each.variant(), isNamed(each.holder(), selectors)));
    }
    for (ReferenceHolder holder : world.holders()) {
      if (!known.contains(holder.id().uid()) && mayGo(holder) && isNamed(holder, selectors)) {
        boolean own = holder.queue().equals(self.name());
        result.add(
            new Candidate(holder, own ? Variant.WITHIN_QUEUE : Variant.BY_RULE_ELSEWHERE, true));
      }
    }
    return result;
  }

  private boolean isNamed(ReferenceHolder holder, List<CandidateSelector> selectors) {
    PreemptionTraits traits =
        holder.protection().classRules().traits().orElse(PreemptionTraits.NONE);
    return selectors.stream()
        .anyMatch(
            each ->
                isWithin(holder, each.scope())
                    && each.selects(
                        holder.queue(),
                        traits,
                        holder.priority(),
                        preemptor.traits(),
                        preemptor.priority()));
  }

  private boolean isWithin(ReferenceHolder holder, Scope scope) {
    List<Node> above = world.tree().ancestors(self);
    List<Node> ofHolder = world.tree().ancestors(new Node(true, holder.queue()));
    boolean own = holder.queue().equals(self.name());
    boolean inTree = own || (!above.isEmpty() && ofHolder.contains(above.getLast()));
    return switch (scope) {
      case WITHIN_LOCAL_QUEUE ->
          own && preemptor.traits().localQueue().equals(Optional.of(holder.localQueue()));
      case WITHIN_CLUSTER_QUEUE -> own;
      case WITHIN_PARENT_COHORT -> own || (!above.isEmpty() && ofHolder.contains(above.getFirst()));
      case WITHIN_COHORT_TREE -> inTree;
      case ANY_CLUSTER_QUEUE -> inTree || !holder.placed().isEmpty();
    };
  }

  private List<Victim> victims(List<CandidateSelector> selectors) {
    List<Candidate> own = ownQueue();
    List<Candidate> others = otherQueues();
    List<Candidate> hierarchical =
        others.stream().filter(each -> each.variant() == Variant.HIERARCHICAL_RECLAIM).toList();
    List<Candidate> all = new ArrayList<>(own);
    all.addAll(others);
    List<Candidate> marked = withRules(all, selectors);
    List<Candidate> sequence = new ArrayList<>();
    for (boolean evicted : List.of(true, false)) {
      for (Set<Variant> list :
          List.of(
              Set.of(Variant.HIERARCHICAL_RECLAIM),
              Set.of(
                  Variant.RECLAIM_WITHOUT_BORROWING,
                  Variant.RECLAIM_WHILE_BORROWING,
                  Variant.BY_RULE_ELSEWHERE),
              Set.of(Variant.WITHIN_QUEUE))) {
        marked.stream()
            .filter(each -> each.holder().evicted() == evicted)
            .filter(each -> list.contains(each.variant()))
            .sorted(order)
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
        candidates.add(new Candidate(holder, Variant.WITHIN_QUEUE, false));
      }
    }
    return candidates;
  }

  /** Whether it has what is needed, somebody stops its pods, and no rule protects it. */
  private boolean mayGo(ReferenceHolder holder) {
    return holder.evictable()
        && holder.usesAnyOf(needed)
        && !preemptor.spared().contains(holder.id().uid())
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
          candidates.add(new Candidate(holder, variant(holder, advantage), false));
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
        return asVictims(removed);
      }
    }
    return List.of();
  }

  private boolean passedOver(Candidate candidate, boolean borrowing, ReferenceTree tree) {
    if (candidate.variant() == Variant.WITHIN_QUEUE || candidate.byRule()) {
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
    return fitsQuota(left.tree(), borrowing) && hasPlaces.test(left);
  }

  private boolean fitsQuota(ReferenceTree tree, boolean borrowing) {
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
    return true;
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
    return world.without(holders(removed));
  }
}

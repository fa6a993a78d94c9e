package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.reference.ReferencePreemption.Preemptor;
import dev.sluice.reference.ReferencePreemption.Victim;
import dev.sluice.reference.ReferenceTree.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Preemption where queues share fairly, word by word (docs/scheduling-semantics.md#fair-sharing):
 * whom to evict so that one Workload fits.
 */
final class ReferenceFairPreemption {

  private final FairSharing rules;
  private final Preemptor preemptor;
  private final Node self;
  private final Map<FlavorResource, Long> requests;
  private final Set<FlavorResource> needed;
  private final Predicate<ReferenceSnapshot> hasPlaces;
  private final ReferenceSnapshot world;
  private final List<Node> ofSelf;
  private final Comparator<ReferenceHolder> byPriority;

  /** Usage with the preemptor's request, and without its victims. */
  private final ReferenceTree tree;

  private final List<Victim> victims = new ArrayList<>();

  /**
   * @param requests all that is asked for
   * @param needed those pairs of it that need preemption
   * @param hasPlaces whether nodes have room for the pods
   * @param byPriority who goes first of those of one queue who are otherwise equal
   */
  ReferenceFairPreemption(
      FairSharing rules,
      ReferenceSnapshot world,
      Preemptor preemptor,
      Map<FlavorResource, Long> requests,
      Set<FlavorResource> needed,
      Predicate<ReferenceSnapshot> hasPlaces,
      Comparator<ReferenceHolder> byPriority) {
    this.byPriority = byPriority;
    this.hasPlaces = hasPlaces;
    this.rules = rules;
    this.world = world;
    this.preemptor = preemptor;
    this.self = new Node(true, preemptor.queue().name());
    this.requests = requests;
    this.needed = needed;
    this.tree = world.tree().copy();
    this.ofSelf = tree.ancestors(self);
  }

  /** Whom to evict; empty when that would not help. */
  List<Victim> victims() {
    List<ReferenceHolder> candidates = candidates();
    tree.add(self.name(), requests);
    List<ReferenceHolder> passedOver = new ArrayList<>();
    boolean fits = firstPass(candidates, passedOver);
    if (!fits && rules.strategies().size() == 2) {
      fits = secondPass(passedOver);
    }
    if (!fits) {
      List<Victim> byRules =
          new ReferencePreemption(world, preemptor, requests, needed, hasPlaces, byPriority)
              .byRules(victims.stream().map(Victim::holder).toList());
      if (byRules.isEmpty()) {
        return List.of();
      }
      victims.addAll(byRules);
      byRules.forEach(victim -> tree.remove(victim.holder().queue(), victim.holder().usage()));
    }
    fillBack();
    return victims;
  }

  private List<ReferenceHolder> candidates() {
    ReferenceShares shares = new ReferenceShares(tree);
    PreemptionPolicies policies = preemptor.queue().preemption();
    Set<String> ofTree = tree.tree(self.name());
    List<ReferenceHolder> candidates = new ArrayList<>();
    for (ReferenceHolder holder : world.holders()) {
      boolean lower = holder.priority() < preemptor.priority();
      boolean allowed;
      if (holder.queue().equals(self.name())) {
        boolean newerEqual =
            holder.priority() == preemptor.priority()
                && preemptor.queuedAt().isBefore(holder.queuedAt());
        allowed =
            switch (policies.withinClusterQueue()) {
              case NEVER -> false;
              case LOWER_PRIORITY -> lower;
              case LOWER_OR_NEWER_EQUAL_PRIORITY -> lower || newerEqual;
            };
      } else {
        allowed =
            ofTree.contains(holder.queue())
                && shares.borrows(new Node(true, holder.queue()), needed)
                && (policies.reclaimWithinCohort() == ReclaimWithinCohort.ANY
                    || (policies.reclaimWithinCohort() == ReclaimWithinCohort.LOWER_PRIORITY
                        && lower));
      }
      if (allowed
          && holder.evictable()
          && holder.usesAnyOf(needed)
          && !preemptor.spared().contains(holder.id().uid())
          && !holder.isProtected(world, preemptor.exempt())) {
        candidates.add(holder);
      }
    }
    candidates.sort(order(byPriority));
    return candidates;
  }

  private Comparator<ReferenceHolder> order(Comparator<ReferenceHolder> ofEquals) {
    return Comparator.comparing((ReferenceHolder holder) -> !holder.evicted())
        .thenComparing(holder -> holder.queue().equals(self.name()))
        .thenComparing(ofEquals);
  }

  /** Whether it fits after it. */
  private boolean firstPass(List<ReferenceHolder> candidates, List<ReferenceHolder> passedOver) {
    List<ReferenceHolder> left = new ArrayList<>(candidates);
    while (true) {
      Optional<String> target = target(left);
      if (target.isEmpty()) {
        return false;
      }
      List<ReferenceHolder> its =
          left.stream().filter(holder -> holder.queue().equals(target.get())).toList();
      Optional<Victim> victim = Optional.empty();
      if (target.get().equals(self.name())) {
        victim = Optional.of(new Victim(its.getFirst(), PreemptionReason.IN_CLUSTER_QUEUE));
      } else if (rules.reclaimsWithinNominal()
          && !new ReferenceShares(tree).borrows(self, needed)) {
        victim = Optional.of(new Victim(its.getFirst(), PreemptionReason.IN_COHORT_RECLAMATION));
      } else {
        for (ReferenceHolder holder : its) {
          if (allows(rules.strategies().getFirst(), holder)) {
            victim = Optional.of(new Victim(holder, PreemptionReason.IN_COHORT_FAIR_SHARING));
            break;
          }
          left.remove(holder);
          passedOver.add(holder);
        }
      }
      if (victim.isPresent()) {
        left.remove(victim.get().holder());
        if (takeAndFit(victim.get())) {
          return true;
        }
      }
    }
  }

  private boolean secondPass(List<ReferenceHolder> passedOver) {
    List<ReferenceHolder> left = new ArrayList<>(passedOver);
    while (true) {
      Optional<String> target = target(left);
      if (target.isEmpty()) {
        return false;
      }
      ReferenceHolder first =
          left.stream()
              .filter(holder -> holder.queue().equals(target.get()))
              .min(order(byPriority))
              .orElseThrow();
      left.removeIf(holder -> holder.queue().equals(target.get()));
      if (allows(rules.strategies().getLast(), first)
          && takeAndFit(new Victim(first, PreemptionReason.IN_COHORT_FAIR_SHARING))) {
        return true;
      }
    }
  }

  private boolean takeAndFit(Victim victim) {
    victims.add(victim);
    tree.remove(victim.holder().queue(), victim.holder().usage());
    return fits(victims);
  }

  /** Whether the request fits, borrowing allowed, on top of usage without it. */
  private boolean fits(List<Victim> gone) {
    ReferenceTree without = tree.copy();
    without.remove(self.name(), requests);
    return requests.entrySet().stream()
            .allMatch(each -> each.getValue() <= without.available(self.name(), each.getKey()))
        && hasPlaces.test(world.without(gone.stream().map(Victim::holder).toList()));
  }

  /** The queue to take from: from the root down, always where the share is largest. */
  private Optional<String> target(List<ReferenceHolder> candidates) {
    if (candidates.isEmpty()) {
      return Optional.empty();
    }
    return ofSelf.isEmpty()
        ? Optional.of(self.name())
        : largest(ofSelf.getLast(), candidates).map(Node::name);
  }

  private Optional<Node> largest(Node cohort, List<ReferenceHolder> candidates) {
    ReferenceShares shares = new ReferenceShares(tree);
    Optional<Node> largest = Optional.empty();
    for (Node child : tree.children(cohort)) {
      boolean own = child.equals(self) || ofSelf.contains(child);
      if ((own || shares.borrows(child))
          && hasAny(child, candidates)
          && (largest.isEmpty() || before(child, largest.get(), shares, candidates))) {
        largest = Optional.of(child);
      }
    }
    return largest.flatMap(node -> node.isQueue() ? Optional.of(node) : largest(node, candidates));
  }

  /** Whether there is a queue below that may be chosen. */
  private boolean hasAny(Node node, List<ReferenceHolder> candidates) {
    return node.isQueue()
        ? candidates.stream().anyMatch(holder -> holder.queue().equals(node.name()))
        : largest(node, candidates).isPresent();
  }

  private boolean before(
      Node one, Node two, ReferenceShares shares, List<ReferenceHolder> candidates) {
    int byShare = shares.of(two).compareTo(shares.of(one));
    if (byShare != 0) {
      return byShare < 0;
    }
    if (one.isQueue() != two.isQueue()) {
      return !one.isQueue();
    }
    return one.isQueue()
        && order(ReferenceVictimOrder.BY_TIME)
                .compare(first(one, candidates), first(two, candidates))
            < 0;
  }

  private ReferenceHolder first(Node queue, List<ReferenceHolder> candidates) {
    return candidates.stream()
        .filter(holder -> holder.queue().equals(queue.name()))
        .min(order(byPriority))
        .orElseThrow();
  }

  /** Compares the two sides below the lowest common cohort. */
  private boolean allows(Strategy strategy, ReferenceHolder holder) {
    Node queue = new Node(true, holder.queue());
    Node theirs = queue;
    for (Node above : tree.ancestors(queue)) {
      if (ofSelf.contains(above)) {
        break;
      }
      theirs = above;
    }
    Node common = tree.parent(theirs).orElseThrow();
    int at = ofSelf.indexOf(common);
    Node ours = at == 0 ? self : ofSelf.get(at - 1);
    ReferenceShares shares = new ReferenceShares(tree);
    ReferenceShare mine = shares.of(ours);
    ReferenceShare initial = shares.of(theirs);
    if (mine.isInfinite() && !initial.isInfinite()) {
      return false;
    }
    if (strategy == Strategy.LESS_THAN_INITIAL_SHARE) {
      return mine.compareTo(initial) < 0;
    }
    ReferenceTree after = tree.copy();
    after.remove(holder.queue(), holder.usage());
    return mine.compareTo(new ReferenceShares(after).of(theirs)) <= 0;
  }

  /** How many steps from the queue up to the lowest cohort that they have in common. */
  private int distance(ReferenceHolder holder) {
    List<Node> above = tree.ancestors(new Node(true, holder.queue()));
    if (holder.queue().equals(self.name())) {
      return 0;
    }
    for (int i = 0; i < ofSelf.size(); i++) {
      if (above.contains(ofSelf.get(i))) {
        return i + 1;
      }
    }
    throw new IllegalStateException(holder + " is in another tree");
  }

  private void fillBack() {
    for (int i = victims.size() - 2; i >= 0; i--) {
      ReferenceHolder holder = victims.get(i).holder();
      int distance = distance(holder);
      if (victims.stream()
          .skip(i + 1L)
          .filter(later -> later.reason() == PreemptionReason.IN_COHORT_FAIR_SHARING)
          .anyMatch(later -> distance(later.holder()) > distance)) {
        continue; // Its share was lower without this one.
      }
      tree.add(holder.queue(), holder.usage());
      List<Victim> others = new ArrayList<>(victims);
      others.remove(i);
      if (fits(others)) {
        victims.remove(i);
      } else {
        tree.remove(holder.queue(), holder.usage());
      }
    }
  }
}

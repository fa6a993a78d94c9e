package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.reference.Decided.Admission;
import dev.sluice.reference.Decided.Preemption;
import dev.sluice.reference.Decided.Victim;
import dev.sluice.reference.ReferenceTree.Node;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What must hold of the decisions of a cycle whatever the algorithm: quota is kept, whom a policy
 * protects is left alone, and nobody is evicted twice or in vain.
 */
final class PreemptionChecks {

  private final ReferenceQuestions before;

  /**
   * @param before the world, as it is before the decisions that are checked
   */
  PreemptionChecks(ReferenceQuestions before) {
    this.before = before;
  }

  void check(List<Decided> decided) {
    ReferenceSnapshot world = before.snapshot();
    Map<String, ReferenceHolder> holders =
        world.holders().stream().collect(Collectors.toMap(h -> h.id().uid(), Function.identity()));
    Set<String> evicted = new HashSet<>();
    ReferenceTree tree = world.tree().copy();
    for (int i = 0; i < decided.size(); i++) {
      switch (decided.get(i)) {
        case Admission admission -> withinQuota(admission, tree);
        case Preemption preemption -> {
          require(!preemption.victims().isEmpty(), "nobody evicted", preemption);
          boolean migrates = isMigration(preemption);
          require(
              migrates || !before.pendingOf(preemption.id().uid()).orElseThrow().gated(),
              "preempts although a gate is closed",
              preemption);
          for (Victim victim : preemption.victims().values()) {
            ReferenceHolder holder = holders.get(victim.id().uid());
            require(holder != null, "the victim holds nothing", victim);
            require(!Objects.requireNonNull(holder).evicted(), "evicted already", victim);
            require(migrates || holder.evictable(), "nobody stops its pods", victim);
            require(
                migrates
                    || !holder.isProtected(
                        world,
                        before
                            .pendingOf(preemption.id().uid())
                            .orElseThrow()
                            .shape()
                            .preemption()
                            .exempt()),
                "a rule protects it",
                victim);
            require(evicted.add(victim.id().uid()), "evicted for two", victim);
            require(holder.version() == victim.version(), "not the version looked at", victim);
            require(holder.priority() == victim.priority(), "not its priority", victim);
            if (!migrates) {
              permitted(preemption, holder, victim, world.tree());
            }
          }
          if (i == 0 && !migrates) {
            noneTooMany(preemption, world, holders);
          }
        }
      }
    }
  }

  /** Whether a variant takes the place of another one, which the naive engine judges. */
  static boolean isMigration(Preemption preemption) {
    return preemption.victims().values().stream()
        .allMatch(victim -> victim.reason() == PreemptionReason.FLAVOR_MIGRATION);
  }

  /** Nobody is given more than the tree allows, with all who are on their way out still there. */
  private void withinQuota(Admission admission, ReferenceTree tree) {
    Map<FlavorResource, Long> usage = before.charged(admission);
    usage.forEach(
        (pair, amount) ->
            require(
                amount <= tree.available(admission.clusterQueue(), pair),
                "more than available",
                admission));
    tree.add(admission.clusterQueue(), usage);
  }

  private void permitted(
      Preemption preemption, ReferenceHolder holder, Victim victim, ReferenceTree tree) {
    ClusterQueueSpec queue = Objects.requireNonNull(before.queues().get(preemption.clusterQueue()));
    PreemptionPolicies policies = queue.preemption();
    boolean lower = holder.priority() < preemption.priority();
    boolean own = holder.queue().equals(queue.name());
    require(own == (victim.reason() == PreemptionReason.IN_CLUSTER_QUEUE), "wrong reason", victim);
    if (queue.rules().preemptionConfig().isPresent()) {
      // Whom a rule permits, the naive engine knows.
      require(
          own
              || tree.tree(queue.name()).contains(holder.queue())
              || (queue.rules().preemptionConfig().filter(PreemptionConfig::reaches).isPresent()
                  && !holder.placed().isEmpty()),
          "of another tree",
          victim);
      return;
    }
    if (own) {
      require(policies.withinClusterQueue() != WithinClusterQueue.NEVER, "protected", victim);
      boolean newerEqual =
          policies.withinClusterQueue() == WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY
              && holder.priority() == preemption.priority()
              && before
                  .pendingOf(preemption.id().uid())
                  .orElseThrow()
                  .queuedAt()
                  .isBefore(holder.queuedAt());
      require(lower || newerEqual, "protected by priority", victim);
      return;
    }
    require(policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER, "protected", victim);
    require(
        lower || policies.reclaimWithinCohort() == ReclaimWithinCohort.ANY,
        "protected by priority",
        victim);
    require(tree.tree(queue.name()).contains(holder.queue()), "of another tree", victim);
    require(
        victim.path().getFirst().equals(preemption.path().getFirst()), "path of another", victim);
    if (victim.reason() == PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING) {
      require(policies.borrowWithinCohort() && lower, "reclaimed while borrowing", victim);
      require(
          policies.borrowMaxPriorityThreshold().isEmpty()
              || holder.priority() <= policies.borrowMaxPriorityThreshold().getAsInt(),
          "above the threshold",
          victim);
    }
  }

  /**
   * Any one of the victims takes something that the others don't free; whether those who are on
   * their way out already count depends on whether they are candidates.
   */
  private void noneTooMany(
      Preemption preemption, ReferenceSnapshot world, Map<String, ReferenceHolder> holders) {
    Node self = new Node(true, preemption.clusterQueue());
    List<ReferenceHolder> onTheirWay =
        world.holders().stream().filter(ReferenceHolder::evicted).toList();
    boolean forPlaces =
        Stream.concat(
                before.pendingOf(preemption.id().uid()).stream()
                    .flatMap(pending -> pending.shape().podSets().stream())
                    .map(podSet -> podSet.topology().isExplicit()),
                Stream.of(before.impliesTopology(preemption.clusterQueue())))
            .anyMatch(any -> any);
    if (forPlaces) {
      return; // they may have to go for the room on nodes alone
    }
    if (!onTheirWay.isEmpty()
        && world.tree().tree(preemption.clusterQueue()).stream()
            .filter(queue -> !queue.equals(preemption.clusterQueue()))
            .anyMatch(queue -> !before.waitingIn(queue).isEmpty())) {
      return; // what those leave who are on their way out may be another head's already
    }
    Set<ReferenceHolder> all =
        preemption.victims().keySet().stream().map(holders::get).collect(Collectors.toSet());
    for (ReferenceHolder victim : all) {
      Set<ReferenceHolder> others = new HashSet<>(all);
      others.remove(victim);
      boolean helps =
          Stream.of(world, world.without(onTheirWay))
              .anyMatch(
                  rest ->
                      helps(victim, self, rest.without(all).tree(), rest.without(others).tree()));
      require(helps, "evicted in vain", preemption);
    }
  }

  private static boolean helps(
      ReferenceHolder victim, Node self, ReferenceTree with, ReferenceTree without) {
    return victim.usage().entrySet().stream()
        .filter(each -> each.getValue() > 0)
        .map(Map.Entry::getKey)
        .anyMatch(
            pair ->
                with.available(self.name(), pair) > without.available(self.name(), pair)
                    || with.usage(self, pair) < without.usage(self, pair));
  }

  private static void require(boolean holds, String otherwise, Object of) {
    if (!holds) {
      throw new AssertionError(otherwise + ": " + of);
    }
  }
}

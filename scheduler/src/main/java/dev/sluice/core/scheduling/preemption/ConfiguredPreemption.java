package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidateSelector;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.PreemptionRule;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Scope;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Trigger;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Cursor;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Kind;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy.Found;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy.Protected;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Preemption in a queue with a PreemptionConfig (docs/preemption-config.md): the candidates of its
 * policies and those of the rules that count, tier by tier. The first tier with which the preemptor
 * fits wins. A candidate of a rule may be taken within the nominal quota of its queue, and whatever
 * the shares. Every holder within the scopes is looked at: such queues are few.
 */
final class ConfiguredPreemption {

  /**
   * A candidate.
   *
   * @param borrowingQueue its queue as the policies see it; null if a rule alone selects it, or
   *     selects it, too, so that its queue needn't borrow
   */
  private record Candidate(
      QuotaHolder quotaHolder,
      ClusterQueueCache queue,
      Kind kind,
      PreemptionReason reason,
      @Nullable CandidateQueue borrowingQueue) {

    Candidate withoutBorrowing() {
      return new Candidate(quotaHolder, queue, kind, reason, null);
    }

    PreemptionTarget target() {
      return new PreemptionTarget(quotaHolder, queue, reason);
    }
  }

  private final BorrowingQueues borrowingQueues;
  private final PreemptionRequest preemptionRequest;
  private final List<PreemptionRule> rules;

  /** Whether the quota suffices before anybody is preempted. */
  private final boolean fitsQuota;

  ConfiguredPreemption(
      BorrowingQueues borrowingQueues,
      PreemptionRequest preemptionRequest,
      PreemptionConfig config) {
    this.borrowingQueues = borrowingQueues;
    this.preemptionRequest = preemptionRequest;
    this.rules = ofPreemptor(preemptionRequest, config);
    this.fitsQuota = preemptionRequest.fitsQuota(true);
  }

  private static List<PreemptionRule> ofPreemptor(
      PreemptionRequest preemptionRequest, PreemptionConfig config) {
    PreemptionTraits traits = preemptionRequest.preemptor().traits();
    return config.rules().stream().filter(rule -> rule.isFor(traits)).toList();
  }

  /** The targets of the first tier with which the preemptor fits. */
  Optional<Found> find() {
    List<CandidateQueue> borrowers = CandidateQueues.all(borrowingQueues, preemptionRequest);
    List<CandidateSelector> selectors = new ArrayList<>();
    for (Trigger trigger : Trigger.values()) {
      List<CandidateSelector> added = selectors(trigger);
      if (trigger != Trigger.ALWAYS
          && (added.isEmpty() || !counts(trigger, candidates(borrowers, true, selectors)))) {
        continue;
      }
      selectors.addAll(added);
      for (boolean borrowing : ClassicalPreemption.attempts(preemptionRequest, borrowers)) {
        List<PreemptionTarget> targets = new ArrayList<>();
        Found found = null;
        if (addTargets(targets, candidates(borrowers, borrowing, selectors), borrowing)) {
          FillBack.apply(preemptionRequest, targets, borrowing);
          found = new Found(targets, preemptionRequest.borrowLevel());
        }
        targets.reversed().forEach(PreemptionTarget::restoreUsage);
        if (found != null) {
          return Optional.of(found);
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Adds candidates of the rules to targets by shares that aren't enough, tier by tier.
   *
   * @param targets the targets so far; the usage of all of them is removed, before and after
   * @return whether the preemptor fits now; otherwise nothing is added
   */
  boolean addTo(List<PreemptionTarget> targets) {
    int byShares = targets.size();
    List<CandidateSelector> selectors = new ArrayList<>();
    for (Trigger trigger : Trigger.values()) {
      List<CandidateSelector> added = selectors(trigger);
      if (added.isEmpty() || !counts(trigger, candidates(List.of(), true, selectors))) {
        continue;
      }
      selectors.addAll(added);
      if (addTargets(targets, candidates(List.of(), true, selectors), true)) {
        return true;
      }
      List<PreemptionTarget> inVain = targets.subList(byShares, targets.size());
      inVain.reversed().forEach(PreemptionTarget::restoreUsage);
      inVain.clear();
    }
    return false;
  }

  private List<CandidateSelector> selectors(Trigger trigger) {
    return rules.stream()
        .filter(rule -> rule.trigger() == trigger)
        .flatMap(rule -> rule.candidates().stream())
        .toList();
  }

  /**
   * Whether a tier counts: a later one does if the quota doesn't suffice; or if without all
   * candidates of the tiers before there would be quota, but no places.
   */
  private boolean counts(Trigger trigger, List<Candidate> before) {
    return switch (trigger) {
      case ALWAYS -> true;
      case INSUFFICIENT_QUOTA -> !fitsQuota;
      case QUOTA_FEASIBLE_AND_INSUFFICIENT_TOPOLOGY -> {
        List<PreemptionTarget> targets = before.stream().map(Candidate::target).toList();
        targets.forEach(PreemptionTarget::removeUsage);
        boolean lacksPlacesAlone =
            preemptionRequest.fitsQuota(true) && !preemptionRequest.fits(true);
        targets.reversed().forEach(PreemptionTarget::restoreUsage);
        yield lacksPlacesAlone;
      }
    };
  }

  /**
   * Removes the usage of one candidate after the other, which becomes a target, until the preemptor
   * fits.
   */
  private boolean addTargets(
      List<PreemptionTarget> targets, List<Candidate> candidates, boolean borrowing) {
    for (Candidate candidate : candidates) {
      CandidateQueue borrowingQueue = candidate.borrowingQueue();
      if (borrowingQueue != null
          && borrowingQueue.kind() != Kind.OWN
          && !borrowingQueue.stillBorrows(preemptionRequest)) {
        continue;
      }
      PreemptionTarget preemptionTarget = candidate.target();
      preemptionTarget.removeUsage();
      targets.add(preemptionTarget);
      if (preemptionRequest.fits(borrowing)) {
        return true;
      }
    }
    return false;
  }

  /** The candidates in the classical order. */
  private List<Candidate> candidates(
      List<CandidateQueue> borrowers, boolean borrowing, List<CandidateSelector> selectors) {
    List<Candidate> ordered = new ArrayList<>();
    for (boolean evicted : new boolean[] {true, false}) {
      Map<QuotaHolder, Candidate> ofPolicies = new IdentityHashMap<>();
      List<List<Candidate>> lists = new ArrayList<>();
      for (CandidateQueue borrowingQueue : borrowers) {
        List<Candidate> list = new ArrayList<>();
        Cursor cursor = borrowingQueue.candidates(preemptionRequest, evicted, borrowing);
        for (QuotaHolder next = cursor.current(); next != null; next = cursor.current()) {
          Candidate candidate =
              new Candidate(
                  next,
                  borrowingQueue.queue(),
                  borrowingQueue.kind(),
                  borrowingQueue.reason(preemptionRequest, next),
                  borrowingQueue);
          ofPolicies.put(next, candidate);
          list.add(candidate);
          cursor.advance();
        }
        lists.add(list);
      }
      Map<QuotaHolder, Candidate> ofRules = new IdentityHashMap<>();
      for (ClusterQueueCache queue : reach(borrowingQueues, preemptionRequest, selectors)) {
        List<Candidate> list = new ArrayList<>();
        forEachHolder(
            preemptionRequest,
            queue,
            evicted,
            quotaHolder -> {
              if (!isCandidate(quotaHolder, queue, selectors)) {
                return;
              }
              Candidate known = ofPolicies.get(quotaHolder);
              Candidate candidate =
                  known != null ? known.withoutBorrowing() : ofRule(quotaHolder, queue);
              ofRules.put(quotaHolder, candidate);
              if (known == null) {
                list.add(candidate);
              }
            });
        lists.add(list);
      }
      for (Kind kind : Kind.values()) {
        merge(lists, kind, ofRules, ordered);
      }
    }
    return ordered;
  }

  /** Adds the candidates of one kind, each list in its order, merged by the order of holders. */
  private void merge(
      List<List<Candidate>> lists,
      Kind kind,
      Map<QuotaHolder, Candidate> ofRules,
      List<Candidate> ordered) {
    PriorityQueue<Deque<Candidate>> merged =
        new PriorityQueue<>(
            Comparator.comparing(
                (Deque<Candidate> list) -> list.element().quotaHolder(),
                preemptionRequest.order()));
    for (List<Candidate> list : lists) {
      if (!list.isEmpty() && list.getFirst().kind() == kind) {
        merged.add(new ArrayDeque<>(list));
      }
    }
    for (Deque<Candidate> list = merged.poll(); list != null; list = merged.poll()) {
      Candidate first = list.remove();
      ordered.add(ofRules.getOrDefault(first.quotaHolder(), first));
      if (!list.isEmpty()) {
        merged.add(list);
      }
    }
  }

  private Candidate ofRule(QuotaHolder quotaHolder, ClusterQueueCache queue) {
    boolean own = queue == preemptionRequest.queue();
    return new Candidate(
        quotaHolder,
        queue,
        own ? Kind.OWN : Kind.OTHER,
        own ? PreemptionReason.IN_CLUSTER_QUEUE : PreemptionReason.IN_COHORT_RECLAMATION,
        null);
  }

  private boolean isCandidate(
      QuotaHolder quotaHolder, ClusterQueueCache queue, List<CandidateSelector> selectors) {
    return !quotaHolder.usageRemoved()
        && quotaHolder.protectedUntilMicros(
                queue.node().preemptionRules(), preemptionRequest.preemptor().exempt())
            <= preemptionRequest.preemptor().nowMicros()
        && isSelected(preemptionRequest, quotaHolder, queue, selectors);
  }

  /** Whether a selector has a holder, whatever protects that for some time. */
  private static boolean isSelected(
      PreemptionRequest preemptionRequest,
      QuotaHolder quotaHolder,
      ClusterQueueCache queue,
      List<CandidateSelector> selectors) {
    Preemptor preemptor = preemptionRequest.preemptor();
    if (preemptor.spares(quotaHolder) || !quotaHolder.usesAny(preemptionRequest.needed())) {
      return false;
    }
    PreemptionTraits traits =
        quotaHolder.protection().classRules().traits().orElse(PreemptionTraits.NONE);
    for (CandidateSelector selector : selectors) {
      if (isWithin(selector.scope(), quotaHolder, queue, preemptor)
          && selector.selects(
              queue.name(),
              traits,
              quotaHolder.priority(),
              preemptor.traits(),
              preemptor.priority())) {
        return true;
      }
    }
    return false;
  }

  private static boolean isWithin(
      Scope scope, QuotaHolder quotaHolder, ClusterQueueCache queue, Preemptor preemptor) {
    return switch (scope) {
      // A LocalQueue may have had another ClusterQueue when the holder got its quota.
      case WITHIN_LOCAL_QUEUE ->
          queue == preemptor.queue()
              && preemptor
                  .traits()
                  .localQueue()
                  .filter(quotaHolder.localQueue()::equals)
                  .isPresent();
      case WITHIN_CLUSTER_QUEUE -> queue == preemptor.queue();
      case WITHIN_PARENT_COHORT ->
          queue == preemptor.queue()
              || CandidateQueues.isBelow(queue.node(), preemptor.queue().node().parent());
      case WITHIN_COHORT_TREE -> queue.node().root() == preemptor.queue().node().root();
      case ANY_CLUSTER_QUEUE ->
          quotaHolder.topology() != null || queue.node().root() == preemptor.queue().node().root();
    };
  }

  /**
   * The queues with holders that the widest of the scopes contains. Other trees have nothing for a
   * preemptor that needs no place on nodes.
   */
  private static List<ClusterQueueCache> reach(
      BorrowingQueues borrowingQueues,
      PreemptionRequest preemptionRequest,
      List<CandidateSelector> selectors) {
    Scope widest = Scope.WITHIN_LOCAL_QUEUE;
    for (CandidateSelector selector : selectors) {
      widest = selector.scope().compareTo(widest) > 0 ? selector.scope() : widest;
    }
    if (widest == Scope.ANY_CLUSTER_QUEUE && preemptionRequest.queue().topologyAware()) {
      return borrowingQueues.ofAllTrees();
    }
    if (widest.compareTo(Scope.WITHIN_CLUSTER_QUEUE) > 0) {
      return borrowingQueues.allBelow(preemptionRequest.queue().node().root());
    }
    return selectors.isEmpty() ? List.of() : List.of(preemptionRequest.queue());
  }

  private static void forEachHolder(
      PreemptionRequest preemptionRequest,
      ClusterQueueCache queue,
      boolean evicted,
      Consumer<QuotaHolder> action) {
    for (Iterator<Iterator<QuotaHolder>> groups = preemptionRequest.groups(queue, evicted);
        groups.hasNext(); ) {
      groups.next().forEachRemaining(action);
    }
  }

  /** Whether somebody whom nobody can evict holds a needed pair where the rules reach. */
  static boolean meetsNotEvictable(
      BorrowingQueues borrowingQueues, PreemptionRequest preemptionRequest) {
    List<CandidateSelector> selectors = allSelectors(preemptionRequest);
    return reach(borrowingQueues, preemptionRequest, selectors).stream()
        .anyMatch(queue -> queue.holders().anyNotEvictableUses(preemptionRequest.needed()));
  }

  /** The holders that a rule would have, and others protect. */
  static Protected protectedFrom(
      BorrowingQueues borrowingQueues, PreemptionRequest preemptionRequest) {
    List<CandidateSelector> selectors = allSelectors(preemptionRequest);
    Protected[] all = {Protected.NONE};
    for (ClusterQueueCache queue : reach(borrowingQueues, preemptionRequest, selectors)) {
      forEachHolder(
          preemptionRequest,
          queue,
          false,
          quotaHolder -> {
            Protected one = Protected.of(quotaHolder, queue, preemptionRequest.preemptor());
            if (one != Protected.NONE
                && isSelected(preemptionRequest, quotaHolder, queue, selectors)) {
              all[0] = all[0].and(one);
            }
          });
    }
    return all[0];
  }

  private static List<CandidateSelector> allSelectors(PreemptionRequest preemptionRequest) {
    return preemptionRequest.queue().spec().rules().preemptionConfig().stream()
        .flatMap(config -> ofPreemptor(preemptionRequest, config).stream())
        .flatMap(rule -> rule.candidates().stream())
        .toList();
  }
}

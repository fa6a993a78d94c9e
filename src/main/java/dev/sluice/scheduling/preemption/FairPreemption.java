package dev.sluice.scheduling.preemption;

import dev.sluice.model.FairSharing;
import dev.sluice.model.FairSharing.Strategy;
import dev.sluice.model.PreemptionPolicies;
import dev.sluice.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.model.PreemptionReason;
import dev.sluice.queue.Holder;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.FairShares;
import dev.sluice.quota.QuotaNode;
import dev.sluice.quota.Share;
import dev.sluice.scheduling.preemption.Targets.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Preemption by fair shares (scheduling semantics, section 8): victims come from where most is, as
 * long as the preemptor's side ends up with less than the other had, or with no more than it keeps.
 */
public final class FairPreemption implements VictimSearch {

  private final FairSharing rules;
  private final FairShares shares;
  private final Function<QuotaNode, @Nullable QueueState> queues;

  /**
   * The policy, for these queues.
   *
   * @param queues the queue at a node of the quota tree; null if it isn't declared any more
   */
  public FairPreemption(
      FairSharing rules, FairShares shares, Function<QuotaNode, @Nullable QueueState> queues) {
    this.rules = rules;
    this.shares = shares;
    this.queues = queues;
  }

  @Override
  public boolean mayPreemptBorrowing(QueueState queue) {
    PreemptionPolicies policies = queue.spec().preemption();
    return policies.borrowWithinCohort()
        || policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER;
  }

  @Override
  public Optional<Found> find(Preemptor preemptor) {
    if (!preemptor.queue().mayPreempt()) {
      return Optional.empty();
    }
    Search search = new Search(preemptor);
    preemptor.occupy();
    boolean fits = search.succeeds();
    preemptor.vacate();
    Found found = null;
    if (fits) {
      FillBack.apply(preemptor, search.taken, true);
      found = new Found(search.taken, preemptor.borrowLevel());
    }
    search.taken.reversed().forEach(Victim::comeBack);
    return Optional.ofNullable(found);
  }

  /** One search; the preemptor's request counts as used meanwhile. */
  private final class Search {
    private final Preemptor preemptor;
    private final List<Victim> taken = new ArrayList<>();

    /** Of each queue, the first whom the first strategy didn't allow. */
    private final Map<QuotaNode, Line> kept = new HashMap<>();

    Search(Preemptor preemptor) {
      this.preemptor = preemptor;
    }

    boolean succeeds() {
      return first(rules.strategies().getFirst())
          || (rules.strategies().size() > 1 && second(rules.strategies().get(1)));
    }

    private @Nullable Line candidates(QuotaNode node) {
      PreemptionPolicies policies = preemptor.queue().spec().preemption();
      boolean never =
          node == preemptor.queue().node()
              ? policies.withinClusterQueue() == WithinClusterQueue.NEVER
              : policies.reclaimWithinCohort() == ReclaimWithinCohort.NEVER;
      return never ? null : Targets.line(preemptor, node, queues);
    }

    private boolean first(Strategy strategy) {
      Targets targets = Targets.of(shares, preemptor, this::candidates);
      for (Target target = targets.next(); target != null; target = targets.next()) {
        boolean gave;
        if (target.isOwn()) {
          gave = take(target, PreemptionReason.IN_CLUSTER_QUEUE);
        } else if (rules.reclaimsWithinNominal()
            && !preemptor.isBorrowing(preemptor.queue().node())) {
          gave = take(target, PreemptionReason.IN_COHORT_RECLAMATION);
        } else {
          gave = takeAllowed(target, strategy);
          if (!gave && endsWith(target)) {
            return false;
          }
        }
        if (gave && fits()) {
          return true;
        }
      }
      return false;
    }

    /**
     * Whether all who are left have less than the preemptor's queue would have: its own candidates
     * came before this target then, and nobody after it can be allowed.
     */
    private boolean endsWith(Target target) {
      return target.isLast() && target.shareOfPreemptor().compareTo(target.share()) > 0;
    }

    /** The first candidate that the strategy allows, if there is one. */
    private boolean takeAllowed(Target target, Strategy strategy) {
      Share preemptors = target.shareOfPreemptor();
      Share before = target.share();
      if (!mayAllow(strategy, preemptors, before)) {
        keep(target);
        target.line().close();
        return false;
      }
      for (Holder holder = target.line().first(); holder != null; holder = target.line().first()) {
        if (strategy == Strategy.LESS_THAN_INITIAL_SHARE
            || preemptors.compareTo(shareWithout(holder, target)) <= 0) {
          return take(target, PreemptionReason.IN_COHORT_FAIR_SHARING);
        }
        keep(target);
        target.line().advance();
      }
      return false;
    }

    /** Whether any candidate can be allowed: without one, the other side never has more. */
    private static boolean mayAllow(Strategy strategy, Share preemptors, Share before) {
      int compared = preemptors.compareTo(before);
      return switch (strategy) {
        case LESS_THAN_INITIAL_SHARE -> compared < 0;
        case LESS_THAN_OR_EQUAL_TO_FINAL_SHARE -> compared <= 0;
      };
    }

    private static Share shareWithout(Holder holder, Target target) {
      QueueState queue = target.line().source().queue();
      holder.leave(queue);
      Share share = target.shareNow();
      holder.comeBack(queue);
      return share;
    }

    private void keep(Target target) {
      Source source = target.line().source();
      Holder holder = target.line().first();
      if (holder != null) {
        kept.putIfAbsent(source.queue().node(), Line.of(source, holder));
      }
    }

    /** Of each queue only the first who was kept is looked at. */
    private boolean second(Strategy strategy) {
      Targets targets = Targets.of(shares, preemptor, kept::get);
      for (Target target = targets.next(); target != null; target = targets.next()) {
        boolean allowed = mayAllow(strategy, target.shareOfPreemptor(), target.share());
        if (allowed && take(target, PreemptionReason.IN_COHORT_FAIR_SHARING) && fits()) {
          return true;
        }
        target.line().close();
      }
      return false;
    }

    private boolean take(Target target, PreemptionReason reason) {
      Line line = target.line();
      Holder holder = line.first();
      if (holder == null) {
        return false;
      }
      Victim victim = new Victim(holder, line.source().queue(), reason);
      line.advance();
      victim.leave();
      taken.add(victim);
      target.changed();
      return true;
    }

    private boolean fits() {
      preemptor.vacate();
      boolean fits = preemptor.fits(true);
      preemptor.occupy();
      return fits;
    }
  }
}

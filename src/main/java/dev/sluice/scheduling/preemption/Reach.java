package dev.sluice.scheduling.preemption;

import dev.sluice.model.Amounts;
import dev.sluice.model.PreemptionPolicies;
import dev.sluice.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.FairShares;
import dev.sluice.quota.QuotaNode;
import dev.sluice.quota.Share;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How much of a pair somebody could have at most once all were gone whom he may preempt: a bound
 * that is never too low, and costs no search. It holds for one tree as it stands; a new one is made
 * for each look.
 *
 * <p>Victims of the own queue count by priority. Those of others count only where some other queue
 * borrows, and either the request stays within the quota of the own queue or of a cohort below the
 * root (scheduling semantics, section 7: hierarchical advantage, or without borrowing), or
 * borrowWithinCohort lets it borrow over lower priorities, or shares decide (section 8): then
 * somebody beside must have as much as the own queue would have, at least where all are beside it.
 */
public final class Reach {

  /** What those hold who borrow, of one pair. */
  private record Lent(long amount, long lowestPriority) {}

  private final QuotaNode root;
  private final Function<QuotaNode, @Nullable QueueState> queues;
  private final @Nullable FairShares shares;
  private @Nullable Leaders leaders;
  private @Nullable List<QueueState> borrowers;
  private final Map<Integer, Lent> lent = new HashMap<>();

  /**
   * For a tree.
   *
   * @param queues the queue at a node of it; null if it isn't declared any more
   * @param shares their shares, if queues share by weight
   */
  public Reach(
      QuotaNode root,
      Function<QuotaNode, @Nullable QueueState> queues,
      @Nullable FairShares shares) {
    this.root = root;
    this.queues = queues;
    this.shares = shares;
  }

  /**
   * Whether somebody may get this much, as far as the bound can tell.
   *
   * @param queue his queue
   * @param priority his effective priority
   * @param queuedAtMicros since when he queues
   */
  public boolean allows(
      QueueState queue, int pair, long amount, long priority, long queuedAtMicros) {
    PreemptionPolicies policies = queue.spec().preemption();
    QuotaNode node = queue.node();
    long own = own(queue, pair, priority, queuedAtMicros);
    boolean within = staysWithin(node, pair, amount, own);
    if (node.nominal(pair) < amount && !within && !triesBorrowing(policies)) {
      return false;
    }
    long reachable = Amounts.add(node.available(pair), own);
    if (reachable >= amount) {
      return own > 0;
    }
    if (policies.reclaimWithinCohort() == ReclaimWithinCohort.NEVER) {
      return false;
    }
    boolean below = policies.reclaimWithinCohort() == ReclaimWithinCohort.LOWER_PRIORITY;
    Lent others = lent(pair);
    if (below && others.lowestPriority >= priority) {
      return false;
    }
    boolean borrowing = policies.borrowWithinCohort() && others.lowestPriority < priority;
    return Amounts.add(reachable, others.amount) >= amount
        && (within || borrowing || sharesMayAllow(node, pair, amount, own));
  }

  /** Those directly below the root that have most, and next to most, of what is shared. */
  private record Leaders(@Nullable QuotaNode first, Share most, Share next) {}

  private boolean sharesMayAllow(QuotaNode node, int pair, long amount, long own) {
    if (shares == null || node.parent() != root) {
      return shares != null;
    }
    Leaders known = leaders(shares);
    Share beside = known.first == node ? known.next : known.most;
    long used = Amounts.add(Amounts.subtract(node.usage(pair), own), amount);
    return beside.borrowing() && beside.compareTo(shares.atLeast(node, pair, used)) >= 0;
  }

  private Leaders leaders(FairShares of) {
    Leaders known = leaders;
    if (known == null) {
      known = new Leaders(null, Share.NONE, Share.NONE);
      for (QuotaNode child : root.children()) {
        Share share = of.of(child);
        if (known.first == null || share.compareTo(known.most) > 0) {
          known = new Leaders(child, share, known.most);
        } else if (share.compareTo(known.next) > 0) {
          known = new Leaders(known.first, known.most, share);
        }
      }
      leaders = known;
    }
    return known;
  }

  /** Whether a request may fit without borrowing once all victims of the own queue are gone. */
  static boolean staysWithinNominal(Preemptor preemptor) {
    QueueState queue = preemptor.queue();
    for (int i = 0; i < preemptor.pairs().length; i++) {
      int pair = preemptor.pairs()[i];
      long own = own(queue, pair, preemptor.priority(), preemptor.queuedAtMicros());
      long kept = Amounts.subtract(queue.node().usage(pair), own);
      if (Amounts.add(kept, preemptor.amounts()[i]) > queue.node().nominal(pair)) {
        return false;
      }
    }
    return true;
  }

  private boolean triesBorrowing(PreemptionPolicies policies) {
    return policies.borrowWithinCohort()
        || (shares != null && policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER);
  }

  private static long own(QueueState queue, int pair, long priority, long queuedAtMicros) {
    WithinClusterQueue policy = queue.spec().preemption().withinClusterQueue();
    if (policy == WithinClusterQueue.NEVER) {
      return 0;
    }
    long lower = queue.holders().heldBelow(priority, pair);
    return policy == WithinClusterQueue.LOWER_PRIORITY
        ? lower
        : Amounts.add(lower, queue.holders().heldByNewerEquals(priority, pair, queuedAtMicros));
  }

  /** Whether its queue, or a cohort above it that isn't the root, can hold the request. */
  private static boolean staysWithin(QuotaNode queue, int pair, long amount, long own) {
    long remaining = amount;
    for (QuotaNode node = queue; node.parent() != null; node = node.parent()) {
      long used = Amounts.subtract(node.usage(pair), own);
      if (Amounts.add(used, remaining) <= node.subtreeQuota(pair)) {
        return true;
      }
      remaining -= Math.min(remaining, Amounts.add(node.localFree(pair), own));
    }
    return queue.parent() == null;
  }

  private Lent lent(int pair) {
    return lent.computeIfAbsent(
        pair,
        any -> {
          long amount = 0;
          long lowest = Long.MAX_VALUE;
          for (QueueState borrower : borrowers()) {
            long used = borrower.node().usage(pair);
            if (used > 0) {
              amount = Amounts.add(amount, used);
              lowest = Math.min(lowest, borrower.holders().lowestPriority());
            }
          }
          return new Lent(amount, lowest);
        });
  }

  /** Queues that use more than their quota of anything: victims may hold other pairs, too. */
  private List<QueueState> borrowers() {
    List<QueueState> known = borrowers;
    if (known == null) {
      known = new ArrayList<>();
      collect(root, known);
      borrowers = known;
    }
    return known;
  }

  private void collect(QuotaNode node, List<QueueState> into) {
    QueueState queue = node.isQueue() ? queues.apply(node) : null;
    if (queue != null && node.borrowsAnything()) {
      into.add(queue);
    }
    for (QuotaNode child : node.children()) {
      collect(child, into);
    }
  }
}

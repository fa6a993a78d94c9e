package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.queue.QuotaHolders;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.quota.ShareRanking;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The children of one cohort that borrow, in the order in which a search for targets visits them as
 * far as no preemptor matters: the highest share first; among equal shares cohorts before queues,
 * and queues by the first of their Workloads in the order of preemption. The children are sorted
 * once for all searches that begin with the same usage, and a search looks only at as many of them
 * as it visits.
 */
final class RankedChildren {

  /**
   * A child.
   *
   * @param first the first Workload of a queue in the order of preemption, before which no
   *     candidate of the queue comes; null for a cohort, and if it isn't known
   */
  record Ranked(QuotaNode node, DominantResourceShare share, @Nullable QuotaHolder first) {}

  private static final Comparator<Ranked> ORDER =
      (one, two) -> {
        int byShare = two.share.compareTo(one.share);
        if (byShare != 0) {
          return byShare;
        }
        if (one.node.isQueue() != two.node.isQueue()) {
          return one.node.isQueue() ? 1 : -1;
        }
        int byFirst = compareFirst(one.first, two.first);
        return byFirst != 0 ? byFirst : Integer.compare(one.node.position(), two.node.position());
      };

  private final List<Ranked> ranked;

  private RankedChildren(
      ShareRanking ranking, Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    ranked = new ArrayList<>(ranking.borrowers().size());
    for (ShareRanking.Borrower borrower : ranking.borrowers()) {
      ClusterQueueCache queue = borrower.node().isQueue() ? queues.apply(borrower.node()) : null;
      ranked.add(
          new Ranked(
              borrower.node(), borrower.share(), queue == null ? null : first(queue.holders())));
    }
    ranked.sort(ORDER);
  }

  /** The children of a cohort in the order that follows from a ranking of their shares. */
  static RankedChildren of(
      ShareRanking ranking, Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    if (ranking.derived() instanceof RankedChildren known) {
      return known;
    }
    RankedChildren made = new RankedChildren(ranking, queues);
    ranking.derived(made);
    return made;
  }

  int size() {
    return ranked.size();
  }

  Ranked get(int index) {
    return ranked.get(index);
  }

  private static @Nullable QuotaHolder first(QuotaHolders holders) {
    return holders.firstOfOnlyGroup(!holders.isEmpty(true));
  }

  /** Queues of which the first Workload isn't known come first: none may be skipped. */
  private static int compareFirst(@Nullable QuotaHolder one, @Nullable QuotaHolder two) {
    if (one == null || two == null) {
      return Boolean.compare(one != null, two != null);
    }
    return one.evicted() == two.evicted()
        ? QuotaHolder.PREEMPTION_ORDER.compare(one, two)
        : Boolean.compare(two.evicted(), one.evicted());
  }
}

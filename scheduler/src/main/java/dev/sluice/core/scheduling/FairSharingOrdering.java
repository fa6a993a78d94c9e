package dev.sluice.core.scheduling;

import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The fair sharing order: a tournament in each tree (docs/scheduling-semantics.md#the-cycle). At
 * each cohort the winners of its children compete, by the share that the child would have with the
 * Workload. The usage of a winner changes only the shares of its ancestors; all other contests stay
 * valid.
 */
public final class FairSharingOrdering implements WorkloadOrdering {

  private final FairShareCalculator shares;
  private final Comparator<Contender> order;

  /**
   * Creates the order.
   *
   * @param nonBorrowingFirst whether those who don't borrow come before those who do
   * @param rules whether preemptors come first, and whether priority counts
   */
  public FairSharingOrdering(
      FairShareCalculator shares, boolean nonBorrowingFirst, OrderingRules rules) {
    this.shares = shares;
    Comparator<NominatedWorkload> byPreemption = rules.byPreemption();
    Comparator<NominatedWorkload> byPriorityAndAge = rules.byPriorityAndAge();
    // Written out, because a cycle compares contenders more often than anything else.
    this.order =
        (one, two) -> {
          int preempting = byPreemption.compare(one.entry, two.entry);
          if (preempting != 0) {
            return preempting;
          }
          if (nonBorrowingFirst && one.borrowing != two.borrowing) {
            return one.borrowing ? 1 : -1;
          }
          int byShare = one.dominantResourceShare.compareTo(two.dominantResourceShare);
          return byShare != 0 ? byShare : byPriorityAndAge.compare(one.entry, two.entry);
        };
  }

  /** A contender at a cohort, with the share of the child of the cohort that it comes from. */
  private record Contender(
      NominatedWorkload entry,
      DominantResourceShare dominantResourceShare,
      boolean borrowing,
      @Nullable Contest below) {}

  /** The contenders at one cohort. */
  private final class Contest {
    private final QuotaNode cohort;
    private final List<Contest> children = new ArrayList<>();
    private final PriorityQueue<Contender> contenders = new PriorityQueue<>(order);

    Contest(QuotaNode cohort) {
      this.cohort = cohort;
    }

    void enter(NominatedWorkload entry) {
      contenders.add(contender(entry, entry.queue().node(), null));
    }

    void fill() {
      for (Contest child : children) {
        child.fill();
        enterWinnerOf(child);
      }
    }

    private void enterWinnerOf(Contest child) {
      Contender winner = child.contenders.peek();
      if (winner != null) {
        contenders.add(contender(winner.entry, child.cohort, child));
      }
    }

    /**
     * Removes the winner, whose usage was added, and adds the next contender from the same child.
     */
    void advance() {
      Contest below = contenders.remove().below;
      if (below != null) {
        below.advance();
        enterWinnerOf(below);
      }
    }
  }

  private Contender contender(NominatedWorkload entry, QuotaNode child, @Nullable Contest below) {
    QuotaNode node = entry.queue().node();
    List<PairAmount> usage = entry.assignment().usage();
    node.keepShares();
    for (PairAmount request : usage) {
      node.add(request.pair(), request.amount());
    }
    DominantResourceShare dominantResourceShare = shares.of(child);
    boolean borrowing = false;
    for (PairAmount request : usage) {
      borrowing |= child.borrowing(request.pair());
    }
    for (PairAmount request : usage) {
      node.remove(request.pair(), request.amount());
    }
    node.restoreShares();
    return new Contender(entry, dominantResourceShare, borrowing, below);
  }

  @Override
  public Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominated) {
    Map<QuotaNode, Contest> contests = new LinkedHashMap<>();
    List<Contest> roots = new ArrayList<>();
    List<NominatedWorkload> withoutCohort = new ArrayList<>();
    for (NominatedWorkload entry : nominated) {
      QuotaNode cohort = entry.queue().node().parent();
      if (cohort == null) {
        withoutCohort.add(entry);
      } else {
        contest(cohort, contests, roots).enter(entry);
      }
    }
    roots.forEach(Contest::fill);
    return new Tournament(withoutCohort, roots, nominated.size());
  }

  private Contest contest(QuotaNode cohort, Map<QuotaNode, Contest> contests, List<Contest> roots) {
    Contest known = contests.get(cohort);
    if (known != null) {
      return known;
    }
    Contest contest = new Contest(cohort);
    contests.put(cohort, contest);
    QuotaNode above = cohort.parent();
    if (above == null) {
      roots.add(contest);
    } else {
      contest(above, contests, roots).children.add(contest);
    }
    return contest;
  }

  /** Returns Workloads without cohort first, then tree by tree. */
  private static final class Tournament implements Iterator<NominatedWorkload> {
    private final Iterator<NominatedWorkload> withoutCohort;
    private final Iterator<Contest> roots;
    private @Nullable Contest current;
    private int remaining;

    Tournament(List<NominatedWorkload> withoutCohort, List<Contest> roots, int size) {
      this.withoutCohort = withoutCohort.iterator();
      this.roots = roots.iterator();
      this.remaining = size;
    }

    @Override
    public boolean hasNext() {
      return remaining > 0;
    }

    @Override
    public NominatedWorkload next() {
      if (remaining == 0) {
        throw new NoSuchElementException("every nominated Workload was returned");
      }
      remaining--;
      if (withoutCohort.hasNext()) {
        return withoutCohort.next();
      }
      Contest tree = current;
      if (tree != null) {
        tree.advance();
      }
      while (tree == null || tree.contenders.isEmpty()) {
        tree = roots.next();
      }
      current = tree;
      return tree.contenders.element().entry;
    }
  }
}

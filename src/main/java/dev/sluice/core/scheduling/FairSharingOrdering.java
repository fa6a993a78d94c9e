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
 * A tournament in each tree (docs/scheduling-semantics.md#the-cycle): at each cohort, those compete
 * who won below it, by the share that the child they come from would have with them. What a winner
 * takes changes shares only on its way up; so all others stay as they are.
 */
public final class FairSharingOrdering implements WorkloadOrdering {

  private final FairShareCalculator shares;
  private final Comparator<Contender> order;

  /**
   * The order.
   *
   * @param nonBorrowingFirst whether those who don't borrow come before those who do
   */
  public FairSharingOrdering(FairShareCalculator shares, boolean nonBorrowingFirst) {
    this.shares = shares;
    Comparator<Contender> byShare =
        Comparator.comparing(Contender::dominantResourceShare)
            .thenComparing(Contender::entry, ClassicalOrdering.AGE);
    this.order =
        nonBorrowingFirst
            ? Comparator.comparing(Contender::borrows).thenComparing(byShare)
            : byShare;
  }

  /** One at a cohort, with the share of the cohort's child that it comes from. */
  private record Contender(
      NominatedWorkload entry,
      DominantResourceShare dominantResourceShare,
      boolean borrows,
      @Nullable Contest below) {}

  /** Those who compete at one cohort. */
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

    void open() {
      for (Contest child : children) {
        child.open();
        enterWinnerOf(child);
      }
    }

    private void enterWinnerOf(Contest child) {
      Contender winner = child.contenders.peek();
      if (winner != null) {
        contenders.add(contender(winner.entry, child.cohort, child));
      }
    }

    /** The winner is through: what it took counts, and the next of its side competes. */
    void advance() {
      Contest below = contenders.remove().below;
      if (below != null) {
        below.advance();
        enterWinnerOf(below);
      }
    }
  }

  private Contender contender(NominatedWorkload entry, QuotaNode seen, @Nullable Contest below) {
    QuotaNode node = entry.queue().node();
    List<PairAmount> usage = entry.assignment().usage();
    for (PairAmount use : usage) {
      node.add(use.pair(), use.amount());
    }
    DominantResourceShare dominantResourceShare = shares.of(seen);
    boolean borrows = false;
    for (PairAmount use : usage) {
      borrows |= seen.borrowing(use.pair());
    }
    for (PairAmount use : usage) {
      node.remove(use.pair(), use.amount());
    }
    return new Contender(entry, dominantResourceShare, borrows, below);
  }

  @Override
  public Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominatedWorkload) {
    Map<QuotaNode, Contest> contests = new LinkedHashMap<>();
    List<Contest> roots = new ArrayList<>();
    List<NominatedWorkload> alone = new ArrayList<>();
    for (NominatedWorkload entry : nominatedWorkload) {
      QuotaNode cohort = entry.queue().node().parent();
      if (cohort == null) {
        alone.add(entry);
      } else {
        contest(cohort, contests, roots).enter(entry);
      }
    }
    roots.forEach(Contest::open);
    return new Tournament(alone, roots, nominatedWorkload.size());
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

  /** Those without cohort first, then tree by tree. */
  private static final class Tournament implements Iterator<NominatedWorkload> {
    private final Iterator<NominatedWorkload> alone;
    private final Iterator<Contest> roots;
    private @Nullable Contest at;
    private int left;

    Tournament(List<NominatedWorkload> alone, List<Contest> roots, int size) {
      this.alone = alone.iterator();
      this.roots = roots.iterator();
      this.left = size;
    }

    @Override
    public boolean hasNext() {
      return left > 0;
    }

    @Override
    public NominatedWorkload next() {
      if (left == 0) {
        throw new NoSuchElementException("everybody had a turn");
      }
      left--;
      if (alone.hasNext()) {
        return alone.next();
      }
      Contest tree = at;
      if (tree != null) {
        tree.advance();
      }
      while (tree == null || tree.contenders.isEmpty()) {
        tree = roots.next();
      }
      at = tree;
      return tree.contenders.element().entry;
    }
  }
}

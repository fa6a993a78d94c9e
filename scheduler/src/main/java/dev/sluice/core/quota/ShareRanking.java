package dev.sluice.core.quota;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The highest shares among the children of one cohort. It holds for the usage, the quota and the
 * reservations below the cohort with which it was made: {@link QuotaNode} forgets it when any of
 * these changes. So the shares of many children are looked at once, and not for each Workload that
 * is compared with them. Confined to one thread.
 */
public final class ShareRanking {

  /** The least reservations of the Workloads of a queue that can be evicted. */
  @FunctionalInterface
  public interface LeastReservations {

    /** The least positive amount of a pair that one of them reserves; 0 if none reserves it. */
    long of(QuotaNode queue, int pair);
  }

  /** The highest share, whose it is, and the highest share of any other child. */
  private static final class Top {
    private @Nullable QuotaNode first;
    private @Nullable DominantResourceShare highest;
    private @Nullable DominantResourceShare second;

    void offer(QuotaNode child, DominantResourceShare share) {
      if (highest == null || share.compareTo(highest) > 0) {
        second = highest;
        highest = share;
        first = child;
      } else if (second == null || share.compareTo(second) > 0) {
        second = share;
      }
    }

    @Nullable DominantResourceShare beside(QuotaNode child) {
      return first == child ? second : highest;
    }
  }

  /** A child that borrows, and its share. */
  public record Borrower(QuotaNode node, DominantResourceShare share) {}

  private final QuotaNode cohort;
  private final FairShareCalculator shares;
  private final List<Borrower> borrowers = new ArrayList<>();
  private final Top initial = new Top();

  /** By pair; null for pairs that nobody asked for. */
  private final List<@Nullable Top> finals = new ArrayList<>(2);

  private @Nullable Object derived;

  ShareRanking(QuotaNode cohort, FairShareCalculator shares) {
    this.cohort = cohort;
    this.shares = shares;
    for (QuotaNode child : cohort.children) {
      DominantResourceShare share = shares.of(child);
      if (share.borrowing()) {
        initial.offer(child, share);
        borrowers.add(new Borrower(child, share));
      }
    }
  }

  /** The children that borrow, in their order, with the shares that they had at the beginning. */
  public List<Borrower> borrowers() {
    return borrowers;
  }

  /** What was derived from this ranking; null if nothing was. It is forgotten with the ranking. */
  public @Nullable Object derived() {
    return derived;
  }

  /** Sets what was derived from this ranking and from the reservations below the cohort. */
  public void derived(Object what) {
    derived = what;
  }

  /** The highest share of the children that borrow, but for one; null if no other one borrows. */
  public @Nullable DominantResourceShare highestBeside(QuotaNode child) {
    return initial.beside(child);
  }

  /**
   * A bound on the share that any child but one has left when a Workload below it is evicted that
   * reserves a pair: never too low, because the Workload reserves at least the least amount of the
   * pair, and what else it reserves only makes the share lower. Null if there is no such Workload
   * in a queue that borrows, below a child that borrows.
   */
  public @Nullable DominantResourceShare highestFinalBeside(
      QuotaNode child, int pair, LeastReservations least) {
    while (finals.size() <= pair) {
      finals.add(null);
    }
    Top known = finals.get(pair);
    if (known == null) {
      known = new Top();
      for (QuotaNode each : cohort.children) {
        DominantResourceShare left =
            shares.of(each).borrowing() ? shares.highestWithout(each, pair, least) : null;
        if (left != null) {
          known.offer(each, left);
        }
      }
      finals.set(pair, known);
    }
    return known.beside(child);
  }
}

package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the queues of a cohort that borrow. As long as the usage is the sum of the reservations,
 * the queues that borrow a pair are the same for every preemptor: they are remembered at the cohort
 * until a reservation or the quota changes there or below ({@link
 * QuotaNode#untilReservationsChange()}).
 */
final class BorrowingQueues {

  private static final Comparator<ClusterQueueCache> BY_LOWEST_PRIORITY =
      Comparator.comparingLong(queue -> queue.holders().lowestPriority());

  /**
   * The queues that borrowed a pair.
   *
   * @param queues the queues, by the lowest priority of the candidates
   * @param others the positions of the children of the cohort that borrowed any pair then; those of
   *     {@code queues} left out
   * @param all the positions of all children that borrowed any pair then
   */
  private record OfPair(List<ClusterQueueCache> queues, BitSet others, BitSet all) {}

  /** What is remembered at a cohort. */
  private static final class Remembered {
    private final BorrowingQueues owner;
    private final Map<Integer, OfPair> byPair = new HashMap<>(2);

    Remembered(BorrowingQueues owner) {
      this.owner = owner;
    }
  }

  private final Function<QuotaNode, @Nullable ClusterQueueCache> queues;
  private final Supplier<Stream<ClusterQueueCache>> ofAllTrees;

  /**
   * @param queues the queue at a node of the quota tree; null if the queue was deleted
   * @param ofAllTrees the queues of all trees
   */
  BorrowingQueues(
      Function<QuotaNode, @Nullable ClusterQueueCache> queues,
      Supplier<Stream<ClusterQueueCache>> ofAllTrees) {
    this.queues = queues;
    this.ofAllTrees = ofAllTrees;
  }

  /**
   * The queues below a cohort that have holders and borrow one of the pairs, as does every cohort
   * between.
   *
   * @param except a child whose queues are left out; null for none
   */
  List<ClusterQueueCache> find(QuotaNode cohort, @Nullable QuotaNode except, int[] pairs) {
    List<ClusterQueueCache> found = new ArrayList<>();
    collect(cohort, except, pairs, found);
    return found;
  }

  private void collect(
      QuotaNode cohort, @Nullable QuotaNode except, int[] pairs, List<ClusterQueueCache> found) {
    cohort.forEachBorrower(
        child -> {
          if (child == except || !borrowsAny(child, pairs)) {
            return;
          }
          if (!child.isQueue()) {
            collect(child, except, pairs, found);
            return;
          }
          addIfHolding(child, found);
        });
  }

  /** The queues at and below a node that have holders, whether they borrow or not. */
  List<ClusterQueueCache> allBelow(QuotaNode node) {
    List<ClusterQueueCache> found = new ArrayList<>();
    collectAll(node, found);
    return found;
  }

  /** The queues of all trees that have holders. */
  List<ClusterQueueCache> ofAllTrees() {
    return ofAllTrees.get().filter(queue -> queue.holders().size() > 0).toList();
  }

  private void collectAll(QuotaNode node, List<ClusterQueueCache> found) {
    if (node.isQueue()) {
      addIfHolding(node, found);
    }
    node.children().forEach(child -> collectAll(child, found));
  }

  private void addIfHolding(QuotaNode child, List<ClusterQueueCache> found) {
    ClusterQueueCache queue = queues.apply(child);
    if (queue != null && queue.holders().size() > 0) {
      found.add(queue);
    }
  }

  private static boolean borrowsAny(QuotaNode node, int[] pairs) {
    for (int pair : pairs) {
      if (node.borrowing(pair)) {
        return true;
      }
    }
    return false;
  }

  /**
   * The same for one pair, and with all children, by the lowest priority of the candidates; to be
   * called only while the usage is the sum of the reservations.
   */
  List<ClusterQueueCache> remembered(QuotaNode cohort, int pair) {
    return at(cohort)
        .byPair
        .computeIfAbsent(
            pair,
            number -> {
              List<ClusterQueueCache> found = find(cohort, null, new int[] {number});
              found.sort(BY_LOWEST_PRIORITY);
              BitSet all = cohort.borrowers();
              BitSet others = (BitSet) all.clone();
              for (ClusterQueueCache queue : found) {
                if (queue.node().parent() == cohort) {
                  others.clear(queue.node().position());
                }
              }
              return new OfPair(found, others, all);
            })
        .queues;
  }

  /**
   * The queues below a cohort that have holders, borrow a pair, and have candidates of a lower
   * priority, whatever was added to the usage since the reservations changed. A queue that borrows
   * now was remembered, or borrowed another pair, or is new among those that borrow.
   *
   * @param protectedFrom the priority from which on candidates don't count
   * @return null if nothing is remembered of the pair, or if there are cohorts below the cohort
   */
  @Nullable List<ClusterQueueCache> findByMemory(QuotaNode cohort, int pair, long protectedFrom) {
    OfPair known =
        cohort.untilReservationsChange() instanceof Remembered remembered
                && remembered.owner == this
                && cohort.cohorts().isEmpty()
            ? remembered.byPair.get(pair)
            : null;
    if (known == null) {
      return null;
    }
    List<ClusterQueueCache> found = new ArrayList<>();
    for (ClusterQueueCache queue : known.queues) {
      if (queue.holders().lowestPriority() >= protectedFrom && protectedFrom != Long.MAX_VALUE) {
        break;
      }
      if (queue.node().borrowing(pair)) {
        found.add(queue);
      }
    }
    for (int i = known.others.nextSetBit(0); i >= 0; i = known.others.nextSetBit(i + 1)) {
      addIfBorrowing(cohort.children().get(i), pair, found);
    }
    cohort.forEachBorrowerBeside(known.all, child -> addIfBorrowing(child, pair, found));
    return found;
  }

  private void addIfBorrowing(QuotaNode child, int pair, List<ClusterQueueCache> found) {
    if (child.borrowing(pair)) {
      addIfHolding(child, found);
    }
  }

  private Remembered at(QuotaNode node) {
    if (node.untilReservationsChange() instanceof Remembered known && known.owner == this) {
      return known;
    }
    Remembered nothing = new Remembered(this);
    node.untilReservationsChange(nothing);
    return nothing;
  }
}

package dev.sluice.core.scheduling;

import dev.sluice.core.queue.QueuedWorkload;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;

/**
 * The classical order: less borrowing first, then by priority and by age; the UID breaks ties
 * (docs/scheduling-semantics.md#the-cycle).
 */
public final class ClassicalOrdering implements WorkloadOrdering {

  private final Comparator<NominatedWorkload> order;

  /** The classical order, as far as the rules leave it. */
  public ClassicalOrdering(OrderingRules rules) {
    this.order =
        rules.equals(OrderingRules.DEFAULT)
            ? ClassicalOrdering::compare
            : rules
                .byPreemption()
                .thenComparingInt(entry -> entry.assignment().borrowLevel())
                .thenComparing(rules.byPriorityAndAge());
  }

  private static int compare(NominatedWorkload one, NominatedWorkload two) {
    return compare(
        one.item(), one.assignment().borrowLevel(), two.item(), two.assignment().borrowLevel());
  }

  /**
   * Compares two heads by the levels from which they must borrow, then by priority, age and UID:
   * the order of {@link OrderingRules#DEFAULT}.
   */
  static int compare(
      QueuedWorkload one, int oneBorrowLevel, QueuedWorkload two, int twoBorrowLevel) {
    int byLevel = Integer.compare(oneBorrowLevel, twoBorrowLevel);
    return byLevel != 0 ? byLevel : QueuedWorkload.BY_PRIORITY_AND_AGE.compare(one, two);
  }

  /** A heap: a cycle may end long before the last of many heads. */
  @Override
  public Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominated) {
    HeapIterator<NominatedWorkload> heap = new HeapIterator<>(order);
    nominated.forEach(heap::add);
    return heap;
  }
}

package dev.sluice.core.scheduling;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;

/**
 * Those who borrow least come first, then by priority and by age; the UID breaks ties
 * (docs/scheduling-semantics.md#the-cycle).
 */
public final class ClassicalOrdering implements WorkloadOrdering {

  /** By priority and by age, then by UID. */
  static final Comparator<NominatedWorkload> AGE =
      Comparator.<NominatedWorkload>comparingLong(
              entry -> entry.item().equivalenceClass().priority())
          .reversed()
          .thenComparingLong(entry -> entry.item().queuedAtMicros())
          .thenComparing(entry -> entry.item().id().uid());

  private static final Comparator<NominatedWorkload> ORDER =
      Comparator.<NominatedWorkload>comparingInt(entry -> entry.assignment().borrowLevel())
          .thenComparing(AGE);

  @Override
  public Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominatedWorkload) {
    List<NominatedWorkload> sorted = new ArrayList<>(nominatedWorkload);
    sorted.sort(ORDER);
    return sorted.iterator();
  }
}

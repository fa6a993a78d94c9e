package dev.sluice.core.scheduling;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;

/**
 * The classical order: less borrowing first, then by priority and by age; the UID breaks ties
 * (docs/scheduling-semantics.md#the-cycle).
 */
public final class ClassicalOrdering implements WorkloadOrdering {

  /** By priority and by age, then by UID. */
  static final Comparator<NominatedWorkload> BY_PRIORITY_AND_AGE =
      Comparator.<NominatedWorkload>comparingLong(
              entry -> entry.item().equivalenceClass().priority())
          .reversed()
          .thenComparingLong(entry -> entry.item().queuedAtMicros())
          .thenComparing(entry -> entry.item().id().uid());

  private static final Comparator<NominatedWorkload> ORDER =
      Comparator.<NominatedWorkload>comparingInt(entry -> entry.assignment().borrowLevel())
          .thenComparing(BY_PRIORITY_AND_AGE);

  @Override
  public Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominated) {
    List<NominatedWorkload> sorted = new ArrayList<>(nominated);
    sorted.sort(ORDER);
    return sorted.iterator();
  }
}

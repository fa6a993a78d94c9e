package dev.sluice.core.scheduling;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.NoSuchElementException;
import java.util.TreeMap;

/**
 * The priority of queues as the first key among the heads of a cycle: heads of queues with a higher
 * priority come first, and those of equal priority in the order of the policy. Each group is
 * ordered only when its turn comes, so that the usage of earlier groups counts.
 */
final class QueuePriorityOrdering implements WorkloadOrdering {

  private final WorkloadOrdering within;

  QueuePriorityOrdering(WorkloadOrdering within) {
    this.within = within;
  }

  @Override
  public Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominated) {
    return haveEqualPriority(nominated) ? within.order(nominated) : inGroups(nominated);
  }

  private static boolean haveEqualPriority(Collection<NominatedWorkload> nominated) {
    boolean first = true;
    int priority = 0;
    for (NominatedWorkload entry : nominated) {
      if (!first && entry.queue().priority() != priority) {
        return false;
      }
      priority = entry.queue().priority();
      first = false;
    }
    return true;
  }

  private Iterator<NominatedWorkload> inGroups(Collection<NominatedWorkload> nominated) {
    NavigableMap<Integer, List<NominatedWorkload>> groups = new TreeMap<>();
    for (NominatedWorkload entry : nominated) {
      groups.computeIfAbsent(entry.queue().priority(), any -> new ArrayList<>()).add(entry);
    }
    return new Iterator<>() {
      private Iterator<NominatedWorkload> group = Collections.emptyIterator();

      @Override
      public boolean hasNext() {
        return group.hasNext() || !groups.isEmpty();
      }

      @Override
      public NominatedWorkload next() {
        if (!hasNext()) {
          throw new NoSuchElementException("no more heads");
        }
        if (!group.hasNext()) {
          group = within.order(groups.pollLastEntry().getValue());
        }
        return group.next();
      }
    };
  }
}

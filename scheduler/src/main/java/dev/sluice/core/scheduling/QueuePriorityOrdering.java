package dev.sluice.core.scheduling;

import dev.sluice.core.waiting.RepeatedPreemptions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.NoSuchElementException;
import java.util.TreeMap;

/**
 * What comes before the order of the policy among the heads of a cycle: heads of queues with a
 * higher priority, and then Workloads that preempted the same ones again and again
 * (docs/preemption.md#preemption-that-goes-on-for-ever). Each group is ordered only when its turn
 * comes, so that the usage of earlier groups counts.
 */
final class QueuePriorityOrdering implements WorkloadOrdering {

  private record Group(int priority, boolean repeated) {}

  private static final Comparator<Group> LAST_FIRST =
      Comparator.comparingInt(Group::priority).thenComparing(Group::repeated);

  private final WorkloadOrdering within;
  private final RepeatedPreemptions repeatedPreemptions;

  QueuePriorityOrdering(WorkloadOrdering within, RepeatedPreemptions repeatedPreemptions) {
    this.within = within;
    this.repeatedPreemptions = repeatedPreemptions;
  }

  @Override
  public Iterator<NominatedWorkload> order(Collection<NominatedWorkload> nominated) {
    return isOneGroup(nominated) ? within.order(nominated) : inGroups(nominated);
  }

  private boolean isOneGroup(Collection<NominatedWorkload> nominated) {
    Group first = null;
    for (NominatedWorkload entry : nominated) {
      if (first == null) {
        first = groupOf(entry);
      } else if (entry.queue().priority() != first.priority
          || isRepeated(entry) != first.repeated) {
        return false;
      }
    }
    return true;
  }

  private Group groupOf(NominatedWorkload nominated) {
    return new Group(nominated.queue().priority(), isRepeated(nominated));
  }

  private boolean isRepeated(NominatedWorkload nominated) {
    return repeatedPreemptions.comesFirst(nominated.item().id().uid());
  }

  private Iterator<NominatedWorkload> inGroups(Collection<NominatedWorkload> nominated) {
    NavigableMap<Group, List<NominatedWorkload>> groups = new TreeMap<>(LAST_FIRST);
    for (NominatedWorkload entry : nominated) {
      groups.computeIfAbsent(groupOf(entry), any -> new ArrayList<>()).add(entry);
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

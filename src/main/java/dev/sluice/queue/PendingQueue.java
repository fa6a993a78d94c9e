package dev.sluice.queue;

import dev.sluice.model.Explanation;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.PendingWorkload;
import dev.sluice.model.WorkloadId;
import dev.sluice.model.WorkloadShape;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The pending Workloads of one ClusterQueue. Those in line stand in classes of equals, ordered by
 * their eldest; a class that was found not to fit is parked as a whole until it is woken; a
 * Workload whose trouble is its own (its namespace, its limits, its back-off) is set aside alone.
 * Parking and waking cost the same for one as for a million. Confined to the engine's thread.
 */
public final class PendingQueue {

  private record ClassKey(WorkloadShape shape, long priority) {}

  private final Map<ClassKey, EquivalenceClass> classes = new HashMap<>();
  private final IndexedHeap<EquivalenceClass> inLine = new IndexedHeap<>(EquivalenceClass.BY_RANK);
  private final Set<EquivalenceClass> parked = new LinkedHashSet<>();
  private final Set<PendingItem> aside = new LinkedHashSet<>();
  private final Map<LocalQueueId, PendingCount> byLocalQueue = new HashMap<>();
  private PendingCount total = PendingCount.NONE;
  private @Nullable WorkloadId stickyId;
  private @Nullable PendingItem sticky;
  private boolean strict;

  /**
   * Adds a Workload: in line, or to its class if that is parked.
   *
   * @param localQueue its LocalQueue, the one instance that all of them share
   * @param before the item that stood for it until now, whose memory of what people were told is
   *     kept; null if there was none
   */
  public PendingItem add(
      PendingWorkload workload, LocalQueueId localQueue, @Nullable PendingItem before) {
    EquivalenceClass equals =
        classes.computeIfAbsent(
            new ClassKey(workload.shape(), workload.priority()),
            key -> new EquivalenceClass(this, key.shape, key.priority));
    PendingItem item = new PendingItem(workload, localQueue, equals);
    if (before != null) {
      item.toldAs(before);
    }
    if (item.id().equals(stickyId)) {
      sticky = item;
    }
    enter(item);
    return item;
  }

  /** Takes a Workload out, wherever it stands. */
  public void remove(PendingItem item) {
    if (aside.remove(item)) {
      count(item.localQueue(), 0, -1);
      item.equivalenceClass().setAside(-1);
    } else {
      leave(item);
    }
    forgetIfUnused(item.equivalenceClass());
  }

  /** The Workload that is next; null when nobody is in line. */
  public @Nullable PendingItem head() {
    PendingItem preemptor = sticky();
    if (preemptor != null && isInLine(preemptor)) {
      return preemptor;
    }
    EquivalenceClass first = inLine.first();
    return first == null ? null : first.eldest();
  }

  /**
   * Sets whether the queue is StrictFIFO: then nobody stands before others because he preempted
   * (scheduling semantics, 2.2).
   */
  public void strict(boolean strictFifo) {
    strict = strictFifo;
  }

  /**
   * Others were preempted for this one: whenever it is in line it stands before everybody, until it
   * is gone for good or another one takes its place (scheduling semantics, 2.2).
   */
  public void stick(PendingItem item) {
    sticky = item;
    stickyId = item.id();
  }

  private @Nullable PendingItem sticky() {
    return strict ? null : sticky;
  }

  /** A Workload is gone for good. */
  public void forget(WorkloadId id) {
    if (id.equals(stickyId)) {
      sticky = null;
      stickyId = null;
    }
  }

  /** Whether a class would be looked at before those that are in line. */
  public boolean ranksFirst(EquivalenceClass equals) {
    PendingItem head = head();
    return head == null || (head != sticky() && equals.ranksBefore(head.equivalenceClass()));
  }

  private static boolean isInLine(PendingItem item) {
    return item.inHeap() && item.equivalenceClass().inHeap();
  }

  /** Sets one Workload aside, for a reason of its own; null if there is nothing to tell. */
  public void setAside(PendingItem item, @Nullable Explanation why) {
    if (!aside.contains(item)) {
      leave(item);
      aside.add(item);
      item.equivalenceClass().setAside(1);
      count(item.localQueue(), 0, 1);
    }
    item.setAside(why);
  }

  /** Whether a Workload is set aside. */
  public boolean isAside(PendingItem item) {
    return aside.contains(item);
  }

  /** Puts one that was set aside back in line, or into its class if that is parked. */
  public void bringBack(PendingItem item) {
    if (aside.remove(item)) {
      count(item.localQueue(), 0, -1);
      item.equivalenceClass().setAside(-1);
      item.setAside(null);
      enter(item);
    }
  }

  /** Parks a class: nobody in it fits, for the same reason. */
  public void park(EquivalenceClass equals, Explanation why, List<EquivalenceClass.Lack> lacks) {
    if (equals.inHeap()) {
      inLine.remove(equals);
      parked.add(equals);
      equals.sizeByLocalQueue().forEach((queue, size) -> count(queue, -size, size));
    }
    equals.parked(why, lacks);
  }

  /** Puts a parked class back in line. */
  public void wake(EquivalenceClass equals) {
    if (parked.remove(equals)) {
      equals.parked(null, List.of());
      inLine.add(equals);
      equals.sizeByLocalQueue().forEach((queue, size) -> count(queue, size, -size));
    }
  }

  /** The classes that are parked now. */
  public Collection<EquivalenceClass> parkedClasses() {
    return new ArrayList<>(parked);
  }

  /** Those set aside alone now. */
  public Collection<PendingItem> setAsideItems() {
    return new ArrayList<>(aside);
  }

  /** How many classes of equals are in line, and how many are parked. */
  public PendingCount classCount() {
    return new PendingCount(inLine.size(), parked.size());
  }

  /** How many wait in all. */
  public PendingCount count() {
    return total;
  }

  /** How many of a LocalQueue wait. */
  public PendingCount count(LocalQueueId queue) {
    return byLocalQueue.getOrDefault(queue, PendingCount.NONE);
  }

  /** Everyone who waits, in queue order. Cost: all of them, sorted. */
  public List<PendingItem> inOrder() {
    List<PendingItem> all = new ArrayList<>(total.active() + total.inadmissible());
    for (EquivalenceClass equals : classes.values()) {
      all.addAll(equals.members());
    }
    all.addAll(aside);
    PendingItem preemptor = sticky();
    all.sort(
        Comparator.<PendingItem>comparingInt(item -> item == preemptor ? 0 : 1)
            .thenComparing(
                Comparator.<PendingItem>comparingLong(item -> item.equivalenceClass().priority())
                    .reversed())
            .thenComparing(PendingItem.BY_AGE));
    return all;
  }

  private void enter(PendingItem item) {
    EquivalenceClass equals = item.equivalenceClass();
    boolean wasEmpty = equals.isEmpty();
    equals.add(item);
    if (parked.contains(equals)) {
      count(item.localQueue(), 0, 1);
      return;
    }
    count(item.localQueue(), 1, 0);
    if (wasEmpty) {
      inLine.add(equals);
    } else {
      inLine.moved(equals);
    }
  }

  private void leave(PendingItem item) {
    EquivalenceClass equals = item.equivalenceClass();
    boolean parkedNow = parked.contains(equals);
    if (!parkedNow && equals.size() == 1) {
      inLine.remove(equals);
    }
    equals.remove(item);
    if (parkedNow) {
      count(item.localQueue(), 0, -1);
      if (equals.isEmpty()) {
        parked.remove(equals);
        equals.parked(null, List.of());
      }
    } else {
      count(item.localQueue(), -1, 0);
      if (!equals.isEmpty()) {
        inLine.moved(equals);
      }
    }
  }

  private void forgetIfUnused(EquivalenceClass equals) {
    if (equals.isUnused()) {
      classes.remove(new ClassKey(equals.shape(), equals.priority()), equals);
    }
  }

  private void count(LocalQueueId queue, int active, int inadmissible) {
    total = total.plus(active, inadmissible);
    PendingCount count =
        byLocalQueue.getOrDefault(queue, PendingCount.NONE).plus(active, inadmissible);
    if (count.equals(PendingCount.NONE)) {
      byLocalQueue.remove(queue);
    } else {
      byLocalQueue.put(queue, count);
    }
  }
}

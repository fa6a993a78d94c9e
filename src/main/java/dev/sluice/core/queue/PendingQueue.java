package dev.sluice.core.queue;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pending Workloads of one ClusterQueue. Those in line stand in classes of equals, ordered by
 * their eldest, and where LocalQueues take turns by their use in a line for each of these; a class
 * that was found not to fit is parked as a whole until it is woken; a Workload whose trouble is its
 * own (its namespace, its limits, its back-off) is set aside alone. Parking and waking cost the
 * same for one as for a million. Confined to the engine's thread.
 */
public final class PendingQueue {

  private record ClassKey(LocalQueueLane line, RequestShape shape, long priority) {}

  private final Map<ClassKey, EquivalenceClass> classes = new HashMap<>();
  private final LocalQueueLane everybody = new LocalQueueLane(new LocalQueueUsage());
  private final Map<LocalQueueUsage, LocalQueueLane> lines = new HashMap<>();

  /** Lines that are not empty. */
  private final IndexedHeap<LocalQueueLane> inLine = new IndexedHeap<>(LocalQueueLane.BY_USE);

  private int classesInLine;
  private @Nullable Function<LocalQueueId, LocalQueueUsage> uses;
  private final IndexedHeap<EquivalenceClass> parked =
      new IndexedHeap<>(
          (one, two) -> one.isOrderedBefore(two) ? -1 : two.isOrderedBefore(one) ? 1 : 0);
  private boolean parkedMoved;
  private final Set<QueuedWorkload> aside = new LinkedHashSet<>();
  private final Map<LocalQueueId, PendingCount> byLocalQueue = new HashMap<>();
  private PendingCount total = PendingCount.NONE;
  private @Nullable WorkloadId stickyId;
  private @Nullable QueuedWorkload sticky;
  private boolean strict;
  private long inadmissibleInOrder;

  /**
   * Adds a Workload: in line, or to its class if that is parked.
   *
   * @param localQueue its LocalQueue, the one instance that all of them share
   * @param before the item that stood for it until now, whose memory of what people were told is
   *     kept; null if there was none
   */
  public QueuedWorkload add(
      PendingWorkload workload, LocalQueueId localQueue, @Nullable QueuedWorkload before) {
    EquivalenceClass equals = classOf(localQueue, workload.shape(), workload.priority());
    QueuedWorkload item = new QueuedWorkload(workload, localQueue, equals);
    if (before != null) {
      item.lastReported(before);
    }
    if (item.id().equals(stickyId)) {
      sticky = item;
    }
    enter(item);
    return item;
  }

  private EquivalenceClass classOf(LocalQueueId localQueue, RequestShape shape, long priority) {
    LocalQueueLane line = uses == null ? everybody : lanes(uses.apply(localQueue));
    return classes.computeIfAbsent(
        new ClassKey(line, shape, priority),
        key -> new EquivalenceClass(this, key.line, key.shape, key.priority));
  }

  private LocalQueueLane lanes(LocalQueueUsage use) {
    return lines.computeIfAbsent(use, LocalQueueLane::new);
  }

  /**
   * Sets whether LocalQueues take turns by what they used
   * (docs/scheduling-semantics.md#queue-order); if that is new, everybody who is parked is back in
   * line.
   *
   * @param of what a LocalQueue used, always the same object for the same one; null: use doesn't
   *     count
   */
  public void orderByUsage(@Nullable Function<LocalQueueId, LocalQueueUsage> of) {
    boolean changes = (of == null) != (uses == null);
    uses = of;
    if (!changes) {
      return;
    }
    inadmissibleClasses().forEach(this::requeue);
    List<QueuedWorkload> members = new ArrayList<>();
    for (EquivalenceClass equals : classes.values()) {
      members.addAll(equals.members());
    }
    members.forEach(this::leave);
    classes.clear();
    lines.clear();
    for (QueuedWorkload item : members) {
      reorder(item);
      enter(item);
    }
    for (QueuedWorkload item : aside) {
      reorder(item);
      item.equivalenceClass().held(1);
    }
  }

  private void reorder(QueuedWorkload item) {
    EquivalenceClass former = item.equivalenceClass();
    item.join(classOf(item.localQueue(), former.shape(), former.priority()));
  }

  /** Whether LocalQueues take turns by what they used. */
  public boolean isOrderedByUsage() {
    return uses != null;
  }

  /** A LocalQueue uses more or less than before, as its use says now. */
  public void usageChanged(LocalQueueUsage use) {
    LocalQueueLane line = lines.get(use);
    inadmissibleInOrder++;
    parkedMoved = true;
    if (line != null && line.inHeap()) {
      inLine.moved(line);
    }
  }

  /** Takes a Workload out, wherever it stands. */
  public void remove(QueuedWorkload item) {
    if (aside.remove(item)) {
      count(item.localQueue(), 0, -1);
      item.equivalenceClass().held(-1);
    } else {
      leave(item);
    }
    dropIfUnused(item.equivalenceClass());
  }

  /** The Workload that is next; null when nobody is in line. */
  public @Nullable QueuedWorkload head() {
    LocalQueueLane first = inLine.first();
    if (first == null) {
      return null;
    }
    QueuedWorkload preemptor = sticky();
    return preemptor != null && isActive(preemptor) && preemptor.use().compareTo(first.use()) <= 0
        ? preemptor
        : first.firstClass().head();
  }

  /**
   * Sets whether the queue is StrictFIFO: then nobody stands before others because he preempted
   * (docs/scheduling-semantics.md#queue-order).
   */
  public void strict(boolean strictFifo) {
    strict = strictFifo;
  }

  /**
   * Others were preempted for this one: whenever it is in line it stands before everybody, but for
   * LocalQueues that used less where that counts, until it is gone for good or another one takes
   * its place (docs/scheduling-semantics.md#queue-order).
   */
  public void markSticky(QueuedWorkload item) {
    sticky = item;
    stickyId = item.id();
  }

  private @Nullable QueuedWorkload sticky() {
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
  public boolean isHead(EquivalenceClass equals) {
    QueuedWorkload head = head();
    if (head == null) {
      return true;
    }
    int byUse = equals.line().use().compareTo(head.use());
    return byUse != 0
        ? byUse < 0
        : head != sticky() && equals.isOrderedBefore(head.equivalenceClass());
  }

  private static boolean isActive(QueuedWorkload item) {
    return item.inHeap()
        && item.equivalenceClass().inHeap()
        && item.equivalenceClass().explanation() == null;
  }

  /** Sets one Workload aside, for a reason of its own; null if there is nothing to tell. */
  public void hold(QueuedWorkload item, @Nullable Explanation why) {
    if (!aside.contains(item)) {
      leave(item);
      aside.add(item);
      item.equivalenceClass().held(1);
      count(item.localQueue(), 0, 1);
    }
    item.held(why);
  }

  /** Whether a Workload is set aside. */
  public boolean isHeld(QueuedWorkload item) {
    return aside.contains(item);
  }

  /** Puts one that was set aside back in line, or into its class if that is parked. */
  public void release(QueuedWorkload item) {
    if (aside.remove(item)) {
      count(item.localQueue(), 0, -1);
      item.equivalenceClass().held(-1);
      item.held(null);
      enter(item);
    }
  }

  /** Parks a class: nobody in it fits, for the same reason. */
  public void markInadmissible(
      EquivalenceClass equals, Explanation why, List<EquivalenceClass.Lack> lacks) {
    boolean fromLine = equals.inHeap() && equals.explanation() == null;
    if (fromLine) {
      dequeue(equals);
      equals.countsByLocalQueue().forEach((queue, size) -> count(queue, -size, size));
    }
    equals.inadmissible(why, lacks);
    if (fromLine) {
      parked.add(equals);
    }
  }

  /** Puts a parked class back in line. */
  public void requeue(EquivalenceClass equals) {
    if (equals.explanation() != null) {
      parked.remove(equals);
      inadmissibleInOrder++;
      equals.inadmissible(null, List.of());
      enqueue(equals);
      equals.countsByLocalQueue().forEach((queue, size) -> count(queue, size, -size));
    }
  }

  /**
   * Counts how often the order of parked classes may have changed, or that of those who may block a
   * StrictFIFO queue: somebody's eldest came or left, or he isn't parked any more.
   */
  public long inadmissibleInOrder() {
    return inadmissibleInOrder;
  }

  /** Of the classes that are parked, the one that comes first; null if there is none. */
  public @Nullable EquivalenceClass firstInadmissible() {
    if (parkedMoved) {
      parked.reorder();
      parkedMoved = false;
    }
    return parked.first();
  }

  /** The classes that are parked now. */
  public Collection<EquivalenceClass> inadmissibleClasses() {
    return new ArrayList<>(parked.entries());
  }

  /** Those set aside alone now. */
  public Collection<QueuedWorkload> heldWorkloads() {
    return new ArrayList<>(aside);
  }

  /** How many classes of equals are in line, and how many are parked. */
  public PendingCount classCount() {
    return new PendingCount(classesInLine, parked.size());
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
  public List<QueuedWorkload> inOrder() {
    List<QueuedWorkload> all = new ArrayList<>(total.active() + total.inadmissible());
    for (EquivalenceClass equals : classes.values()) {
      all.addAll(equals.members());
    }
    all.addAll(aside);
    QueuedWorkload preemptor = sticky();
    all.sort(
        Comparator.comparing(QueuedWorkload::use)
            .thenComparingInt(item -> item == preemptor ? 0 : 1)
            .thenComparing(
                Comparator.<QueuedWorkload>comparingLong(item -> item.equivalenceClass().priority())
                    .reversed())
            .thenComparing(QueuedWorkload.BY_AGE));
    return all;
  }

  private void enter(QueuedWorkload item) {
    EquivalenceClass equals = item.equivalenceClass();
    boolean wasEmpty = equals.isEmpty();
    equals.add(item);
    if (equals.explanation() != null) {
      if (equals.head() == item) {
        inadmissibleInOrder++;
        parked.moved(equals);
      }
      count(item.localQueue(), 0, 1);
      return;
    }
    count(item.localQueue(), 1, 0);
    if (wasEmpty) {
      enqueue(equals);
    } else {
      moved(equals);
    }
  }

  private void enqueue(EquivalenceClass equals) {
    LocalQueueLane line = equals.line();
    line.classes().add(equals);
    classesInLine++;
    if (line.inHeap()) {
      inLine.moved(line);
    } else {
      inLine.add(line);
    }
  }

  private void dequeue(EquivalenceClass equals) {
    LocalQueueLane line = equals.line();
    line.classes().remove(equals);
    classesInLine--;
    if (line.classes().isEmpty()) {
      inLine.remove(line);
    } else {
      inLine.moved(line);
    }
  }

  private void moved(EquivalenceClass equals) {
    equals.line().classes().moved(equals);
    inLine.moved(equals.line());
  }

  private void leave(QueuedWorkload item) {
    EquivalenceClass equals = item.equivalenceClass();
    boolean parkedNow = equals.explanation() != null;
    if (equals.size() == 1) {
      if (parkedNow) {
        parked.remove(equals);
      } else {
        dequeue(equals);
      }
    }
    boolean first = equals.head() == item;
    equals.remove(item);
    inadmissibleInOrder += first && (parkedNow || strict || equals.isEmpty()) ? 1 : 0;
    if (parkedNow) {
      count(item.localQueue(), 0, -1);
      if (equals.isEmpty()) {
        equals.inadmissible(null, List.of());
      } else if (first) {
        parked.moved(equals);
      }
    } else {
      count(item.localQueue(), -1, 0);
      if (!equals.isEmpty()) {
        moved(equals);
      }
    }
  }

  private void dropIfUnused(EquivalenceClass equals) {
    if (equals.isUnused()) {
      classes.remove(new ClassKey(equals.line(), equals.shape(), equals.priority()), equals);
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

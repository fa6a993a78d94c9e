package dev.sluice.core.queue;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.RequestShape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Pending Workloads of one queue that are decided alike: same shape, same priority, and the same
 * LocalQueue where LocalQueues take turns by their use. When one doesn't fit, none does, and the
 * class is parked as a whole. Confined to the engine's thread.
 */
public final class EquivalenceClass extends IndexedHeap.Entry {

  /** Order of classes in a queue: that of their oldest members, priority first. */
  static final Comparator<EquivalenceClass> BY_RANK =
      (one, two) -> {
        int byPriority = Long.compare(two.priority, one.priority);
        return byPriority != 0 ? byPriority : QueuedWorkload.BY_AGE.compare(one.head(), two.head());
      };

  private final PendingQueue queue;
  private final LocalQueueLane line;
  private final RequestShape shape;
  private final long priority;
  private final IndexedHeap<QueuedWorkload> items = new IndexedHeap<>(QueuedWorkload.BY_AGE);
  private final Map<LocalQueueId, Integer> countsByLocalQueue = new HashMap<>(2);
  private @Nullable Explanation explanation;
  private List<Lack> missingQuota = List.of();
  private final List<QueuedWorkload> untold = new ArrayList<>(0);
  private @Nullable Explanation toldLast;
  private int held;
  private @Nullable ResourceDemand resourceDemand;

  /** An amount of a pair that its members lacked when the class was parked. */
  public record Lack(int pair, long amount) {}

  EquivalenceClass(PendingQueue queue, LocalQueueLane line, RequestShape shape, long priority) {
    this.queue = queue;
    this.line = line;
    this.shape = shape;
    this.priority = priority;
  }

  /** The queue it waits in. */
  public PendingQueue queue() {
    return queue;
  }

  /** The line it stands in, or would stand in. */
  LocalQueueLane line() {
    return line;
  }

  /** What each of them asks for. */
  public RequestShape shape() {
    return shape;
  }

  /** What each of them asks of {@code of}, which is its queue. */
  public ResourceDemand demand(ClusterQueueCache of) {
    ResourceDemand known = resourceDemand;
    if (known == null || known.queue() != of) {
      known = new ResourceDemand(of, shape);
      resourceDemand = known;
    }
    return known;
  }

  /** The priority of each of them. */
  public long priority() {
    return priority;
  }

  /**
   * Whether it comes before another class of the same queue: its LocalQueue used less, where that
   * counts, or its eldest is before the other's.
   */
  public boolean isOrderedBefore(EquivalenceClass other) {
    int byUse = line.use().compareTo(other.line.use());
    return byUse != 0 ? byUse < 0 : BY_RANK.compare(this, other) < 0;
  }

  /** How many there are. */
  public int size() {
    return items.size();
  }

  /** Why the class is parked; null while it is in line. */
  public @Nullable Explanation explanation() {
    return explanation;
  }

  /** What its members lacked when it was parked. */
  public List<Lack> missingQuota() {
    return missingQuota;
  }

  /** Remembers what its eldest lacked, without parking the class. */
  public void missingQuota(List<Lack> what) {
    missingQuota = List.copyOf(what);
  }

  /** Its members, in no order. */
  public List<QueuedWorkload> members() {
    return new ArrayList<>(items.entries());
  }

  /**
   * Members whom nobody has told yet why they wait: those that came since the last call, or all of
   * them if the reason is another than it was. Empty while the class is in line.
   */
  public List<QueuedWorkload> drainUnreported() {
    Explanation why = explanation;
    if (why == null) {
      return List.of();
    }
    boolean changed = toldLast == null || toldLast.reason() != why.reason();
    pruneUnreported();
    List<QueuedWorkload> result = changed ? members() : new ArrayList<>(untold);
    toldLast = why;
    untold.clear();
    return result;
  }

  /**
   * The member that is next.
   *
   * @throws IllegalStateException when it has none
   */
  public QueuedWorkload head() {
    QueuedWorkload first = items.first();
    if (first == null) {
      throw new IllegalStateException("an empty class has no eldest");
    }
    return first;
  }

  boolean isEmpty() {
    return items.isEmpty();
  }

  /** Whether nobody belongs to it any more, neither in it nor set aside from it. */
  public boolean isUnused() {
    return items.isEmpty() && held == 0;
  }

  void held(int more) {
    held += more;
  }

  void inadmissible(@Nullable Explanation why, List<Lack> what) {
    explanation = why;
    missingQuota = List.copyOf(what);
  }

  void add(QueuedWorkload item) {
    items.add(item);
    untold.add(item);
    countsByLocalQueue.merge(item.localQueue(), 1, Integer::sum);
  }

  void remove(QueuedWorkload item) {
    items.remove(item);
    if (untold.size() > 2 * items.size()) {
      pruneUnreported();
    }
    countsByLocalQueue.computeIfPresent(
        item.localQueue(), (queueId, size) -> size == 1 ? null : size - 1);
  }

  /** Members that left aren't taken off one by one: that would cost a search each. */
  private void pruneUnreported() {
    untold.removeIf(item -> !item.inHeap());
  }

  Map<LocalQueueId, Integer> countsByLocalQueue() {
    return countsByLocalQueue;
  }
}

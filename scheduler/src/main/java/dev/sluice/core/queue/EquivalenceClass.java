package dev.sluice.core.queue;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.RequestShape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Pending Workloads of one queue with the same request shape, the same priority, and with admission
 * fair sharing the same LocalQueue. Scheduling treats them alike: when one member doesn't fit, none
 * does, and the whole class becomes inadmissible. Confined to the scheduler thread.
 */
public final class EquivalenceClass extends IndexedHeap.Entry {

  /** Order of classes in a queue: its queueing policy compares their oldest members. */
  static final Comparator<EquivalenceClass> BY_RANK =
      (one, two) -> one.queue.order().compare(one.head(), two.head());

  /** {@link #BY_RANK}, after the usage of the LocalQueues with admission fair sharing. */
  static final Comparator<EquivalenceClass> BY_USAGE_AND_RANK =
      (one, two) -> {
        int byUsage = one.lane.usage().compareTo(two.lane.usage());
        return byUsage != 0 ? byUsage : BY_RANK.compare(one, two);
      };

  private final PendingQueue queue;
  private final LocalQueueLane lane;
  private final RequestShape shape;
  private final long priority;
  private final IndexedHeap<QueuedWorkload> items = new IndexedHeap<>(QueuedWorkload.BY_AGE);
  private final Map<LocalQueueId, Integer> countsByLocalQueue = new HashMap<>(2);
  private @Nullable Explanation explanation;
  private List<Shortage> missingQuota = List.of();
  private final List<QueuedWorkload> unreported = new ArrayList<>(0);
  private @Nullable Explanation lastReported;
  private int held;
  private @Nullable ResourceDemand resourceDemand;
  private @Nullable SchedulingHash schedulingHash;

  /**
   * The amount of a pair that the members need and that was not available when the class became
   * inadmissible.
   */
  public record Shortage(int pair, long amount) {}

  EquivalenceClass(PendingQueue queue, LocalQueueLane lane, RequestShape shape, long priority) {
    this.queue = queue;
    this.lane = lane;
    this.shape = shape;
    this.priority = priority;
  }

  /** The queue of the class. */
  public PendingQueue queue() {
    return queue;
  }

  /** The lane of the class, whether the class is active or not. */
  LocalQueueLane lane() {
    return lane;
  }

  /**
   * Usage over time of the LocalQueue, as the order compares it; without admission fair sharing one
   * usage of all LocalQueues.
   */
  public LocalQueueUsage usage() {
    return lane.usage();
  }

  /** The request of each member. */
  public RequestShape shape() {
    return shape;
  }

  /** The demand of each member on {@code of}, which must be the cache of the class's queue. */
  public ResourceDemand demand(ClusterQueueCache of) {
    ResourceDemand known = resourceDemand;
    if (known == null || known.queue() != of) {
      known = new ResourceDemand(of, shape);
      resourceDemand = known;
    }
    return known;
  }

  /**
   * What the metric of different requests compares; worked out once.
   *
   * @param names whether the names of pod sets make a difference
   */
  SchedulingHash schedulingHash(boolean names) {
    SchedulingHash known = schedulingHash;
    if (known == null || known.hasNames() != names) {
      known = new SchedulingHash(shape, priority, names);
      schedulingHash = known;
    }
    return known;
  }

  /** The priority of each member. */
  public long priority() {
    return priority;
  }

  /**
   * Whether the class comes before another class of the same queue: its LocalQueue has less usage,
   * with admission fair sharing, or its oldest member comes first.
   */
  public boolean isOrderedBefore(EquivalenceClass other) {
    return BY_USAGE_AND_RANK.compare(this, other) < 0;
  }

  /** Number of members that are not held. */
  public int size() {
    return items.size();
  }

  /** Why the class is inadmissible; null while the class is active. */
  public @Nullable Explanation explanation() {
    return explanation;
  }

  /** The missing amounts when the class became inadmissible. */
  public List<Shortage> missingQuota() {
    return missingQuota;
  }

  /** Sets the missing amounts of the head, without making the class inadmissible. */
  public void missingQuota(List<Shortage> what) {
    missingQuota = List.copyOf(what);
  }

  /** The members that are not held, in no particular order. */
  public List<QueuedWorkload> members() {
    return new ArrayList<>(items.entries());
  }

  /**
   * Returns the members whose explanation was not reported yet: members added since the last call,
   * or all members if the reason changed. Empty while the class is active.
   */
  public List<QueuedWorkload> drainUnreported() {
    Explanation reason = explanation;
    if (reason == null) {
      return List.of();
    }
    boolean changed = lastReported == null || lastReported.reason() != reason.reason();
    pruneUnreported();
    List<QueuedWorkload> result = changed ? members() : new ArrayList<>(unreported);
    lastReported = reason;
    unreported.clear();
    return result;
  }

  /**
   * The oldest member.
   *
   * @throws IllegalStateException when the class has no members
   */
  public QueuedWorkload head() {
    QueuedWorkload first = items.first();
    if (first == null) {
      throw new IllegalStateException("a class without members has no head");
    }
    return first;
  }

  /**
   * Since when the longest waiting member that is not held waits, in microseconds since the epoch;
   * {@link Long#MAX_VALUE} if there is none. The head may have run since it was queued.
   */
  long waitsSinceMicros() {
    return items.least(QueuedWorkload::queuedAtMicros, QueuedWorkload::waitsSinceMicros);
  }

  boolean isEmpty() {
    return items.isEmpty();
  }

  /** Whether the class has no members, held ones included. */
  public boolean isUnused() {
    return items.isEmpty() && held == 0;
  }

  /** Number of members that are held. */
  int heldMembers() {
    return held;
  }

  void held(int more) {
    held += more;
  }

  void inadmissible(@Nullable Explanation reason, List<Shortage> what) {
    explanation = reason;
    missingQuota = List.copyOf(what);
  }

  void add(QueuedWorkload item) {
    items.add(item);
    unreported.add(item);
    countsByLocalQueue.merge(item.localQueue(), 1, Integer::sum);
  }

  void remove(QueuedWorkload item) {
    items.remove(item);
    if (unreported.size() > 2 * items.size()) {
      pruneUnreported();
    }
    countsByLocalQueue.computeIfPresent(
        item.localQueue(), (queueId, size) -> size == 1 ? null : size - 1);
  }

  /**
   * Drops members that left. They are dropped in bulk, because a search for each would be
   * expensive.
   */
  private void pruneUnreported() {
    unreported.removeIf(item -> !item.inHeap());
  }

  /**
   * The class as a value.
   *
   * @param heldMembers its members that are held
   * @param explanations the indexes of explanations
   * @param current the queue with its spec of now; null if the queue was deleted
   */
  PendingQueueExport.ClassExport export(
      List<QueuedWorkload> heldMembers,
      PendingQueueExport.ExplanationIndex explanations,
      @Nullable ClusterQueueCache current) {
    List<QueuedWorkload> members = members();
    members.addAll(heldMembers);
    Map<QueuedWorkload, Integer> indexes = new IdentityHashMap<>();
    for (int i = 0; i < members.size() && !unreported.isEmpty(); i++) {
      indexes.put(members.get(i), i);
    }
    List<Integer> joined = new ArrayList<>(unreported.size());
    for (QueuedWorkload item : unreported) {
      Integer index = indexes.get(item);
      if (index != null) {
        joined.add(index);
      }
    }
    return new PendingQueueExport.ClassExport(
        shape,
        priority,
        explanations.of(explanation),
        missingQuota,
        explanations.of(lastReported),
        members.stream().map(item -> item.export(explanations, current)).toList(),
        joined);
  }

  /**
   * Takes a state over, into a class that has no members.
   *
   * @param exported the state
   * @param members the members, of which those from {@code firstHeld} on are held
   * @param exportedQueue the state of the queue
   */
  void restore(
      PendingQueueExport.ClassExport exported,
      List<QueuedWorkload> members,
      int firstHeld,
      PendingQueueExport exportedQueue) {
    members.subList(0, firstHeld).forEach(this::add);
    held = members.size() - firstHeld;
    explanation = exportedQueue.explanation(exported.explanation());
    missingQuota = exported.missingQuota();
    lastReported = exportedQueue.explanation(exported.lastReported());
    unreported.clear();
    exported.unreported().forEach(index -> unreported.add(members.get(index)));
  }

  Map<LocalQueueId, Integer> countsByLocalQueue() {
    return countsByLocalQueue;
  }
}

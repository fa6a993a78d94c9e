package dev.sluice.core.queue;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.OrderedClasses.LocalQueueLane;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The pending Workloads of one ClusterQueue. Active Workloads are grouped into equivalence classes,
 * ordered by their oldest members; with admission fair sharing every LocalQueue has a lane of
 * classes. A class that doesn't fit becomes inadmissible as a whole until it is requeued; a
 * Workload with a reason of its own (namespace, limits, backoff) is held alone. Marking a class
 * inadmissible and requeueing it cost the same for one member as for a million. Confined to the
 * scheduler thread.
 */
public final class PendingQueue {

  private record ClassKey(LocalQueueLane lane, RequestShape shape, long priority) {}

  /** Told when a skipped class becomes active in fact, see {@link #skip}. */
  @FunctionalInterface
  public interface SkipListener {

    /** The class is active from now on. */
    void activated(ClusterQueueCache queue, EquivalenceClass equivalenceClass);
  }

  private record Skipped(
      EquivalenceClass equivalenceClass, ClusterQueueCache queue, SkipListener listener) {}

  private final Map<ClassKey, EquivalenceClass> classes = new HashMap<>();
  private final LocalQueueLane sharedLane = new LocalQueueLane(new LocalQueueUsage());
  private final Map<LocalQueueUsage, LocalQueueLane> lanes = new HashMap<>();

  private final OrderedClasses active = new OrderedClasses(LocalQueueLane::active);

  /** The least that active Workloads ask for; null after a change of their classes. */
  private @Nullable LeastRequest leastActive;

  private final OrderedClasses inadmissible = new OrderedClasses(LocalQueueLane::inadmissible);
  private final Set<QueuedWorkload> held = new LinkedHashSet<>();
  private final PendingCounts counts = new PendingCounts();
  private QueueingPolicy policy = QueueingPolicies.of(QueueingStrategy.BEST_EFFORT_FIFO);
  private Comparator<QueuedWorkload> order = policy.order();
  private @Nullable Function<LocalQueueId, LocalQueueUsage> usageOf;
  private @Nullable WorkloadId stickyId;
  private @Nullable QueuedWorkload sticky;
  private long inadmissibleOrderVersion;
  private @Nullable Skipped skipped;

  /** The head of the last cycle that evaluated one of the queue; also when that is gone. */
  private @Nullable QueuedWorkload lastHead;

  /**
   * Adds a Workload to its class, active or inadmissible.
   *
   * @param localQueue the LocalQueue; all its Workloads share this instance
   * @param before the previous item of the Workload, whose reported explanation is kept; null if
   *     there was none
   */
  public QueuedWorkload add(
      PendingWorkload workload, LocalQueueId localQueue, @Nullable QueuedWorkload before) {
    activateSkipped();
    EquivalenceClass equivalenceClass = classOf(localQueue, workload.shape(), workload.priority());
    QueuedWorkload item = new QueuedWorkload(workload, localQueue, equivalenceClass);
    if (before != null) {
      item.lastReported(before);
    }
    if (item.id().equals(stickyId)) {
      sticky = item;
    }
    insert(item);
    return item;
  }

  /**
   * The state of the queue as a value.
   *
   * @param current the queue with its spec of now; null if the queue was deleted
   */
  public PendingQueueExport export(@Nullable ClusterQueueCache current) {
    Map<EquivalenceClass, List<QueuedWorkload>> heldOf = new HashMap<>();
    for (QueuedWorkload item : held) {
      heldOf.computeIfAbsent(item.equivalenceClass(), any -> new ArrayList<>()).add(item);
    }
    List<EquivalenceClass> order = new ArrayList<>(classes.values());
    order.sort(
        Comparator.comparing(
            each -> each.isEmpty() ? heldOf.getOrDefault(each, List.of()).getFirst() : each.head(),
            QueuedWorkload.BY_PRIORITY_AND_AGE));
    PendingQueueExport.ExplanationIndex explanations = new PendingQueueExport.ExplanationIndex();
    List<PendingQueueExport.ClassExport> exported = new ArrayList<>(order.size());
    Map<QueuedWorkload, PendingQueueExport.HeldExport> holds = new HashMap<>();
    for (EquivalenceClass each : order) {
      List<QueuedWorkload> heldMembers = heldOf.getOrDefault(each, List.of());
      for (int i = 0; i < heldMembers.size(); i++) {
        QueuedWorkload item = heldMembers.get(i);
        holds.put(
            item,
            new PendingQueueExport.HeldExport(
                exported.size(), each.size() + i, explanations.of(item.heldFor())));
      }
      exported.add(each.export(heldMembers, explanations, current));
    }
    return new PendingQueueExport(
        explanations.all(),
        exported,
        held.stream().map(holds::get).toList(),
        Optional.ofNullable(stickyId));
  }

  /**
   * Takes a state over, into a queue without Workloads whose policy and order are set.
   *
   * @param localQueues gives each LocalQueue the instance that all its Workloads share
   * @param current the queue with its spec of now; null if the queue was deleted
   * @param restored called with each Workload
   */
  public void restore(
      PendingQueueExport exported,
      UnaryOperator<LocalQueueId> localQueues,
      @Nullable ClusterQueueCache current,
      Consumer<QueuedWorkload> restored) {
    int[] heldOf = new int[exported.classes().size()];
    exported.held().forEach(hold -> heldOf[hold.ofClass()]++);
    stickyId = exported.preemptor().orElse(null);
    List<List<QueuedWorkload>> members = new ArrayList<>();
    for (PendingQueueExport.ClassExport each : exported.classes()) {
      members.add(restore(each, heldOf[members.size()], exported, localQueues, current, restored));
    }
    for (PendingQueueExport.HeldExport hold : exported.held()) {
      QueuedWorkload item = members.get(hold.ofClass()).get(hold.member());
      held.add(item);
      item.setHeld(true);
      item.held(exported.explanation(hold.reason()));
      counts.add(item.localQueue(), 0, 1);
    }
  }

  private List<QueuedWorkload> restore(
      PendingQueueExport.ClassExport exported,
      int heldMembers,
      PendingQueueExport exportedQueue,
      UnaryOperator<LocalQueueId> localQueues,
      @Nullable ClusterQueueCache current,
      Consumer<QueuedWorkload> restored) {
    List<QueuedWorkload> members = new ArrayList<>(exported.members().size());
    EquivalenceClass equivalenceClass = null;
    for (PendingQueueExport.QueuedExport each : exported.members()) {
      LocalQueueId localQueue =
          localQueues.apply(new LocalQueueId(each.id().namespace(), each.queueName()));
      if (equivalenceClass == null) {
        equivalenceClass = classOf(localQueue, exported.shape(), exported.priority());
      }
      QueuedWorkload item =
          QueuedWorkload.restored(
              each,
              localQueue,
              equivalenceClass,
              exportedQueue.explanation(each.reportedAs()),
              current);
      if (item.id().equals(stickyId)) {
        sticky = item;
      }
      FlavorProgress progress = item.flavorProgress();
      if (progress != null && progress.waitsForQuota()) {
        lastHead = item;
      }
      members.add(item);
      restored.accept(item);
    }
    if (equivalenceClass != null) {
      equivalenceClass.restore(exported, members, members.size() - heldMembers, exportedQueue);
      if (!equivalenceClass.isEmpty()) {
        boolean isActive = equivalenceClass.explanation() == null;
        (isActive ? active : inadmissible).add(equivalenceClass);
        equivalenceClass
            .countsByLocalQueue()
            .forEach((queue, size) -> counts.add(queue, isActive ? size : 0, isActive ? 0 : size));
      }
    }
    return members;
  }

  /**
   * Records the head that the next cycle evaluates: the search of another one before it is no
   * longer that of the cycle before.
   *
   * @param lastCycle the number of the last cycle
   */
  public void evaluates(QueuedWorkload workload, long lastCycle) {
    QueuedWorkload before = lastHead;
    if (before != null && before != workload) {
      FlavorProgress progress = before.flavorProgress();
      before.flavorProgress(progress == null ? null : progress.overtaken(lastCycle));
    }
    lastHead = workload;
  }

  /**
   * A member of a class, held or not.
   *
   * @return null if the class has no members, or is not a class of this queue
   */
  public @Nullable QueuedWorkload anyOf(EquivalenceClass equivalenceClass) {
    if (!equivalenceClass.isEmpty()) {
      return equivalenceClass.head();
    }
    for (QueuedWorkload item : held) {
      if (item.equivalenceClass() == equivalenceClass) {
        return item;
      }
    }
    return null;
  }

  private EquivalenceClass classOf(LocalQueueId localQueue, RequestShape shape, long priority) {
    LocalQueueLane lane = usageOf == null ? sharedLane : laneOf(usageOf.apply(localQueue));
    return classes.computeIfAbsent(
        new ClassKey(lane, shape, priority),
        key -> {
          key.lane.count(1);
          return new EquivalenceClass(this, key.lane, key.shape, key.priority);
        });
  }

  private LocalQueueLane laneOf(LocalQueueUsage usage) {
    return lanes.computeIfAbsent(usage, LocalQueueLane::new);
  }

  /**
   * Sets whether LocalQueues are ordered by usage (docs/scheduling-semantics.md#queue-order); a
   * change requeues all inadmissible classes.
   *
   * @param of the usage of a LocalQueue, always the same object for the same LocalQueue; null: not
   *     ordered by usage
   */
  public void orderByUsage(@Nullable Function<LocalQueueId, LocalQueueUsage> of) {
    activateSkipped();
    if ((of == null) == (usageOf == null)) {
      usageOf = of;
    } else {
      reinsertAll(() -> usageOf = of);
    }
  }

  /**
   * Sets the policy of the queueing strategy; a change of the order requeues all inadmissible
   * classes.
   */
  public void policy(QueueingPolicy queueing) {
    activateSkipped();
    policy = queueing;
    if (queueing.order() != order) {
      reinsertAll(() -> order = queueing.order());
    }
  }

  /** The order of the policy. */
  Comparator<QueuedWorkload> order() {
    return order;
  }

  /** Requeues all inadmissible classes, and inserts all Workloads after a change of the order. */
  private void reinsertAll(Runnable changeOfOrder) {
    inadmissibleClasses().forEach(this::requeue);
    List<QueuedWorkload> members = new ArrayList<>();
    for (EquivalenceClass equivalenceClass : classes.values()) {
      members.addAll(equivalenceClass.members());
    }
    members.forEach(this::extract);
    classes.clear();
    lanes.clear();
    changeOfOrder.run();
    for (QueuedWorkload item : members) {
      rejoin(item);
      insert(item);
    }
    for (QueuedWorkload item : held) {
      rejoin(item);
      item.equivalenceClass().held(1);
    }
  }

  private void rejoin(QueuedWorkload item) {
    EquivalenceClass former = item.equivalenceClass();
    item.join(classOf(item.localQueue(), former.shape(), former.priority()));
  }

  /** Whether LocalQueues are ordered by usage. */
  public boolean isOrderedByUsage() {
    return usageOf != null;
  }

  /** Updates the order after the usage of a LocalQueue changed. */
  public void usageChanged(LocalQueueUsage usage) {
    activateSkipped();
    LocalQueueLane lane = lanes.get(usage);
    if (lane != null) {
      active.usageChanged(lane);
      inadmissible.usageChanged(lane);
    }
  }

  /** Removes a Workload, active, inadmissible or held. */
  public void remove(QueuedWorkload item) {
    activateSkipped();
    if (item.isHeld()) {
      held.remove(item);
      item.setHeld(false);
      counts.add(item.localQueue(), 0, -1);
      item.equivalenceClass().held(-1);
    } else {
      extract(item);
    }
    dropIfUnused(item.equivalenceClass());
  }

  /**
   * Skips an inadmissible class whose head was evaluated and skipped: it counts as active until it
   * is found not to fit again, but stays among the inadmissible classes until then, which costs
   * nothing. The head of the class comes before all active Workloads. Any change of the queue makes
   * the class active in fact before.
   */
  public void skip(
      EquivalenceClass equivalenceClass, ClusterQueueCache queue, SkipListener listener) {
    skipped = new Skipped(equivalenceClass, queue, listener);
  }

  /**
   * Whether the oldest member of a class would come before the others if the class were active: not
   * if another member is the sticky preemptor.
   */
  public boolean isLedByOldest(EquivalenceClass equivalenceClass) {
    QueuedWorkload preemptor = sticky();
    return preemptor == null
        || preemptor.equivalenceClass() != equivalenceClass
        || preemptor == equivalenceClass.head()
        || !preemptor.inHeap();
  }

  /** The class that was skipped last and is still to be evaluated; null if there is none. */
  public @Nullable EquivalenceClass skipped() {
    Skipped last = skipped;
    return last == null ? null : last.equivalenceClass;
  }

  /** Records that the skipped class doesn't fit: it is inadmissible again. */
  public void endSkip() {
    skipped = null;
  }

  /** Makes a skipped class active in fact; does nothing if there is none. */
  public void activateSkipped() {
    Skipped last = skipped;
    if (last != null) {
      skipped = null;
      requeue(last.equivalenceClass);
      last.listener.activated(last.queue, last.equivalenceClass);
    }
  }

  /** The head: the first active Workload; null if no Workload is active. */
  public @Nullable QueuedWorkload head() {
    Skipped last = skipped;
    if (last != null) {
      return last.equivalenceClass.head();
    }
    EquivalenceClass first = active.first();
    return first == null ? null : preemptorOr(first.head());
  }

  /** The sticky Workload if it is active and comes before the first of the others, or that one. */
  private QueuedWorkload preemptorOr(QueuedWorkload first) {
    QueuedWorkload preemptor = sticky();
    return preemptor != null
            && isActive(preemptor)
            && preemptor.usage().compareTo(first.usage()) <= 0
        ? preemptor
        : first;
  }

  /**
   * The head once some Workloads have left the queue; null if no Workload is active then. Cost:
   * proportional to the active classes.
   *
   * @param helped inadmissible classes that count as active
   */
  public @Nullable QueuedWorkload headWithout(
      Set<QueuedWorkload> leaving, List<EquivalenceClass> helped) {
    Set<EquivalenceClass> all = new LinkedHashSet<>(active.all());
    all.addAll(helped);
    Skipped last = skipped;
    if (last != null) {
      all.add(last.equivalenceClass);
    }
    ActiveInOrder inOrder = new ActiveInOrder(List.copyOf(all), order);
    while (inOrder.hasNext()) {
      QueuedWorkload next = inOrder.next();
      if (!leaving.contains(next)) {
        QueuedWorkload first = preemptorOr(next);
        return leaving.contains(first) ? next : first;
      }
    }
    return null;
  }

  /**
   * Makes a preemptor the sticky Workload: while it is active it comes before all others, except
   * for LocalQueues with less usage, until it is forgotten or another Workload becomes sticky
   * (docs/scheduling-semantics.md#queue-order). The policy may ignore the sticky Workload.
   */
  public void markSticky(QueuedWorkload item) {
    activateSkipped();
    sticky = item;
    stickyId = item.id();
  }

  /** Whether a preemptor is held that comes before all others once it isn't. */
  public boolean isPreemptorHeld() {
    QueuedWorkload preemptor = sticky();
    return preemptor != null && isHeld(preemptor);
  }

  /** Whether a Workload comes before another one, without regard to usage and to the preemptor. */
  public boolean isBefore(QueuedWorkload workload, QueuedWorkload other) {
    return order.compare(workload, other) < 0;
  }

  /** Whether this Workload is the preemptor that became sticky last. */
  public boolean isPreemptor(QueuedWorkload item) {
    return item.id().equals(stickyId);
  }

  private @Nullable QueuedWorkload sticky() {
    return policy.keepsPreemptorFirst() ? sticky : null;
  }

  /** Forgets a Workload that was deleted, or whose preemption failed. */
  public void forget(String uid) {
    activateSkipped();
    if (stickyId != null && stickyId.uid().equals(uid)) {
      sticky = null;
      stickyId = null;
    }
  }

  /** Whether the oldest member of a class comes before all active Workloads. */
  public boolean isHead(EquivalenceClass equivalenceClass) {
    QueuedWorkload head = head();
    if (head == null) {
      return true;
    }
    int byUsage = equivalenceClass.lane().usage().compareTo(head.usage());
    return byUsage != 0
        ? byUsage < 0
        : head != sticky() && equivalenceClass.isOrderedBefore(head.equivalenceClass());
  }

  private static boolean isActive(QueuedWorkload item) {
    return item.inHeap()
        && item.equivalenceClass().inHeap()
        && item.equivalenceClass().explanation() == null;
  }

  /** Holds one Workload, for a reason of its own; null if there is nothing to report. */
  public void hold(QueuedWorkload item, @Nullable Explanation reason) {
    activateSkipped();
    if (!item.isHeld()) {
      extract(item);
      held.add(item);
      item.setHeld(true);
      item.equivalenceClass().held(1);
      counts.add(item.localQueue(), 0, 1);
    }
    item.held(reason);
  }

  /** Whether a Workload of this queue is held. */
  public boolean isHeld(QueuedWorkload item) {
    return item.isHeld();
  }

  /** Returns a held Workload to its class. */
  public void release(QueuedWorkload item) {
    activateSkipped();
    if (item.isHeld()) {
      held.remove(item);
      item.setHeld(false);
      counts.add(item.localQueue(), 0, -1);
      item.equivalenceClass().held(-1);
      item.held(null);
      insert(item);
    }
  }

  /** Marks a class inadmissible: no member fits, for the same reason. */
  public void markInadmissible(
      EquivalenceClass equivalenceClass,
      Explanation reason,
      List<EquivalenceClass.Shortage> shortages) {
    activateSkipped();
    boolean wasActive = equivalenceClass.inHeap() && equivalenceClass.explanation() == null;
    if (wasActive) {
      leastActive = null;
      active.remove(equivalenceClass);
      counts.deactivate(equivalenceClass);
    }
    equivalenceClass.inadmissible(reason, shortages);
    if (wasActive) {
      inadmissible.add(equivalenceClass);
    }
  }

  /** Makes an inadmissible class active again. */
  public void requeue(EquivalenceClass equivalenceClass) {
    activateSkipped();
    if (equivalenceClass.explanation() != null) {
      inadmissible.remove(equivalenceClass);
      inadmissibleOrderVersion++;
      equivalenceClass.inadmissible(null, List.of());
      leastActive = null;
      active.add(equivalenceClass);
      counts.activate(equivalenceClass);
    }
  }

  /**
   * A counter that increases when the order of the inadmissible classes of a LocalQueue, or of
   * classes whose heads can block the queue, may have changed: an oldest member was added or
   * removed, or a class was requeued. A change of usage leaves it as it is.
   */
  public long inadmissibleOrderVersion() {
    return inadmissibleOrderVersion;
  }

  /** The first inadmissible class; null if there is none. */
  public @Nullable EquivalenceClass firstInadmissible() {
    return inadmissible.first();
  }

  /** The inadmissible classes. */
  public Collection<EquivalenceClass> inadmissibleClasses() {
    return inadmissible.all();
  }

  /** The held Workloads. */
  public Collection<QueuedWorkload> heldWorkloads() {
    return new ArrayList<>(held);
  }

  /** Numbers of all pending Workloads. */
  public PendingCount count() {
    return counts.total();
  }

  /** Numbers of pending Workloads of a LocalQueue. */
  public PendingCount count(LocalQueueId queue) {
    return counts.of(queue);
  }

  /**
   * All pending Workloads in sums. Cost: proportional to the classes, the held Workloads, and those
   * that were evicted since they are queued.
   *
   * @param cache the queue; null if it can't be used
   * @param names whether requests with other names of pod sets are different ones
   */
  public PendingTotals summary(@Nullable ClusterQueueCache cache, boolean names) {
    return PendingTotals.of(classes.values(), held, cache, names);
  }

  /** All pending Workloads, in queue order. Cost: sorting all of them. */
  public List<QueuedWorkload> inOrder() {
    List<QueuedWorkload> all = new ArrayList<>(count().active() + count().inadmissible());
    for (EquivalenceClass equivalenceClass : classes.values()) {
      all.addAll(equivalenceClass.members());
    }
    all.addAll(held);
    QueuedWorkload preemptor = sticky();
    all.sort(
        Comparator.comparing(QueuedWorkload::usage)
            .thenComparingInt(item -> item == preemptor ? 0 : 1)
            .thenComparing(order));
    return all;
  }

  /**
   * The active Workloads, in queue order without regard to the sticky one. Cost: proportional to
   * the classes, and to the classes of which more than one Workload is asked for.
   */
  public ActiveInOrder activeInOrder() {
    return new ActiveInOrder(active.all(), order);
  }

  /**
   * Whether an active Workload may fit into the quota that is available to a queue: none does if
   * all ask for more of a pair than there is.
   */
  public boolean mayFit(ClusterQueueCache queue) {
    LeastRequest known = leastActive;
    if (known == null || known.queue() != queue) {
      known = LeastRequest.of(queue, active.all());
      leastActive = known;
    }
    return !known.exceeds();
  }

  private void insert(QueuedWorkload item) {
    EquivalenceClass equivalenceClass = item.equivalenceClass();
    boolean wasEmpty = equivalenceClass.isEmpty();
    equivalenceClass.add(item);
    if (equivalenceClass.explanation() != null) {
      if (equivalenceClass.head() == item) {
        inadmissibleOrderVersion++;
        inadmissible.moved(equivalenceClass);
      }
      counts.add(item.localQueue(), 0, 1);
      return;
    }
    counts.add(item.localQueue(), 1, 0);
    if (wasEmpty) {
      leastActive = null;
      active.add(equivalenceClass);
    } else {
      active.moved(equivalenceClass);
    }
  }

  private void extract(QueuedWorkload item) {
    EquivalenceClass equivalenceClass = item.equivalenceClass();
    boolean isInadmissible = equivalenceClass.explanation() != null;
    if (equivalenceClass.size() == 1) {
      if (isInadmissible) {
        inadmissible.remove(equivalenceClass);
      } else {
        leastActive = null;
        active.remove(equivalenceClass);
      }
    }
    boolean first = equivalenceClass.head() == item;
    equivalenceClass.remove(item);
    inadmissibleOrderVersion +=
        first && (isInadmissible || policy.headBlocks() || equivalenceClass.isEmpty()) ? 1 : 0;
    if (isInadmissible) {
      counts.add(item.localQueue(), 0, -1);
      if (equivalenceClass.isEmpty()) {
        equivalenceClass.inadmissible(null, List.of());
      } else if (first) {
        inadmissible.moved(equivalenceClass);
      }
    } else {
      counts.add(item.localQueue(), -1, 0);
      if (!equivalenceClass.isEmpty()) {
        active.moved(equivalenceClass);
      }
    }
  }

  private void dropIfUnused(EquivalenceClass equivalenceClass) {
    LocalQueueLane lane = equivalenceClass.lane();
    if (equivalenceClass.isUnused()
        && classes.remove(
            new ClassKey(lane, equivalenceClass.shape(), equivalenceClass.priority()),
            equivalenceClass)) {
      lane.count(-1);
      if (lane.isUnused()) {
        lanes.remove(lane.usage(), lane);
      }
    }
  }
}

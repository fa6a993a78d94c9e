package dev.sluice.core.reservation;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.queue.ActiveInOrder;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What is kept of a queue's quota at a time, who is there then, and what is free. */
final class QueueMoment {

  /** How many Workloads of a queue are asked whether they are users of what is lent. */
  private static final int MOST_USERS = 1_000;

  /**
   * When it is.
   *
   * @param now the present time, in microseconds since the epoch
   * @param at the time that is meant, which isn't before
   * @param bounds the number of the last change of bounds
   */
  record Times(long now, long at, int bounds) {}

  /** A Workload that has quota. */
  record Run(ClusterQueueCache queue, QuotaHolder holder) {

    /** Adds what it uses to the quota tree, or takes it out. */
    void change(boolean add) {
      for (int i = 0; i < holder.size(); i++) {
        if (add) {
          queue.node().add(holder.pair(i), holder.amount(i));
        } else {
          queue.node().remove(holder.pair(i), holder.amount(i));
        }
      }
    }
  }

  /** Runs that are over, and what the queues use less without them. */
  static final class Gone {

    /** What some runs of a queue use of a pair. */
    private record Use(QuotaNode queueNode, int pair, long amount) {}

    private final List<Run> runs = new ArrayList<>();

    /** Those of a queue stand together. */
    private final List<Use> uses = new ArrayList<>();

    void add(Run run) {
      runs.add(run);
      count(run);
    }

    /** Adds what a run uses. */
    void count(Run run) {
      for (int i = 0; i < run.holder().size(); i++) {
        add(run.queue().node(), run.holder().pair(i), run.holder().amount(i));
      }
    }

    private void add(QuotaNode queueNode, int pair, long amount) {
      for (int i = uses.size() - 1; i >= 0 && uses.get(i).queueNode == queueNode; i--) {
        Use known = uses.get(i);
        if (known.pair == pair && known.amount >= 0 && amount <= Long.MAX_VALUE - known.amount) {
          uses.set(i, new Use(queueNode, pair, known.amount + amount));
          return;
        }
      }
      uses.add(new Use(queueNode, pair, amount));
    }

    /** Adds what the runs of another queue use. */
    void count(Gone other) {
      uses.addAll(other.uses);
    }

    /** Takes out what a run uses that was counted; false if the rest isn't known. */
    boolean discount(Run run) {
      for (int i = 0; i < run.holder().size(); i++) {
        if (!discount(run.holder().pair(i), run.holder().amount(i))) {
          return false;
        }
      }
      return true;
    }

    private boolean discount(int pair, long amount) {
      for (int i = 0; i < uses.size(); i++) {
        Use known = uses.get(i);
        if (known.pair == pair) {
          if (amount < 0 || known.amount < amount) {
            return false;
          }
          uses.set(i, new Use(known.queueNode, pair, known.amount - amount));
          return true;
        }
      }
      return false;
    }

    /** Takes what they use of a pair out of the quota tree, until {@link #giveBack(int)}. */
    void takeOut(int pair) {
      for (int i = 0; i < uses.size(); i++) {
        Use use = uses.get(i);
        if (use.pair == pair) {
          use.queueNode.remove(pair, use.amount);
        }
      }
    }

    /** Adds it again. */
    void giveBack(int pair) {
      for (int i = 0; i < uses.size(); i++) {
        Use use = uses.get(i);
        if (use.pair == pair) {
          use.queueNode.add(pair, use.amount);
        }
      }
    }

    /** Takes what they use out of the quota tree, until {@link #giveBack()}. */
    void takeOut() {
      for (Use use : uses) {
        use.queueNode.remove(use.pair, use.amount);
      }
    }

    /** Adds it again. */
    void giveBack() {
      for (Use use : uses) {
        use.queueNode.add(use.pair, use.amount);
      }
    }
  }

  private final Reservations.Lookup lookup;
  private final Times times;
  private final ClusterQueueCache keptQueue;
  private final List<ReservedCapacity> kept;
  private final List<Run> admissions;
  private final Set<String> evictions;

  /** Whether the queue may preempt Workloads of its own, and those of others. */
  private final boolean mayPreemptOwn;

  private final boolean mayReclaim;

  /** All runs of the tree; null until somebody asks. */
  private @Nullable List<Run> runs;

  /** Those that are over by then, whoever asks; null until somebody does. */
  private @Nullable Gone endedGone;

  /** Tells those of holders alone; null if nobody remembers them. */
  private @Nullable Supplier<Gone> goneHolders;

  /** The same, and all that can be evicted; null until somebody asks. */
  private @Nullable Gone evictableGone;

  /** By pair: what users of each that is kept have then. */
  private final Map<Integer, long[]> usedByUsers = new HashMap<>(2);

  /**
   * A moment of a queue.
   *
   * @param keptQueue the queue
   * @param kept what is kept of it at the time, the first one first
   * @param admissions the heads that this cycle has admitted
   * @param evictions UIDs of the Workloads that it has evicted
   */
  QueueMoment(
      Reservations.Lookup lookup,
      Times times,
      ClusterQueueCache keptQueue,
      List<ReservedCapacity> kept,
      List<Run> admissions,
      Set<String> evictions) {
    this.lookup = lookup;
    this.times = times;
    this.keptQueue = keptQueue;
    this.kept = kept;
    this.admissions = admissions;
    this.evictions = evictions;
    PreemptionPolicies policies = keptQueue.spec().preemption();
    this.mayPreemptOwn = policies.withinClusterQueue() != WithinClusterQueue.NEVER;
    this.mayReclaim = policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER;
  }

  private boolean isEvicted(QuotaHolder holder) {
    return holder.evicted() || evictions.contains(holder.id().uid());
  }

  private List<Run> runs() {
    List<Run> known = runs;
    if (known == null) {
      List<Run> all = new ArrayList<>();
      for (ClusterQueueCache queue : lookup.queuesBelow(keptQueue.node().root())) {
        queue.holders().forEach(holder -> all.add(new Run(queue, holder)));
      }
      admissions.stream()
          .filter(run -> run.queue().node().root() == keptQueue.node().root())
          .forEach(all::add);
      known = all;
      runs = known;
    }
    return known;
  }

  /** The queue of which something is kept. */
  ClusterQueueCache keptQueue() {
    return keptQueue;
  }

  /** Whether anything that is kept then begins at that time. */
  boolean isStart() {
    return kept.stream()
        .flatMap(each -> each.occurrences().stream())
        .anyMatch(occurrence -> Instants.micros(occurrence.start()) == times.at());
  }

  /** The time that is meant. */
  long at() {
    return times.at();
  }

  /** Records that the cycle has admitted a head, which is one of the admissions now. */
  void admitted(Run run) {
    usedByUsers.clear();
    evictableGone = null;
    if (run.queue().node().root() == keptQueue.node().root()) {
      if (runs != null) {
        runs.add(run);
      }
      if (endedGone != null && isOver(run)) {
        endedGone.add(run);
      }
    }
  }

  /** Lets what holders use that are over by then, whoever asks, be told by somebody. */
  void goneHolders(Supplier<Gone> remembered) {
    goneHolders = remembered;
  }

  /** Whether the queue may preempt anybody, so that some runs are over only because of that. */
  boolean mayPreempt() {
    return mayPreemptOwn || mayReclaim;
  }

  /** The runs that are over by then: they have ended, are being evicted, or will be. */
  Gone gone() {
    Gone known = endedGone;
    if (known == null) {
      Supplier<Gone> remembered = goneHolders;
      known = remembered == null ? gone(none -> false) : remembered.get();
      if (remembered != null) {
        for (Run run : admissions) {
          if (run.queue().node().root() == keptQueue.node().root() && isOver(run)) {
            known.add(run);
          }
        }
      }
      endedGone = known;
    }
    return known;
  }

  /** The same, with all that can be evicted. */
  Gone goneWithEvictable() {
    Gone known = evictableGone;
    if (known == null) {
      known = gone(QuotaHolder::evictable);
      evictableGone = known;
    }
    return known;
  }

  /**
   * The same, with others.
   *
   * @param isTarget tells the Workloads that are evicted for the one that asks
   */
  Gone gone(Predicate<QuotaHolder> isTarget) {
    Gone gone = new Gone();
    for (Run run : runs()) {
      if (isTarget.test(run.holder()) || isOver(run)) {
        gone.add(run);
      }
    }
    return gone;
  }

  private boolean isOver(Run run) {
    return isEvicted(run.holder())
        || end(run.holder()) <= times.at()
        || (times.at() > times.now() && mayBePreempted(run) && isOnLoan(run));
  }

  private long end(QuotaHolder holder) {
    long end =
        Reservations.after(
            holder.reservedAtMicros(), holder.longest(times.bounds(), lookup::longest));
    return Math.max(end, times.now() + 1);
  }

  /** Whether a run uses quota of the queue without being one for whom some of it is kept. */
  private boolean isOnLoan(Run run) {
    QuotaHolder holder = run.holder();
    return run.queue() != keptQueue
        || kept.stream()
            .noneMatch(each -> each.users().include(holder.localQueue(), holder.priority()));
  }

  private boolean mayBePreempted(Run run) {
    return mayTakeBack(run.queue())
        && run.holder().evictable()
        && !run.queue().holders().isGuaranteed(run.holder());
  }

  /** Whether the queue may preempt Workloads of a queue. */
  boolean mayTakeBack(ClusterQueueCache queue) {
    return queue == keptQueue ? mayPreemptOwn : mayReclaim;
  }

  /** Whether the policies of a queue let Workloads of a queue of its tree be preempted for it. */
  static boolean allowsPreemption(ClusterQueueCache keptQueue, ClusterQueueCache queue) {
    PreemptionPolicies policies = keptQueue.spec().preemption();
    return queue == keptQueue
        ? policies.withinClusterQueue() != WithinClusterQueue.NEVER
        : policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER;
  }

  /**
   * Whether a queue that gets so much more leaves less free than is needed.
   *
   * @param needed the amount of the pair that has to be left
   */
  boolean takes(ClusterQueueCache queue, PairAmount pairAmount, long needed) {
    if (isOwn(queue, pairAmount)) {
      return false;
    }
    long before = free(pairAmount.pair());
    queue.node().add(pairAmount.pair(), pairAmount.amount());
    long after = free(pairAmount.pair());
    queue.node().remove(pairAmount.pair(), pairAmount.amount());
    return after < needed && after < before;
  }

  /** Whether another queue has so much of its own, which nobody may keep from it. */
  private boolean isOwn(ClusterQueueCache queue, PairAmount pairAmount) {
    int pair = pairAmount.pair();
    return queue != keptQueue
        && ResourceAmounts.add(queue.node().usage(pair), pairAmount.amount())
            <= queue.node().nominal(pair);
  }

  /**
   * Whether less is free than is needed, and a queue can't get so much more before that changes.
   *
   * @param needed the amount of the pair that has to be left
   */
  boolean lacks(ClusterQueueCache queue, PairAmount pairAmount, long needed) {
    int pair = pairAmount.pair();
    return !isOwn(queue, pairAmount)
        && free(pair) < needed
        && pairAmount.amount() > queue.node().available(pair);
  }

  /** What the queue has left of its nominal quota, of which others may use a part. */
  private long free(int pair) {
    return Math.min(
        ResourceAmounts.subtract(keptQueue.node().nominal(pair), keptQueue.node().usage(pair)),
        keptQueue.node().available(pair));
  }

  /**
   * How much of a pair has to be left free: what is kept, without what its users have.
   *
   * @param own whether capacity is kept for the one that asks
   * @param mayBorrow whether what is lent may be used as long as no user waits for it
   */
  long needed(int pair, Predicate<ReservedCapacity> own, boolean mayBorrow) {
    FlavorResource flavorResource = lookup.pair(pair);
    long needed = 0;
    for (int i = 0; i < kept.size(); i++) {
      ReservedCapacity each = kept.get(i);
      Scope.OfQueue owned = (Scope.OfQueue) each.scope();
      long rest = own.test(each) ? 0 : share(owned.shares(), flavorResource);
      if (rest > 0) {
        long used = usedByUsers.computeIfAbsent(pair, this::usedByUsers)[i];
        rest = Math.max(0, ResourceAmounts.subtract(rest, used));
      }
      if (rest > 0 && each.lend() && mayBorrow) {
        rest = Math.min(rest, demand(each, flavorResource.resource(), rest));
      }
      needed = ResourceAmounts.add(needed, rest);
    }
    return needed;
  }

  /** How much of a pair is kept. */
  static long share(List<Share> shares, FlavorResource flavorResource) {
    long sum = 0;
    for (Share each : shares) {
      if (each.flavor().equals(flavorResource.flavor())
          && each.resource().equals(flavorResource.resource())) {
        sum = ResourceAmounts.add(sum, each.amount());
      }
    }
    return sum;
  }

  /**
   * What users have of a pair then, for each that is kept; who is a user of several counts for the
   * first one.
   */
  private long[] usedByUsers(int pair) {
    long[] used = new long[kept.size()];
    keptQueue.holders().forEach(holder -> addUsed(holder, pair, used));
    for (Run run : admissions) {
      if (run.queue() == keptQueue) {
        addUsed(run.holder(), pair, used);
      }
    }
    return used;
  }

  private void addUsed(QuotaHolder holder, int pair, long[] used) {
    for (int i = 0; i < used.length; i++) {
      ReservedCapacity each = kept.get(i);
      if (each.users().include(holder.localQueue(), holder.priority())
          && share(((Scope.OfQueue) each.scope()).shares(), lookup.pair(pair)) > 0) {
        if (!isEvicted(holder) && end(holder) > times.at()) {
          used[i] = ResourceAmounts.add(used[i], holder.amountOf(pair));
        }
        return;
      }
    }
  }

  /** How much of a resource users ask for that wait, but not much more than {@code most}. */
  private long demand(ReservedCapacity reserved, String resource, long most) {
    long demand = 0;
    int asked = 0;
    Set<String> admitted = admittedUids();
    ActiveInOrder active = keptQueue.pending().activeInOrder();
    while (demand < most && active.hasNext() && asked++ < MOST_USERS) {
      demand = ResourceAmounts.add(demand, demand(reserved, resource, active.next(), admitted));
    }
    for (EquivalenceClass each : keptQueue.pending().inadmissibleClasses()) {
      for (QueuedWorkload member : each.members()) {
        if (demand < most && asked++ < 2 * MOST_USERS) {
          demand = ResourceAmounts.add(demand, demand(reserved, resource, member, admitted));
        }
      }
    }
    return demand;
  }

  /** UIDs of the heads of the queue that the cycle has admitted: they leave it after the cycle. */
  private Set<String> admittedUids() {
    Set<String> uids = new HashSet<>();
    for (Run run : admissions) {
      if (run.queue() == keptQueue) {
        uids.add(run.holder().id().uid());
      }
    }
    return uids;
  }

  /**
   * What a Workload asks for of a resource; nothing if it isn't a user, or if it has its quota.
   *
   * @param admitted UIDs of the Workloads that have their quota
   */
  private long demand(
      ReservedCapacity reserved, String resource, QueuedWorkload workload, Set<String> admitted) {
    long demand = 0;
    if (Reservations.isUser(workload, keptQueue, reserved)
        && !admitted.contains(workload.id().uid())) {
      for (PodSetRequest podSet : workload.equivalenceClass().shape().podSets()) {
        long each = Objects.requireNonNullElse(podSet.perPod().get(resource), 0L);
        demand = ResourceAmounts.add(demand, ResourceAmounts.multiply(each, podSet.count()));
      }
    }
    return demand;
  }

  /**
   * The runs that have to go now, so that what is kept is free: as few as are enough, those that
   * preemption would take first.
   *
   * @param shares what is kept
   * @param leaving UIDs of Workloads that go for other reasons
   */
  List<Run> overstaying(List<Share> shares, Set<String> leaving) {
    Gone gone = gone(holder -> leaving.contains(holder.id().uid()));
    gone.takeOut();
    Set<Run> over = new HashSet<>(gone.runs);
    List<Run> chosen = new ArrayList<>();
    List<Run> candidates =
        runs().stream()
            .filter(run -> !over.contains(run) && isOnLoan(run) && mayBePreempted(run))
            .sorted(
                Comparator.comparing((Run run) -> run.queue() == keptQueue)
                    .thenComparing(Run::holder, QuotaHolder.PREEMPTION_ORDER))
            .toList();
    for (Run run : candidates) {
      if (helps(run, shares)) {
        run.change(false);
        chosen.add(run);
      }
    }
    List<Run> needed = new ArrayList<>(chosen);
    for (Run run : chosen.reversed()) {
      run.change(true);
      if (helps(run, shares)) {
        run.change(false);
      } else {
        needed.remove(run);
      }
    }
    needed.forEach(run -> run.change(true));
    gone.giveBack();
    return needed;
  }

  /** Whether less is free of a pair than is kept, and more if a run were gone. */
  private boolean helps(Run run, List<Share> shares) {
    for (int i = 0; i < run.holder().size(); i++) {
      int pair = run.holder().pair(i);
      if (share(shares, lookup.pair(pair)) > 0 && run.holder().amount(i) > 0) {
        long before = free(pair);
        if (before < needed(pair, none -> false, true)) {
          run.queue().node().remove(pair, run.holder().amount(i));
          long after = free(pair);
          run.queue().node().add(pair, run.holder().amount(i));
          if (after > before && (run.queue() == keptQueue || run.queue().node().borrowing(pair))) {
            return true;
          }
        }
      }
    }
    return false;
  }
}

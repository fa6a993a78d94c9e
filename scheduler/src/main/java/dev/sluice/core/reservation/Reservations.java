package dev.sluice.core.reservation;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Overstay;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.topology.TopologyUsage;
import dev.sluice.core.waiting.HeldBack;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keeps capacity at the times of reservations and windows: says which head would be in the way, and
 * which runs are. Confined to the scheduler thread.
 */
public final class Reservations {

  /** A time without an end. */
  public static final long NEVER = Long.MAX_VALUE;

  /** The longest time before a start in which a job is asked for a checkpoint. */
  public static final Duration LONGEST_GRACE = Duration.ofMinutes(15);

  /** What reservations ask the rest of the engine. */
  public interface Lookup {

    /** The ClusterQueue with a name; null if there is none. */
    @Nullable ClusterQueueCache queue(String name);

    /** All ClusterQueues. */
    List<ClusterQueueCache> queues();

    /** The ClusterQueues of the tree with this root. */
    Collection<ClusterQueueCache> queuesBelow(QuotaNode rootNode);

    /** The flavor and the resource with this number. */
    FlavorResource pair(int number);

    /** The number of a flavor and a resource. */
    int number(String flavor, String resource);

    /** The labels that all nodes of a flavor have; empty if there is no such flavor. */
    Map<String, String> labels(String flavor);

    /** Whether Workloads get places on the nodes of a flavor. */
    boolean hasPlaces(String flavor);

    /** Whether some of the places are on nodes of a scope. */
    boolean areOn(TopologyUsage topologyUsage, Scope.OfNodes scope);

    /** How long a Workload has its quota at most, in microseconds; {@link #NEVER}. */
    long longest(String uid);
  }

  /**
   * A head that asks.
   *
   * @param topologyUsage what it would use of nodes; null without places
   * @param targets UIDs of the Workloads that are evicted for it
   */
  private record Candidate(
      QueuedWorkload workload,
      ClusterQueueCache queue,
      List<PairAmount> usage,
      @Nullable TopologyUsage topologyUsage,
      Set<String> targets) {}

  /** What a head is in the way of. */
  private record Conflict(ReservedCapacity reserved, Occurrence occurrence) {}

  private final Lookup lookup;
  private final ToLongFunction<String> longestByUid;

  /** The heads that this cycle has admitted, which aren't holders yet. */
  private final List<QueueMoment.Run> admissions = new ArrayList<>();

  /** UIDs of the Workloads that this cycle has evicted. */
  private final Set<String> evictions = new HashSet<>();

  /** A queue at a time, in microseconds since the epoch. */
  private record QueueTime(ClusterQueueCache queue, long at) {}

  /** What this cycle has asked about; between cycles holders change. */
  private final Map<QueueTime, QueueMoment> moments = new HashMap<>();

  /** What is used by runs that are over at a time, by the root of their tree. */
  private final Map<QuotaNode, Map<QueueTime, EndedRuns>> endedRuns = new HashMap<>();

  /** What may concern Workloads of a tree, by its root; found out when somebody asks. */
  private final Map<QuotaNode, List<ReservedCapacity>> byTree = new HashMap<>();

  private final HeldRequests.Known knownRequests = new HeldRequests.Known();

  /** What is told of each that is kept, by occurrence. */
  private final Map<ReservedCapacity, Map<Occurrence, String>> texts = new IdentityHashMap<>();

  private List<ReservedCapacity> all = List.of();

  /** Whether any of it is lent. */
  private boolean anyLent;

  private Instant now = Instant.EPOCH;
  private Instant next = Instant.MAX;
  private boolean released;

  /** Counts changes of bounds of known Workloads. */
  private int bounds;

  /** Creates reservations of an engine; there are none yet. */
  public Reservations(Lookup lookup) {
    this.lookup = lookup;
    this.longestByUid = lookup::longest;
  }

  /** Whether there is none. */
  public boolean isEmpty() {
    return all.isEmpty();
  }

  /** What is kept, as it was declared. */
  public List<ReservedCapacity> export() {
    return all;
  }

  /** Whether held Workloads may start now. */
  public boolean isReleased() {
    return released;
  }

  /** Records that they were looked at. */
  public void lookedAgain() {
    released = false;
  }

  private void forget() {
    byTree.clear();
    endedRuns.clear();
    knownRequests.clear();
    texts.clear();
  }

  private void keep(List<ReservedCapacity> declared) {
    all = List.copyOf(declared);
    anyLent = all.stream().anyMatch(ReservedCapacity::lend);
    forget();
  }

  /** Replaces everything that is kept. */
  public void declare(List<ReservedCapacity> declared) {
    if (!all.equals(declared)) {
      keep(declared);
      released = true;
      findNext();
    }
  }

  /** Takes over what another engine exported. */
  public void restore(List<ReservedCapacity> declared, boolean wereReleased, Instant at) {
    keep(declared);
    released = wereReleased;
    now = at;
    findNext();
  }

  /** Records that the quota trees have other shapes. */
  public void treesRebuilt() {
    forget();
  }

  /** What may concern Workloads of the tree of a queue. */
  private List<ReservedCapacity> near(ClusterQueueCache queue) {
    return near(queue.node().root());
  }

  /** What may concern Workloads of the tree with this root. */
  List<ReservedCapacity> near(QuotaNode rootNode) {
    if (all.isEmpty()) {
      return all;
    }
    List<ReservedCapacity> known = byTree.get(rootNode);
    if (known == null) {
      known = in(rootNode);
      byTree.put(rootNode, known);
    }
    return known;
  }

  private List<ReservedCapacity> in(QuotaNode rootNode) {
    return all.stream()
        .filter(
            each ->
                !(each.scope() instanceof Scope.OfQueue(var name, var _))
                    || (lookup.queue(name) instanceof ClusterQueueCache kept
                        && kept.node().root() == rootNode))
        .toList();
  }

  /** Whether anything is kept that may concern Workloads of the tree with this root. */
  public boolean isNear(QuotaNode rootNode) {
    return !near(rootNode).isEmpty();
  }

  /** Whether a Workload may be in the way of anything, whatever it gets. */
  public boolean mayHold(QueuedWorkload workload, ClusterQueueCache queue) {
    List<ReservedCapacity> near = near(queue);
    if (near.isEmpty()) {
      return false;
    }
    long end = end(workload);
    for (int i = 0; i < near.size(); i++) {
      if (overlaps(near.get(i), end) && !isUser(workload, queue, near.get(i))) {
        return true;
      }
    }
    return false;
  }

  private boolean overlaps(ReservedCapacity reserved, long end) {
    for (Occurrence occurrence : reserved.occurrences()) {
      if (from(occurrence) < end) {
        return true;
      }
    }
    return false;
  }

  /** From when on a time still counts, in microseconds since the epoch; never if it has passed. */
  long from(Occurrence occurrence) {
    long present = micros(now);
    return micros(occurrence.end()) > present
        ? Math.max(present, micros(occurrence.start()))
        : NEVER;
  }

  /** Whether a time, in microseconds since the epoch, is still to come. */
  boolean isLater(long at) {
    return at > micros(now);
  }

  /**
   * Which held Workloads would be in the way of what is kept whatever they get.
   *
   * @param roots the roots of their trees
   */
  public HeldBack heldRequests(Collection<QuotaNode> roots) {
    return new HeldRequests(this, lookup, knownRequests, roots);
  }

  /** Whether what is kept in the tree with this root depends on who waits there. */
  public boolean lends(QuotaNode rootNode) {
    for (ReservedCapacity each : near(rootNode)) {
      if (each.lend()) {
        return true;
      }
    }
    return false;
  }

  /** How long a Workload has its quota at most, in microseconds; {@link #NEVER}. */
  public long longest(QueuedWorkload workload) {
    return workload.longest(bounds, longestByUid);
  }

  /**
   * Whether the time since an instant brought the end of a Workload's run, if it started now, past
   * the start of anything that is kept: it may be in the way of that now, and wasn't before.
   */
  public boolean reachesAnother(QueuedWorkload workload, ClusterQueueCache queue, Instant since) {
    long longest = longest(workload);
    if (longest == NEVER) {
      return false;
    }
    long endBefore = after(micros(since), longest);
    long end = after(micros(now), longest);
    for (ReservedCapacity each : near(queue)) {
      for (Occurrence occurrence : each.occurrences()) {
        long start = micros(occurrence.start());
        if (endBefore <= start && start < end) {
          return true;
        }
      }
    }
    return false;
  }

  /** Records the time: what begins or ends changes who may start. */
  public void timePassed(Instant instant) {
    now = instant;
    if (!now.isBefore(next)) {
      released = true;
      findNext();
    }
  }

  /** The next time at which anything begins or ends; {@link Instant#MAX} if nothing does. */
  public Instant next() {
    return next;
  }

  private void findNext() {
    endedRuns.clear();
    next = Instant.MAX;
    for (ReservedCapacity each : all) {
      for (Occurrence occurrence : each.occurrences()) {
        for (Instant at : List.of(occurrence.start(), occurrence.end())) {
          if (at.isAfter(now) && at.isBefore(next)) {
            next = at;
          }
        }
      }
    }
  }

  /** Records that the bound of a run is another one. */
  public void boundChanged() {
    released |= !all.isEmpty();
    bounds++;
    endedRuns.clear();
  }

  /** Records that a Workload left its queue, or came to it: what is lent may be more. */
  public void demandChanged() {
    released |= anyLent;
  }

  /** Records that a Workload has quota of a queue. */
  public void holds(ClusterQueueCache queue, QuotaHolder holder) {
    if (!endedRuns.isEmpty()) {
      endedRuns
          .getOrDefault(queue.node().root(), Map.of())
          .values()
          .forEach(ended -> ended.holds(queue, holder));
    }
  }

  /**
   * Records that a Workload has its quota no longer.
   *
   * @param queue null if the queue was deleted
   */
  public void releases(@Nullable ClusterQueueCache queue, QuotaHolder holder) {
    if (queue == null) {
      endedRuns.clear();
    } else if (!endedRuns.isEmpty()) {
      endedRuns
          .getOrDefault(queue.node().root(), Map.of())
          .values()
          .removeIf(ended -> !ended.releases(queue, holder));
    }
  }

  /** Records that the cycle admits a head. */
  public void admitted(QueuedWorkload workload, ClusterQueueCache queue, List<PairAmount> usage) {
    if (isNear(queue.node().root())) {
      int[] pairs = new int[usage.size()];
      long[] amounts = new long[pairs.length];
      for (int i = 0; i < pairs.length; i++) {
        pairs[i] = usage.get(i).pair();
        amounts[i] = usage.get(i).amount();
      }
      QueueMoment.Run run =
          new QueueMoment.Run(
              queue,
              new QuotaHolder(
                  workload.id(),
                  workload.localQueue(),
                  workload.equivalenceClass().priority(),
                  workload.queuedAt(),
                  now,
                  pairs,
                  amounts,
                  false,
                  workload.evictable(),
                  workload.equivalenceClass().shape().guaranteed(),
                  null,
                  PreemptionProtection.NONE));
      admissions.add(run);
      moments.values().forEach(moment -> moment.admitted(run));
    }
  }

  /**
   * Records that the cycle evicts Workloads.
   *
   * @param targets their UIDs
   */
  public void preempted(Set<String> targets) {
    evictions.addAll(targets);
    moments.clear();
  }

  /** Begins a cycle: what others had was changed since the one before. */
  public void beginCycle() {
    moments.clear();
  }

  /** Forgets who was admitted and evicted: from now on the holders tell. */
  public void endCycle() {
    admissions.clear();
    evictions.clear();
    moments.clear();
  }

  /** The nodes that a Workload of a queue may not get, because it would be in a window's way. */
  public Set<Scope.OfNodes> closedTo(QueuedWorkload workload, ClusterQueueCache queue) {
    if (all.stream().noneMatch(each -> each.scope() instanceof Scope.OfNodes)) {
      return Set.of();
    }
    Candidate candidate = new Candidate(workload, queue, List.of(), null, Set.of());
    Set<Scope.OfNodes> closed = new HashSet<>();
    for (ReservedCapacity each : all) {
      if (each.scope() instanceof Scope.OfNodes scope && conflict(candidate, each).isPresent()) {
        closed.add(scope);
      }
    }
    return closed;
  }

  /** The nodes on which nobody may be at present. */
  public Set<Scope.OfNodes> closedNow() {
    Set<Scope.OfNodes> closed = new HashSet<>();
    for (ReservedCapacity each : all) {
      if (each.scope() instanceof Scope.OfNodes scope && each.at(now).isPresent()) {
        closed.add(scope);
      }
    }
    return closed;
  }

  /**
   * Why a head is held that would get this; empty if it is in nobody's way.
   *
   * @param targets UIDs of the Workloads that are evicted for it
   */
  public Optional<Explanation> refusal(
      QueuedWorkload workload,
      ClusterQueueCache queue,
      Assignment assignment,
      Set<String> targets) {
    return refusal(
        new Candidate(workload, queue, assignment.usage(), assignment.places().usage(), targets));
  }

  /**
   * The flavors of which a head is in the way.
   *
   * @param targets UIDs of the Workloads that are evicted for it
   */
  public Set<String> keptFlavors(
      QueuedWorkload workload,
      ClusterQueueCache queue,
      Assignment assignment,
      Set<String> targets) {
    if (!mayHold(workload, queue)) {
      return Set.of();
    }
    Map<String, List<PairAmount>> byFlavor = new HashMap<>(2);
    for (PairAmount each : assignment.usage()) {
      byFlavor
          .computeIfAbsent(lookup.pair(each.pair()).flavor(), any -> new ArrayList<>(2))
          .add(each);
    }
    Set<String> kept = new HashSet<>(2);
    byFlavor.forEach(
        (flavor, usage) -> {
          TopologyUsage topologyUsage =
              lookup.hasPlaces(flavor) ? assignment.places().usage() : null;
          if (conflict(new Candidate(workload, queue, usage, topologyUsage, targets)) != null) {
            kept.add(flavor);
          }
        });
    return kept;
  }

  /**
   * Until when one would be in the way that starts at a time, by what runs now: the end of what it
   * would be in the way of, in microseconds since the epoch; 0 if there is nothing. Places aren't
   * looked at.
   *
   * @param usage what it would use
   * @param from when it starts, in microseconds since the epoch; not before now
   */
  public long keptUntil(
      QueuedWorkload workload, ClusterQueueCache queue, List<PairAmount> usage, long from) {
    Candidate candidate = new Candidate(workload, queue, usage, null, Set.of());
    long end = after(from, longest(workload));
    long first = 0;
    for (ReservedCapacity each : near(queue)) {
      if (uses(candidate, each)) {
        long until = keptUntil(candidate, each, from, end);
        first = until > 0 && (first == 0 || until < first) ? until : first;
      }
    }
    return first;
  }

  private long keptUntil(Candidate candidate, ReservedCapacity reserved, long from, long end) {
    for (Occurrence occurrence : reserved.occurrences()) {
      long at = Math.max(from, micros(occurrence.start()));
      long until = micros(occurrence.end());
      if (until > from && at < end && isInTheWay(candidate, reserved, at, at > from)) {
        return until;
      }
    }
    return 0;
  }

  private Optional<Explanation> refusal(Candidate candidate) {
    if (!mayHold(candidate.workload(), candidate.queue())) {
      return Optional.empty();
    }
    Conflict conflict = conflict(candidate);
    return conflict == null
        ? Optional.empty()
        : Optional.of(held(conflict.reserved, conflict.occurrence, end(candidate.workload())));
  }

  /** What a head is in the way of first; null if there is nothing. */
  private @Nullable Conflict conflict(Candidate candidate) {
    for (ReservedCapacity each : near(candidate.queue())) {
      Optional<Occurrence> occurrence =
          uses(candidate, each) ? conflict(candidate, each) : Optional.empty();
      if (occurrence.isPresent()) {
        return new Conflict(each, occurrence.get());
      }
    }
    return null;
  }

  /** The first time at which a head would be in the way; empty if there is none. */
  private Optional<Occurrence> conflict(Candidate candidate, ReservedCapacity reserved) {
    long end = end(candidate.workload());
    for (Occurrence occurrence : reserved.occurrences()) {
      long at = from(occurrence);
      if (at < end && isInTheWay(candidate, reserved, at, isLater(at))) {
        return Optional.of(occurrence);
      }
    }
    return Optional.empty();
  }

  /** The present time, in microseconds since the epoch. */
  long present() {
    return micros(now);
  }

  /** Until when a Workload runs at most if it starts now, in microseconds since the epoch. */
  long end(QueuedWorkload workload) {
    return after(micros(now), longest(workload));
  }

  /** Whether a head would use capacity of a kind that isn't kept for it at some time. */
  private boolean uses(Candidate candidate, ReservedCapacity reserved) {
    return switch (reserved.scope()) {
      case Scope.OfFlavors(var flavors) ->
          candidate.usage().stream()
              .anyMatch(
                  each -> each.amount() > 0 && flavors.contains(lookup.pair(each.pair()).flavor()));
      case Scope.OfNodes scope ->
          (candidate.topologyUsage() != null && lookup.areOn(candidate.topologyUsage(), scope))
              || candidate.usage().stream()
                  .anyMatch(each -> each.amount() > 0 && isOf(each.pair(), scope));
      case Scope.OfQueue(var name, var shares) -> {
        ClusterQueueCache keptQueue = lookup.queue(name);
        yield keptQueue != null
            && keptQueue.node().root() == candidate.queue().node().root()
            && !isUser(candidate.workload(), candidate.queue(), reserved)
            && usesShare(candidate, shares);
      }
    };
  }

  private boolean usesShare(Candidate candidate, List<Share> shares) {
    for (PairAmount each : candidate.usage()) {
      if (each.amount() > 0 && share(shares, each.pair()) > 0) {
        return true;
      }
    }
    return false;
  }

  /** Whether all nodes of a flavor are of a scope. */
  private boolean isOf(int pair, Scope.OfNodes scope) {
    return scope.includes(lookup.labels(lookup.pair(pair).flavor()));
  }

  static boolean isUser(
      QueuedWorkload workload, ClusterQueueCache queue, ReservedCapacity reserved) {
    return isUser(workload.localQueue(), workload.equivalenceClass().priority(), queue, reserved);
  }

  /** Whether Workloads of a LocalQueue with a priority are users of what is kept. */
  static boolean isUser(
      LocalQueueId localQueue, long priority, ClusterQueueCache queue, ReservedCapacity reserved) {
    return reserved.scope() instanceof Scope.OfQueue ofQueue
        && ofQueue.clusterQueue().equals(queue.name())
        && reserved.users().include(localQueue, priority);
  }

  /**
   * Whether a head is in the way of what is kept at a time.
   *
   * @param later whether that is later than its start: what can be preempted goes by then
   */
  private boolean isInTheWay(
      Candidate candidate, ReservedCapacity reserved, long at, boolean later) {
    ClusterQueueCache queue = candidate.queue();
    boolean leaves =
        candidate.workload().evictable()
            && !candidate.workload().equivalenceClass().demand(queue).guaranteed()
            && mayBePreempted(queue, reserved);
    if (leaves && later) {
      return false;
    }
    return !(reserved.scope() instanceof Scope.OfQueue ofQueue)
        || takesShare(candidate, ofQueue, at, leaves);
  }

  /** Whether the policies let Workloads of a queue be preempted for what is kept. */
  private boolean mayBePreempted(ClusterQueueCache queue, ReservedCapacity reserved) {
    ClusterQueueCache keptQueue =
        reserved.scope() instanceof Scope.OfQueue ofQueue
            ? Objects.requireNonNull(lookup.queue(ofQueue.clusterQueue()))
            : queue;
    return QueueMoment.allowsPreemption(keptQueue, queue);
  }

  /** Whether a head leaves less of a queue's quota at a time than is kept for others then. */
  private boolean takesShare(
      Candidate candidate, Scope.OfQueue ofQueue, long at, boolean mayBorrow) {
    ClusterQueueCache keptQueue = Objects.requireNonNull(lookup.queue(ofQueue.clusterQueue()));
    QueueMoment moment = moment(keptQueue, at);
    QueueMoment.Gone gone =
        candidate.targets().isEmpty()
            ? moment.gone()
            : moment.gone(holder -> candidate.targets().contains(holder.id().uid()));
    boolean takes = false;
    for (PairAmount each : candidate.usage()) {
      if (!takes && each.amount() > 0 && share(ofQueue.shares(), each.pair()) > 0) {
        long needed =
            moment.needed(
                each.pair(),
                reserved -> isUser(candidate.workload(), candidate.queue(), reserved),
                mayBorrow);
        gone.takeOut(each.pair());
        takes = moment.takes(candidate.queue(), each, needed);
        gone.giveBack(each.pair());
      }
    }
    return takes;
  }

  /** The queue at a time, with what is kept then. */
  QueueMoment moment(ClusterQueueCache keptQueue, long at) {
    return moments.computeIfAbsent(
        new QueueTime(keptQueue, at),
        any -> {
          QueueMoment moment = moment(keptQueue, at, at);
          if (isRemembered(moment)) {
            moment.goneHolders(() -> endedRuns(keptQueue, at).gone());
          }
          return moment;
        });
  }

  /**
   * Whether it depends on nothing but the holders which of them are over at a moment that is asked
   * about again and again.
   */
  private boolean isRemembered(QueueMoment moment) {
    return evictions.isEmpty()
        && !moment.mayPreempt()
        && (!isLater(moment.at()) || moment.isStart());
  }

  /** What those use who are over at a time: at present those that are being evicted. */
  private EndedRuns endedRuns(ClusterQueueCache keptQueue, long at) {
    boolean later = isLater(at);
    QuotaNode rootNode = keptQueue.node().root();
    return endedRuns
        .computeIfAbsent(rootNode, any -> new HashMap<>())
        .computeIfAbsent(
            new QueueTime(keptQueue, later ? at : NEVER),
            any -> {
              EndedRuns ended =
                  new EndedRuns(holder -> holder.evicted() || (later && isOver(holder, at)));
              for (ClusterQueueCache queue : lookup.queuesBelow(rootNode)) {
                queue.holders().forEach(holder -> ended.holds(queue, holder));
              }
              return ended;
            });
  }

  /** Whether a holder has reached its bound at a time to come. */
  private boolean isOver(QuotaHolder holder, long at) {
    return after(holder.reservedAtMicros(), holder.longest(bounds, longestByUid)) <= at;
  }

  /** The queue at a time, with what is kept at another. */
  private QueueMoment moment(ClusterQueueCache keptQueue, long at, long keptAt) {
    return new QueueMoment(
        lookup,
        new QueueMoment.Times(micros(now), at, bounds),
        keptQueue,
        near(keptQueue).stream().filter(each -> keeps(each, keptQueue, keptAt)).toList(),
        admissions,
        evictions);
  }

  private static boolean keeps(ReservedCapacity reserved, ClusterQueueCache keptQueue, long at) {
    return reserved.scope() instanceof Scope.OfQueue ofQueue
        && ofQueue.clusterQueue().equals(keptQueue.name())
        && reserved.at(Instants.ofMicros(at)).isPresent();
  }

  private long share(List<Share> shares, int pair) {
    return QueueMoment.share(shares, lookup.pair(pair));
  }

  /**
   * The Workloads that have to go now, because what they use is kept for others, or for nobody, and
   * after them those that will have to go so soon that they are asked for a checkpoint. Who is
   * being evicted already is none of them.
   */
  public List<Overstay> overstays() {
    List<Overstay> overstays = new ArrayList<>();
    Set<String> leaving = new HashSet<>();
    for (ReservedCapacity each : all) {
      each.at(now)
          .ifPresent(occurrence -> overstays.addAll(overstaying(each, occurrence, leaving)));
    }
    for (ReservedCapacity each : all) {
      if (each.at(now).isEmpty()) {
        each.occurrences().stream()
            .filter(occurrence -> occurrence.start().isAfter(now))
            .findFirst()
            .filter(occurrence -> !occurrence.start().isAfter(now.plus(LONGEST_GRACE)))
            .ifPresent(
                occurrence -> {
                  Set<String> before = new HashSet<>(leaving);
                  overstaying(each, occurrence, before).stream()
                      .filter(Reservations::isToBeAsked)
                      .filter(overstay -> !overstay.from().minus(overstay.grace()).isAfter(now))
                      .forEach(overstays::add);
                });
      }
    }
    return overstays;
  }

  private static boolean isToBeAsked(Overstay overstay) {
    return overstay.grace().isPositive();
  }

  private List<Overstay> overstaying(
      ReservedCapacity reserved, Occurrence occurrence, Set<String> leaving) {
    List<Overstay> overstays = new ArrayList<>();
    for (QueueMoment.Run run : overstaying(reserved, occurrence.start(), leaving)) {
      if (leaving.add(run.holder().id().uid())) {
        Duration grace =
            run.holder()
                .protection()
                .rules(run.queue().node().preemptionRules())
                .checkpointGrace()
                .orElse(Duration.ZERO);
        overstays.add(
            new Overstay(
                run.holder().id(),
                reserved.title(),
                text("Evicted for ", reserved, occurrence),
                occurrence.start(),
                grace.compareTo(LONGEST_GRACE) > 0 ? LONGEST_GRACE : grace));
      }
    }
    return overstays;
  }

  /** The runs that would have to go if it were that time, and nothing had changed until then. */
  private List<QueueMoment.Run> overstaying(
      ReservedCapacity reserved, Instant at, Set<String> leaving) {
    return switch (reserved.scope()) {
      case Scope.OfFlavors(var flavors) ->
          inside(holder -> usesAny(holder, pair -> flavors.contains(lookup.pair(pair).flavor())));
      case Scope.OfNodes scope ->
          inside(
              holder ->
                  (holder.topology() != null && lookup.areOn(holder.topology(), scope))
                      || usesAny(holder, pair -> isOf(pair, scope)));
      case Scope.OfQueue(var name, var shares) -> {
        ClusterQueueCache keptQueue = lookup.queue(name);
        yield keptQueue == null
            ? List.of()
            : moment(keptQueue, micros(now), micros(at.isAfter(now) ? at : now))
                .overstaying(shares, leaving);
      }
    };
  }

  private List<QueueMoment.Run> inside(Predicate<QuotaHolder> isInside) {
    List<QueueMoment.Run> inside = new ArrayList<>();
    for (ClusterQueueCache queue : lookup.queues()) {
      queue
          .holders()
          .forEach(
              holder -> {
                if (holder.evictable() && !holder.evicted() && isInside.test(holder)) {
                  inside.add(new QueueMoment.Run(queue, holder));
                }
              });
    }
    return inside;
  }

  private static boolean usesAny(QuotaHolder holder, IntPredicate pairs) {
    for (int i = 0; i < holder.size(); i++) {
      if (holder.amount(i) > 0 && pairs.test(holder.pair(i))) {
        return true;
      }
    }
    return false;
  }

  /** Why one is held that would be in the way of what is kept, and may run until a time. */
  Explanation held(ReservedCapacity reserved, Occurrence occurrence, long end) {
    String run =
        end == NEVER
            ? "; nothing limits how long this workload runs (maximumExecutionTimeSeconds)"
            : "; this workload may run until " + seconds(Instants.ofMicros(end));
    boolean current = occurrence.contains(now);
    return new Explanation(
        PendingReason.WAITING_FOR_QUOTA,
        List.of(),
        Explanation.CAPACITY_RESERVED
            + texts
                .computeIfAbsent(reserved, any -> new HashMap<>())
                .computeIfAbsent(occurrence, any -> text("held for ", reserved, occurrence))
            + (current ? "" : run));
  }

  private static String text(String prefix, ReservedCapacity reserved, Occurrence occurrence) {
    StringBuilder text = new StringBuilder(prefix).append(reserved.title());
    text.append(" from ").append(seconds(occurrence.start()));
    text.append(" to ").append(seconds(occurrence.end())).append(", which keeps ");
    switch (reserved.scope()) {
      case Scope.OfFlavors(var flavors) ->
          text.append(String.join(", ", flavors.stream().sorted().toList())).append(" empty");
      case Scope.OfNodes(var labels) ->
          text.append("nodes with ")
              .append(
                  String.join(
                      ", ",
                      new TreeMap<>(labels).entrySet().stream().map(Object::toString).toList()))
              .append(" empty");
      case Scope.OfQueue(var name, var shares) ->
          text.append(
                  String.join(
                      ", ",
                      shares.stream()
                          .map(
                              share ->
                                  amount(share)
                                      + " of "
                                      + share.resource()
                                      + " in "
                                      + share.flavor())
                          .toList()))
              .append(" of ClusterQueue ")
              .append(name);
    }
    return text.toString();
  }

  private static String amount(Share share) {
    return share.resource().equals("cpu")
        ? BigDecimal.valueOf(share.amount(), 3).stripTrailingZeros().toPlainString()
        : Long.toString(share.amount());
  }

  private static Instant seconds(Instant instant) {
    return instant.truncatedTo(ChronoUnit.SECONDS);
  }

  private static long micros(Instant instant) {
    return Instants.micros(instant);
  }

  /** A time after another one, or never. */
  static long after(long micros, long length) {
    return length == NEVER ? NEVER : ResourceAmounts.add(micros, length);
  }
}

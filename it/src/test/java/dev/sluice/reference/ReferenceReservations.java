package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reservations and windows as the page tells them, worked out anew whenever somebody asks. */
final class ReferenceReservations {

  private static final Duration OVERHEAD = Duration.ofSeconds(61);

  /** How long before a start a job is asked to save its work at most. */
  private static final Duration LONGEST_GRACE = Duration.ofMinutes(15);

  private final ReferenceQueues world;
  private final Map<String, RunBound> bounds = new HashMap<>();
  private List<ReservedCapacity> all = List.of();
  private Instant now = Instant.EPOCH;

  /** Whether somebody who was held may start now. */
  boolean released;

  ReferenceReservations(ReferenceQueues world) {
    this.world = world;
  }

  /** Whether anything is kept. */
  boolean any() {
    return !all.isEmpty();
  }

  void declare(List<ReservedCapacity> kept) {
    released |= !all.equals(kept);
    all = kept;
  }

  /** Nobody who is held may start because of one who neither waits nor has quota. */
  void bound(String uid, RunBound bound, boolean known) {
    bounds.put(uid, bound);
    released |= known && !all.isEmpty();
  }

  /** A Workload is gone, and its bound with it. */
  void forget(String uid) {
    bounds.remove(uid);
  }

  /** A Workload came or went: those who borrow what is lent may be more. */
  void demandChanged() {
    released |= all.stream().anyMatch(ReservedCapacity::lend);
  }

  void pass(Instant instant) {
    Instant before = now;
    now = instant;
    released |=
        all.stream()
            .flatMap(each -> each.occurrences().stream())
            .anyMatch(each -> passed(each.start(), before) || passed(each.end(), before));
  }

  private boolean passed(Instant at, Instant before) {
    return at.isAfter(before) && !at.isAfter(now);
  }

  /** When a run that began then is over at the latest. */
  private Instant end(String uid, Instant began) {
    return Optional.ofNullable(bounds.get(uid))
        .flatMap(RunBound::limit)
        .map(limit -> began.plus(limit).plus(OVERHEAD))
        .orElse(Instant.MAX);
  }

  /**
   * Whether a Workload that would get this is held back.
   *
   * @param tree who uses what, with what others of the cycle claim
   * @param targets who is evicted for it
   */
  boolean refuses(
      ReferenceEntry entry,
      String queue,
      ReferenceAssigner.Result result,
      ReferenceTree tree,
      Set<String> targets) {
    return refuses(new Newcomer(entry, queue, result.usage(), result.podSets(), targets), tree);
  }

  /** The flavors that alone are enough to hold it back. */
  Set<String> keptFlavors(
      ReferenceEntry entry,
      String queue,
      ReferenceAssigner.Result result,
      ReferenceTree tree,
      Set<String> targets) {
    Set<String> kept = new HashSet<>();
    result.usage().keySet().stream()
        .map(FlavorResource::flavor)
        .distinct()
        .filter(
            flavor -> {
              Map<FlavorResource, Long> uses = new HashMap<>(result.usage());
              uses.keySet().removeIf(pair -> !pair.flavor().equals(flavor));
              List<PodSetAssignment> places =
                  world.nodes.isTopologyFlavor(flavor) ? result.podSets() : List.of();
              return refuses(new Newcomer(entry, queue, uses, places, targets), tree);
            })
        .forEach(kept::add);
    return kept;
  }

  private boolean refuses(Newcomer newcomer, ReferenceTree tree) {
    return all.stream()
        .anyMatch(
            each ->
                anyTime(
                    newcomer.entry(),
                    each,
                    at -> disturbs(newcomer, each, at, at.isAfter(now), tree)));
  }

  /** Whether that is so of what is kept, at a time to which a Workload may run. */
  private boolean anyTime(
      ReferenceEntry entry, ReservedCapacity kept, Predicate<Instant> condition) {
    return kept.occurrences().stream()
        .filter(occurrence -> occurrence.end().isAfter(now))
        .map(Occurrence::start)
        .map(start -> start.isBefore(now) ? now : start)
        .filter(at -> at.isBefore(end(entry.id.uid(), now)))
        .anyMatch(condition);
  }

  /**
   * Until when one is kept back that starts then, by who runs now: the first end of what it would
   * be in the way of.
   */
  Optional<Instant> keptUntil(
      ReferenceEntry entry, String queue, Map<FlavorResource, Long> uses, Instant from) {
    Newcomer newcomer = new Newcomer(entry, queue, uses, List.of(), Set.of());
    Instant end = end(entry.id.uid(), from);
    ReferenceTree tree = world.tree();
    return all.stream()
        .flatMap(
            kept ->
                kept.occurrences().stream()
                    .filter(occurrence -> occurrence.end().isAfter(from))
                    .filter(occurrence -> occurrence.start().isBefore(end))
                    .filter(
                        occurrence -> {
                          boolean later = occurrence.start().isAfter(from);
                          Instant at = later ? occurrence.start() : from;
                          return disturbs(newcomer, kept, at, later, tree);
                        }))
        .map(Occurrence::end)
        .min(Comparator.naturalOrder());
  }

  private record Newcomer(
      ReferenceEntry entry,
      String queue,
      Map<FlavorResource, Long> uses,
      List<PodSetAssignment> places,
      Set<String> targets) {}

  /** The nodes that a Workload would be in the way on. */
  Set<Scope.OfNodes> closedTo(ReferenceEntry entry, ClusterQueueSpec queue) {
    Set<Scope.OfNodes> closed = new HashSet<>();
    for (ReservedCapacity each : all) {
      if (each.scope() instanceof Scope.OfNodes scope
          && anyTime(entry, each, at -> !(leaves(entry, queue, queue.name()) && at.isAfter(now)))) {
        closed.add(scope);
      }
    }
    return closed;
  }

  private boolean leaves(ReferenceEntry entry, ClusterQueueSpec queue, String owner) {
    boolean guaranteed = entry.workload().shape().guaranteed() && queue.rules().countsPreemptible();
    return entry.workload().evictable() && !guaranteed && mayBePreempted(queue.name(), owner);
  }

  private boolean disturbs(
      Newcomer newcomer, ReservedCapacity kept, Instant at, boolean later, ReferenceTree before) {
    ReferenceEntry entry = newcomer.entry();
    ClusterQueueSpec queue = Objects.requireNonNull(world.queues.get(newcomer.queue()));
    String owner =
        kept.scope() instanceof Scope.OfQueue owned ? owned.clusterQueue() : queue.name();
    if (!world.queues.containsKey(owner) || !before.tree(queue.name()).contains(owner)) {
      return false;
    }
    boolean leaves = leaves(entry, queue, owner);
    if (kept.scope() instanceof Scope.OfNodes scope) {
      boolean inside =
          world.nodes.areOn(newcomer.places(), scope)
              || newcomer.uses().entrySet().stream()
                  .anyMatch(
                      use -> use.getValue() > 0 && world.nodes.isOf(use.getKey().flavor(), scope));
      return inside && !(leaves && later);
    }
    if (kept.scope() instanceof Scope.OfFlavors(var flavors)) {
      return newcomer.uses().entrySet().stream()
              .anyMatch(use -> use.getValue() > 0 && flavors.contains(use.getKey().flavor()))
          && !(leaves && later);
    }
    if (isFor(kept, newcomer) || (leaves && later)) {
      return false;
    }
    ReferenceTree then = before.copy();
    for (ReferenceEntry each : world.workloads.values()) {
      if (each.holding != null && isGone(each, owner, at, newcomer.targets())) {
        then.remove(each.holder().queue(), each.holder().usage());
      }
    }
    for (Map.Entry<FlavorResource, Long> use : newcomer.uses().entrySet()) {
      if (share(kept, use.getKey()) > 0
          && takes(then, owner, queue.name(), use)
          && left(then, owner, queue.name(), use)
              < needed(each -> isFor(each, newcomer), owner, use.getKey(), at, leaves)) {
        return true;
      }
    }
    return false;
  }

  private static long free(ReferenceTree tree, String queue, FlavorResource pair) {
    long own = tree.quotaOfQueue(queue, pair).nominal() - tree.usageOfQueue(queue, pair);
    // a queue below a cycle of cohorts has what is its own
    return tree.cyclic(queue) ? own : Math.min(own, tree.available(queue, pair));
  }

  /** Whether a held Workload would be in the way whatever it gets, and whomever it preempts. */
  boolean heldBack(ReferenceEntry entry, ReferenceTree tree) {
    ClusterQueueSpec queue = world.queueOf(entry).map(world.queues::get).orElse(null);
    if (queue == null || entry.shape().slice().isPresent()) {
      return false;
    }
    for (PodSetRequest podSet : entry.workload().shape().podSets()) {
      int count = podSet.minCount();
      for (ResourceGroup group : queue.groups()) {
        boolean all =
            group.flavors().stream()
                .allMatch(
                    flavor -> {
                      Map<FlavorResource, Long> uses = new HashMap<>();
                      for (String resource : group.resources()) {
                        long use = podSet.perPod().getOrDefault(resource, 0L) * count;
                        uses.put(new FlavorResource(flavor.flavor(), resource), use);
                      }
                      return isHeldBack(entry, queue, uses, tree);
                    });
        if (all) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isHeldBack(
      ReferenceEntry entry,
      ClusterQueueSpec queue,
      Map<FlavorResource, Long> uses,
      ReferenceTree tree) {
    return all.stream()
        .anyMatch(
            each ->
                !isFor(
                        each,
                        queue.name(),
                        entry.workload().localQueue(),
                        entry.workload().priority())
                    && anyTime(entry, each, at -> isInTheWay(queue, uses, each, at, tree)));
  }

  private boolean isInTheWay(
      ClusterQueueSpec queue,
      Map<FlavorResource, Long> uses,
      ReservedCapacity kept,
      Instant at,
      ReferenceTree before) {
    return switch (kept.scope()) {
      case Scope.OfNodes _ -> false;
      case Scope.OfFlavors(var flavors) ->
          uses.entrySet().stream()
                  .anyMatch(use -> use.getValue() > 0 && flavors.contains(use.getKey().flavor()))
              && !(mayBePreempted(queue.name(), queue.name()) && at.isAfter(now));
      case Scope.OfQueue(var owner, var _) ->
          world.queues.containsKey(owner)
              && before.tree(queue.name()).contains(owner)
              && takesShare(queue, uses, kept, owner, at, before);
    };
  }

  private boolean takesShare(
      ClusterQueueSpec queue,
      Map<FlavorResource, Long> uses,
      ReservedCapacity kept,
      String owner,
      Instant at,
      ReferenceTree before) {
    boolean leaves = mayBePreempted(queue.name(), owner);
    boolean preempts = mayPreempt(queue);
    ReferenceTree then = before.copy();
    for (ReferenceEntry each : world.workloads.values()) {
      if (each.holding != null
          && (isGone(each, owner, at, Set.of()) || (preempts && each.holder().evictable()))) {
        then.remove(each.holder().queue(), each.holder().usage());
      }
    }
    return !(leaves && at.isAfter(now))
        && uses.entrySet().stream()
            .filter(use -> share(kept, use.getKey()) > 0 && use.getValue() > 0)
            .anyMatch(
                use -> {
                  long needed = needed(each -> each != kept, owner, use.getKey(), at, leaves);
                  boolean lacks =
                      !preempts
                          && (queue.name().equals(owner) || borrows(then, queue.name(), use))
                          && free(then, owner, use.getKey()) < needed
                          && use.getValue()
                              > Math.max(0, then.available(queue.name(), use.getKey()));
                  return lacks
                      || (takes(then, owner, queue.name(), use)
                          && left(then, owner, queue.name(), use) < needed);
                });
  }

  private static boolean mayPreempt(ClusterQueueSpec queue) {
    return queue.preemption().withinClusterQueue() != WithinClusterQueue.NEVER
        || queue.preemption().reclaimWithinCohort() != ReclaimWithinCohort.NEVER
        || queue.rules().preemptionConfig().isPresent();
  }

  /** Whether a queue that gets so much leaves its owner less. */
  private boolean takes(
      ReferenceTree then, String owner, String queue, Map.Entry<FlavorResource, Long> use) {
    return use.getValue() > 0
        && (queue.equals(owner) || borrows(then, queue, use))
        && left(then, owner, queue, use) < free(then, owner, use.getKey());
  }

  private static boolean borrows(
      ReferenceTree then, String queue, Map.Entry<FlavorResource, Long> use) {
    FlavorResource pair = use.getKey();
    return then.usageOfQueue(queue, pair) + use.getValue()
        > then.quotaOfQueue(queue, pair).nominal();
  }

  private static long left(
      ReferenceTree then, String owner, String queue, Map.Entry<FlavorResource, Long> use) {
    ReferenceTree after = then.copy();
    after.add(queue, Map.of(use.getKey(), use.getValue()));
    return free(after, owner, use.getKey());
  }

  private boolean mayBePreempted(String queue, String owner) {
    var policies = Objects.requireNonNull(world.queues.get(owner)).preemption();
    return queue.equals(owner)
        ? policies.withinClusterQueue() != WithinClusterQueue.NEVER
        : policies.reclaimWithinCohort() != ReclaimWithinCohort.NEVER;
  }

  private boolean isGone(ReferenceEntry each, String owner, Instant at, Set<String> targets) {
    ReferenceHolder holder = each.holder();
    boolean guaranteed =
        holder.guaranteed()
            && Optional.ofNullable(world.queues.get(holder.queue()))
                .filter(queue -> queue.rules().countsPreemptible())
                .isPresent();
    boolean user = all.stream().anyMatch(kept -> keeps(kept, owner, at) && uses(kept, each, owner));
    return holder.evicted()
        || targets.contains(each.id.uid())
        || !isThere(each, at)
        || (at.isAfter(now)
            && !user
            && holder.evictable()
            && !guaranteed
            && mayBePreempted(holder.queue(), owner));
  }

  /** Whether its run goes on then, as far as its bound tells; who runs beyond it ends at once. */
  private boolean isThere(ReferenceEntry entry, Instant at) {
    Instant end = end(entry.id.uid(), entry.holder().reservedAt());
    return end.isAfter(at) || (!at.isAfter(now) && !end.isAfter(now));
  }

  private static boolean keeps(ReservedCapacity kept, String owner, Instant at) {
    return kept.scope() instanceof Scope.OfQueue owned
        && owned.clusterQueue().equals(owner)
        && kept.at(at).isPresent();
  }

  private static boolean uses(ReservedCapacity kept, ReferenceEntry entry, String owner) {
    ReferenceEntry.@Nullable Holding holding = entry.holding;
    return holding != null
        && holding.clusterQueue().equals(owner)
        && isFor(kept, owner, holding.localQueue(), holding.priority());
  }

  private static boolean isFor(ReservedCapacity kept, Newcomer newcomer) {
    return isFor(
        kept,
        newcomer.queue(),
        newcomer.entry().workload().localQueue(),
        newcomer.entry().workload().priority());
  }

  private static boolean isFor(
      ReservedCapacity kept, String queue, LocalQueueId localQueue, long priority) {
    return kept.scope() instanceof Scope.OfQueue owned
        && owned.clusterQueue().equals(queue)
        && kept.users().include(localQueue, priority);
  }

  private static long share(ReservedCapacity kept, FlavorResource pair) {
    return kept.scope() instanceof Scope.OfQueue owned
        ? owned.shares().stream()
            .filter(
                each ->
                    each.flavor().equals(pair.flavor()) && each.resource().equals(pair.resource()))
            .mapToLong(ReservedCapacity.Share::amount)
            .sum()
        : 0;
  }

  private long needed(
      Predicate<ReservedCapacity> own,
      String owner,
      FlavorResource pair,
      Instant at,
      boolean mayBorrow) {
    return needed(own, keptAt(owner, pair, at), owner, pair, at, mayBorrow);
  }

  private List<ReservedCapacity> keptAt(String owner, FlavorResource pair, Instant at) {
    return all.stream().filter(each -> keeps(each, owner, at) && share(each, pair) > 0).toList();
  }

  private long needed(
      Predicate<ReservedCapacity> own,
      List<ReservedCapacity> kept,
      String owner,
      FlavorResource pair,
      Instant at,
      boolean mayBorrow) {
    Map<ReservedCapacity, Long> rests = new HashMap<>();
    kept.forEach(each -> rests.put(each, share(each, pair)));
    for (ReferenceEntry each : world.workloads.values()) {
      if (each.holding != null && !each.holder().evicted() && isThere(each, at)) {
        kept.stream()
            .filter(one -> uses(one, each, owner))
            .findFirst()
            .ifPresent(
                one -> rests.merge(one, -each.holder().usage().getOrDefault(pair, 0L), Long::sum));
      }
    }
    long sum = 0;
    for (ReservedCapacity each : kept) {
      long rest = own.test(each) ? 0 : Math.max(0, rests.getOrDefault(each, 0L));
      sum += each.lend() && mayBorrow ? Math.min(rest, demand(each, owner, pair.resource())) : rest;
    }
    return sum;
  }

  /** What users ask for who wait in line. */
  private long demand(ReservedCapacity kept, String owner, String resource) {
    long demand = 0;
    for (ReferenceEntry entry : world.waitingIn(owner)) {
      if (isFor(kept, owner, entry.workload().localQueue(), entry.workload().priority())) {
        for (PodSetRequest podSet : entry.workload().shape().podSets()) {
          demand += podSet.perPod().getOrDefault(resource, 0L) * podSet.count();
        }
      }
    }
    return demand;
  }

  /**
   * One that has to go.
   *
   * @param from since when, or from when on
   * @param grace how long before that its job is asked to save its work
   */
  record Overstay(String uid, String keeper, Instant from, Duration grace) {}

  /** The same as an engine says it. */
  static Set<Overstay> overstays(List<ReservedCapacity.Overstay> all) {
    Set<Overstay> overstays = new HashSet<>();
    for (ReservedCapacity.Overstay each : all) {
      if (!overstays.add(new Overstay(each.id().uid(), each.keeper(), each.from(), each.grace()))) {
        throw new AssertionError("named twice: " + each);
      }
    }
    return overstays;
  }

  /** Who has to go now, and whose job is asked to save its work before it has to. */
  Set<Overstay> overstays() {
    Set<Overstay> overstays = new HashSet<>();
    Set<String> leaving = new HashSet<>();
    for (ReservedCapacity kept : all) {
      kept.at(now).ifPresent(it -> overstays.addAll(overstays(kept, it.start(), leaving)));
      overstays.forEach(each -> leaving.add(each.uid()));
    }
    for (ReservedCapacity kept : all) {
      kept.occurrences().stream()
          .map(Occurrence::start)
          .filter(start -> start.isAfter(now))
          .findFirst()
          .filter(start -> kept.at(now).isEmpty() && !start.isAfter(now.plus(LONGEST_GRACE)))
          .ifPresent(
              start ->
                  overstays(kept, start, leaving).stream()
                      .filter(each -> each.grace().isPositive())
                      .filter(each -> !start.minus(each.grace()).isAfter(now))
                      .forEach(overstays::add));
    }
    return overstays;
  }

  private Set<Overstay> overstays(ReservedCapacity kept, Instant start, Set<String> leaving) {
    List<ReferenceHolder> holders =
        world.workloads.values().stream()
            .filter(entry -> entry.holding != null)
            .map(ReferenceEntry::holder)
            .filter(holder -> world.queues.containsKey(holder.queue()))
            .filter(holder -> !holder.evicted() && !leaving.contains(holder.id().uid()))
            .filter(ReferenceHolder::evictable)
            .toList();
    List<ReferenceHolder> out =
        switch (kept.scope()) {
          case Scope.OfFlavors(var flavors) ->
              holders.stream()
                  .filter(holder -> uses(holder, pair -> flavors.contains(pair.flavor())))
                  .toList();
          case Scope.OfNodes scope ->
              holders.stream()
                  .filter(
                      holder ->
                          world.nodes.areOn(holder.placed(), scope)
                              || uses(holder, pair -> world.nodes.isOf(pair.flavor(), scope)))
                  .toList();
          case Scope.OfQueue(var owner, var _) ->
              world.queues.containsKey(owner)
                  ? inTheWay(kept, owner, start, leaving, holders)
                  : List.of();
        };
    Set<Overstay> overstays = new HashSet<>();
    for (ReferenceHolder holder : out) {
      Duration grace =
          holder
              .protection()
              .classRules()
              .or(world.tree().preemptionRules(holder.queue()))
              .checkpointGrace()
              .orElse(Duration.ZERO);
      overstays.add(
          new Overstay(
              holder.id().uid(),
              kept.title(),
              start,
              grace.compareTo(LONGEST_GRACE) > 0 ? LONGEST_GRACE : grace));
    }
    return overstays;
  }

  private static boolean uses(ReferenceHolder holder, Predicate<FlavorResource> pairs) {
    return holder.usage().entrySet().stream()
        .anyMatch(use -> use.getValue() > 0 && pairs.test(use.getKey()));
  }

  /** As few as are enough, those that preemption takes first. */
  private List<ReferenceHolder> inTheWay(
      ReservedCapacity kept,
      String owner,
      Instant start,
      Set<String> leaving,
      List<ReferenceHolder> holders) {
    Instant then = start.isAfter(now) ? start : now;
    ReferenceTree left = world.tree();
    for (ReferenceEntry entry : world.workloads.values()) {
      if (entry.holding != null && (entry.holder().evicted() || leaving.contains(entry.id.uid()))) {
        left.remove(entry.holder().queue(), entry.holder().usage());
      }
    }
    List<ReferenceHolder> candidates =
        holders.stream()
            .filter(holder -> world.tree().tree(owner).contains(holder.queue()))
            .filter(holder -> mayBePreempted(holder.queue(), owner))
            .filter(
                holder ->
                    !holder.guaranteed()
                        || !Objects.requireNonNull(world.queues.get(holder.queue()))
                            .rules()
                            .countsPreemptible())
            .filter(
                holder ->
                    all.stream()
                        .noneMatch(
                            each ->
                                keeps(each, owner, then)
                                    && isFor(
                                        each,
                                        holder.queue(),
                                        holder.localQueue(),
                                        holder.priority())))
            .sorted(
                Comparator.comparing((ReferenceHolder holder) -> holder.queue().equals(owner))
                    .thenComparing(ReferenceHolder::priority)
                    .thenComparing(ReferenceHolder::lossSince, Comparator.reverseOrder())
                    .thenComparing(holder -> holder.id().uid()))
            .toList();
    List<ReferenceHolder> chosen = new ArrayList<>();
    for (ReferenceHolder holder : candidates) {
      if (helps(holder, kept, owner, then, left)) {
        left.remove(holder.queue(), holder.usage());
        chosen.add(holder);
      }
    }
    for (ReferenceHolder holder : List.copyOf(chosen).reversed()) {
      left.add(holder.queue(), holder.usage());
      if (helps(holder, kept, owner, then, left)) {
        left.remove(holder.queue(), holder.usage());
      } else {
        chosen.remove(holder);
      }
    }
    return chosen;
  }

  /** Whether less is free than is kept, and more would be without this one. */
  private boolean helps(
      ReferenceHolder holder,
      ReservedCapacity kept,
      String owner,
      Instant then,
      ReferenceTree left) {
    return holder.usage().entrySet().stream()
        .filter(use -> use.getValue() > 0 && share(kept, use.getKey()) > 0)
        .anyMatch(
            use -> {
              FlavorResource pair = use.getKey();
              boolean takes =
                  holder.queue().equals(owner)
                      || left.usageOfQueue(holder.queue(), pair)
                          > left.quotaOfQueue(holder.queue(), pair).nominal();
              ReferenceTree without = left.copy();
              without.remove(holder.queue(), Map.of(pair, use.getValue()));
              return takes
                  && free(left, owner, pair) < kept(owner, pair, then)
                  && free(without, owner, pair) > free(left, owner, pair);
            });
  }

  /** What is kept at a time of a pair, beside what users have now. */
  private long kept(String owner, FlavorResource pair, Instant then) {
    return needed(each -> false, keptAt(owner, pair, then), owner, pair, now, true);
  }
}

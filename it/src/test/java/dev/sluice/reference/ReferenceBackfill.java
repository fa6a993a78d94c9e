package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.FlavorQuotas;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.reference.ReferenceAssigner.Mode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Planned starts, and who may start before them, as docs/backfill.md tells it: every question is
 * answered by looking at every instant at which anything begins or ends.
 */
final class ReferenceBackfill {

  /** What a run has its quota longer than its bound at most. */
  static final Duration OVERHEAD = Duration.ofSeconds(61);

  /** When one is expected to end that runs beyond its bound. */
  private static final Duration BEYOND = Duration.ofMinutes(1);

  /**
   * What one has of each pair.
   *
   * @param until when it has to end
   * @param before what the slice has that it replaces, which it shares
   * @param sharedUntil when that one has to end
   */
  private record Use(
      Map<FlavorResource, Long> whole,
      Instant until,
      Map<FlavorResource, Long> before,
      Instant sharedUntil) {

    /** What counts beside what others have then. */
    long of(FlavorResource pair, Instant time) {
      long amount = whole.getOrDefault(pair, 0L);
      return time.isBefore(sharedUntil)
          ? Math.max(0, amount - before.getOrDefault(pair, 0L))
          : amount;
    }

    /** All that counts then. */
    Map<FlavorResource, Long> at(Instant time) {
      Map<FlavorResource, Long> counting = new HashMap<>(whole);
      counting.replaceAll((pair, any) -> of(pair, time));
      return counting;
    }
  }

  /** When one starts at the latest, and what it uses then. */
  private record Plan(ReferenceEntry entry, Instant at, Instant until, Use use) {

    boolean covers(Instant time) {
      return !time.isBefore(at) && time.isBefore(until);
    }
  }

  /** One that was started before others, and what it uses until when. */
  private record Started(ReferenceEntry entry, Instant until, Use use) {}

  private final ReferenceQueues world;
  private final ReferenceEngine.Rules rules;
  private final Supplier<ReferenceCycle> cycles;
  private final Runnable started;

  /** When those that wait are planned to start, by UID, as far as the last pass planned. */
  private final Map<String, Optional<PlannedStart>> planned = new HashMap<>();

  private final ReferencePromises promises = new ReferencePromises();

  /**
   * @param cycles a cycle that begins now
   * @param started what is to be done when somebody was started
   */
  ReferenceBackfill(
      ReferenceQueues world,
      ReferenceEngine.Rules rules,
      Supplier<ReferenceCycle> cycles,
      Runnable started) {
    this.world = world;
    this.rules = rules;
    this.cycles = cycles;
    this.started = started;
  }

  /**
   * By UID, when those are planned to start whose queue was planned by the last pass: empty if they
   * aren't.
   */
  Map<String, Optional<PlannedStart>> planned() {
    return planned;
  }

  /** What was promised. */
  ReferencePromises promises() {
    return promises;
  }

  /** What is planned where nothing is planned any more is forgotten. */
  void begin() {
    promises.queues().stream()
        .filter(
            name -> {
              ClusterQueueSpec queue = world.queues.get(name);
              return queue == null || !isPlanned(queue) || world.tree().cyclic(name);
            })
        .forEach(promises::forget);
  }

  private boolean isPlanned(ClusterQueueSpec queue) {
    return queue.strategy() == QueueingStrategy.STRICT_FIFO
        && queue.rules().backfill().isPresent()
        && world.active(queue);
  }

  /**
   * Nobody is left to look at: plans who is blocked, and starts who may start before.
   *
   * @param planned whether a queue is planned
   * @param turns queues in the order in which their trees have their turns, which isn't said
   */
  List<Decided> pass(Predicate<String> planned, List<String> turns) {
    this.planned.clear();
    List<Decided> decided = new ArrayList<>();
    ReferenceTree tree = world.tree();
    List<ClusterQueueSpec> queues =
        world.queues.values().stream()
            .sorted(Comparator.comparing(queue -> turn(tree.tree(queue.name()), turns)))
            .toList();
    for (ClusterQueueSpec queue : queues) {
      if (isPlanned(queue) && !tree.cyclic(queue.name()) && planned.test(queue.name())) {
        decided.addAll(new OneQueue(queue, queue.rules().backfill().orElseThrow()).pass());
      }
    }
    return decided;
  }

  private static int turn(Set<String> tree, List<String> turns) {
    int turn = 0;
    while (turn < turns.size() && !tree.contains(turns.get(turn))) {
      turn++;
    }
    return turn;
  }

  /** Until when a run that begins then has its quota at most. */
  private Instant end(String uid, Instant from, UnknownRunTime unknown) {
    return rules
        .costs()
        .bounds()
        .getOrDefault(uid, RunBound.UNKNOWN)
        .under(unknown)
        .map(bound -> from.plus(bound).plus(OVERHEAD))
        .orElse(Instant.MAX);
  }

  private final class OneQueue {
    private final ClusterQueueSpec queue;
    private final BackfillRules backfill;
    private final Instant now = world.now;
    private final ReferenceSnapshot before = world.snapshot();
    private final Map<Instant, ReferenceTree> later = new HashMap<>();
    private final List<Plan> plans = new ArrayList<>();
    private final List<Started> started = new ArrayList<>();
    private final Set<WorkloadId> heldBackIds = new HashSet<>();

    /** Whether anybody planned so far is kept back though there is quota. */
    private boolean heldBack;

    OneQueue(ClusterQueueSpec queue, BackfillRules backfill) {
      this.queue = queue;
      this.backfill = backfill;
    }

    List<Decided> pass() {
      List<ReferenceEntry> waiting = world.waitingIn(queue.name());
      if (waiting.isEmpty()) {
        promises.forget(queue.name());
      }
      if (waiting.isEmpty() || !cycles.get().lacksQuota(waiting.getFirst(), queue)) {
        return List.of();
      }
      plan(waiting);
      List<Decided> decided = new ArrayList<>();
      if (!plans.isEmpty()) {
        waiting.subList(1, waiting.size()).forEach(entry -> start(entry).ifPresent(decided::add));
      }
      return decided;
    }

    private void plan(List<ReferenceEntry> waiting) {
      Optional<WorkloadId> without = Optional.empty();
      for (ReferenceEntry entry : waiting) {
        if (plans.size() == backfill.depth()) {
          break;
        }
        Optional<Plan> next = firstPlan(entry);
        if (next.isEmpty()) {
          without = Optional.of(entry.id);
          break;
        }
        plans.add(next.get());
        if (heldBack) {
          heldBackIds.add(entry.id);
        }
      }
      Map<WorkloadId, Instant> starts = new LinkedHashMap<>();
      plans.forEach(plan -> starts.put(plan.entry().id, plan.at()));
      promises.replace(
          queue.name(),
          new ReferencePromises.Look(
              starts,
              without,
              waiting.stream().map(entry -> entry.id).toList(),
              quota(),
              heldBackIds,
              running().stream().anyMatch(holder -> !bound(holder).isAfter(now)),
              isLent(),
              running().stream()
                  .map(holder -> holder.id().uid())
                  .collect(Collectors.toUnmodifiableSet())),
          backfill.unknown());
      waiting.forEach(entry -> planned.put(entry.id.uid(), Optional.empty()));
      promises.of(queue.name()).forEach(start -> planned.put(start.id().uid(), Optional.of(start)));
    }

    /** What the queue alone has of each pair, and what it can have with all that it can borrow. */
    private Map<FlavorResource, List<Long>> quota() {
      Map<FlavorResource, List<Long>> quota = new HashMap<>();
      pairs()
          .forEach(
              pair ->
                  quota.put(
                      pair,
                      List.of(
                          before.tree().ofAlone(queue.name(), pair),
                          before.tree().potential(queue.name(), pair))));
      return quota;
    }

    private List<FlavorResource> pairs() {
      return queue.groups().stream()
          .flatMap(
              group ->
                  group.flavors().stream()
                      .flatMap(
                          each ->
                              group.resources().stream()
                                  .map(resource -> new FlavorResource(each.flavor(), resource))))
          .toList();
    }

    /** Whether other queues have quota of this one at any time. */
    private boolean isLent() {
      return instants().tailSet(now).stream()
          .map(time -> later.computeIfAbsent(time, this::treeAt))
          .anyMatch(
              then ->
                  pairs().stream()
                      .anyMatch(
                          pair ->
                              then.available(queue.name(), pair)
                                  < ResourceAmounts.subtract(
                                      then.ofAlone(queue.name(), pair),
                                      then.usageOfQueue(queue.name(), pair))));
    }

    /** Who has quota of the tree. */
    private List<ReferenceHolder> running() {
      Set<String> tree = before.tree().tree(queue.name());
      return before.holders().stream().filter(holder -> tree.contains(holder.queue())).toList();
    }

    private Instant bound(ReferenceHolder holder) {
      return ReferenceBackfill.this.end(holder.id().uid(), holder.reservedAt(), backfill.unknown());
    }

    private Optional<Plan> firstPlan(ReferenceEntry entry) {
      Instant from = plans.isEmpty() ? now : plans.getLast().at();
      while (true) {
        Optional<Plan> plan = firstPlan(entry, from);
        Optional<Instant> later =
            plan.flatMap(
                each ->
                    world.reservations.keptUntil(
                        entry, queue.name(), each.use().at(each.at()), each.at()));
        if (later.isEmpty()) {
          return plan;
        }
        heldBack = true;
        from = later.get();
      }
    }

    /** As far as quota tells. */
    private Optional<Plan> firstPlan(ReferenceEntry entry, Instant from) {
      NavigableSet<Instant> instants = instants();
      instants.add(from);
      for (Instant at : instants.tailSet(from)) {
        Instant until = end(entry, at);
        NavigableSet<Instant> during = instants().tailSet(at, true).headSet(until, false);
        Optional<Use> use = use(entry, at, until);
        if (use.isPresent()
            && during.stream()
                .allMatch(
                    time ->
                        use.get().whole().keySet().stream()
                            .allMatch(
                                pair ->
                                    fits(
                                        use.get().of(pair, time),
                                        free(pair, time, plans.size()))))) {
          return Optional.of(new Plan(entry, at, until, use.get()));
        }
      }
      return Optional.empty();
    }

    private static boolean fits(long amount, long free) {
      return amount == 0 || amount <= free;
    }

    /** Every instant from now on at which anything begins or ends. */
    private NavigableSet<Instant> instants() {
      TreeSet<Instant> instants = new TreeSet<>();
      instants.add(now);
      before.holders().forEach(holder -> instants.add(end(holder)));
      plans.forEach(
          plan -> {
            instants.add(plan.at());
            instants.add(plan.until());
          });
      started.forEach(each -> instants.add(each.until()));
      instants.remove(Instant.MAX);
      return instants;
    }

    private Instant end(ReferenceHolder holder) {
      Instant end = bound(holder);
      return end.isAfter(now) ? end : now.plus(BEYOND);
    }

    /** Until when a Workload has its quota at most that gets it then. */
    private Instant end(ReferenceEntry entry, Instant from) {
      return ReferenceBackfill.this.end(entry.id.uid(), from, backfill.unknown());
    }

    /**
     * How much of what it alone can use the queue has for itself then, beside the first so many of
     * those that are planned: each may get any flavor.
     */
    private long free(FlavorResource pair, Instant time, int planned) {
      ReferenceTree then = later.computeIfAbsent(time, this::treeAt);
      long free =
          Math.min(
              then.ofAlone(queue.name(), pair) - then.usageOfQueue(queue.name(), pair),
              then.available(queue.name(), pair));
      for (Plan plan : plans.subList(0, planned)) {
        if (plan.covers(time)) {
          free -= inAnyFlavor(plan.entry().shape()).getOrDefault(pair, 0L);
        }
      }
      return free;
    }

    /** The tree when those are gone whose runs are over by then. */
    private ReferenceTree treeAt(Instant time) {
      return before
          .without(before.holders().stream().filter(holder -> !end(holder).isAfter(time)).toList())
          .tree();
    }

    /** What one that is given amounts has beside others, a slice without what it shares. */
    private Use use(ReferenceEntry entry, Map<FlavorResource, Long> whole, Instant until) {
      Optional<ReplacedSlice> replaced = entry.shape().replaced();
      return new Use(
          whole,
          until,
          replaced.map(slice -> ReferenceEntry.usage(slice.podSets())).orElse(Map.of()),
          before.holders().stream()
              .filter(
                  holder ->
                      replaced.filter(slice -> slice.uid().equals(holder.id().uid())).isPresent())
              .map(this::end)
              .findFirst()
              .orElse(Instant.MIN));
    }

    /** What a request uses of the first flavors that have room then, pod set by pod set. */
    private Optional<Use> use(ReferenceEntry entry, Instant time, Instant until) {
      RequestShape shape = entry.shape();
      Map<FlavorResource, Long> uses = new HashMap<>();
      long paid = 0;
      for (List<PodSetRequest> together : podSets(shape)) {
        Map<String, Long> wanted = wanted(together);
        if (wanted.entrySet().stream()
            .anyMatch(each -> each.getValue() > 0 && !isCovered(each.getKey()))) {
          return Optional.empty();
        }
        List<ResourceGroup> byFirstResource =
            queue.groups().stream()
                .filter(group -> group.resources().stream().anyMatch(wanted::containsKey))
                .sorted(
                    Comparator.comparing(
                        group -> new TreeSet<>(part(group, wanted).keySet()).first()))
                .toList();
        for (ResourceGroup group : byFirstResource) {
          Map<String, Long> part = part(group, wanted);
          long before = paid;
          Optional<String> found =
              rules
                  .costs()
                  .order(
                      queue,
                      group.flavors().stream().map(FlavorQuotas::flavor).toList(),
                      part,
                      shape)
                  .stream()
                  .filter(flavor -> mayGet(together, flavor))
                  .filter(flavor -> isThatOfReplaced(shape, together, group, flavor))
                  .filter(flavor -> !rules.costs().isTooDear(flavor, part, before, shape))
                  .filter(
                      flavor -> {
                        Map<FlavorResource, Long> more = of(group, flavor, wanted);
                        Map<FlavorResource, Long> sum = new HashMap<>(uses);
                        more.forEach(
                            (pair, amount) -> sum.merge(pair, amount, ResourceAmounts::add));
                        return more.keySet().stream()
                            .allMatch(
                                pair ->
                                    fits(
                                        use(entry, sum, until).of(pair, time),
                                        free(pair, time, plans.size())));
                      })
                  .findFirst();
          if (found.isEmpty()) {
            return Optional.empty();
          }
          of(group, found.get(), wanted)
              .forEach((pair, amount) -> uses.merge(pair, amount, ResourceAmounts::add));
          paid += rules.costs().perHour(found.get(), part);
        }
      }
      return Optional.of(use(entry, uses, until));
    }

    private Map<FlavorResource, Long> inAnyFlavor(RequestShape shape) {
      Map<FlavorResource, Long> uses = new HashMap<>();
      for (List<PodSetRequest> together : podSets(shape)) {
        Map<String, Long> wanted = wanted(together);
        for (ResourceGroup group : queue.groups()) {
          for (FlavorQuotas each : group.flavors()) {
            if (mayGet(together, each.flavor())
                && !rules.costs().isTooDear(each.flavor(), part(group, wanted), 0, shape)
                && isThatOfReplaced(shape, together, group, each.flavor())) {
              of(group, each.flavor(), wanted)
                  .forEach((pair, amount) -> uses.merge(pair, amount, ResourceAmounts::add));
            }
          }
        }
      }
      return uses;
    }

    private static List<List<PodSetRequest>> podSets(RequestShape shape) {
      return ReferenceAssigner.groups(shape).stream()
          .map(together -> together.stream().map(shape.podSets()::get).toList())
          .toList();
    }

    private Map<String, Long> wanted(List<PodSetRequest> together) {
      Map<String, Long> wanted = new HashMap<>();
      for (PodSetRequest podSet : together) {
        Map<String, Long> each = new HashMap<>(podSet.perPod());
        each.replaceAll((resource, one) -> ResourceAmounts.multiply(one, podSet.count()));
        if (isCovered("pods")) {
          each.put("pods", (long) podSet.count());
        }
        each.forEach((resource, amount) -> wanted.merge(resource, amount, ResourceAmounts::add));
      }
      return wanted;
    }

    private boolean isCovered(String resource) {
      return queue.groups().stream().anyMatch(group -> group.resources().contains(resource));
    }

    private boolean mayGet(List<PodSetRequest> together, String name) {
      Flavor flavor = world.flavors.get(name);
      return flavor != null
          && together.stream()
              .allMatch(podSet -> ReferenceAssigner.eligible(flavor, podSet.nodeConstraints()));
    }

    /** Whether pod sets of a slice that is replaced have no other flavor. */
    private static boolean isThatOfReplaced(
        RequestShape shape, List<PodSetRequest> together, ResourceGroup group, String flavor) {
      return shape.replaced().map(ReplacedSlice::podSets).orElse(List.of()).stream()
          .filter(held -> together.stream().anyMatch(each -> each.name().equals(held.name())))
          .flatMap(held -> held.flavors().entrySet().stream())
          .filter(has -> group.resources().contains(has.getKey()))
          .filter(has -> together.stream().anyMatch(each -> asksFor(each, has.getKey())))
          .allMatch(has -> has.getValue().equals(flavor));
    }

    private static boolean asksFor(PodSetRequest podSet, String resource) {
      return podSet.perPod().containsKey(resource) || resource.equals("pods");
    }

    /** What is wanted of the resources of a group. */
    private static Map<String, Long> part(ResourceGroup group, Map<String, Long> wanted) {
      Map<String, Long> part = new HashMap<>(wanted);
      part.keySet().retainAll(group.resources());
      return part;
    }

    private static Map<FlavorResource, Long> of(
        ResourceGroup group, String flavor, Map<String, Long> wanted) {
      Map<FlavorResource, Long> uses = new HashMap<>();
      for (String resource : group.resources()) {
        if (wanted.containsKey(resource)) {
          uses.put(new FlavorResource(flavor, resource), wanted.get(resource));
        }
      }
      return uses;
    }

    /** Starts one behind the head if it may, in the first flavors in which it may. */
    private Optional<Decided> start(ReferenceEntry entry) {
      boolean limited = end(entry, now).isBefore(Instant.MAX);
      if (!limited && backfill.unknown() == UnknownRunTime.REFUSE) {
        return Optional.empty();
      }
      Set<String> closed = new HashSet<>();
      while (true) {
        ReferenceCycle cycle = cycles.get();
        Optional<ReferenceNominated> found =
            cycle
                .besideClaims(entry, queue, closed)
                .filter(nominated -> nominated.result().mode() == Mode.FIT);
        if (found.isEmpty()) {
          return Optional.empty();
        }
        Use use = use(entry, ReferenceEntry.usage(found.get().result().podSets()), end(entry, now));
        Set<String> inTheWay = inTheWay(entry, use);
        if (inTheWay.isEmpty()) {
          started.add(new Started(entry, end(entry, now), use));
          promises.backfilled(queue.name(), entry.id);
          promises.started(queue.name(), entry.id, false, now);
          planned.remove(entry.id.uid());
          Decided decided = cycle.admit(found.get());
          ReferenceBackfill.this.started.run();
          return Optional.of(decided);
        }
        closed.addAll(inTheWay);
      }
    }

    /** The flavors of which it would take what is planned for those before it. */
    private Set<String> inTheWay(ReferenceEntry entry, Use use) {
      Instant until = end(entry, now);
      Set<String> flavors = new HashSet<>();
      for (int place = 0; place < plans.size() && plans.get(place).entry() != entry; place++) {
        Plan plan = plans.get(place);
        if (started.stream().anyMatch(each -> each.entry() == plan.entry())) {
          continue; // it has started
        }
        for (Instant time : instants().headSet(until, false)) {
          for (FlavorResource pair : use.whole().keySet()) {
            long own = plan.use().of(pair, time);
            if (use.of(pair, time) > 0
                && own > 0
                && plan.covers(time)
                && use.of(pair, time) + own > left(pair, time, place)) {
              flavors.add(pair.flavor());
            }
          }
        }
      }
      return flavors;
    }

    /** What is free beside those planned before a place, and beside who started meanwhile. */
    private long left(FlavorResource pair, Instant time, int place) {
      long left = free(pair, time, place);
      Set<ReferenceEntry> counted = new HashSet<>();
      plans.subList(0, place).forEach(plan -> counted.add(plan.entry()));
      for (Started each : started) {
        if (!counted.contains(each.entry()) && time.isBefore(each.until())) {
          left -= each.use().of(pair, time);
        }
      }
      return left;
    }
  }
}

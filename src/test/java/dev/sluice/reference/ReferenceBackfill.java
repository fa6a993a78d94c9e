package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PodSetRequest;
import dev.sluice.core.model.RequestShape;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.FlavorQuotas;
import dev.sluice.reference.ReferenceAssigner.Mode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Planned starts, and who may start before them, as docs/backfill.md tells it: every question is
 * answered by looking at every instant at which anything begins or ends.
 */
final class ReferenceBackfill {

  /** What a run has its quota longer than its bound at most. */
  private static final Duration OVERHEAD = Duration.ofSeconds(61);

  /** When one is expected to end that runs beyond its bound. */
  private static final Duration BEYOND = Duration.ofMinutes(1);

  /** When one starts at the latest, and what it uses then. */
  private record Plan(
      ReferenceEntry entry, Instant at, Instant until, Map<FlavorResource, Long> uses) {

    boolean covers(Instant time) {
      return !time.isBefore(at) && time.isBefore(until);
    }
  }

  /** One that was started before others, and what it uses until when. */
  private record Started(ReferenceEntry entry, Instant until, Map<FlavorResource, Long> uses) {}

  private final ReferenceQueues world;
  private final ReferenceEngine.Rules rules;
  private final Supplier<ReferenceCycle> cycles;

  /** When those that wait are planned to start, by UID, as far as the last pass planned. */
  private final Map<String, Optional<Instant>> planned = new HashMap<>();

  /**
   * @param cycles a cycle that begins now
   */
  ReferenceBackfill(
      ReferenceQueues world, ReferenceEngine.Rules rules, Supplier<ReferenceCycle> cycles) {
    this.world = world;
    this.rules = rules;
    this.cycles = cycles;
  }

  /**
   * By UID, when those are planned to start whose queue was planned by the last pass: empty if they
   * aren't.
   */
  Map<String, Optional<Instant>> planned() {
    return planned;
  }

  /**
   * Nobody is left to look at: plans who is blocked, and starts who may start before.
   *
   * @param starts whether anybody is started in a queue. Once somebody was started in a tree, the
   *     heads of its other queues may have to be looked at first, which isn't said: there nobody is
   *     unless this holds
   */
  List<Decided> pass(Predicate<String> starts) {
    planned.clear();
    List<Decided> decided = new ArrayList<>();
    Set<String> changed = new HashSet<>();
    for (ClusterQueueSpec queue : List.copyOf(world.queues.values())) {
      if (queue.strategy() != QueueingStrategy.STRICT_FIFO
          || queue.rules().backfill().isEmpty()
          || !world.active(queue)
          || world.tree().cyclic(queue.name())
          || (changed.contains(queue.name()) && !starts.test(queue.name()))) {
        continue;
      }
      List<Decided> ofQueue = new OneQueue(queue, queue.rules().backfill().get()).pass();
      decided.addAll(ofQueue);
      if (!ofQueue.isEmpty()) {
        changed.addAll(world.tree().tree(queue.name()));
        planned.clear();
      }
    }
    return decided;
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

    OneQueue(ClusterQueueSpec queue, BackfillRules backfill) {
      this.queue = queue;
      this.backfill = backfill;
    }

    List<Decided> pass() {
      List<ReferenceEntry> waiting = world.waitingIn(queue.name());
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
      waiting.forEach(entry -> planned.put(entry.id.uid(), Optional.empty()));
      for (ReferenceEntry entry : waiting) {
        Optional<Plan> next =
            plans.size() == backfill.depth() ? Optional.empty() : firstPlan(entry);
        if (next.isEmpty()) {
          return;
        }
        plans.add(next.get());
        planned.put(entry.id.uid(), Optional.of(next.get().at()));
      }
    }

    private Optional<Plan> firstPlan(ReferenceEntry entry) {
      Instant from = plans.isEmpty() ? now : plans.getLast().at();
      for (Instant at : instants().tailSet(from)) {
        Instant until = end(entry, at);
        NavigableSet<Instant> during = instants().tailSet(at, true).headSet(until, false);
        Optional<Map<FlavorResource, Long>> uses = uses(entry.shape(), at);
        if (uses.isPresent()
            && during.stream()
                .allMatch(
                    time ->
                        uses.get().entrySet().stream()
                            .allMatch(
                                use ->
                                    fits(
                                        use.getValue(), free(use.getKey(), time, plans.size()))))) {
          return Optional.of(new Plan(entry, at, until, uses.get()));
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
      Instant end =
          ReferenceBackfill.this.end(holder.id().uid(), holder.reservedAt(), backfill.unknown());
      return end.isAfter(now) ? end : now.plus(BEYOND);
    }

    /** Until when a Workload has its quota at most that gets it then. */
    private Instant end(ReferenceEntry entry, Instant from) {
      return ReferenceBackfill.this.end(entry.id.uid(), from, backfill.unknown());
    }

    /**
     * How much of its nominal quota the queue has for itself then, beside the first so many of
     * those that are planned: each may get any flavor.
     */
    private long free(FlavorResource pair, Instant time, int planned) {
      ReferenceTree then = later.computeIfAbsent(time, this::treeAt);
      long free =
          Math.min(
              then.quotaOfQueue(queue.name(), pair).nominal()
                  - then.usageOfQueue(queue.name(), pair),
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

    /** What a request uses of the first flavors that have room then, pod set by pod set. */
    private Optional<Map<FlavorResource, Long>> uses(RequestShape shape, Instant time) {
      Map<FlavorResource, Long> uses = new HashMap<>();
      for (List<PodSetRequest> together : podSets(shape)) {
        Map<String, Long> wanted = wanted(together);
        if (wanted.entrySet().stream()
            .anyMatch(each -> each.getValue() > 0 && !isCovered(each.getKey()))) {
          return Optional.empty();
        }
        for (ResourceGroup group : queue.groups()) {
          if (group.resources().stream().noneMatch(wanted::containsKey)) {
            continue;
          }
          Optional<Map<FlavorResource, Long>> found =
              group.flavors().stream()
                  .map(FlavorQuotas::flavor)
                  .filter(flavor -> mayGet(together, flavor))
                  .map(flavor -> of(group, flavor, wanted))
                  .filter(
                      more ->
                          more.entrySet().stream()
                              .allMatch(
                                  each ->
                                      fits(
                                          each.getValue() + uses.getOrDefault(each.getKey(), 0L),
                                          free(each.getKey(), time, plans.size()))))
                  .findFirst();
          if (found.isEmpty()) {
            return Optional.empty();
          }
          found.get().forEach((pair, amount) -> uses.merge(pair, amount, ResourceAmounts::add));
        }
      }
      return Optional.of(uses);
    }

    private Map<FlavorResource, Long> inAnyFlavor(RequestShape shape) {
      Map<FlavorResource, Long> uses = new HashMap<>();
      for (List<PodSetRequest> together : podSets(shape)) {
        Map<String, Long> wanted = wanted(together);
        for (ResourceGroup group : queue.groups()) {
          for (FlavorQuotas each : group.flavors()) {
            if (mayGet(together, each.flavor())) {
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
        Map<FlavorResource, Long> uses = found.get().result().usage();
        Set<String> inTheWay = inTheWay(entry, uses);
        if (inTheWay.isEmpty()) {
          started.add(new Started(entry, end(entry, now), uses));
          return Optional.of(cycle.admit(found.get()));
        }
        closed.addAll(inTheWay);
      }
    }

    /** The flavors of which it would take what is planned for those before it. */
    private Set<String> inTheWay(ReferenceEntry entry, Map<FlavorResource, Long> uses) {
      Instant until = end(entry, now);
      Set<String> flavors = new HashSet<>();
      for (int place = 0; place < plans.size() && plans.get(place).entry() != entry; place++) {
        Plan plan = plans.get(place);
        if (started.stream().anyMatch(each -> each.entry() == plan.entry())) {
          continue; // it has started
        }
        for (Instant time : instants().headSet(until, false)) {
          for (Map.Entry<FlavorResource, Long> use : uses.entrySet()) {
            long own = plan.uses().getOrDefault(use.getKey(), 0L);
            if (use.getValue() > 0
                && own > 0
                && plan.covers(time)
                && use.getValue() + own > left(use.getKey(), time, place)) {
              flavors.add(use.getKey().flavor());
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
          left -= each.uses().getOrDefault(pair, 0L);
        }
      }
      return left;
    }
  }
}

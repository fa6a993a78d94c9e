package dev.sluice.core.backfill;

import dev.sluice.core.backfill.QuotaProfile.Stretch;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.ResourceDemand;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.flavor.FlavorEligibility;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Plans the first Workloads of a queue, one after the other, and says who may start before them.
 * Planned starts are in queue order, and one is planned so that it holds whichever flavors those
 * before it get. So a Workload that starts earlier than planned never makes another one later.
 */
public final class QueuePlanner {

  /** When a Workload starts at the latest, and how much it leaves of what it needs. */
  private static final class Plan {
    private final long at;
    private final long until;
    private final List<PairAmount> usage;

    /** What is free beside it, and beside whatever those planned before it may use. */
    private List<Stretch> spare = List.of();

    Plan(long at, long until, List<PairAmount> usage) {
      this.at = at;
      this.until = until;
      this.usage = usage;
    }

    boolean leaves(int pair, long amount, long end) {
      return spare.stream()
          .allMatch(each -> each.pair() != pair || each.from() >= end || amount <= each.free());
    }

    /** Takes what another Workload uses until {@code end} out of what is spare. */
    void take(int pair, long amount, long end) {
      List<Stretch> left = new ArrayList<>(spare.size() + 1);
      for (Stretch each : spare) {
        if (each.pair() != pair || each.from() >= end) {
          left.add(each);
          continue;
        }
        long free = ResourceAmounts.subtract(each.free(), amount);
        left.add(new Stretch(pair, each.from(), Math.min(end, each.until()), free));
        if (end < each.until()) {
          left.add(new Stretch(pair, end, each.until(), each.free()));
        }
      }
      spare = left;
    }
  }

  private final ClusterQueueCache queue;
  private final QuotaProfile profile;
  private final Map<String, Flavor> flavors;
  private final ToLongFunction<QueuedWorkload> runs;
  private final long now;
  private final Map<QueuedWorkload, Plan> plans = new LinkedHashMap<>();
  private long last;

  /**
   * Nothing is planned so far.
   *
   * @param flavors the existing flavors, by name
   * @param runs how long a Workload runs at most, in microseconds; {@link QuotaProfile#NEVER} if
   *     nobody knows
   * @param now the time, in microseconds since the epoch
   */
  public QueuePlanner(
      ClusterQueueCache queue,
      QuotaProfile profile,
      Map<String, Flavor> flavors,
      ToLongFunction<QueuedWorkload> runs,
      long now) {
    this.queue = queue;
    this.profile = profile;
    this.flavors = flavors;
    this.runs = runs;
    this.now = now;
    this.last = now;
  }

  /**
   * Plans the next Workload of the queue for the first time at which its request fits until its
   * bound, not before the one that was planned last.
   *
   * @return whether there is such a time
   */
  public boolean plan(QueuedWorkload workload) {
    ResourceDemand demand = workload.equivalenceClass().demand(queue);
    Plan found = at(workload, demand, last);
    if (found == null) {
      for (long time : profile.times(last)) {
        found = at(workload, demand, time);
        if (found != null) {
          break;
        }
      }
    }
    if (found == null) {
      return false;
    }
    List<Stretch> spare = new ArrayList<>();
    for (PairAmount each : found.usage) {
      for (Stretch free : profile.stretches(each.pair(), found.at, found.until)) {
        spare.add(
            new Stretch(
                free.pair(),
                free.from(),
                free.until(),
                ResourceAmounts.subtract(free.free(), each.amount())));
      }
    }
    found.spare = spare;
    plans.put(workload, found);
    last = found.at;
    reserve(demand, found);
    return true;
  }

  /** Plans what a Workload may use of any flavor: which one it gets isn't known before. */
  private void reserve(ResourceDemand demand, Plan plan) {
    for (ResourceDemand.Bundle bundle : demand.bundles()) {
      for (ClusterQueueCache.Group group : queue.groups()) {
        for (int flavor = 0; flavor < group.flavors().size(); flavor++) {
          if (isEligible(demand, bundle, group.flavors().get(flavor))) {
            wanted(bundle, group, flavor)
                .forEach((pair, amount) -> profile.plan(pair, amount, plan.at, plan.until));
          }
        }
      }
    }
  }

  /** When a Workload is planned to start, in microseconds since the epoch; empty if it isn't. */
  public Optional<Long> plannedAt(QueuedWorkload workload) {
    return Optional.ofNullable(plans.get(workload)).map(plan -> plan.at);
  }

  /**
   * The pairs of a usage of which a Workload would take what is planned for others, if it started
   * now: it neither ends before that begins, nor leaves it alone. Those that are planned after it
   * can't be later by that.
   */
  public Set<Integer> inTheWay(QueuedWorkload workload, List<PairAmount> usage) {
    long until = ResourceAmounts.add(now, runs.applyAsLong(workload));
    List<Plan> plansBefore = before(workload);
    return usage.stream()
        .filter(
            each ->
                plansBefore.stream()
                    .anyMatch(plan -> !plan.leaves(each.pair(), each.amount(), until)))
        .map(PairAmount::pair)
        .collect(Collectors.toSet());
  }

  /** Records that a Workload starts now with this usage. */
  public void started(QueuedWorkload workload, List<PairAmount> usage) {
    long until = ResourceAmounts.add(now, runs.applyAsLong(workload));
    for (Plan plan : before(workload)) {
      usage.forEach(each -> plan.take(each.pair(), each.amount(), until));
    }
    plans.remove(workload);
  }

  /** The plans that a Workload may make later: of those before it, or of all if it has none. */
  private List<Plan> before(QueuedWorkload workload) {
    List<Plan> before = new ArrayList<>();
    for (Map.Entry<QueuedWorkload, Plan> each : plans.entrySet()) {
      if (each.getKey().equals(workload)) {
        break;
      }
      before.add(each.getValue());
    }
    return before;
  }

  /** The plan of a Workload for a time; null if it doesn't fit then until its bound. */
  private @Nullable Plan at(QueuedWorkload workload, ResourceDemand demand, long time) {
    long until = ResourceAmounts.add(time, runs.applyAsLong(workload));
    Map<Integer, Long> used = new LinkedHashMap<>();
    for (ResourceDemand.Bundle bundle : demand.bundles()) {
      for (String resource : bundle.amounts().keySet()) {
        if (queue.groupOf(resource) < 0 && bundle.amounts().get(resource) > 0) {
          return null;
        }
      }
      for (ClusterQueueCache.Group group : queue.groups()) {
        if (!choose(demand, bundle, group, used, time, until)) {
          return null;
        }
      }
    }
    List<PairAmount> usage = new ArrayList<>(used.size());
    used.forEach(
        (pair, amount) -> usage.add(new PairAmount(pair, demand.beyondHeld(pair, amount))));
    return new Plan(time, until, usage);
  }

  /** Adds the first flavor that fits to what a plan uses; false if none does. */
  private boolean choose(
      ResourceDemand demand,
      ResourceDemand.Bundle bundle,
      ClusterQueueCache.Group group,
      Map<Integer, Long> used,
      long time,
      long until) {
    if (group.resources().stream().noneMatch(resource -> bundle.amounts().containsKey(resource))) {
      return true;
    }
    for (int flavor = 0; flavor < group.flavors().size(); flavor++) {
      Map<Integer, Long> more = wanted(bundle, group, flavor);
      if (isEligible(demand, bundle, group.flavors().get(flavor))
          && more.entrySet().stream()
              .allMatch(
                  each ->
                      demand.beyondHeld(
                              each.getKey(),
                              ResourceAmounts.add(
                                  used.getOrDefault(each.getKey(), 0L), each.getValue()))
                          <= profile.free(each.getKey(), time, until))) {
        more.forEach((pair, amount) -> used.merge(pair, amount, ResourceAmounts::add));
        return true;
      }
    }
    return false;
  }

  private static Map<Integer, Long> wanted(
      ResourceDemand.Bundle bundle, ClusterQueueCache.Group group, int flavor) {
    Map<Integer, Long> wanted = new LinkedHashMap<>();
    for (int i = 0; i < group.resources().size(); i++) {
      Long amount = bundle.amounts().get(group.resources().get(i));
      if (amount != null) {
        wanted.put(group.pairs()[flavor][i], amount);
      }
    }
    return wanted;
  }

  private boolean isEligible(ResourceDemand demand, ResourceDemand.Bundle bundle, String flavor) {
    return bundle.members().stream()
        .allMatch(
            member ->
                FlavorEligibility.rejection(
                        flavors.get(flavor), demand.podSets().get(member).nodeConstraints())
                    .isEmpty());
  }
}

package dev.sluice.core.backfill;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.flavor.FlavorCosts;
import dev.sluice.core.scheduling.flavor.FlavorEligibility;
import dev.sluice.core.scheduling.flavor.FlavorEligibility.FixedFlavor;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Plans the first Workloads of a queue, one after the other, and says who may start before them.
 * Planned starts are in queue order, and one is planned so that it holds whichever flavors those
 * before it get. So a Workload that starts earlier than planned never makes another one later.
 */
public final class QueuePlanner {

  /** What may keep a Workload from starting though there is quota. */
  @FunctionalInterface
  public interface Kept {

    /** Nobody is kept back. */
    Kept NOTHING = (workload, queue, usage, from) -> 0;

    /**
     * Until when a Workload that starts at a time is kept back, in microseconds since the epoch; 0
     * if it isn't.
     *
     * @param usage what it would use
     * @param from when it starts, in microseconds since the epoch
     */
    long until(QueuedWorkload workload, ClusterQueueCache queue, List<PairAmount> usage, long from);
  }

  /** When a Workload starts at the latest, and how much it leaves of what it needs. */
  private static final class Plan {
    private final long at;
    private final long until;
    private final int[] pairs;

    /**
     * How much is free of each pair that it uses beside it, and beside whatever those planned
     * before it may use, at its start: later there is no less.
     */
    private final long[] spare;

    /** What it uses of each of these pairs at its start. */
    private final long[] amounts;

    Plan(long at, long until, int[] pairs, long[] amounts) {
      this.at = at;
      this.until = until;
      this.pairs = pairs;
      this.amounts = amounts;
      this.spare = amounts.clone();
    }

    List<PairAmount> usage() {
      List<PairAmount> usage = new ArrayList<>(pairs.length);
      for (int i = 0; i < pairs.length; i++) {
        usage.add(new PairAmount(pairs[i], amounts[i]));
      }
      return usage;
    }

    /**
     * Whether it may run as planned beside a run that uses an amount.
     *
     * @param freed how much more is free of the pair than at its start
     */
    boolean leaves(int pair, long amount, long freed) {
      for (int i = 0; i < spare.length; i++) {
        if (pairs[i] == pair && amount > ResourceAmounts.add(spare[i], freed)) {
          return false;
        }
      }
      return true;
    }

    /** Takes what another Workload uses until {@code end} out of what is spare. */
    void take(int pair, long amount, long end) {
      for (int i = 0; i < spare.length; i++) {
        if (pairs[i] == pair && at < end) {
          spare[i] = ResourceAmounts.subtract(spare[i], amount);
        }
      }
    }
  }

  private final ClusterQueueCache queue;
  private final QuotaProfile profile;
  private final Map<String, Flavor> flavors;
  private final ToLongFunction<QueuedWorkload> runs;
  private final Kept kept;
  private final FlavorCosts costs;
  private final long now;
  private final LinkedHashMap<QueuedWorkload, Plan> plans = new LinkedHashMap<>();
  private final Set<WorkloadId> heldBackIds = new HashSet<>();
  private long last;

  /** Whether any of those planned so far is kept back. */
  private boolean heldBack;

  /** The demand of the Workload that was planned last, which isn't taken out of the profile yet. */
  private @Nullable ResourceDemand lastDemand;

  /**
   * Nothing is planned so far.
   *
   * @param flavors the existing flavors, by name
   * @param runs how long a Workload runs at most, in microseconds; {@link QuotaProfile#NEVER} if
   *     nobody knows
   * @param kept what may keep a Workload from starting though there is quota
   * @param costs what flavors cost
   */
  public QueuePlanner(
      ClusterQueueCache queue,
      QuotaProfile profile,
      Map<String, Flavor> flavors,
      ToLongFunction<QueuedWorkload> runs,
      Kept kept,
      FlavorCosts costs) {
    this.queue = queue;
    this.profile = profile;
    this.flavors = flavors;
    this.runs = runs;
    this.kept = kept;
    this.costs = costs;
    this.now = profile.now();
    this.last = now;
  }

  /**
   * Plans the next Workload of the queue for the first time at which its request fits until its
   * bound, not before the one that was planned last. Where it is kept back then, it is planned for
   * the end of that.
   *
   * @param guess the time that it is likely to be, in microseconds since the epoch
   * @return whether there is such a time
   */
  public boolean plan(QueuedWorkload workload, long guess) {
    ResourceDemand demand = workload.equivalenceClass().demand(queue);
    Plan before = plans.isEmpty() ? null : plans.lastEntry().getValue();
    if (before != null && lastDemand != null) {
      reserve(lastDemand, before);
    }
    Plan found = at(workload, demand, last);
    if (found == null && staysPossible(demand)) {
      long first = profile.first(last, guess, time -> fits(demand, time));
      found = first == QuotaProfile.NEVER ? null : beginning(workload, demand, first);
    } else {
      long time = last;
      while (found == null && time != QuotaProfile.NEVER) {
        time = profile.next(time);
        found = time == QuotaProfile.NEVER ? null : at(workload, demand, time);
      }
    }
    long heldUntil = found == null ? 0 : heldUntil(workload, found);
    while (found != null && heldUntil > 0) {
      heldBack = true;
      long time = heldUntil;
      found = at(workload, demand, time);
      while (found == null && time != QuotaProfile.NEVER) {
        time = profile.next(time);
        found = time == QuotaProfile.NEVER ? null : at(workload, demand, time);
      }
      heldUntil = found == null ? 0 : heldUntil(workload, found);
    }
    if (found == null) {
      return false;
    }
    if (heldBack) {
      heldBackIds.add(workload.id());
    }
    plans.put(workload, found);
    last = found.at;
    lastDemand = demand;
    return true;
  }

  /**
   * Whether a request that fits at a time fits at all later ones, too. With a limit of its price it
   * may not: a dear flavor that becomes free leaves less to pay for the others.
   */
  private static boolean staysPossible(ResourceDemand demand) {
    return demand.bundles().size() == 1
        && !demand.replaces()
        && demand.costRules().flatMap(CostRules::maxPrice).isEmpty();
  }

  private long heldUntil(QueuedWorkload workload, Plan plan) {
    return kept == Kept.NOTHING ? 0 : kept.until(workload, queue, plan.usage(), plan.at);
  }

  /** Those that are kept back, or planned behind one that is: that may make them later. */
  public Set<WorkloadId> heldBackIds() {
    return heldBackIds;
  }

  /** The demand where there is no choice, whatever the time; null if there may be one. */
  private static ResourceDemand.@Nullable Fixed fixed(ResourceDemand demand) {
    return demand.replaces() ? null : demand.fixed();
  }

  /**
   * What counts of an amount of a pair at a time: only what a slice doesn't have already that is
   * replaced, until that one has to end.
   */
  private long counted(ResourceDemand demand, int pair, long amount, long time) {
    return sharesAt(demand, time) ? demand.beyondHeld(pair, amount) : amount;
  }

  private boolean sharesAt(ResourceDemand demand, long time) {
    return time < endOfReplaced(demand);
  }

  /** When a slice has to end that is replaced; 0 if there is none. */
  private long endOfReplaced(ResourceDemand demand) {
    String replaced = demand.replacedUid();
    return replaced == null ? 0 : profile.endOf(replaced);
  }

  private boolean fits(ResourceDemand demand, long time) {
    ResourceDemand.Fixed fixed = fixed(demand);
    if (fixed == null || !FixedFlavor.isEligible(flavors, demand)) {
      return used(demand, time) != null;
    }
    return profile.isFree(fixed, time);
  }

  /** Plans what a Workload may use of any flavor: which one it gets isn't known before. */
  private void reserve(ResourceDemand demand, Plan plan) {
    for (ResourceDemand.Bundle bundle : demand.bundles()) {
      for (ClusterQueueCache.Group group : queue.groups()) {
        for (int flavor :
            costs.affordable(demand, bundle, group, flavors, BigDecimal.ZERO).keySet()) {
          if (isEligible(demand, bundle, group, flavor)) {
            wanted(bundle, group, flavor)
                .forEach((pair, amount) -> profile.plan(pair, amount, plan.until));
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
   * The pairs of an assignment of which a Workload would take what is planned for others, if it
   * started now: it neither ends before that begins, nor leaves it alone. Those that are planned
   * after it can't be later by that.
   */
  public Set<Integer> inTheWay(QueuedWorkload workload, Assignment assignment) {
    long until = ResourceAmounts.add(now, runs.applyAsLong(workload));
    long wholeFrom = endOfReplaced(workload.equivalenceClass().demand(queue));
    Set<Integer> pairs = new HashSet<>();
    for (Plan plan : before(workload)) {
      if (plan.at < until) {
        addInTheWay(workload, assignment, plan, plan.at, pairs);
      }
      if (plan.at < wholeFrom && wholeFrom < Math.min(until, plan.until)) {
        addInTheWay(workload, assignment, plan, wholeFrom, pairs);
      }
    }
    return pairs;
  }

  /** Adds the pairs of which a plan isn't left what it uses at a time. */
  private void addInTheWay(
      QueuedWorkload workload, Assignment assignment, Plan plan, long time, Set<Integer> pairs) {
    for (PairAmount each : usageAt(workload, assignment, time)) {
      if (!plan.leaves(each.pair(), each.amount(), profile.released(each.pair(), plan.at, time))) {
        pairs.add(each.pair());
      }
    }
  }

  /** Records that a Workload starts now. */
  public void started(QueuedWorkload workload, Assignment assignment) {
    long until = ResourceAmounts.add(now, runs.applyAsLong(workload));
    for (Plan plan : before(workload)) {
      usageAt(workload, assignment, plan.at)
          .forEach(each -> plan.take(each.pair(), each.amount(), until));
    }
    plans.remove(workload);
  }

  /** What a Workload uses that starts now: all of it once a slice has to end that it replaces. */
  private List<PairAmount> usageAt(QueuedWorkload workload, Assignment assignment, long time) {
    ResourceDemand demand = workload.equivalenceClass().demand(queue);
    if (!demand.replaces() || sharesAt(demand, time)) {
      return assignment.usage();
    }
    Map<Integer, Long> whole = new LinkedHashMap<>();
    for (PodSetAssignment podSet : assignment.podSetsGet().get()) {
      podSet
          .usage()
          .forEach(
              (resource, amount) ->
                  whole.merge(
                      queue.pair(resource, podSet.flavors().get(resource)),
                      amount,
                      ResourceAmounts::add));
    }
    return whole.entrySet().stream()
        .map(each -> new PairAmount(each.getKey(), each.getValue()))
        .toList();
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

  /** The plan of a Workload for a time; null if it doesn't fit then. */
  private @Nullable Plan at(QueuedWorkload workload, ResourceDemand demand, long time) {
    if (fixed(demand) != null && !fits(demand, time)) {
      return null;
    }
    return beginning(workload, demand, time);
  }

  /** The plan of a Workload for a time; one that has a choice may not fit then: null. */
  private @Nullable Plan beginning(QueuedWorkload workload, ResourceDemand demand, long time) {
    ResourceDemand.Fixed fixed = fixed(demand);
    int[] pairs;
    long[] amounts;
    if (fixed != null) {
      int size = 0;
      pairs = new int[fixed.pairs().length];
      amounts = new long[pairs.length];
      for (int i = 0; i < pairs.length; i++) {
        if (fixed.amounts()[i] > 0) {
          pairs[size] = fixed.pairs()[i];
          amounts[size++] = fixed.amounts()[i];
        }
      }
      if (size < pairs.length) {
        pairs = Arrays.copyOf(pairs, size);
        amounts = Arrays.copyOf(amounts, size);
      }
    } else {
      Map<Integer, Long> used = used(demand, time);
      if (used == null || !fitsLater(workload, demand, used, time)) {
        return null;
      }
      used.replaceAll((pair, amount) -> counted(demand, pair, amount, time));
      used.values().removeIf(amount -> amount == 0);
      pairs = used.keySet().stream().mapToInt(Integer::intValue).toArray();
      amounts = used.values().stream().mapToLong(Long::longValue).toArray();
    }
    long until = ResourceAmounts.add(time, runs.applyAsLong(workload));
    Plan plan = new Plan(time, until, pairs, amounts);
    for (int i = 0; i < pairs.length; i++) {
      plan.spare[i] = ResourceAmounts.subtract(profile.free(pairs[i], time), amounts[i]);
    }
    return plan;
  }

  /** Whether all of it fits when a slice has to end that it replaces, if it starts before. */
  private boolean fitsLater(
      QueuedWorkload workload, ResourceDemand demand, Map<Integer, Long> used, long time) {
    long later = endOfReplaced(demand);
    return later <= time
        || later >= ResourceAmounts.add(time, runs.applyAsLong(workload))
        || used.entrySet().stream()
            .allMatch(each -> profile.isFree(each.getKey(), each.getValue(), later));
  }

  /** What a request uses of each pair at a time, and from then on; null if it doesn't fit. */
  private @Nullable Map<Integer, Long> used(ResourceDemand demand, long time) {
    Map<Integer, Long> used = new LinkedHashMap<>();
    BigDecimal perHour = BigDecimal.ZERO;
    for (ResourceDemand.Bundle bundle : demand.bundles()) {
      Set<Integer> groups = new LinkedHashSet<>();
      for (String resource : bundle.amounts().keySet()) {
        int group = queue.groupOf(resource);
        if (group >= 0) {
          groups.add(group);
        } else if (bundle.amounts().get(resource) > 0) {
          return null;
        }
      }
      for (int group : groups) {
        perHour =
            choose(demand, new Choice(bundle, queue.groups().get(group)), used, perHour, time);
        if (perHour == null) {
          return null;
        }
      }
    }
    return used;
  }

  /** What a flavor is chosen for: the resources of a group that a bundle asks for. */
  private record Choice(ResourceDemand.Bundle bundle, ClusterQueueCache.Group group) {}

  /**
   * Adds the first flavor that fits to what a plan uses.
   *
   * @param before what is paid for an hour for what was chosen before
   * @return what is paid with that flavor; null if none fits
   */
  private @Nullable BigDecimal choose(
      ResourceDemand demand, Choice choice, Map<Integer, Long> used, BigDecimal before, long time) {
    for (Map.Entry<Integer, BigDecimal> flavor :
        costs.affordable(demand, choice.bundle(), choice.group(), flavors, before).entrySet()) {
      Map<Integer, Long> more = wanted(choice.bundle(), choice.group(), flavor.getKey());
      if (isEligible(demand, choice.bundle(), choice.group(), flavor.getKey())
          && more.entrySet().stream()
              .allMatch(
                  each ->
                      profile.isFree(
                          each.getKey(),
                          counted(
                              demand,
                              each.getKey(),
                              ResourceAmounts.add(
                                  used.getOrDefault(each.getKey(), 0L), each.getValue()),
                              time),
                          time))) {
        more.forEach((pair, amount) -> used.merge(pair, amount, ResourceAmounts::add));
        return flavor.getValue();
      }
    }
    return null;
  }

  /** What a bundle uses of a flavor. */
  private static Map<Integer, Long> wanted(
      ResourceDemand.Bundle bundle, ClusterQueueCache.Group group, int flavor) {
    Map<Integer, Long> wanted = new LinkedHashMap<>();
    for (int i = 0; i < group.resources().size(); i++) {
      Long amount = bundle.amounts().get(group.resources().get(i));
      if (amount != null && amount > 0) {
        wanted.put(group.pairs()[flavor][i], amount);
      }
    }
    return wanted;
  }

  private boolean isEligible(
      ResourceDemand demand,
      ResourceDemand.Bundle bundle,
      ClusterQueueCache.Group group,
      int index) {
    String flavor = group.flavors().get(index);
    return demand.otherFlavor(bundle, group, flavor) == null
        && bundle.members().stream()
            .allMatch(
                member ->
                    FlavorEligibility.rejection(
                            flavors.get(flavor), demand.podSets().get(member).nodeConstraints())
                        .isEmpty());
  }
}

package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.ScanProgress;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorAttempt.Cost;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.flavor.FlavorAssigner.Fungibility.Fit;
import dev.sluice.core.scheduling.flavor.FlavorCosts.Priced;
import dev.sluice.core.scheduling.flavor.FlavorCosts.Ranking;
import dev.sluice.core.scheduling.flavor.FlavorEligibility.FixedFlavor;
import dev.sluice.core.scheduling.flavor.TopologyAssigner.TopologyEligibility;
import dev.sluice.core.topology.TopologyCache;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds flavors for a Workload in a queue, with the current usage
 * (docs/scheduling-semantics.md#flavor-assignment). One instance makes one search, which changes no
 * usage.
 */
public final class FlavorAssigner {

  private final Map<String, Flavor> flavors;
  private final TopologyCache topologies;
  private final PreemptionOracle preemptionOracle;
  private final ResourceDemand resourceDemand;
  private final ClusterQueueCache queue;
  private final Fungibility fungibility;
  private final int @Nullable [] resume;
  private final int @Nullable [] only;
  private final FlavorCosts.@Nullable Search costs;
  private final Map<Integer, Long> usageByPair = new LinkedHashMap<>();
  private final TreeSet<Integer> needed = new TreeSet<>();
  private final List<FlavorAttempt> attempts = new ArrayList<>();
  private final List<Assignment.PairAmount> shortages = new ArrayList<>();
  private final int[] progress;
  private final int[] chosen;
  private int borrowLevel;
  private @Nullable PendingReason noFit;
  private boolean competing;
  private boolean uncovered;

  /** What the chosen flavors cost for an hour. */
  private BigDecimal perHour = BigDecimal.ZERO;

  private FlavorAssigner(
      Map<String, Flavor> flavors,
      TopologyCache topologies,
      PreemptionOracle preemptionOracle,
      ResourceDemand resourceDemand,
      int @Nullable [] resume,
      int @Nullable [] only,
      FlavorCosts.Search costs) {
    this.costs = costs.of(resourceDemand);
    this.flavors = flavors;
    this.topologies = topologies;
    this.preemptionOracle = preemptionOracle;
    this.resourceDemand = resourceDemand;
    this.queue = resourceDemand.queue();
    this.fungibility = new Fungibility(queue.spec().fungibility());
    this.resume = resume;
    this.only = only;
    this.progress = new int[resourceDemand.podSets().size() * Math.max(1, queue.groups().size())];
    Arrays.fill(progress, -1);
    this.chosen = progress.clone();
  }

  /**
   * Searches for flavors.
   *
   * @param flavors the existing flavors, by name
   * @param topologies the topologies of flavors
   * @param preemptionOracle simulates preemption
   * @param resourceDemand the request and its queue
   * @param resume where an earlier search stopped, as {@link Assignment#progress} says; null to
   *     start at the first flavor
   * @param costs what flavors cost
   */
  public static Assignment assign(
      Map<String, Flavor> flavors,
      TopologyCache topologies,
      PreemptionOracle preemptionOracle,
      ResourceDemand resourceDemand,
      int @Nullable [] resume,
      FlavorCosts.Search costs) {
    Assignment fastPath = resume == null ? FastPathAssigner.of(flavors, resourceDemand) : null;
    return fastPath != null
        ? fastPath
        : new FlavorAssigner(
                flavors, topologies, preemptionOracle, resourceDemand, resume, null, costs)
            .assign();
  }

  /**
   * The assignment of a request that fits, and whose only flavor its pods may use.
   *
   * @param fixed the request of {@code resourceDemand}
   */
  public static Assignment assignPlain(ResourceDemand resourceDemand, ResourceDemand.Fixed fixed) {
    return FastPathAssigner.fitting(resourceDemand, fixed);
  }

  /**
   * Searches again, among the flavors that were chosen before.
   *
   * @param only the chosen flavors, as {@link Assignment#chosen} says
   */
  public static Assignment reassign(
      Map<String, Flavor> flavors,
      TopologyCache topologies,
      PreemptionOracle preemptionOracle,
      ResourceDemand resourceDemand,
      int[] only,
      FlavorCosts.Search costs) {
    return new FlavorAssigner(
            flavors, topologies, preemptionOracle, resourceDemand, null, only, costs)
        .assign();
  }

  private Assignment assign() {
    for (ResourceDemand.Bundle bundle : resourceDemand.bundles()) {
      assign(bundle);
    }
    List<Assignment.PairAmount> usage = new ArrayList<>(usageByPair.size());
    if (!uncovered) { // else there is no assignment that would use anything
      usageByPair.forEach(
          (pair, amount) ->
              usage.add(new Assignment.PairAmount(pair, resourceDemand.beyondHeld(pair, amount))));
    }
    boolean fits = noFit == null && needed.isEmpty();
    return new Assignment(
        noFit,
        () -> fits ? podSets(resourceDemand, chosen) : List.of(),
        usage,
        needed.stream().mapToInt(Integer::intValue).toArray(),
        borrowLevel,
        () -> attempts,
        shortages,
        competing,
        hasUntriedFlavors() && !uncovered ? progress : null,
        chosen);
  }

  private int slot(ResourceDemand.Bundle bundle, int group) {
    return slot(queue, bundle, group);
  }

  /** The index in {@link Assignment#chosen} of a bundle and a resource group. */
  static int slot(ClusterQueueCache queue, ResourceDemand.Bundle bundle, int group) {
    return bundle.members().getFirst() * queue.groups().size() + group;
  }

  private void assign(ResourceDemand.Bundle bundle) {
    boolean[] done = new boolean[queue.groups().size()];
    for (Map.Entry<String, Long> request : bundle.amounts().entrySet()) {
      int group = queue.groupOf(request.getKey());
      if (group < 0) {
        if (request.getValue() != 0) {
          rejectUncovered(bundle.name(), request.getKey(), request.getValue());
        }
      } else if (!done[group]) {
        done[group] = true;
        search(bundle, group);
      }
    }
  }

  private void rejectUncovered(String podSet, String resource, long amount) {
    attempts.add(
        new FlavorAttempt(
            podSet, "", 0, List.of(new FlavorRejection.ResourceNotCovered(resource, amount))));
    worsen(PendingReason.NO_MATCHING_FLAVOR);
    uncovered = true;
  }

  private void worsen(PendingReason reason) {
    if (noFit == null || reason.compareTo(noFit) > 0) {
      noFit = reason;
    }
  }

  /** Searches for the flavor of a resource group, and adds the best candidate to the assignment. */
  private void search(ResourceDemand.Bundle bundle, int groupIndex) {
    ClusterQueueCache.Group group = queue.groups().get(groupIndex);
    Ranking ranking = costs == null ? null : costs.rank(resourceDemand, bundle, group, flavors);
    int slot = slot(bundle, groupIndex);
    int last = group.flavors().size() - 1;
    Candidate best = null;
    int attemptOfBest = -1;
    PendingReason mildest = null;
    for (int at = resume == null ? 0 : resume[slot] + 1; at <= last; at++) {
      int i = ranking == null ? at : ranking.order().get(at);
      if (only != null && only[slot] != i) {
        continue;
      }
      Candidate candidate = candidate(bundle, group, i, ranking);
      attempts.add(candidate.attempt(cost(ranking, i)));
      PendingReason reason = candidate.reason;
      if (reason != null) {
        mildest = mildest == null || reason.compareTo(mildest) < 0 ? reason : mildest;
        continue;
      }
      boolean stops = !fungibility.triesNext(candidate.fit);
      if (stops || best == null || fungibility.prefers(candidate.fit, best.fit)) {
        best = candidate;
        attemptOfBest = attempts.size() - 1;
      }
      if (stops) {
        last = at;
      }
    }
    if (best != null && ranking != null && costs != null) {
      FlavorRejection waits = waits(bundle, group, ranking, best);
      if (waits != null) {
        attempts.set(attemptOfBest, best.rejected(waits).attempt(cost(ranking, best.index)));
        worsen(PendingReason.WAITING_FOR_QUOTA);
        return;
      }
      addDearer(bundle, group, ranking, best);
    }
    boolean resumes = queue.spec().fungibility().scanProgress() != ScanProgress.NONE;
    progress[slot] = resumes && last < group.flavors().size() - 1 ? last : -1;
    if (best == null) {
      worsen(mildest == null ? PendingReason.WAITING_FOR_QUOTA : mildest);
    } else {
      chosen[slot] = best.index;
      choose(bundle, group, best);
      if (ranking != null) {
        perHour = ranking.with(best.index, perHour);
      }
    }
  }

  /** Adds what the flavors would cost that weren't tried, because a cheaper one fits. */
  private void addDearer(
      ResourceDemand.Bundle bundle,
      ClusterQueueCache.Group group,
      Ranking ranking,
      Candidate best) {
    if (only != null || best.fit.mode() != AssignmentMode.FIT) {
      return;
    }
    for (int i = 0; i < group.flavors().size(); i++) {
      String name = group.flavors().get(i);
      if (ranking.isCheaper(best.index, i)
          && attempts.stream()
              .noneMatch(
                  attempt ->
                      attempt.podSet().equals(bundle.name()) && attempt.flavor().equals(name))) {
        attempts.add(
            new FlavorAttempt(
                bundle.name(),
                name,
                AssignmentMode.NO_FIT,
                0,
                List.of(new FlavorRejection.CheaperFits()),
                cost(ranking, i)));
      }
    }
  }

  /**
   * The cheaper flavor that the Workload waits for instead of taking the best one; null if it takes
   * that. What it lacks of the cheaper one is recorded, so that a release wakes it.
   */
  private @Nullable FlavorRejection waits(
      ResourceDemand.Bundle bundle,
      ClusterQueueCache.Group group,
      Ranking ranking,
      Candidate best) {
    if (costs == null
        || !costs.waits()
        || only != null
        || resourceDemand.guaranteed()
        || best.fit.mode().compareTo(AssignmentMode.PREEMPT) < 0) {
      return null;
    }
    for (int i : ranking.order()) {
      String name = group.flavors().get(i);
      if (!ranking.isCheaper(i, best.index)
          || ineligible(bundle, group, name) != null
          || isDearerThanMax(ranking, i, perHour) != null) {
        continue;
      }
      List<Assignment.PairAmount> wanted = wanted(bundle, group, i);
      List<Assignment.PairAmount> lacking =
          wanted.stream()
              .filter(each -> each.amount() > queue.node().available(each.pair()))
              .toList();
      long at =
          costs.expected(
              queue,
              wanted.stream().mapToInt(Assignment.PairAmount::pair).toArray(),
              wanted.stream().mapToLong(Assignment.PairAmount::amount).toArray());
      if (!lacking.isEmpty() && at <= costs.untilMicros()) {
        shortages.addAll(lacking);
        return new FlavorRejection.WaitsForCheaper(
            name, Instants.ofMicros(at), Instants.ofMicros(costs.untilMicros()));
      }
    }
    return null;
  }

  /** What a bundle takes of the pairs of a flavor, on top of the usage of earlier pod sets. */
  private List<Assignment.PairAmount> wanted(
      ResourceDemand.Bundle bundle, ClusterQueueCache.Group group, int flavor) {
    List<Assignment.PairAmount> wanted = new ArrayList<>();
    for (int i = 0; i < group.resources().size(); i++) {
      Long amount = bundle.amounts().get(group.resources().get(i));
      if (amount != null) {
        int pair = group.pairs()[flavor][i];
        wanted.add(
            new Assignment.PairAmount(
                pair,
                resourceDemand.beyondHeld(pair, ResourceAmounts.add(usageSoFar(pair), amount))));
      }
    }
    return wanted;
  }

  private static Optional<Cost> cost(@Nullable Ranking ranking, int flavor) {
    return ranking == null ? Optional.empty() : ranking.priced().get(flavor).map(Priced::cost);
  }

  /**
   * Records that only what was chosen before keeps a flavor from being chosen: any release of quota
   * may change that choice, although nothing is lacking here.
   */
  private void competes(List<Assignment.PairAmount> wanted) {
    competing = true;
    wanted.forEach(each -> shortages.add(new Assignment.PairAmount(each.pair(), 0)));
  }

  /**
   * Why a flavor costs too much; null if it doesn't.
   *
   * @param before what the flavors cost for an hour that were chosen before
   */
  private @Nullable FlavorRejection isDearerThanMax(
      @Nullable Ranking ranking, int flavor, BigDecimal before) {
    return ranking == null
        ? null
        : ranking.dearerThanMax(resourceDemand, flavor, before).orElse(null);
  }

  /** How a request fits a flavor; {@code reason} is null unless it doesn't fit in any mode. */
  private record Candidate(
      String podSet,
      String flavor,
      int index,
      Fit fit,
      int highest,
      List<Integer> needed,
      List<FlavorRejection> flavorRejections,
      @Nullable PendingReason reason) {

    FlavorAttempt attempt(Optional<Cost> cost) {
      return new FlavorAttempt(
          podSet, flavor, fit.mode(), fit.borrowLevel(), flavorRejections, cost);
    }

    Candidate rejected(FlavorRejection rejection) {
      return new Candidate(
          podSet,
          flavor,
          index,
          new Fit(AssignmentMode.NO_FIT, 0),
          0,
          List.of(),
          List.of(rejection),
          PendingReason.WAITING_FOR_QUOTA);
    }
  }

  private Candidate candidate(
      ResourceDemand.Bundle bundle,
      ClusterQueueCache.Group group,
      int index,
      @Nullable Ranking ranking) {
    String name = group.flavors().get(index);
    FlavorRejection ineligible = ineligible(bundle, group, name);
    if (ineligible instanceof FlavorRejection.OtherTopologyFlavor) {
      competes(wanted(bundle, group, index));
    }
    if (ineligible == null) {
      ineligible = isDearerThanMax(ranking, index, perHour);
      if (ineligible != null && isDearerThanMax(ranking, index, BigDecimal.ZERO) == null) {
        competes(wanted(bundle, group, index));
      }
    }
    if (ineligible != null) {
      return new Candidate(
          bundle.name(),
          name,
          index,
          new Fit(AssignmentMode.NO_FIT, 0),
          0,
          List.of(),
          List.of(ineligible),
          PendingReason.NO_MATCHING_FLAVOR);
    }
    List<FlavorRejection> flavorRejections = new ArrayList<>(0);
    List<Integer> pairsNeeded = new ArrayList<>(0);
    PendingReason reason = null;
    Fit worst = Fit.PERFECT;
    int highest = 0;
    for (int i = 0; i < group.resources().size(); i++) {
      String resource = group.resources().get(i);
      Long amount = bundle.amounts().get(resource);
      if (amount == null) {
        continue;
      }
      int pair = group.pairs()[index][i];
      Fit fit = fit(resource, pair, amount, flavorRejections);
      worst = fungibility.prefers(worst, fit) ? fit : worst;
      if (fit.mode() == AssignmentMode.NO_FIT) {
        PendingReason found = reasonOf(flavorRejections.getLast());
        reason = reason == null || found.compareTo(reason) > 0 ? found : reason;
        continue;
      }
      highest = Math.max(highest, fit.borrowLevel());
      if (fit.mode() != AssignmentMode.FIT) {
        pairsNeeded.add(pair);
      }
    }
    return new Candidate(
        bundle.name(), name, index, worst, highest, pairsNeeded, flavorRejections, reason);
  }

  /** Why the flavor can't be used whatever the quota; null if it can. */
  private @Nullable FlavorRejection ineligible(
      ResourceDemand.Bundle bundle, ClusterQueueCache.Group group, String name) {
    String other = resourceDemand.otherFlavor(bundle, group, name);
    if (other != null) {
      return new FlavorRejection.ReplacedSliceFlavor(other);
    }
    if (topologies.isTopologyFlavor(name)
        && !KeptPlaces.mayGrow(topologies, resourceDemand, bundle, flavors.get(name))) {
      return new FlavorRejection.GrowsByTopology();
    }
    for (int member : bundle.members()) {
      Optional<FlavorRejection> rejection =
          FlavorEligibility.rejection(
              flavors.get(name), resourceDemand.podSets().get(member).nodeConstraints());
      if (rejection.isEmpty() && resourceDemand.needsTopology()) {
        rejection =
            TopologyEligibility.rejection(
                topologies,
                queue,
                group,
                flavors.get(name),
                resourceDemand.podSets().get(member),
                chosenByTopology(bundle));
      }
      if (rejection.isPresent()) {
        return rejection.get();
      }
    }
    return null;
  }

  /** The flavor with a topology that was chosen for other resources of a bundle. */
  private @Nullable String chosenByTopology(ResourceDemand.Bundle bundle) {
    for (int i = 0; i < queue.groups().size(); i++) {
      int flavor = chosen[slot(bundle, i)];
      String name = flavor < 0 ? null : queue.groups().get(i).flavors().get(flavor);
      if (name != null && topologies.isTopologyFlavor(name)) {
        return name;
      }
    }
    return null;
  }

  private static PendingReason reasonOf(FlavorRejection flavorRejection) {
    return flavorRejection instanceof FlavorRejection.ExceedsMaximum
        ? PendingReason.EXCEEDS_MAX_QUOTA
        : PendingReason.WAITING_FOR_QUOTA;
  }

  /** How an amount fits on top of the usage of earlier pod sets; records missing amounts. */
  private Fit fit(String resource, int pair, long amount, List<FlavorRejection> flavorRejections) {
    QuotaNode node = queue.node();
    long whole = ResourceAmounts.add(usageSoFar(pair), amount);
    long wanted = resourceDemand.beyondHeld(pair, whole);
    long available = node.available(pair);
    if (resourceDemand.guaranteed() && wanted > node.guaranteedAvailable(pair)) {
      competing |= wanted > amount;
      shortages.add(new Assignment.PairAmount(pair, wanted));
      flavorRejections.add(beyondGuarantee(resource, pair, wanted));
      return new Fit(AssignmentMode.NO_FIT, 0);
    }
    if (wanted <= available) {
      return new Fit(AssignmentMode.FIT, node.borrowLevel(pair, wanted));
    }
    competing |= whole > amount;
    shortages.add(new Assignment.PairAmount(pair, wanted));
    long potential = node.potential(pair);
    if (wanted > potential) {
      flavorRejections.add(new FlavorRejection.ExceedsMaximum(resource, wanted, potential));
      return new Fit(AssignmentMode.NO_FIT, 0);
    }
    flavorRejections.add(
        new FlavorRejection.InsufficientQuota(resource, wanted, available, potential));
    if (node.nominal(pair) < wanted
        && !preemptionOracle.triesBorrowing()
        && !node.mayReclaim(pair, wanted)) {
      return new Fit(AssignmentMode.NO_FIT, 0);
    }
    if (!queue.mayPreempt()) {
      return new Fit(AssignmentMode.NO_CANDIDATES, node.borrowLevel(pair, wanted));
    }
    PreemptionOracle.Result result = preemptionOracle.simulate(pair, wanted);
    return new Fit(result.mode(), result.borrowLevel());
  }

  /** Why a guaranteed Workload, which no preemption helps then, doesn't fit its nominal quota. */
  private FlavorRejection beyondGuarantee(String resource, int pair, long wanted) {
    long potential = queue.node().guaranteedPotential(pair);
    return wanted > potential
        ? new FlavorRejection.ExceedsMaximum(resource, wanted, potential)
        : new FlavorRejection.InsufficientGuarantee(
            resource, wanted, queue.node().guaranteedAvailable(pair), potential);
  }

  private long usageSoFar(int pair) {
    return usageByPair.getOrDefault(pair, 0L);
  }

  private void choose(ResourceDemand.Bundle bundle, ClusterQueueCache.Group group, Candidate best) {
    borrowLevel = Math.max(borrowLevel, best.highest);
    needed.addAll(best.needed);
    competing |=
        best.fit.mode() == AssignmentMode.PREEMPT || best.fit.mode() == AssignmentMode.RECLAIM;
    for (int i = 0; i < group.resources().size(); i++) {
      Long amount = bundle.amounts().get(group.resources().get(i));
      if (amount != null) {
        usageByPair.merge(group.pairs()[best.index][i], amount, ResourceAmounts::add);
      }
    }
  }

  /**
   * The assignment of each pod set.
   *
   * @param chosen the flavors, as {@link Assignment#chosen} says
   */
  static List<PodSetAssignment> podSets(ResourceDemand resourceDemand, int[] chosen) {
    ClusterQueueCache queue = resourceDemand.queue();
    List<SortedMap<String, String>> flavorsOf = new ArrayList<>();
    for (int i = 0; i < resourceDemand.podSets().size(); i++) {
      flavorsOf.add(new TreeMap<>());
    }
    for (ResourceDemand.Bundle bundle : resourceDemand.bundles()) {
      for (int member : bundle.members()) {
        for (String resource : resourceDemand.total(member).keySet()) {
          int group = queue.groupOf(resource);
          int flavor = group < 0 ? -1 : chosen[slot(queue, bundle, group)];
          if (flavor >= 0) {
            flavorsOf.get(member).put(resource, queue.groups().get(group).flavors().get(flavor));
          }
        }
      }
    }
    List<PodSetAssignment> result = new ArrayList<>();
    for (int i = 0; i < resourceDemand.podSets().size(); i++) {
      SortedMap<String, Long> usage = new TreeMap<>(resourceDemand.total(i));
      usage.keySet().retainAll(flavorsOf.get(i).keySet());
      result.add(
          new PodSetAssignment(
              resourceDemand.podSets().get(i).name(),
              flavorsOf.get(i),
              usage,
              resourceDemand.podSets().get(i).count()));
    }
    return result;
  }

  private boolean hasUntriedFlavors() {
    for (int last : progress) {
      if (last >= 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Preference between flavors, and the end of the search for a flavor
   * (docs/scheduling-semantics.md#flavor-assignment).
   */
  record Fungibility(FlavorFungibility spec) {

    /** How a request fits, and the level of the cohort tree from which it borrows. */
    record Fit(AssignmentMode mode, int borrowLevel) {

      static final Fit PERFECT = new Fit(AssignmentMode.FIT, 0);
    }

    /** Whether {@code one} is better than {@code other}. */
    boolean prefers(Fit one, Fit other) {
      int byClass = Integer.compare(rank(one.mode), rank(other.mode));
      if (byClass != 0) {
        return byClass > 0;
      }
      int byMode = one.mode.compareTo(other.mode);
      int byLevel = Integer.compare(other.borrowLevel, one.borrowLevel);
      int first = spec.preferPreemption() ? byLevel : byMode;
      int second = spec.preferPreemption() ? byMode : byLevel;
      return first != 0 ? first > 0 : second > 0;
    }

    /** Ranks modes: NO_FIT below NO_CANDIDATES, and NO_CANDIDATES below all others. */
    private static int rank(AssignmentMode mode) {
      return switch (mode) {
        case NO_FIT -> 0;
        case NO_CANDIDATES -> 1;
        case PREEMPT, RECLAIM, FIT -> 2;
      };
    }

    /** Whether the search continues with the next flavor. */
    boolean triesNext(Fit fit) {
      return switch (fit.mode) {
        case NO_FIT, NO_CANDIDATES -> true;
        case PREEMPT, RECLAIM ->
            spec.tryNextWhenPreempting() || (fit.borrowLevel > 0 && spec.tryNextWhenBorrowing());
        case FIT -> fit.borrowLevel > 0 && spec.tryNextWhenBorrowing();
      };
    }
  }

  /** Simulates preemption for a single pair, without changing any usage. */
  @FunctionalInterface
  public interface PreemptionOracle {

    /**
     * The result of a simulation.
     *
     * @param mode NO_CANDIDATES, PREEMPT (a target is in the same queue) or RECLAIM
     * @param borrowLevel the level from which the request borrows after the preemption
     */
    record Result(AssignmentMode mode, int borrowLevel) {}

    /** Simulates preemption for {@code amount} of {@code pair}. */
    Result simulate(int pair, long amount);

    /** Whether to simulate preemption where the request borrows more than can be reclaimed. */
    default boolean triesBorrowing() {
      return false;
    }
  }

  /**
   * The fast path of flavor assignment: for a request without a choice of flavors that fits with
   * the current usage. The result equals the result of a search; parts that only the writer of the
   * admission needs are computed on demand.
   */
  static final class FastPathAssigner {

    private static final int[] NONE = {};

    private FastPathAssigner() {}

    /** The assignment; null if there is a choice, or if the request doesn't fit. */
    static @Nullable Assignment of(Map<String, Flavor> flavors, ResourceDemand resourceDemand) {
      ResourceDemand.Fixed fixed = resourceDemand.fixed();
      if (fixed == null || resourceDemand.needsTopology() || resourceDemand.guaranteed()) {
        return null;
      }
      ClusterQueueCache queue = resourceDemand.queue();
      QuotaNode node = queue.node();
      for (int i = 0; i < fixed.pairs().length; i++) {
        if (fixed.amounts()[i] > node.available(fixed.pairs()[i])) {
          return null;
        }
      }
      return FixedFlavor.isEligible(flavors, resourceDemand)
          ? fitting(resourceDemand, fixed)
          : null;
    }

    /** The assignment of a request that fits. */
    static Assignment fitting(ResourceDemand resourceDemand, ResourceDemand.Fixed fixed) {
      ClusterQueueCache queue = resourceDemand.queue();
      int[] pairs = fixed.pairs();
      long[] amounts = fixed.amounts();
      int borrowLevel = 0;
      List<Assignment.PairAmount> usage = new ArrayList<>(pairs.length);
      for (int i = 0; i < pairs.length; i++) {
        borrowLevel = Math.max(borrowLevel, queue.node().borrowLevel(pairs[i], amounts[i]));
        usage.add(new Assignment.PairAmount(pairs[i], amounts[i]));
      }
      int level = borrowLevel;
      ResourceDemand.Bundle bundle = resourceDemand.bundles().getFirst();
      int[] chosen = new int[resourceDemand.podSets().size() * queue.groups().size()];
      Arrays.fill(chosen, -1);
      chosen[bundle.members().getFirst() * queue.groups().size() + fixed.group()] = 0;
      return new Assignment(
          null,
          () -> FlavorAssigner.podSets(resourceDemand, chosen),
          usage,
          NONE,
          level,
          () -> List.of(attempt(resourceDemand, fixed, level)),
          List.of(),
          false,
          null,
          chosen);
    }

    private static FlavorAttempt attempt(
        ResourceDemand resourceDemand, ResourceDemand.Fixed fixed, int level) {
      return new FlavorAttempt(
          resourceDemand.bundles().getFirst().name(),
          resourceDemand.queue().groups().get(fixed.group()).flavors().getFirst(),
          AssignmentMode.FIT,
          level,
          List.of());
    }
  }
}

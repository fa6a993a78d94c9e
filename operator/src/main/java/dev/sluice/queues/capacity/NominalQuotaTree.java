package dev.sluice.queues.capacity;

import dev.sluice.api.Quantities;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.QuotaReference;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.EffectiveQuotas;
import dev.sluice.api.v1beta2.EffectiveQuotas.OrchestratorReference;
import dev.sluice.api.v1beta2.ResourceGroup;
import dev.sluice.api.v1beta2.ResourceGroup.FlavorQuotas;
import dev.sluice.api.v1beta2.ResourceGroup.ResourceQuota;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** ClusterQueues and Cohorts as a tree, with the quotas of their specifications. */
final class NominalQuotaTree {

  private static final String CLUSTER_QUEUE = "ClusterQueue";
  private static final String COHORT = "Cohort";

  private final Map<QuotaReference, List<ResourceGroup>> groups = new HashMap<>();
  private final Map<QuotaReference, EffectiveQuotas> current = new HashMap<>();

  /** Children by cohort; the cohort need not exist as an object. */
  private final Map<QuotaReference, List<QuotaReference>> children = new HashMap<>();

  /** A pair of flavor and resource. */
  private record Pair(String flavor, String resource) {}

  /** Reads these objects. */
  NominalQuotaTree(Collection<ClusterQueue> clusterQueues, Collection<Cohort> cohorts) {
    for (ClusterQueue queue : clusterQueues) {
      QuotaReference selfReference = of(queue);
      put(
          selfReference,
          queue.getSpec() == null ? List.of() : queue.getSpec().resourceGroups(),
          queue.getStatus() == null ? null : queue.getStatus().effectiveQuotas());
      below(queue.getSpec() == null ? null : queue.getSpec().cohortName(), selfReference);
    }
    for (Cohort cohort : cohorts) {
      QuotaReference selfReference = of(cohort);
      put(
          selfReference,
          cohort.getSpec() == null ? List.of() : cohort.getSpec().resourceGroups(),
          cohort.getStatus() == null ? null : cohort.getStatus().effectiveQuotas());
      below(cohort.getSpec() == null ? null : cohort.getSpec().parentName(), selfReference);
    }
  }

  /** The reference that names a ClusterQueue. */
  static QuotaReference of(ClusterQueue queue) {
    return new QuotaReference(CLUSTER_QUEUE, queue.getMetadata().getName());
  }

  /** The reference that names a Cohort. */
  static QuotaReference of(Cohort cohort) {
    return new QuotaReference(COHORT, cohort.getMetadata().getName());
  }

  private void put(
      QuotaReference selfReference,
      List<ResourceGroup> declared,
      @Nullable EffectiveQuotas effective) {
    groups.put(selfReference, declared);
    if (effective != null) {
      current.put(selfReference, effective);
    }
  }

  private void below(@Nullable String parent, QuotaReference childReference) {
    if (parent != null && !parent.isEmpty()) {
      children
          .computeIfAbsent(new QuotaReference(COHORT, parent), any -> new ArrayList<>())
          .add(childReference);
    }
  }

  /** Whether there is such an object, or a cohort that others name. */
  boolean has(QuotaReference reference) {
    return groups.containsKey(reference) || children.containsKey(reference);
  }

  /** The effective quotas that an object has. */
  Optional<EffectiveQuotas> current(QuotaReference reference) {
    return Optional.ofNullable(current.get(reference));
  }

  /** The root and everything below it. Ends also where cohorts are their own ancestors. */
  Set<QuotaReference> subtree(QuotaReference rootReference) {
    Set<QuotaReference> found = new LinkedHashSet<>(List.of(rootReference));
    Queue<QuotaReference> open = new ArrayDeque<>(found);
    while (!open.isEmpty()) {
      for (QuotaReference childReference : children.getOrDefault(open.remove(), List.of())) {
        if (found.add(childReference)) {
          open.add(childReference);
        }
      }
    }
    return found;
  }

  /**
   * The quotas of those members that have quota of a flavor with capacity: its capacity is divided
   * in proportion to their nominal quotas. Everything else is as the specification says.
   *
   * @param capacity amounts by flavor and resource; a resource that isn't named has none
   */
  Map<QuotaReference, EffectiveQuotas> shares(
      Collection<QuotaReference> members,
      SortedMap<String, SortedMap<String, Long>> capacity,
      OrchestratorReference orchestrator) {
    List<QuotaReference> ordered =
        members.stream()
            .filter(groups::containsKey)
            .sorted(Comparator.comparing(QuotaReference::name).thenComparing(QuotaReference::kind))
            .toList();
    Map<Pair, Map<QuotaReference, Long>> nominal = new LinkedHashMap<>();
    for (QuotaReference memberReference : ordered) {
      for (ResourceGroup group : groups.getOrDefault(memberReference, List.of())) {
        for (FlavorQuotas flavor : group.flavors()) {
          if (capacity.containsKey(flavor.name())) {
            flavor
                .resources()
                .forEach(
                    quota ->
                        nominal
                            .computeIfAbsent(
                                new Pair(flavor.name(), quota.name()), any -> new LinkedHashMap<>())
                            .putIfAbsent(memberReference, amount(quota)));
          }
        }
      }
    }
    Map<Pair, Map<QuotaReference, Long>> shares = new HashMap<>();
    nominal.forEach(
        (pair, weights) ->
            shares.put(
                pair,
                divided(
                    weights,
                    capacity
                        .getOrDefault(pair.flavor(), new TreeMap<>())
                        .getOrDefault(pair.resource(), 0L))));
    Map<QuotaReference, EffectiveQuotas> result = new LinkedHashMap<>();
    for (QuotaReference memberReference : ordered) {
      List<ResourceGroup> declared = groups.getOrDefault(memberReference, List.of());
      if (declared.stream()
          .flatMap(group -> group.flavors().stream())
          .anyMatch(flavor -> capacity.containsKey(flavor.name()))) {
        result.put(
            memberReference,
            new EffectiveQuotas(
                orchestrator,
                declared.stream().map(group -> with(group, memberReference, shares)).toList()));
      }
    }
    return result;
  }

  private static Map<QuotaReference, Long> divided(
      Map<QuotaReference, Long> weights, long capacity) {
    long[] shares =
        Apportionment.of(capacity, weights.values().stream().mapToLong(Long::longValue).toArray());
    Map<QuotaReference, Long> result = new HashMap<>();
    int place = 0;
    for (QuotaReference memberReference : weights.keySet()) {
      result.put(memberReference, shares[place++]);
    }
    return result;
  }

  private static ResourceGroup with(
      ResourceGroup group,
      QuotaReference memberReference,
      Map<Pair, Map<QuotaReference, Long>> shares) {
    return new ResourceGroup(
        group.coveredResources(),
        group.flavors().stream()
            .map(
                flavor ->
                    new FlavorQuotas(
                        flavor.name(),
                        flavor.resources().stream()
                            .map(
                                quota ->
                                    Optional.ofNullable(
                                            shares.get(new Pair(flavor.name(), quota.name())))
                                        .map(of -> of.get(memberReference))
                                        .map(share -> with(quota, share))
                                        .orElse(quota))
                            .toList()))
            .toList());
  }

  private static ResourceQuota with(ResourceQuota quota, long share) {
    return new ResourceQuota(
        quota.name(),
        Quantity.parse(Quantities.format(quota.name(), share)),
        quota.borrowingLimit(),
        quota.lendingLimit());
  }

  /** The nominal quota; 0 if it can't be read, as for the engine. */
  private static long amount(ResourceQuota quota) {
    try {
      return quota.nominalQuota() == null
          ? 0
          : Math.max(0, Quantities.amount(quota.name(), quota.nominalQuota().toString()));
    } catch (IllegalArgumentException notAQuantity) {
      return 0;
    }
  }

  /** Divides an amount in proportion to weights, in whole units. */
  static final class Apportionment {

    private Apportionment() {}

    /**
     * The shares of {@code amount}, in the order of the weights. Each share has the whole part of
     * its proportion; the units that are left over go one by one to where the weight for each unit
     * is largest, and the first of equals. So the sum is the amount exactly, unless all weights are
     * 0, and no share falls when the amount rises (the method of d'Hondt).
     *
     * @param amount not negative
     * @param weights not negative; 0 gets nothing
     */
    static long[] of(long amount, long[] weights) {
      long[] shares = new long[weights.length];
      BigInteger sum = BigInteger.ZERO;
      for (long weight : weights) {
        sum = sum.add(BigInteger.valueOf(weight));
      }
      if (sum.signum() == 0) {
        return shares;
      }
      long left = amount;
      PriorityQueue<Claim> claims = new PriorityQueue<>();
      for (int i = 0; i < weights.length; i++) {
        if (weights[i] > 0) {
          shares[i] =
              BigInteger.valueOf(amount)
                  .multiply(BigInteger.valueOf(weights[i]))
                  .divide(sum)
                  .longValueExact();
          left -= shares[i];
          claims.add(new Claim(weights[i], shares[i], i));
        }
      }
      for (; left > 0; left--) {
        Claim first = claims.remove();
        shares[first.place]++;
        claims.add(new Claim(first.weight, shares[first.place], first.place));
      }
      return shares;
    }

    /** The claim of a weight to one more unit than it has. */
    private record Claim(long weight, long share, int place) implements Comparable<Claim> {

      @Override
      public int compareTo(Claim other) {
        int byWeight = other.forAll(share).compareTo(forAll(other.share));
        return byWeight != 0 ? byWeight : Integer.compare(place, other.place);
      }

      /** The weight for each unit, times the units that both would have. */
      private BigInteger forAll(long share) {
        return BigInteger.valueOf(weight).multiply(BigInteger.valueOf(share).add(BigInteger.ONE));
      }
    }
  }
}

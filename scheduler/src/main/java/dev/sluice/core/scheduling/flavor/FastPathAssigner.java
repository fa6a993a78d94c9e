package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.ResourceDemand;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fast path of flavor assignment: for a request without a choice of flavors that fits with the
 * current usage. The result equals the result of a search; parts that only the writer of the
 * admission needs are computed on demand.
 */
final class FastPathAssigner {

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
    return FixedFlavor.isEligible(flavors, resourceDemand) ? fitting(resourceDemand, fixed) : null;
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

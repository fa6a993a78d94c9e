package dev.sluice.scheduling.flavor;

import dev.sluice.model.Flavor;
import dev.sluice.model.FlavorAttempt;
import dev.sluice.model.FlavorMode;
import dev.sluice.queue.Demand;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.QuotaNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The shortest way to an assignment: of a request that has no choice and fits as quota stands. It
 * comes to the same as a search; what only those want to know who write it down is found out later.
 */
final class PlainFit {

  private static final int[] NONE = {};

  private PlainFit() {}

  /** Its assignment; null if it has a choice, or doesn't fit. */
  static @Nullable Assignment of(Map<String, Flavor> flavors, Demand demand) {
    Demand.Fixed fixed = demand.fixed();
    if (fixed == null) {
      return null;
    }
    QueueState queue = demand.queue();
    QuotaNode node = queue.node();
    int[] pairs = fixed.pairs();
    long[] amounts = fixed.amounts();
    int level = 0;
    for (int i = 0; i < pairs.length; i++) {
      if (amounts[i] > node.available(pairs[i])) {
        return null;
      }
      level = Math.max(level, node.borrowLevel(pairs[i], amounts[i]));
    }
    String flavor = queue.groups().get(fixed.group()).flavors().getFirst();
    Demand.Bundle bundle = demand.bundles().getFirst();
    for (int member : bundle.members()) {
      if (Eligibility.obstacle(flavors.get(flavor), demand.podSets().get(member).placement())
          .isPresent()) {
        return null;
      }
    }
    List<Assignment.PairAmount> usage = new ArrayList<>(pairs.length);
    for (int i = 0; i < pairs.length; i++) {
      usage.add(new Assignment.PairAmount(pairs[i], amounts[i]));
    }
    int[] chosen = new int[demand.podSets().size() * queue.groups().size()];
    Arrays.fill(chosen, -1);
    chosen[bundle.members().getFirst() * queue.groups().size() + fixed.group()] = 0;
    FlavorAttempt attempt =
        new FlavorAttempt(bundle.name(), flavor, FlavorMode.FIT, level, List.of());
    return new Assignment(
        null,
        () -> FlavorAssigner.podSets(demand, chosen),
        usage,
        NONE,
        level,
        () -> List.of(attempt),
        List.of(),
        false,
        null,
        chosen);
  }
}

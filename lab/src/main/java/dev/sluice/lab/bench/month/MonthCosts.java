package dev.sluice.lab.bench.month;

import dev.sluice.core.model.Flavor.Pace;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * What the flavors of a simulated month cost, and how often spot nodes are taken away.
 *
 * @param counted whether money is counted; otherwise nothing has a price, and nothing is taken away
 * @param cheapest how queues try their flavors in the order of cost; empty: as they are listed
 * @param spotEverywhere whether all queues have spot nodes, and not every fifth alone
 */
record MonthCosts(boolean counted, Optional<CheapestFirst> cheapest, boolean spotEverywhere) {

  /** Nothing has a price. */
  static final MonthCosts NONE = new MonthCosts(false, Optional.empty(), false);

  /** What a core costs for an hour, by the number of the flavor. */
  private static final List<Double> PRICES = List.of(1.0, 0.35);

  private static final double INTERRUPTIONS = 0.02;
  private static final double HOUR_MILLIS = 3_600_000;

  /** What a thousandth of a core costs for an hour. */
  static BigDecimal price(int flavor) {
    return BigDecimal.valueOf(PRICES.get(flavor)).movePointLeft(3);
  }

  static Optional<Pace> pace(int flavor) {
    return flavor == 0
        ? Optional.empty()
        : Optional.of(new Pace(BigDecimal.valueOf(INTERRUPTIONS), BigDecimal.ONE));
  }

  static double money(String flavor, long cpus, long millis) {
    return PRICES.get(DeclaredQueue.FLAVORS.indexOf(flavor)) * cpus * millis / HOUR_MILLIS;
  }

  /** After how long the nodes of a run are taken away. */
  long interruption(String flavor, SplittableRandom random) {
    return counted && DeclaredQueue.FLAVORS.indexOf(flavor) > 0
        ? 1 + (long) (-Math.log(1 - random.nextDouble()) / INTERRUPTIONS * HOUR_MILLIS)
        : Long.MAX_VALUE;
  }
}

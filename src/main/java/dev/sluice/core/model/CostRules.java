package dev.sluice.core.model;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;

/**
 * What a job says about costs, and what has to be known of it where costs count
 * (docs/prices.md#flavors-by-cost).
 *
 * @param run how long one run of it is expected to take on a flavor of speed 1; empty if nobody
 *     knows, or no queue asks
 * @param maxPrice the most that the whole Workload may cost for an hour; empty: any price will do
 * @param maxDelay for how long it waits for a cheaper flavor; empty: as its ClusterQueue says
 */
public record CostRules(
    Optional<Duration> run, Optional<BigDecimal> maxPrice, Optional<Duration> maxDelay) {

  /** Nothing is said, and nothing has to be known. */
  public static final CostRules NONE =
      new CostRules(Optional.empty(), Optional.empty(), Optional.empty());

  /**
   * Rules of a ClusterQueue that tries its flavors in the order of cost.
   *
   * @param maxDelay for how long its Workloads wait for a cheaper flavor; empty: they don't
   */
  public record CheapestFirst(Optional<Duration> maxDelay) {

    /** For how long a Workload waits that has rules of its own; zero: it doesn't. */
    public Duration delay(Optional<CostRules> own) {
      return own.flatMap(CostRules::maxDelay).or(() -> maxDelay).orElse(Duration.ZERO);
    }
  }
}

package dev.sluice.app.module;

import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.workload.record.CachedWorkload;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * What counts for the costs of Workloads: nothing, unless they say so or any queue tries its
 * flavors in the order of cost. Thread-safe.
 */
public final class WorkloadCosts implements Function<CachedWorkload, Optional<CostRules>> {

  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final BooleanSupplier cheapestFirst;
  private volatile Function<CachedWorkload, RunTimeEstimate> estimates =
      workload ->
          RunTimeEstimate.of(
              RunTimeAnnotations.expected(workload.annotations()),
              Optional.empty(),
              Optional.empty());

  /**
   * Costs by what Workloads declare, until somebody estimates run times.
   *
   * @param cheapestFirst whether any queue tries its flavors in the order of cost
   */
  public WorkloadCosts(BooleanSupplier cheapestFirst) {
    this.cheapestFirst = cheapestFirst;
  }

  /** From now on run times are estimated so. */
  public void estimateBy(Function<CachedWorkload, RunTimeEstimate> better) {
    estimates = better;
  }

  @Override
  public Optional<CostRules> apply(CachedWorkload workload) {
    Map<String, String> annotations = workload.annotations();
    boolean ordered = cheapestFirst.getAsBoolean();
    Optional<BigDecimal> maxPrice = CostAnnotations.maxPrice(annotations);
    if (!ordered && maxPrice.isEmpty()) {
      return Optional.empty();
    }
    CostRules rules =
        new CostRules(
            ordered ? expected(estimates.apply(workload)) : Optional.empty(),
            maxPrice,
            ordered ? CostAnnotations.maxDelay(annotations) : Optional.empty());
    return rules.equals(CostRules.NONE) ? Optional.empty() : Optional.of(rules);
  }

  /** A limit alone says nothing about how long a run is expected to take. */
  private static Optional<Duration> expected(RunTimeEstimate estimate) {
    return switch (estimate.basis()) {
      case DECLARED -> estimate.remaining(Duration.ZERO, 0.5);
      case LEARNED -> estimate.remaining(Duration.ZERO, 0.5).map(WorkloadCosts::wholeMinutes);
      case LIMIT, UNKNOWN -> Optional.empty();
    };
  }

  /** Rounded up, so that a little more experience makes no other request. */
  private static Duration wholeMinutes(Duration duration) {
    return Duration.ofMinutes(duration.plus(MINUTE).minusNanos(1).toMinutes());
  }
}

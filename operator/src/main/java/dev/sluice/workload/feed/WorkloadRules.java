package dev.sluice.workload.feed;

import dev.sluice.api.queueing.StartRules;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.RequestShape;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * What other objects say about a Workload.
 *
 * @param starts what its ClusterQueue says about starts
 * @param preemption the rules of preemption of its WorkloadPriorityClass; empty while no object at
 *     all has such a rule, so that nobody has to know how often the Workload was preempted
 * @param replaced the Workload that a slice of an elastic job names as the one that it replaces;
 *     empty if there is none
 * @param run how long it runs at the most; empty if nothing says so, or no budget asks
 * @param cost what counts for its costs; empty if nothing does
 * @param checks why it can't be admitted whatever flavors its request gets: it needs more admission
 *     checks than its status has room for
 * @param families which Workloads are parents and variants
 */
public record WorkloadRules(
    Function<CachedWorkload, StartRules> starts,
    Function<CachedWorkload, Optional<PreemptionRules>> preemption,
    Function<CachedWorkload, Optional<CachedWorkload>> replaced,
    Function<CachedWorkload, Optional<Duration>> run,
    Function<CachedWorkload, Optional<CostRules>> cost,
    BiFunction<CachedWorkload, RequestShape, Optional<String>> checks,
    VariantFamilies families) {

  /** Rules of a Workload that no budget asks about, and whose costs don't count. */
  public WorkloadRules(
      Function<CachedWorkload, StartRules> starts,
      Function<CachedWorkload, Optional<PreemptionRules>> preemption,
      Function<CachedWorkload, Optional<CachedWorkload>> replaced) {
    this(
        starts,
        preemption,
        replaced,
        workload -> Optional.empty(),
        workload -> Optional.empty(),
        (workload, shape) -> Optional.empty(),
        VariantFamilies.NONE);
  }

  /** Nobody says anything. */
  public static final WorkloadRules NONE =
      new WorkloadRules(
          workload -> StartRules.NONE, workload -> Optional.empty(), workload -> Optional.empty());
}

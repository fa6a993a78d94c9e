package dev.sluice.workload.feed;

import dev.sluice.api.queueing.StartRules;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.workload.record.CachedWorkload;
import java.util.Optional;
import java.util.function.Function;

/**
 * What others say about a Workload by annotation.
 *
 * @param starts what its ClusterQueue says about starts
 * @param preemption the rules of preemption of its WorkloadPriorityClass; empty while no object at
 *     all has such a rule, so that nobody has to know what happened to the Workload
 */
public record WorkloadRules(
    Function<CachedWorkload, StartRules> starts,
    Function<CachedWorkload, Optional<PreemptionRules>> preemption) {

  /** Nobody says anything. */
  public static final WorkloadRules NONE =
      new WorkloadRules(workload -> StartRules.NONE, workload -> Optional.empty());
}

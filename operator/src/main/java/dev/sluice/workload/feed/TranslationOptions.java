package dev.sluice.workload.feed;

import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.FeatureGates;
import dev.sluice.api.config.Resources;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * The part of the configuration that Workloads are translated by.
 *
 * @param gates which feature gates are on
 * @param resources what of the requests of pods counts
 * @param waitForPodsReady how long admitted Workloads may take to be ready; empty: not watched
 * @param kubeQueue whether queues are made from the quotas of Kube Queue
 */
public record TranslationOptions(
    FeatureGates gates,
    Resources resources,
    Optional<WaitForPodsReady> waitForPodsReady,
    boolean kubeQueue) {

  /** The defaults of configuration and gates, where readiness is not watched. */
  public static final TranslationOptions DEFAULT =
      new TranslationOptions(FeatureGates.DEFAULT, Resources.PLAIN, Optional.empty(), false);

  /** The same options, but this gate on or off as given. */
  public TranslationOptions with(FeatureGate gate, boolean enabled) {
    return new TranslationOptions(
        gates.with(gate, enabled), resources, waitForPodsReady, kubeQueue);
  }

  /** Whether a feature gate is on. */
  public boolean on(FeatureGate gate) {
    return gates.enabled(gate);
  }

  /** Whether the annotation priority-boost is used. */
  public boolean priorityBoost() {
    return kubeQueue || on(FeatureGate.PRIORITY_BOOST);
  }

  /**
   * Whether a Workload that was evicted because its pods were not ready is queued by the time of
   * the eviction, and not by the time of its creation.
   */
  public boolean queueByEviction() {
    return waitForPodsReady.map(wait -> wait.requeuing().byEviction()).orElse(true);
  }

  /** Whether admission waits until the pods of admitted Workloads are ready. */
  public boolean blocksAdmission() {
    return waitForPodsReady.filter(WaitForPodsReady::blockAdmission).isPresent();
  }

  /**
   * What other objects say about a Workload.
   *
   * @param starts what its ClusterQueue says about starts
   * @param preemption the rules of preemption of its WorkloadPriorityClass; empty while no object
   *     at all has such a rule, so that nobody has to know how often the Workload was preempted
   * @param replaced the Workload that a slice of an elastic job names as the one that it replaces;
   *     empty if there is none
   * @param run how long it runs at the most; empty if nothing says so, or no budget asks
   * @param cost what counts for its costs; empty if nothing does
   * @param checks why it can't be admitted whatever flavors its request gets: it needs more
   *     admission checks than its status has room for
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
            workload -> StartRules.NONE,
            workload -> Optional.empty(),
            workload -> Optional.empty());
  }
}

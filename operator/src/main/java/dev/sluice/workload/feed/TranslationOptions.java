package dev.sluice.workload.feed;

import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.FeatureGates;
import dev.sluice.api.config.Resources;
import java.util.Optional;

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
}

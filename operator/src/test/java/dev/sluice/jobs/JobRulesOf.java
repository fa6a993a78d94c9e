package dev.sluice.jobs;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.FeatureGates;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobOptions.ClusterState;
import dev.sluice.jobs.policy.JobOptions.CopiedKeys;
import dev.sluice.jobs.policy.JobOptions.Readiness;
import dev.sluice.workload.feed.AdmittedRequests;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntSupplier;

/** Rules that tests need beside the defaults. */
public final class JobRulesOf {

  private JobRulesOf() {}

  /** Pods that are done keep their quota (gate ReclaimablePods is off). */
  public static JobOptions withoutReclaiming() {
    return options(Readiness.NOT_AWAITED, Optional.empty())
        .with(FeatureGate.RECLAIMABLE_PODS, false);
  }

  /** Somebody waits for pods to be ready, and deactivated jobs are kept so long. */
  public static JobOptions readiness(Optional<Duration> afterDeactivated) {
    return options(new Readiness(true, Duration.ZERO), afterDeactivated);
  }

  /**
   * Somebody waits for pods to be ready, but for none in particular until so long after admission.
   */
  public static JobOptions readiness(Duration quickStart) {
    return options(new Readiness(true, quickStart), Optional.empty());
  }

  /** Jobs of this queue run for an hour at most, those of others as long as they say. */
  public static JobOptions anHourIn(String limited) {
    return inCluster(
        () -> 0, queue -> Optional.of(Duration.ofHours(1)).filter(most -> queue.equals(limited)));
  }

  /** So many pods of each job run, whatever its status says. */
  public static JobOptions running(AtomicInteger pods) {
    return inCluster(pods::get, queue -> Optional.empty());
  }

  /** With so many running pods of each job, and the longest run of a queue. */
  private static JobOptions inCluster(
      IntSupplier running, Function<String, Optional<Duration>> longestRun) {
    return options(Readiness.NOT_AWAITED, Optional.empty())
        .with(
            new ClusterState(
                workload -> StartRules.NONE,
                Set::of,
                job -> running.getAsInt(),
                false,
                (namespace, queue) -> longestRun.apply(queue)));
  }

  private static JobOptions options(Readiness readiness, Optional<Duration> afterDeactivated) {
    return new JobOptions(
        FeatureGates.DEFAULT,
        false,
        namespace -> true,
        CopiedKeys.NONE,
        readiness,
        afterDeactivated,
        AdmittedRequests.PLAIN,
        ClusterState.NONE);
  }
}

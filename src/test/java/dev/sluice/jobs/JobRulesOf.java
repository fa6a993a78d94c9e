package dev.sluice.jobs;

import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.WorkloadNames;
import dev.sluice.workload.feed.AdmittedRequests;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Rules that tests need beside the defaults. */
public final class JobRulesOf {

  private JobRulesOf() {}

  /** Pods that are done keep their quota (gate ReclaimablePods is off). */
  public static JobOptions withoutReclaiming() {
    return options(false, Optional.empty(), false);
  }

  /** Somebody waits for pods to be ready, and deactivated jobs are kept so long. */
  public static JobOptions readiness(Optional<Duration> afterDeactivated) {
    return options(true, afterDeactivated, true);
  }

  private static JobOptions options(
      boolean podsReady, Optional<Duration> afterDeactivated, boolean reclaimablePods) {
    return new JobOptions(
        false,
        namespace -> true,
        List.of(),
        WorkloadNames.LONGEST,
        true,
        true,
        podsReady,
        afterDeactivated,
        true,
        reclaimablePods,
        true,
        AdmittedRequests.PLAIN);
  }
}

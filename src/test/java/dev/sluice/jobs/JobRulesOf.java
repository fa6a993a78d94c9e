package dev.sluice.jobs;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Rules that tests need beside the defaults. */
final class JobRulesOf {

  private JobRulesOf() {}

  /** Somebody waits for pods to be ready, and deactivated jobs are kept so long. */
  static JobOptions readiness(Optional<Duration> afterDeactivated) {
    return new JobOptions(
        false,
        namespace -> true,
        List.of(),
        WorkloadNames.LONGEST,
        true,
        true,
        true,
        afterDeactivated,
        true);
  }
}

package dev.sluice.jobs.integrations;

import dev.sluice.jobs.DescribedKind;
import dev.sluice.jobs.JobKind;

/** Kinds of jobs that no controller of this program handles yet. */
final class ExternalKinds {

  private ExternalKinds() {}

  static DescribedKind sparkApplication() {
    return DescribedKind.named(JobKind.of("sparkoperator.k8s.io", "v1beta2", "SparkApplication"));
  }
}

package dev.sluice.jobs.integrations;

import dev.sluice.jobs.DescribedKind;
import dev.sluice.jobs.JobKind;
import dev.sluice.jobs.MultiKueueRules;
import dev.sluice.jobs.MultiKueueRules.StatusRules;
import java.util.List;

/** Kinds of jobs that no controller of this program handles yet. */
final class ExternalKinds {

  private static final String RAY = "ray.io";
  private static final List<String> MANAGED_BY = List.of("spec", "managedBy");
  private static final List<String> SUSPEND = List.of("spec", "suspend");

  private ExternalKinds() {}

  }

  static DescribedKind rayService() {
    return DescribedKind.dispatched(
        JobKind.of(RAY, "v1", "RayService"),
        MultiKueueRules.byStatus(MANAGED_BY, List.of("spec", "rayClusterConfig", "suspend"))
            .managedByAnyOf(List.of(MANAGED_BY, List.of("spec", "rayClusterConfig", "managedBy")))
            .pushing(List.of(List.of("spec", "serveConfigV2")))
            .with(
                StatusRules.atAnyTime(
                    List.of("serviceStatus", "numServeEndpoints"), List.of("Ready"))));
  }

  static DescribedKind sparkApplication() {
    return DescribedKind.named(JobKind.of("sparkoperator.k8s.io", "v1beta2", "SparkApplication"));
  }

  private static MultiKueueRules standard() {
    return MultiKueueRules.byStatus(MANAGED_BY, SUSPEND);
  }
}

package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenObject.yaml;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.kinds.ray.RayService;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizer;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A job that is being deleted, and whose own controller cleans up, keeps its quota meanwhile. */
class JobCleanupTest {

  private static List<JobAction> decide(String finalizers, boolean quotaForCleanup) {
    JobOptions options =
        JobOptions.defaults("kueue-system")
            .with(FeatureGate.DEFER_RAY_SERVICE_FINALIZATION_FOR_REDIS_CLEANUP, quotaForCleanup);
    CachedJob service =
        CachedJobParser.of(
            new RayService(),
            yaml(
                """
                metadata:
                  {name: ray, namespace: team, uid: u, finalizers: [%s], deletionTimestamp: "2026-03-01T11:00:00Z"}
                spec: {rayClusterConfig: {gcsFaultToleranceOptions: {redisAddress: r}}}
                """
                    .formatted(finalizers)));
    GivenCluster cluster = GivenCluster.cluster();
    return new JobPolicy(new RayService(), options, (job, workload) -> false)
        .decide(
            new ReconcileContext(
                service,
                new ManagementStatus.Own(),
                List.of(workloadOf(job()).admitted("spot").get()),
                Optional.empty(),
                cluster,
                cluster,
                GivenCluster.NOW));
  }

  @Test
  void itsWorkloadIsKeptUntilItIsDone() {
    assertThat(decide("ray.io/cleanup", true)).isEmpty();
    assertThat(decide("foregroundDeletion", true))
        .singleElement()
        .isInstanceOf(RemoveFinalizer.class);
  }

  @Test
  void theGateDecides() {
    assertThat(decide("ray.io/cleanup", false)).hasSize(1);
  }
}

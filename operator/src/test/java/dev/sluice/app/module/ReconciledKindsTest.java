package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.app.module.OperatorContext.ReconciledKinds;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReconciledKindsTest {

  @Test
  void namesOfKindsWithAControllerAreKnown() {
    assertThat(
            ReconciledKinds.unknown(
                List.of(
                    "Job.batch",
                    "Pod",
                    "Workload.kueue.x-k8s.io",
                    "LocalQueue.kueue.x-k8s.io",
                    "Cohort.kueue.x-k8s.io",
                    "ClusterQueue.kueue.x-k8s.io",
                    "ResourceFlavor.kueue.x-k8s.io",
                    "StatefulSet.apps",
                    "MPIJob.kubeflow.org",
                    "RayCluster.ray.io")))
        .isEmpty();
  }

  @Test
  void aNameOfNoSuchKindIsUnknown() {
    assertThat(
            ReconciledKinds.unknown(
                List.of("job.batch", "Pod.", "Deployment.apps", "Job.batch", "Job")))
        .containsExactly("Deployment.apps", "Job", "Pod.", "job.batch");
  }
}

package dev.sluice.checks.multikueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.MultiKueueCluster.ClusterProfileReference;
import dev.sluice.api.v1beta2.MultiKueueCluster.ClusterSource;
import dev.sluice.api.v1beta2.MultiKueueCluster.MultiKueueClusterSpec;
import dev.sluice.checks.multikueue.access.KubeconfigFiles;
import dev.sluice.checks.multikueue.access.WorkerAccess;
import dev.sluice.checks.multikueue.access.WorkerAccess.ClusterReason;
import dev.sluice.checks.multikueue.access.WorkerCredentialsResolver;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a MultiKueueCluster without a usable source says. */
class ClusterSourceTest {

  private final WorkerCredentialsResolver resolver =
      new WorkerCredentialsResolver(
          "own",
          name -> Optional.empty(),
          () -> true,
          new KubeconfigFiles(KubeconfigFiles.ROOT, true),
          Optional.empty());

  private WorkerAccess access(MultiKueueCluster cluster) {
    return resolver.of(MultiKueueClusterReconciler.source(cluster));
  }

  @Test
  void aClusterWithoutSpecHasABadKubeconfig() {
    assertThat(access(new MultiKueueCluster()))
        .isEqualTo(
            new WorkerAccess.Refused(
                ClusterReason.BAD_KUBE_CONFIG,
                "clusterSource.kubeConfig.location: is missing; allowed: kubeConfig or"
                    + " clusterProfileRef"));
  }

  @Test
  void aProfileWithoutTheGateSaysThatTheGateIsOff() {
    MultiKueueCluster cluster = new MultiKueueCluster();
    cluster.setSpec(
        new MultiKueueClusterSpec(new ClusterSource(new ClusterProfileReference("p"), null)));

    assertThat(access(cluster))
        .isInstanceOfSatisfying(
            WorkerAccess.Refused.class,
            refused ->
                assertThat(refused.reason())
                    .isEqualTo(ClusterReason.CLUSTER_PROFILE_FEATURE_DISABLED));
  }
}

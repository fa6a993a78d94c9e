package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Pods of assignments run where the assignments say. */
@ControlPlaneTest(exclusive = true, fresh = false)
class TopologyIT {

  private static OperatorSettings settings() {
    return OperatorSettings.onFreePorts(new SecureRandom())
        .withLeases(Duration.ofSeconds(4), Duration.ofSeconds(3), Duration.ofMillis(500));
  }

  /** The queue doesn't exist, so that nobody but the test admits the Workload. */
  @Test
  void podsOfAnAssignmentByHandRunInTheirDomains(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster).withNodes().withQueues();
    try (LocalOperator _ =
        LocalOperator.start("operator-of-assignments", cluster.kubeconfig(), settings())) {
      String annotation = "kueue.x-k8s.io/podset-required-topology: example.com/rack,";
      racked.job("ranked", "none", annotation, 3, 1);
      String workload = racked.jobs().workloadOf(RackedCluster.JOB, "ranked");
      assertThat(
              racked
                  .jobs()
                  .get(QueuedJobs.WORKLOAD, workload)
                  .at("/spec/podSets/0/topologyRequest"))
          .hasToString(
              "{\"podIndexLabel\":\"batch.kubernetes.io/job-completion-index\","
                  + "\"required\":\"example.com/rack\"}");
      admitByHand(cluster, workload, racked.node("b1r2", 1), racked.node("b1r2", 0));
      assertThat(racked.awaitRunning("ranked", 3))
          .isEqualTo(
              Map.of(
                  0, racked.node("b1r2", 1),
                  1, racked.node("b1r2", 0),
                  2, racked.node("b1r2", 0)));
      JsonNode pod = racked.pods("ranked").get(2);
      assertThat(pod.at("/spec/nodeSelector").path(RackedCluster.HOST).asText())
          .isEqualTo(racked.node("b1r2", 0));
      assertThat(pod.at("/spec/schedulingGates").isMissingNode()).isTrue();
    }
  }

  private static void admitByHand(
      TestCluster cluster, String workload, String first, String second) {
    String condition =
        "{\"type\": \"%s\", \"status\": \"True\", \"reason\": \"Test\", \"message\": \"\","
            + " \"lastTransitionTime\": \"2026-01-01T00:00:00Z\"}";
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(cluster.namespace())
        .withName(workload)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {
              "conditions": [%s, %s],
              "admission": {"clusterQueue": "%s", "podSetAssignments": [{
                "name": "main", "count": 3, "flavors": {"cpu": "%s"},
                "resourceUsage": {"cpu": "3"},
                "topologyAssignment": {"levels": ["kubernetes.io/hostname"], "slices": [{
                  "domainCount": 2, "podCounts": {"individual": [1, 2]},
                  "valuesPerLevel": [{"individual": {"roots": ["%s", "%s"]}}]}]}}]}}}
            """
                .formatted(
                    condition.formatted("QuotaReserved"),
                    condition.formatted("Admitted"),
                    cluster.name("cq"),
                    cluster.name("racked"),
                    first,
                    second));
  }
}

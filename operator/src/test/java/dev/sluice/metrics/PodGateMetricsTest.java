package dev.sluice.metrics;

import static dev.sluice.metrics.Workloads.CREATED;
import static dev.sluice.metrics.Workloads.admittedBy;
import static dev.sluice.metrics.Workloads.is;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kube.leader.ReplicaRole;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PodGateMetricsTest {

  private static final String METRIC = "kueue_pod_scheduling_gate_removal_seconds";

  @Test
  void removalIsMeasuredFromAdmissionAndEndsWithTheQueue() {
    try (MetricsScrape scrape = new MetricsScrape()) {
      PodGateMetrics gates =
          new PodGateMetrics(
              scrape.registry(),
              new FixedViews().clusterQueue("cq", "", List.of()),
              () -> ReplicaRole.LEADER,
              () -> CREATED.plus(Duration.ofMillis(2500)),
              CustomLabels.NONE);
      scrape.forgetting(gates::forgetRemoved);

      gates.removed(admittedBy("cq", is("Admitted", "Admitted", CREATED)), "a/gate");
      gates.removed(admittedBy("gone", is("Admitted", "Admitted", CREATED)), "a/gate");

      String labels =
          "{cluster_queue=\"cq\",is_group=\"false\",name=\"a/gate\",replica_role=\"leader\"} ";
      assertThat(text(scrape))
          .contains(METRIC + "_count" + labels + "1", METRIC + "_sum" + labels + "2.5")
          .doesNotContain("cluster_queue=\"gone\"");
      gates.clusterQueueRemoved("cq");
      assertThat(text(scrape)).doesNotContain(METRIC + "_count{");
    }
  }

  private static String text(MetricsScrape scrape) {
    return new String(scrape.scrape().body(), StandardCharsets.UTF_8);
  }
}

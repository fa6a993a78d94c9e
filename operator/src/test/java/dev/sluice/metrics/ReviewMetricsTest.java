package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kube.leader.ReplicaRole;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ReviewMetricsTest {

  @Test
  void reviewsThatWereGivenUpAreCountedByPathAndReason() {
    try (MetricsScrape scrape = new MetricsScrape()) {
      ReviewMetrics metrics = new ReviewMetrics(scrape.registry(), () -> ReplicaRole.LEADER);

      metrics.givenUp("/validate-batch-v1-job", "Deadline");
      metrics.givenUp("/validate-batch-v1-job", "Deadline");

      assertThat(new String(scrape.scrape().body(), StandardCharsets.UTF_8))
          .contains(
              "sluice_webhook_reviews_given_up_total{path=\"/validate-batch-v1-job\","
                  + "reason=\"Deadline\",replica_role=\"leader\"} 2.0");
    }
  }
}

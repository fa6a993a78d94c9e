package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kube.leader.ReplicaRole;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class StartMetricsTest {

  private final MetricsScrape scrape = new MetricsScrape();
  private final StartMetrics metrics = new StartMetrics(scrape, () -> ReplicaRole.LEADER);

  private String served() {
    return new String(scrape.scrape().body(), StandardCharsets.UTF_8);
  }

  @Test
  void silentUntilAStartOfWhichARangeWasTold() {
    assertThat(served()).doesNotContain("sluice_start_estimate_error_seconds_count", "coverage{");
  }

  @Test
  void errorsAreCountedByBasisAndInEitherDirection() {
    metrics.started("Learned", Duration.ofSeconds(-30), true);
    metrics.started("Learned", Duration.ofSeconds(90), false);
    metrics.started("Limit", Duration.ofSeconds(1), true);

    assertThat(served())
        .contains(
            "sluice_start_estimate_error_seconds_sum{basis=\"Learned\",replica_role=\"leader\"}"
                + " 120.0",
            "sluice_start_estimate_error_seconds_count{basis=\"Limit\",replica_role=\"leader\"} 1");
  }

  @Test
  void coverageIsThatOfTheLastTwoHundred() {
    for (int i = 0; i < 100; i++) {
      metrics.started("Learned", Duration.ZERO, false);
    }
    for (int i = 0; i < 150; i++) {
      metrics.started("Learned", Duration.ZERO, true);
    }

    assertThat(served()).contains("sluice_start_estimate_coverage{replica_role=\"leader\"} 0.75");
  }

  @Test
  void simulationsAreCountedByTheirAnswer() {
    assertThat(served()).doesNotContain("sluice_simulation_duration_seconds_count");
    metrics.answered("Later", Duration.ofMillis(250));
    metrics.answered("Later", Duration.ofMillis(250));

    assertThat(served())
        .contains(
            "sluice_simulation_duration_seconds_count{answer=\"Later\",replica_role=\"leader\"} 2",
            "sluice_simulation_duration_seconds_sum{answer=\"Later\",replica_role=\"leader\"} 0.5");
  }
}

package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class InstallationMetricsTest {

  @Test
  void theEndOfEachCertificateIsToldAsItIsAtTheScrape() {
    AtomicReference<Optional<Instant>> end = new AtomicReference<>(Optional.empty());
    try (MetricsScrape scrape = new MetricsScrape()) {
      InstallationMetrics metrics =
          new InstallationMetrics(scrape.registry(), Map.of("webhooks", end::get));
      metrics.set("roles", true);
      assertThat(body(scrape))
          .contains("sluice_installation_fault{object=\"roles\"} 1.0")
          .doesNotContain("server=\"webhooks\"");

      end.set(Optional.of(Instant.ofEpochSecond(1_900_000_000)));

      assertThat(body(scrape))
          .contains("sluice_certificate_expiry_timestamp_seconds{server=\"webhooks\"} 1.9E9");
    }
  }

  private static String body(MetricsScrape scrape) {
    return new String(scrape.scrape().body(), StandardCharsets.UTF_8);
  }
}

package dev.sluice.metrics;

import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Says which of the objects that the operator needs in the cluster are missing or damaged, and how
 * long its certificates are good.
 */
public final class InstallationMetrics {

  private final Gauge faults;

  /**
   * Registers the metrics {@code sluice_installation_fault} and {@code
   * sluice_certificate_expiry_timestamp_seconds}.
   *
   * @param expiries when the certificate in use ends, by the name of the server; asked at each
   *     scrape
   */
  public InstallationMetrics(
      PrometheusRegistry registry, Map<String, Supplier<Optional<Instant>>> expiries) {
    GaugeWithCallback.builder()
        .name("sluice_certificate_expiry_timestamp_seconds")
        .help("When the certificate that a server shows ends, in seconds since 1970")
        .labelNames("server")
        .callback(
            series ->
                expiries.forEach(
                    (server, expiry) ->
                        expiry.get().ifPresent(end -> series.call(end.getEpochSecond(), server))))
        .register(registry);
    faults =
        Gauge.builder()
            .name("sluice_installation_fault")
            .help("1 while an object that the operator needs is missing or damaged, 0 otherwise")
            .labelNames("object")
            .register(registry);
  }

  /**
   * Tells of an object.
   *
   * @param object one of {@code registrations}, {@code certificate}, {@code roles}, {@code
   *     endpoints}
   */
  public void set(String object, boolean fault) {
    faults.labelValues(object).set(fault ? 1 : 0);
  }
}

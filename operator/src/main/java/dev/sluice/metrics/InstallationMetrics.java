package dev.sluice.metrics;

import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/** Says which of the objects that the operator needs in the cluster are missing or damaged. */
public final class InstallationMetrics {

  private final Gauge faults;

  /** Registers the metric {@code sluice_installation_fault}. */
  public InstallationMetrics(PrometheusRegistry registry) {
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

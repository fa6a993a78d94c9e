package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.function.Supplier;

/** Counts admission reviews that were not computed, and so were refused. Thread-safe. */
public final class ReviewMetrics {

  private final Supplier<ReplicaRole> role;
  private final Counter givenUp;

  /**
   * Registers the metric {@code sluice_webhook_reviews_given_up_total}.
   *
   * @param role the current role of this replica
   */
  public ReviewMetrics(PrometheusRegistry registry, Supplier<ReplicaRole> role) {
    this.role = role;
    this.givenUp =
        new MetricFamilies(registry)
            .counter(
                "sluice_webhook_reviews_given_up_total",
                "Admission reviews that took too long or found no room, and were refused",
                "path",
                "reason");
  }

  /**
   * A review was refused.
   *
   * @param path of the webhook
   * @param reason {@code Deadline} or {@code Overload}
   */
  public void givenUp(String path, String reason) {
    givenUp.labelValues(MetricFamilies.values(role.get(), path, reason)).inc();
  }
}

package dev.sluice.metrics;

import dev.sluice.kube.events.EventRecorder.EventCounter;
import dev.sluice.kube.leader.ReplicaRole;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.function.Supplier;

/** Counts the Kubernetes events that were recorded, by result. */
public final class EventCounts implements EventCounter {

  private final Supplier<ReplicaRole> role;
  private final Counter events;

  /** Registers the metric {@code sluice_events_total}. */
  public EventCounts(PrometheusRegistry registry, Supplier<ReplicaRole> role) {
    this.role = role;
    events =
        new MetricFamilies(registry)
            .counter("sluice_events_total", "Events recorded, by what became of them", "result");
  }

  @Override
  public void written() {
    count("written");
  }

  @Override
  public void aggregated() {
    count("aggregated");
  }

  @Override
  public void dropped() {
    count("dropped");
  }

  @Override
  public void failed() {
    count("failed");
  }

  private void count(String result) {
    events.labelValues(MetricFamilies.values(role.get(), result)).inc();
  }
}

package dev.sluice.metrics;

import io.prometheus.metrics.model.snapshots.MetricSnapshots;

/** Gauges that are computed at each scrape. */
@FunctionalInterface
public interface GaugeSource {

  /** The values at the time of the call. */
  MetricSnapshots collect();
}

package dev.sluice.metrics;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Writes every metric of the process in the Prometheus text format, whatever format the scraper
 * requests: the API has a gauge {@code kueue_finished_workloads} and a counter {@code
 * kueue_finished_workloads_total}, which OpenMetrics would treat as one family with two types.
 */
public final class MetricsScrape implements AutoCloseable {

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, registry, Clock.SYSTEM);
  private final JvmGcMetrics collections = new JvmGcMetrics();
  private final List<GaugeSource> gauges = new CopyOnWriteArrayList<>();
  private final List<Runnable> cleanups = new CopyOnWriteArrayList<>();
  private final PrometheusTextFormatWriter writer =
      PrometheusTextFormatWriter.builder().setIncludeCreatedTimestamps(false).build();

  /**
   * The metrics at one time.
   *
   * @param contentType media type of the body
   * @param body the body; must not be modified
   */
  public record Exposition(String contentType, byte[] body) {}

  /** Registers the metrics of the Java virtual machine. */
  public MetricsScrape() {
    new JvmMemoryMetrics().bindTo(meters);
    new JvmThreadMetrics().bindTo(meters);
    new ClassLoaderMetrics().bindTo(meters);
    new ProcessorMetrics().bindTo(meters);
    new UptimeMetrics().bindTo(meters);
    new FileDescriptorMetrics().bindTo(meters);
    collections.bindTo(meters);
  }

  /** The registry of the operator's counters and histograms. */
  public PrometheusRegistry registry() {
    return registry;
  }

  /** The registry for libraries; its metrics are written together with the operator's. */
  public MeterRegistry meters() {
    return meters;
  }

  /** Adds gauges to every scrape. To be called at startup. */
  public void include(GaugeSource source) {
    gauges.add(source);
  }

  /**
   * Removes the series of deleted queues before each scrape, by {@code cleanup}. To be called at
   * startup.
   */
  public void forgetting(Runnable cleanup) {
    cleanups.add(cleanup);
  }

  /** Writes all metrics. */
  public Exposition scrape() {
    cleanups.forEach(Runnable::run);
    ByteArrayOutputStream body = new ByteArrayOutputStream(1 << 16);
    try {
      writer.write(body, registry.scrape());
      for (GaugeSource each : gauges) {
        writer.write(body, each.collect());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
    return new Exposition(writer.getContentType(), body.toByteArray());
  }

  @Override
  public void close() {
    collections.close();
    meters.close();
  }

  /** Gauges that are computed at each scrape. */
  @FunctionalInterface
  public interface GaugeSource {

    /** The values at the time of the call. */
    MetricSnapshots collect();
  }
}

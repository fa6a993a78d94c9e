package dev.sluice.metrics;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.javaoperatorsdk.operator.api.reconciler.RetryInfo;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Measures the framework's reconcilers under the names that dashboards of controllers use. An
 * object that is submitted again before its reconciliation begins counts as added again, and waits
 * once. Thread-safe.
 */
public final class ReconcilerMetrics implements Metrics {

  private static final String CONTROLLER = "controller";
  private static final String NAME = "name";
  private static final double[] BOUNDS = MetricFamilies.doubling(0.001, 16);

  private final LongSupplier nanoTime;
  private final Map<Key, Long> waiting = new ConcurrentHashMap<>();
  private final Counter adds;
  private final Gauge depth;
  private final Histogram queued;
  private final Histogram worked;
  private final Counter reconciled;
  private final Counter failed;
  private final Histogram took;
  private final Gauge workers;

  private record Key(String controller, @Nullable String namespace, String name) {}

  /**
   * Registers the metrics.
   *
   * @param nanoTime a monotonic clock in nanoseconds
   */
  public ReconcilerMetrics(PrometheusRegistry registry, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    adds = counter(registry, "workqueue_adds_total", "Objects submitted to a reconciler", NAME);
    depth = gauge(registry, "workqueue_depth", "Objects that wait for a reconciler", NAME);
    queued =
        histogram(registry, "workqueue_queue_duration_seconds", "How long objects waited", NAME);
    worked = histogram(registry, "workqueue_work_duration_seconds", "How long each took", NAME);
    reconciled =
        counter(
            registry,
            "controller_runtime_reconcile_total",
            "Reconciliations, by result",
            CONTROLLER,
            "result");
    failed =
        counter(
            registry,
            "controller_runtime_reconcile_errors_total",
            "Reconciliations that failed",
            CONTROLLER);
    took =
        histogram(
            registry,
            "controller_runtime_reconcile_time_seconds",
            "How long reconciliations took",
            CONTROLLER);
    workers =
        gauge(
            registry,
            "controller_runtime_active_workers",
            "Reconciliations in progress",
            CONTROLLER);
  }

  @Override
  public void reconcileCustomResource(
      HasMetadata resource, @Nullable RetryInfo retry, Map<String, Object> metadata) {
    Key key = key(resource, metadata);
    adds.labelValues(key.controller()).inc();
    if (waiting.putIfAbsent(key, nanoTime.getAsLong()) == null) {
      depth.labelValues(key.controller()).inc();
    }
  }

  @Override
  public void reconciliationExecutionStarted(HasMetadata resource, Map<String, Object> metadata) {
    Key key = key(resource, metadata);
    Long since = waiting.remove(key);
    if (since != null) {
      depth.labelValues(key.controller()).dec();
      queued.labelValues(key.controller()).observe(secondsSince(since));
    }
  }

  /** An object is gone, whether it has been reconciled since it was submitted or not. */
  @Override
  public void cleanupDoneFor(ResourceID id, Map<String, Object> metadata) {
    Key key = key(metadata, id.getNamespace().orElse(null), id.getName());
    if (waiting.remove(key) != null) {
      depth.labelValues(key.controller()).dec();
    }
  }

  @Override
  public <T> T timeControllerExecution(ControllerExecution<T> execution) throws Exception {
    String controller = execution.controllerName();
    long start = nanoTime.getAsLong();
    boolean success = false;
    workers.labelValues(controller).inc();
    try {
      T result = execution.execute();
      success = true;
      return result;
    } finally {
      workers.labelValues(controller).dec();
      double seconds = secondsSince(start);
      worked.labelValues(controller).observe(seconds);
      took.labelValues(controller).observe(seconds);
      reconciled.labelValues(controller, success ? "success" : "error").inc();
      failed.labelValues(controller).inc(success ? 0 : 1);
    }
  }

  private double secondsSince(long start) {
    return Math.max(0, nanoTime.getAsLong() - start) / 1e9;
  }

  private static Key key(HasMetadata resource, Map<String, Object> metadata) {
    return key(metadata, resource.getMetadata().getNamespace(), resource.getMetadata().getName());
  }

  private static Key key(Map<String, Object> metadata, @Nullable String namespace, String name) {
    return new Key(
        String.valueOf(metadata.getOrDefault(Constants.CONTROLLER_NAME, "")), namespace, name);
  }

  private static Counter counter(
      PrometheusRegistry registry, String name, String help, String... labels) {
    return Counter.builder().name(name).help(help).labelNames(labels).register(registry);
  }

  private static Gauge gauge(
      PrometheusRegistry registry, String name, String help, String... labels) {
    return Gauge.builder().name(name).help(help).labelNames(labels).register(registry);
  }

  private static Histogram histogram(
      PrometheusRegistry registry, String name, String help, String... labels) {
    return Histogram.builder()
        .name(name)
        .help(help)
        .classicOnly()
        .classicUpperBounds(BOUNDS)
        .labelNames(labels)
        .register(registry);
  }
}

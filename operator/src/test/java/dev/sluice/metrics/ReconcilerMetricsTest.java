package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.javaoperatorsdk.operator.api.monitoring.Metrics.ControllerExecution;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReconcilerMetricsTest {

  private static final Map<String, Object> METADATA = Map.of(Constants.CONTROLLER_NAME, "queues");
  private static final ConfigMap OBJECT =
      new ConfigMapBuilder()
          .withNewMetadata()
          .withNamespace("ns")
          .withName("a")
          .endMetadata()
          .build();

  private final AtomicLong nanos = new AtomicLong();
  private final MetricsScrape scrape = new MetricsScrape();
  private final ReconcilerMetrics metrics = new ReconcilerMetrics(scrape.registry(), nanos::get);

  private record Execution(Callable<String> work) implements ControllerExecution<String> {

    @Override
    public String name() {
      return "reconcile";
    }

    @Override
    public String controllerName() {
      return "queues";
    }

    @Override
    public String successTypeName(String result) {
      return "resource";
    }

    @Override
    public ResourceID resourceID() {
      return new ResourceID("a", "ns");
    }

    @Override
    public Map<String, Object> metadata() {
      return METADATA;
    }

    @Override
    public String execute() throws Exception {
      return work.call();
    }
  }

  @AfterEach
  void close() {
    scrape.close();
  }

  private String text() {
    return new String(scrape.scrape().body(), StandardCharsets.UTF_8);
  }

  @Test
  void anObjectWaitsOnceHoweverOftenItIsSubmitted() {
    metrics.reconcileCustomResource(OBJECT, null, METADATA);
    nanos.addAndGet(2_000_000_000L);
    metrics.reconcileCustomResource(OBJECT, null, METADATA);

    assertThat(text())
        .contains(
            "workqueue_adds_total{name=\"queues\"} 2.0", "workqueue_depth{name=\"queues\"} 1.0");

    metrics.reconciliationExecutionStarted(OBJECT, METADATA);
    metrics.reconciliationExecutionStarted(OBJECT, METADATA);

    assertThat(text())
        .contains(
            "workqueue_depth{name=\"queues\"} 0.0",
            "workqueue_queue_duration_seconds_count{name=\"queues\"} 1",
            "workqueue_queue_duration_seconds_sum{name=\"queues\"} 2.0");
  }

  /** The framework begins no reconciliation of an object that it has no more. */
  @Test
  void anObjectThatGoesBeforeItsTurnWaitsNoMore() {
    metrics.reconcileCustomResource(OBJECT, null, METADATA);
    metrics.cleanupDoneFor(ResourceID.fromResource(OBJECT), METADATA);
    metrics.cleanupDoneFor(ResourceID.fromResource(OBJECT), METADATA);

    assertThat(text()).contains("workqueue_depth{name=\"queues\"} 0.0");

    nanos.addAndGet(7_000_000_000L);
    metrics.reconcileCustomResource(OBJECT, null, METADATA);
    nanos.addAndGet(1_000_000_000L);
    metrics.reconciliationExecutionStarted(OBJECT, METADATA);

    assertThat(text())
        .contains(
            "workqueue_depth{name=\"queues\"} 0.0",
            "workqueue_queue_duration_seconds_sum{name=\"queues\"} 1.0");
  }

  @Test
  void reconciliationsAreCountedByResult() throws Exception {
    assertThat(
            metrics.timeControllerExecution(
                new Execution(
                    () -> {
                      nanos.addAndGet(500_000_000L);
                      assertThat(text())
                          .contains("controller_runtime_active_workers{controller=\"queues\"} 1.0");
                      return "done";
                    })))
        .isEqualTo("done");
    assertThatThrownBy(
            () ->
                metrics.timeControllerExecution(
                    new Execution(
                        () -> {
                          throw new IllegalStateException("no");
                        })))
        .hasMessage("no");

    assertThat(text())
        .contains(
            "controller_runtime_active_workers{controller=\"queues\"} 0.0",
            "controller_runtime_reconcile_total{controller=\"queues\",result=\"success\"} 1.0",
            "controller_runtime_reconcile_total{controller=\"queues\",result=\"error\"} 1.0",
            "controller_runtime_reconcile_errors_total{controller=\"queues\"} 1.0",
            "controller_runtime_reconcile_time_seconds_sum{controller=\"queues\"} 0.5",
            "workqueue_work_duration_seconds_count{name=\"queues\"} 2");
  }
}

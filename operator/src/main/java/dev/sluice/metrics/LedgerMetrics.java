package dev.sluice.metrics;

import dev.sluice.api.Quantities;
import dev.sluice.ledger.Ledger;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.function.Predicate;

/**
 * Counts what the ledger of this process wrote, lost, and has to write. Lost work is counted at the
 * end of an attempt, with what ran before this process led, and all else since it leads: so {@code
 * lost} can exceed {@code run} (docs/ledger.md#metrics). Thread-safe.
 */
public final class LedgerMetrics implements Ledger.Listener {

  private static final double MILLIS = 1_000;

  private final Counter seconds;
  private final Counter dropped;
  private final Counter failed;
  private final Gauge waiting;

  /** Registers the metrics. */
  public LedgerMetrics(PrometheusRegistry registry) {
    seconds =
        Counter.builder()
            .name("sluice_resource_seconds_total")
            .help(
                "Amounts of resources times seconds that Workloads used, minute by minute:"
                    + " reserved, of it run and waited, and at the end of an attempt what of it is"
                    + " lost")
            .labelNames("cluster_queue", "flavor", "resource", "state")
            .register(registry);
    dropped =
        Counter.builder()
            .name("sluice_ledger_dropped_observations_total")
            .help("Changes of Workloads that were not kept for the ledger")
            .register(registry);
    failed =
        Counter.builder()
            .name("sluice_ledger_failed_writes_total")
            .help("Attempts to write rows of the ledger that failed, and are repeated")
            .register(registry);
    waiting =
        Gauge.builder()
            .name("sluice_ledger_waiting_bytes")
            .help("Bytes that wait for the database of the ledger")
            .register(registry);
  }

  @Override
  public void used(String clusterQueue, String flavor, String resource, Ledger.Use use) {
    double units = resource.equals(Quantities.CPU) ? MILLIS * MILLIS : MILLIS;
    count(clusterQueue, flavor, resource, "reserved", use.reserved() / units);
    count(clusterQueue, flavor, resource, "run", use.run() / units);
    count(clusterQueue, flavor, resource, "waited", use.waited() / units);
    count(clusterQueue, flavor, resource, "lost", use.lost() / units);
  }

  private void count(
      String clusterQueue, String flavor, String resource, String state, double amount) {
    seconds.labelValues(clusterQueue, flavor, resource, state).inc(amount);
  }

  @Override
  public void dropped() {
    dropped.inc();
  }

  @Override
  public void failed() {
    failed.inc();
  }

  @Override
  public void waiting(long bytes) {
    waiting.set(bytes);
  }

  /** Ends the series of ClusterQueues that don't exist. */
  public void forgetRemoved(Predicate<String> exists) {
    seconds.removeIf(labels -> !exists.test(labels.get(0)));
  }
}

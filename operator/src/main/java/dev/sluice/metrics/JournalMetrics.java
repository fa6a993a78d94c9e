package dev.sluice.metrics;

import dev.sluice.journal.JournalWriter;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/** Counts what the journal of this process holds and lacks. Thread-safe. */
public final class JournalMetrics implements JournalWriter.Listener {

  private final Counter dropped;
  private final Counter records;
  private final Counter bytes;

  /** Registers the metrics, which begin at 0. */
  public JournalMetrics(PrometheusRegistry registry) {
    dropped =
        counter(
            registry,
            "sluice_journal_dropped_events_total",
            "Events, cycles and decisions that were not written to the journal and will not be");
    records =
        counter(
            registry,
            "sluice_journal_records_total",
            "Events, cycles and decisions that were written to the journal");
    bytes = counter(registry, "sluice_journal_bytes_total", "Bytes written to the journal");
  }

  private static Counter counter(PrometheusRegistry registry, String name, String help) {
    return Counter.builder().name(name).help(help).register(registry);
  }

  @Override
  public void written(long writtenRecords, long writtenBytes) {
    records.inc(writtenRecords);
    bytes.inc(writtenBytes);
  }

  @Override
  public void dropped(long droppedRecords) {
    dropped.inc(droppedRecords);
  }
}

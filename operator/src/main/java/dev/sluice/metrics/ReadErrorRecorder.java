package dev.sluice.metrics;

import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.ReadErrorLog.Fault;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.function.Supplier;

/** Counts objects that could not be read, and records an event for each. */
public final class ReadErrorRecorder implements ReadErrorLog.Listener {

  private static final String REASON = "Unreadable";

  private final EventRecorder events;
  private final Supplier<ReplicaRole> role;
  private final Counter faults;

  /** Registers the metric {@code sluice_unreadable_objects_total}. */
  public ReadErrorRecorder(
      PrometheusRegistry registry, EventRecorder events, Supplier<ReplicaRole> role) {
    this.events = events;
    this.role = role;
    this.faults =
        new MetricFamilies(registry)
            .counter(
                "sluice_unreadable_objects_total",
                "Objects that could not be read, and are left as they are, each time they are met",
                "kind");
  }

  @Override
  public void unreadable(Fault fault, boolean news) {
    faults.labelValues(MetricFamilies.values(role.get(), fault.kind())).inc();
    if (news && !fault.name().isEmpty()) {
      events.record(
          new ObjectReference(
              fault.apiVersion(), fault.kind(), fault.namespace(), fault.name(), fault.uid()),
          EventRecorder.Type.WARNING,
          REASON,
          "Read",
          "Can't be read and is left as it is: " + fault.reason());
    }
  }
}

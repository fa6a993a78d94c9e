package dev.sluice.app.module;

import dev.sluice.api.KueueConstants;
import dev.sluice.checks.multikueue.sync.DispatchListener;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.metrics.MultiKueueMetrics;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/** Records the dispatch of Workloads to worker clusters: events on the Workload, and metrics. */
final class MultiKueueEventRecorder implements DispatchListener {

  private static final String MULTI_KUEUE = "MultiKueue";

  private final EventRecorder events;
  private final InstantSource clock;
  private volatile Optional<MultiKueueMetrics> metrics = Optional.empty();

  /** Records events only. */
  MultiKueueEventRecorder(EventRecorder events, InstantSource clock) {
    this.events = events;
    this.clock = clock;
  }

  /** Records metrics too from now on. */
  void measure(MultiKueueMetrics metrics) {
    this.metrics = Optional.of(metrics);
  }

  /** The Workload was deactivated because its manager was silent for too long. */
  void fenced(CachedWorkload workload) {
    String origin = workload.labels().getOrDefault(KueueConstants.MULTIKUEUE_ORIGIN, "");
    metrics.ifPresent(it -> it.fenced(origin));
    reported(
        workload,
        true,
        "Deactivated: the manager cluster that sent the workload, origin \""
            + origin
            + "\", was not heard of in time");
  }

  @Override
  public void dispatched(CachedWorkload workload, String clusterQueue, String cluster) {
    metrics.ifPresent(it -> it.dispatched(clusterQueue, cluster));
  }

  @Override
  public void admitted(CachedWorkload workload, String clusterQueue, String cluster) {
    Duration after = Duration.between(workload.createdAt(), clock.instant());
    metrics.ifPresent(it -> it.admitted(clusterQueue, cluster, after));
  }

  @Override
  public void requeued(CachedWorkload workload, String clusterQueue, String cluster) {
    metrics.ifPresent(it -> it.requeued(clusterQueue, cluster));
  }

  @Override
  public void cutOff(String cluster) {
    metrics.ifPresent(it -> it.cutOff(cluster));
  }

  @Override
  public void unreadable(String cluster) {
    metrics.ifPresent(it -> it.unreadable(cluster));
  }

  @Override
  public void reported(CachedWorkload workload, boolean warning, String note) {
    events.record(
        WorkloadReference.of(workload.id()),
        warning ? EventRecorder.Type.WARNING : EventRecorder.Type.NORMAL,
        MULTI_KUEUE,
        "Dispatch",
        note);
  }
}

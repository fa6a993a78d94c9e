package dev.sluice.app.module;

import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.queues.cache.CachedQueues;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Tells of the Workloads that wait in a queue when the longest run time of the queue changes. */
final class RunTimeLimitObserver {

  private final InformerCaches caches;
  private final WorkloadLister workloads;
  private final Consumer<CachedWorkload> observer;

  private RunTimeLimitObserver(
      InformerCaches caches, WorkloadLister workloads, Consumer<CachedWorkload> observer) {
    this.caches = caches;
    this.workloads = workloads;
    this.observer = observer;
  }

  /** From now on the observer is told. */
  static void connect(
      InformerCaches caches, WorkloadLister workloads, Consumer<CachedWorkload> observer) {
    RunTimeLimitObserver told = new RunTimeLimitObserver(caches, workloads, observer);
    caches
        .localQueues()
        .observe(
            (before, after) -> {
              if (after != null && !limit(before).equals(limit(after))) {
                told.changed(after);
              }
            });
    caches
        .clusterQueues()
        .observe(
            (before, after) -> {
              if (after != null && !limit(before).equals(limit(after))) {
                told.changedCluster(after.getMetadata().getName());
              }
            });
  }

  private static Optional<Duration> limit(@Nullable HasMetadata queue) {
    return queue == null
        ? Optional.empty()
        : RunTimeAnnotations.maxOf(queue.getMetadata().getAnnotations());
  }

  private void changedCluster(String clusterQueue) {
    caches.localQueues().all().stream()
        .filter(queue -> CachedQueues.clusterQueue(queue).equals(clusterQueue))
        .forEach(this::changed);
  }

  private void changed(LocalQueue queue) {
    workloads.inQueue(queue.getMetadata().getNamespace(), queue.getMetadata().getName()).stream()
        .filter(workload -> !workload.quotaReserved() && !workload.finished())
        .forEach(observer);
  }
}

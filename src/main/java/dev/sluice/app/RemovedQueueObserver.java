package dev.sluice.app;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.metrics.WorkloadMetrics;
import dev.sluice.queues.cache.InformerCaches;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends the series of queues and cohorts when their objects are deleted. One that is created again
 * under the same name begins at 0, even if nobody has scraped in between.
 */
final class RemovedQueueObserver {

  private RemovedQueueObserver() {}

  /** Observes the objects of {@code caches}. */
  static void connect(InformerCaches caches, WorkloadMetrics metrics) {
    caches
        .clusterQueues()
        .observe(
            (before, after) ->
                ifGone(before, after, gone -> metrics.clusterQueueRemoved(gone.getName())));
    caches
        .localQueues()
        .observe(
            (before, after) ->
                ifGone(
                    before,
                    after,
                    gone ->
                        metrics.localQueueRemoved(
                            new LocalQueueId(gone.getNamespace(), gone.getName()))));
    caches
        .cohorts()
        .observe(
            (before, after) ->
                ifGone(before, after, gone -> metrics.cohortRemoved(gone.getName())));
  }

  /** An object is gone, too, if another one has its name. */
  private static void ifGone(
      @Nullable HasMetadata before, @Nullable HasMetadata after, Consumer<ObjectMeta> action) {
    if (before != null
        && (after == null
            || !Objects.equals(before.getMetadata().getUid(), after.getMetadata().getUid()))) {
      action.accept(before.getMetadata());
    }
  }
}

package dev.sluice.app.module;

import dev.sluice.api.config.Configuration.SourceKind;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.metrics.CustomLabels;
import dev.sluice.metrics.MetricsScrape;
import dev.sluice.metrics.MultiKueueMetrics;
import dev.sluice.metrics.PodGateMetrics;
import dev.sluice.metrics.WorkloadMetrics;
import dev.sluice.queues.cache.InformerCaches;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends the series of queues and cohorts when their objects are deleted. One that is created again
 * under the same name begins at 0, even if nobody has scraped in between. The same holds for a
 * queue whose custom labels change; a Cohort is counted on with the new labels beside the old ones.
 */
final class RemovedQueueObserver {

  private RemovedQueueObserver() {}

  /** Observes the objects of {@code caches}. */
  static void connect(
      InformerCaches caches,
      WorkloadMetrics metrics,
      PodGateMetrics podGates,
      CustomLabels customLabels) {
    caches
        .clusterQueues()
        .observe(
            (before, after) ->
                ifGone(
                    before,
                    after,
                    sameLabels(customLabels, SourceKind.CLUSTER_QUEUE),
                    gone -> {
                      metrics.clusterQueueRemoved(gone.getName());
                      podGates.clusterQueueRemoved(gone.getName());
                    }));
    caches
        .localQueues()
        .observe(
            (before, after) ->
                ifGone(
                    before,
                    after,
                    sameLabels(customLabels, SourceKind.LOCAL_QUEUE),
                    gone ->
                        metrics.localQueueRemoved(
                            new LocalQueueId(gone.getNamespace(), gone.getName()))));
    caches
        .cohorts()
        .observe(
            (before, after) ->
                ifGone(
                    before,
                    after,
                    (one, two) -> true,
                    gone -> metrics.cohortRemoved(gone.getName())));
  }

  /** Observes the ClusterQueues of {@code caches} for the metrics of dispatch, which name them. */
  static void connect(InformerCaches caches, MetricsScrape scrape, MultiKueueMetrics metrics) {
    caches
        .clusterQueues()
        .observe(
            (before, after) ->
                ifGone(
                    before,
                    after,
                    (one, two) -> true,
                    gone -> metrics.clusterQueueRemoved(gone.getName())));
    scrape.forgetting(
        () -> metrics.forgetRemoved(name -> caches.clusterQueues().find(name).isPresent()));
  }

  /** Whether two states of an object give custom labels the same values. */
  private static BiPredicate<HasMetadata, HasMetadata> sameLabels(
      CustomLabels customLabels, SourceKind kind) {
    return (one, two) ->
        customLabels
            .values(kind, CachedLabelSources.metadata(one))
            .equals(customLabels.values(kind, CachedLabelSources.metadata(two)));
  }

  /** An object is gone, too, if another one has its name, or if its custom labels changed. */
  private static void ifGone(
      @Nullable HasMetadata before,
      @Nullable HasMetadata after,
      BiPredicate<HasMetadata, HasMetadata> sameLabels,
      Consumer<ObjectMeta> action) {
    if (before != null
        && (after == null
            || !Objects.equals(before.getMetadata().getUid(), after.getMetadata().getUid())
            || !sameLabels.test(before, after))) {
      action.accept(before.getMetadata());
    }
  }

  /** The objects that custom metric labels take their values from, as the caches have them. */
  record CachedLabelSources(InformerCaches caches) implements CustomLabels.Sources {

    @Override
    public Optional<CustomLabels.Metadata> clusterQueue(String name) {
      return caches.clusterQueues().find(name).map(CachedLabelSources::metadata);
    }

    @Override
    public Optional<CustomLabels.Metadata> cohort(String name) {
      return caches.cohorts().find(name).map(CachedLabelSources::metadata);
    }

    @Override
    public Optional<CustomLabels.Metadata> localQueue(LocalQueueId id) {
      return caches.localQueues().find(id.namespace(), id.name()).map(CachedLabelSources::metadata);
    }

    /** Labels and annotations of an object. */
    static CustomLabels.Metadata metadata(HasMetadata object) {
      ObjectMeta metadata = object.getMetadata();
      return new CustomLabels.Metadata(
          Optional.ofNullable(metadata.getLabels()).orElse(Map.of()),
          Optional.ofNullable(metadata.getAnnotations()).orElse(Map.of()));
    }
  }
}

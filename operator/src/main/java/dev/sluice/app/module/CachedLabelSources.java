package dev.sluice.app.module;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.metrics.CustomLabels;
import dev.sluice.queues.cache.InformerCaches;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Map;
import java.util.Optional;

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

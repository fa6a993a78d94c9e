package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.WorkloadLister;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The objects of the kinds that are made from quotas, as the caches have them. */
final class ExistingObjects {

  private final InformerCaches caches;
  private final WorkloadLister workloads;

  ExistingObjects(InformerCaches caches, WorkloadLister workloads) {
    this.caches = caches;
    this.workloads = workloads;
  }

  /** Has a listener called when an object changes in what matters here. */
  void observe(Runnable listener) {
    caches.flavors().observe((before, after) -> tell(before, after, listener));
    caches.cohorts().observe((before, after) -> tell(before, after, listener));
    caches.clusterQueues().observe((before, after) -> tell(before, after, listener));
    caches.localQueues().observe((before, after) -> tell(before, after, listener));
    caches
        .namespaces()
        .observe(
            (before, after) -> {
              if (before == null || after == null) {
                listener.run();
              }
            });
  }

  private static void tell(
      @Nullable HasMetadata before, @Nullable HasMetadata after, Runnable listener) {
    if (before == null || after == null || !sameIntent(before.getMetadata(), after.getMetadata())) {
      listener.run();
    }
  }

  private static boolean sameIntent(ObjectMeta before, ObjectMeta after) {
    return Objects.equals(before.getGeneration(), after.getGeneration())
        && Objects.equals(before.getAnnotations(), after.getAnnotations())
        && Objects.equals(before.getDeletionTimestamp(), after.getDeletionTimestamp());
  }

  /**
   * All objects.
   *
   * @param queues the Queues that count
   */
  Map<ObjectId, ExistingObject> all(Collection<GenericKubernetesResource> queues) {
    Map<ObjectId, ExistingObject> result = new HashMap<>();
    add(result, ObjectKind.FLAVOR, caches.flavors().all(), each -> each.getSpec());
    add(result, ObjectKind.COHORT, caches.cohorts().all(), each -> each.getSpec());
    add(result, ObjectKind.CLUSTER_QUEUE, caches.clusterQueues().all(), each -> each.getSpec());
    add(result, ObjectKind.LOCAL_QUEUE, caches.localQueues().all(), each -> each.getSpec());
    add(result, ObjectKind.QUEUE, queues, each -> each.getAdditionalProperties().get("spec"));
    return result;
  }

  private <T extends HasMetadata> void add(
      Map<ObjectId, ExistingObject> result,
      ObjectKind kind,
      Collection<T> objects,
      Function<T, @Nullable Object> spec) {
    for (T object : objects) {
      ObjectMeta metadata = object.getMetadata();
      ObjectId id =
          new ObjectId(
              kind, Objects.requireNonNullElse(metadata.getNamespace(), ""), metadata.getName());
      Map<String, String> annotations =
          Objects.requireNonNullElse(metadata.getAnnotations(), Map.of());
      boolean ours = SourceMark.of(annotations).isPresent();
      Object fields = spec.apply(object);
      // of strangers it matters in which Cohorts they are
      boolean hasCohort = kind == ObjectKind.CLUSTER_QUEUE || kind == ObjectKind.COHORT;
      JsonNode tree =
          (ours || hasCohort) && fields != null
              ? JsonMappers.JSON.valueToTree(fields)
              : MissingNode.getInstance();
      result.put(
          id,
          new ExistingObject(
              id,
              Objects.requireNonNullElse(metadata.getUid(), ""),
              annotations,
              tree,
              ours && isInUse(id),
              metadata.getDeletionTimestamp() != null));
    }
  }

  private boolean isInUse(ObjectId id) {
    return switch (id.kind()) {
      case CLUSTER_QUEUE -> !workloads.reservingIn(id.name()).isEmpty();
      case LOCAL_QUEUE ->
          workloads.inQueue(id.namespace(), id.name()).stream().anyMatch(each -> !each.finished());
      case COHORT, FLAVOR, QUEUE -> false;
    };
  }
}

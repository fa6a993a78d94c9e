package dev.sluice.visibility.explain;

import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.v1beta2.AdmissionFairSharingStatus;
import dev.sluice.api.v1beta2.AdmissionMode;
import dev.sluice.api.v1beta2.AdmissionScope;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueuePreemption;
import dev.sluice.api.v1beta2.ClusterQueueSpec;
import dev.sluice.api.v1beta2.FairSharing;
import dev.sluice.api.v1beta2.FlavorFungibility;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.LocalQueueFairSharingStatus;
import dev.sluice.api.v1beta2.LocalQueueSpec;
import dev.sluice.api.v1beta2.LocalQueueStatus;
import dev.sluice.api.v1beta2.QueueingStrategy;
import dev.sluice.api.v1beta2.StopPolicy;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Queues with what {@link QueueSnapshot} needs of them. The fields are taken one by one: a mapper
 * of whole objects would look at all their types first, and a person waits.
 */
final class SnapshotObjects {

  private SnapshotObjects() {}

  static ClusterQueue clusterQueue(GenericKubernetesResource object) {
    ClusterQueue queue = new ClusterQueue();
    queue.getMetadata().setName(object.getMetadata().getName());
    AdmissionMode mode =
        constant(
            object.get("spec", "admissionScope", "admissionMode"),
            AdmissionMode.NO_ADMISSION_FAIR_SHARING);
    queue.setSpec(
        new ClusterQueueSpec(
            null,
            new AdmissionScope(mode),
            null,
            null,
            null,
            FlavorFungibility.DEFAULT,
            null,
            ClusterQueuePreemption.DEFAULT,
            constant(object.get("spec", "queueingStrategy"), QueueingStrategy.BEST_EFFORT_FIFO),
            List.of(),
            constant(object.get("spec", "stopPolicy"), StopPolicy.NONE)));
    return queue;
  }

  static LocalQueue localQueue(GenericKubernetesResource object) {
    LocalQueue queue = new LocalQueue();
    queue.getMetadata().setNamespace(object.getMetadata().getNamespace());
    queue.getMetadata().setName(object.getMetadata().getName());
    Object weight = object.get("spec", "fairSharing", "weight");
    queue.setSpec(
        new LocalQueueSpec(
            JsonPaths.text(object, "spec", "clusterQueue"),
            weight == null ? null : new FairSharing(new Quantity(weight.toString())),
            constant(object.get("spec", "stopPolicy"), StopPolicy.NONE)));
    if (object.get("status", "fairSharing", "admissionFairSharingStatus")
        instanceof Map<?, ?> past) {
      queue.setStatus(
          new LocalQueueStatus(
              null,
              List.of(),
              new LocalQueueFairSharingStatus(0L, past(past)),
              List.of(),
              List.of(),
              null,
              null));
    }
    return queue;
  }

  private static AdmissionFairSharingStatus past(Map<?, ?> status) {
    Map<String, Quantity> consumed = new HashMap<>();
    if (status.get("consumedResources") instanceof Map<?, ?> amounts) {
      amounts.forEach(
          (resource, amount) ->
              consumed.put(resource.toString(), new Quantity(String.valueOf(amount))));
    }
    return new AdmissionFairSharingStatus(consumed, JsonPaths.string(status.get("lastUpdate"), ""));
  }

  /** The constant of this name in the API; the default if the name is absent or unknown. */
  private static <E extends Enum<E>> E constant(@Nullable Object name, E otherwise) {
    try {
      return name == null
          ? otherwise
          : JsonMappers.JSON.convertValue(name, otherwise.getDeclaringClass());
    } catch (IllegalArgumentException unknown) {
      return otherwise;
    }
  }
}

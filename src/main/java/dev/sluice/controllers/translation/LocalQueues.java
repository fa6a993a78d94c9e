package dev.sluice.controllers.translation;

import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.LocalQueueSpec;

/** LocalQueues as the engine knows them. */
public final class LocalQueues {

  private LocalQueues() {}

  /** Which LocalQueue this is. */
  public static LocalQueueId id(LocalQueue queue) {
    return new LocalQueueId(queue.getMetadata().getNamespace(), queue.getMetadata().getName());
  }

  /** The LocalQueue as the engine knows it. */
  public static LocalQueueSpec translate(LocalQueue queue) {
    dev.sluice.api.v1beta2.LocalQueueSpec spec = queue.getSpec();
    if (spec == null) {
      return new LocalQueueSpec(id(queue), "", StopPolicy.NONE);
    }
    return new LocalQueueSpec(
        id(queue),
        spec.clusterQueue() == null ? "" : spec.clusterQueue(),
        ClusterQueues.stopPolicy(spec.stopPolicy()));
  }
}

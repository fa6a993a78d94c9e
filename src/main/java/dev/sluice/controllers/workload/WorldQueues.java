package dev.sluice.controllers.workload;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.StopPolicy;
import dev.sluice.controllers.world.World;
import dev.sluice.workloads.Workload;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** How queues stand, by what the informers know. Usable from any thread. */
public final class WorldQueues implements Function<Workload, Queues> {

  private final World world;

  /** Looks queues up in {@code world}. */
  public WorldQueues(World world) {
    this.world = world;
  }

  @Override
  public Queues apply(Workload workload) {
    Optional<LocalQueue> local =
        world.localQueues().find(workload.id().namespace(), workload.spec().queueName());
    String clusterQueue =
        workload
            .status()
            .admission()
            .map(Workload.Admission::clusterQueue)
            .or(() -> local.map(WorldQueues::clusterQueue))
            .orElse("");
    return new Queues(
        standing(local.orElse(null)),
        standing(world.clusterQueues().find(clusterQueue).orElse(null)));
  }

  /** The ClusterQueue that a LocalQueue names; empty when it names none. */
  static String clusterQueue(LocalQueue queue) {
    String name = queue.getSpec() == null ? null : queue.getSpec().clusterQueue();
    return name == null ? "" : name;
  }

  static QueueStanding standing(@Nullable LocalQueue queue) {
    return standing(
        queue, queue == null || queue.getSpec() == null ? null : queue.getSpec().stopPolicy());
  }

  static QueueStanding standing(@Nullable ClusterQueue queue) {
    return standing(
        queue, queue == null || queue.getSpec() == null ? null : queue.getSpec().stopPolicy());
  }

  private static QueueStanding standing(@Nullable HasMetadata queue, @Nullable StopPolicy policy) {
    if (queue == null) {
      return QueueStanding.MISSING;
    }
    if (policy == StopPolicy.HOLD_AND_DRAIN) {
      return QueueStanding.DRAINED;
    }
    if (policy == StopPolicy.HOLD) {
      return QueueStanding.HELD;
    }
    return queue.getMetadata().getDeletionTimestamp() == null
        ? QueueStanding.OPEN
        : QueueStanding.TERMINATING;
  }
}

package dev.sluice.controllers.workload;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.StopPolicy;
import dev.sluice.controllers.world.World;
import dev.sluice.workloads.RequiredChecks;
import dev.sluice.workloads.Workload;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How queues stand, by what the informers know. Usable from any thread. */
public final class WorldQueues implements Function<Workload, Queues> {

  private final World world;
  private final RequiredChecks required;

  /** Looks queues up in {@code world}. */
  public WorldQueues(World world) {
    this.world = world;
    this.required = new WorldChecks(world);
  }

  @Override
  public Queues apply(Workload workload) {
    Optional<LocalQueue> local =
        world.localQueues().find(workload.id().namespace(), workload.spec().queueName());
    Optional<Workload.Admission> admission = workload.status().admission();
    String clusterQueue =
        admission
            .map(Workload.Admission::clusterQueue)
            .or(() -> local.map(WorldQueues::clusterQueue))
            .orElse("");
    return new Queues(
        standing(local.orElse(null)),
        standing(world.clusterQueues().find(clusterQueue).orElse(null)),
        required.of(clusterQueue, admission.map(WorldQueues::flavors)));
  }

  private static Set<String> flavors(Workload.Admission admission) {
    return admission.podSetAssignments().stream()
        .flatMap(assignment -> assignment.flavors().values().stream())
        .collect(Collectors.toSet());
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

package dev.sluice.queues.cache;

import dev.sluice.api.queueing.StartRules;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.StopPolicy;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.queues.mapping.CheckStrategy;
import dev.sluice.workload.lifecycle.QueueLookup;
import dev.sluice.workload.lifecycle.QueueLookup.QueueState;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.StatusPatch.RequiredChecks;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Looks up the state of queues in the informer caches. Thread-safe. */
public final class CachedQueues implements Function<CachedWorkload, QueueLookup> {

  private final InformerCaches informerCaches;

  /** Creates a lookup in these caches. */
  public CachedQueues(InformerCaches informerCaches) {
    this.informerCaches = informerCaches;
  }

  @Override
  public QueueLookup apply(CachedWorkload workload) {
    Optional<LocalQueue> local =
        informerCaches.localQueues().find(workload.id().namespace(), workload.spec().queueName());
    Optional<CachedWorkload.Admission> admission = workload.status().admission();
    String clusterQueue =
        admission
            .map(CachedWorkload.Admission::clusterQueue)
            .or(() -> local.map(CachedQueues::clusterQueue))
            .orElse("");
    Optional<ClusterQueue> found = informerCaches.clusterQueues().find(clusterQueue);
    return new QueueLookup(
        state(local.orElse(null)),
        state(found.orElse(null)),
        found.map(
            queue ->
                CheckStrategy.hasChecks(queue)
                    ? CheckStrategy.required(
                        queue, admission.map(CachedQueues::flavors), workload.labels())
                    : Collections.emptySortedSet()),
        found
            .map(queue -> StartRules.of(queue.getMetadata().getAnnotations()))
            .orElse(StartRules.NONE),
        Optional.empty(),
        false,
        Map.of());
  }

  private static Set<String> flavors(CachedWorkload.Admission admission) {
    return admission.podSetAssignments().stream()
        .flatMap(assignment -> assignment.flavors().values().stream())
        .collect(Collectors.toSet());
  }

  /** The ClusterQueue that a LocalQueue names; empty if it names none. */
  public static String clusterQueue(LocalQueue queue) {
    String name = queue.getSpec() == null ? null : queue.getSpec().clusterQueue();
    return name == null ? "" : name;
  }

  static QueueState state(@Nullable LocalQueue queue) {
    return state(
        queue, queue == null || queue.getSpec() == null ? null : queue.getSpec().stopPolicy());
  }

  static QueueState state(@Nullable ClusterQueue queue) {
    return state(
        queue, queue == null || queue.getSpec() == null ? null : queue.getSpec().stopPolicy());
  }

  private static QueueState state(@Nullable HasMetadata queue, @Nullable StopPolicy policy) {
    if (queue == null) {
      return QueueState.MISSING;
    }
    if (policy == StopPolicy.HOLD_AND_DRAIN) {
      return QueueState.DRAINED;
    }
    if (policy == StopPolicy.HOLD) {
      return QueueState.HELD;
    }
    return queue.getMetadata().getDeletionTimestamp() == null
        ? QueueState.OPEN
        : QueueState.TERMINATING;
  }

  /** Looks up the checks that ClusterQueues require in the informer caches. Thread-safe. */
  public static final class CachedRequiredChecks implements RequiredChecks {

    private final InformerCaches informerCaches;

    /** Creates a lookup in these caches. */
    public CachedRequiredChecks(InformerCaches informerCaches) {
      this.informerCaches = informerCaches;
    }

    @Override
    public Optional<SortedSet<String>> of(
        String clusterQueue,
        Optional<? extends Collection<String>> assigned,
        Map<String, String> labels) {
      return informerCaches
          .clusterQueues()
          .find(clusterQueue)
          .map(queue -> CheckStrategy.required(queue, assigned, labels));
    }

    /**
     * Why a pending Workload can't be admitted whatever flavors it gets: its status has no room for
     * the checks that it needs then.
     *
     * @param shape what it requests
     */
    public Optional<String> lackOfRoom(CachedWorkload workload, RequestShape shape) {
      return informerCaches
          .localQueues()
          .find(workload.id().namespace(), workload.spec().queueName())
          .map(CachedQueues::clusterQueue)
          .flatMap(informerCaches.clusterQueues()::find)
          .flatMap(
              queue -> CheckStrategy.lackOfRoom(queue, () -> resources(shape), workload.labels()));
    }

    private static Set<String> resources(RequestShape shape) {
      Set<String> resources = new HashSet<>();
      for (PodSetRequest request : shape.podSets()) {
        if (request.count() > 0) {
          request
              .perPod()
              .forEach(
                  (resource, amount) -> {
                    if (amount > 0) {
                      resources.add(resource);
                    }
                  });
        }
      }
      return resources;
    }
  }
}

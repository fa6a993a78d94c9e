package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.client.ObjectPath;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import dev.sluice.kubequeue.SourceMark.Identity;
import dev.sluice.kubequeue.SourceObjects.Kind;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Writes into the status of each Queue that shows a quota which QueueUnits wait, in the order of
 * the ClusterQueue. What changes meanwhile is written together, after fifteen seconds at most.
 */
public final class QueueItemsReporter implements AutoCloseable {

  private static final String ALL = "status of queues of kube-queue";
  private static final Duration EVERY = Duration.ofSeconds(15);

  /** The first of a queue; a status of thousands would be too large to write often. */
  private static final int MOST = 100;

  private final Dependencies dependencies;
  private final SourceObjects objects;
  private final WorkQueue<String> work;

  /**
   * What the reporter reads and writes.
   *
   * @param leading whether this process may write
   */
  public record Dependencies(
      InformerCaches caches,
      WorkloadLister workloads,
      SchedulerQueries queries,
      ApiClient requests,
      BooleanSupplier leading,
      WorkQueueSettings work) {}

  /** Does nothing before {@link #start}. */
  public QueueItemsReporter(Dependencies dependencies, SourceObjects objects) {
    this.dependencies = dependencies;
    this.objects = objects;
    work = new WorkQueue<>(any -> report(), dependencies.work());
  }

  /** Begins: this process leads. */
  public void start() {
    work.enqueue(ALL);
  }

  private Optional<Duration> report() throws InterruptedException {
    if (!dependencies.leading().getAsBoolean()) {
      return Optional.empty();
    }
    Map<Identity, String> clusterQueues = new HashMap<>();
    for (ClusterQueue queue : dependencies.caches().clusterQueues().all()) {
      SourceMark.of(queue)
          .ifPresent(mark -> clusterQueues.put(mark.identity(), queue.getMetadata().getName()));
    }
    for (GenericKubernetesResource queue : objects.all(Kind.QUEUE)) {
      Optional<String> clusterQueue =
          SourceMark.of(queue)
              .filter(mark -> QueueOverrides.isMirror(queue))
              .map(mark -> clusterQueues.get(mark.identity()));
      if (clusterQueue.isPresent()) {
        report(queue, clusterQueue.get());
      }
    }
    return Optional.of(EVERY);
  }

  private void report(GenericKubernetesResource queue, String clusterQueue)
      throws InterruptedException {
    Optional<List<PendingPosition>> pending =
        Futures.forResult(dependencies.queries().pendingInClusterQueue(clusterQueue, 0, MOST));
    ArrayNode items = JsonNodeFactory.instance.arrayNode();
    for (PendingPosition position : pending.orElse(List.of())) {
      items
          .addObject()
          .put("name", unit(position))
          .put("namespace", position.id().namespace())
          .put(
              "priority",
              (int) Math.clamp(position.priority(), Integer.MIN_VALUE, Integer.MAX_VALUE))
          .put("position", position.inClusterQueue() + 1);
    }
    JsonNode before =
        JsonMappers.JSON
            .<JsonNode>valueToTree(queue.getAdditionalProperties())
            .at("/status/queueItemDetails/active");
    if (before.isEmpty() ? items.isEmpty() : before.equals(items)) {
      return;
    }
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("status").putObject("queueItemDetails").set("active", items);
    String path =
        new ObjectPath(
                ObjectKind.QUEUE.apiVersion(),
                queue.getMetadata().getNamespace(),
                ObjectKind.QUEUE.plural(),
                queue.getMetadata().getName())
            .object();
    // what is refused or lost is written the next time
    var unused =
        Futures.forResult(
            dependencies
                .requests()
                .send(ApiRequest.patch(path + "/status", patch).by(SourceMark.FIELD_OWNER)));
  }

  /** The QueueUnit that shows a Workload, or that owns it. */
  private String unit(PendingPosition position) {
    return dependencies
        .workloads()
        .get(position.id().namespace(), position.id().name())
        .flatMap(CachedWorkload::owner)
        .map(owner -> QueueUnits.name(owner.kind(), owner.name()))
        .orElse(position.id().name());
  }

  @Override
  public void close() {
    work.close();
  }
}

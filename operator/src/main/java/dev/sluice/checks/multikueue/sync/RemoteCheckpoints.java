package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.workload.status.CheckpointRequest;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks jobs in workers for the checkpoints that the manager wants before it preempts, and brings
 * home when they saved their work (docs/preemption.md). Thread-safe.
 */
final class RemoteCheckpoints {

  private static final Logger LOG = LoggerFactory.getLogger(RemoteCheckpoints.class);

  private final RemoteClient manager;
  private final RemoteClients remoteClients;

  RemoteCheckpoints(RemoteClient manager, RemoteClients remoteClients) {
    this.manager = manager;
    this.remoteClients = remoteClients;
  }

  /**
   * Hands the manager's request to the remote Workload, from which the worker's operator tells the
   * job. A later request of the worker's own stays.
   */
  void request(RemoteWorkloadContext context, String cluster) throws IOException {
    Optional<Instant> requestedAt = CheckpointRequest.of(context.local());
    JsonNode copy = context.copies().getOrDefault(cluster, MissingNode.getInstance());
    if (requestedAt.isPresent()
        && isLater(requestedAt, time(copy, CheckpointAnnotations.REQUESTED_AT))) {
      remoteClients
          .of(cluster)
          .patch(
              RemoteWorkloadFactory.path(context.key().namespace(), context.key().name()),
              CheckpointRequest.asking(requestedAt.get()));
      LOG.info(
          "workload={} cluster={} checkpointRequested={}",
          context.local().id(),
          cluster,
          requestedAt.get());
    }
  }

  /** Writes to the manager's job when the remote job saved its work last, if that is later. */
  void answer(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      JsonNode local,
      JsonNode there)
      throws IOException {
    if (isLater(
        time(there, CheckpointAnnotations.CHECKPOINTED_AT),
        time(local, CheckpointAnnotations.CHECKPOINTED_AT))) {
      ObjectNode patch = JsonNodeFactory.instance.objectNode();
      patch
          .withObjectProperty("metadata")
          .withObjectProperty("annotations")
          .put(
              CheckpointAnnotations.CHECKPOINTED_AT,
              text(there, CheckpointAnnotations.CHECKPOINTED_AT));
      manager.patch(owner.path(context.key().namespace()), patch);
    }
  }

  private static boolean isLater(Optional<Instant> time, Optional<Instant> other) {
    return time.isPresent() && (other.isEmpty() || time.get().isAfter(other.get()));
  }

  private static Optional<Instant> time(JsonNode document, String annotation) {
    return CheckpointAnnotations.parse(text(document, annotation));
  }

  private static String text(JsonNode document, String annotation) {
    return document.path("metadata").path("annotations").path(annotation).asText();
  }
}

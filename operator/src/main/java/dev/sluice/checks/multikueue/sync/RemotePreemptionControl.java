package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Controls a worker's handling of a remote Workload through the Workload's status. */
final class RemotePreemptionControl {

  private static final Logger LOG = LoggerFactory.getLogger(RemotePreemptionControl.class);

  private final RemoteClients remoteClients;
  private final DispatchListener dispatchListener;

  RemotePreemptionControl(RemoteClients remoteClients, DispatchListener dispatchListener) {
    this.remoteClients = remoteClients;
    this.dispatchListener = dispatchListener;
  }

  /** Opens the preemption gate: the worker may preempt for the remote Workload. */
  Optional<Duration> openGate(RemoteWorkloadContext context, String cluster) throws IOException {
    JsonNode copy = context.copies().getOrDefault(cluster, JsonNodeFactory.instance.objectNode());
    ObjectNode patch = RemoteWorkloadFactory.opened(copy, context.now());
    if (!patch.isEmpty()) {
      String path = RemoteWorkloadFactory.path(context.key().namespace(), context.key().name());
      remoteClients.of(cluster).patch(path + "/status", patch);
      LOG.info("workload={} cluster={} preemptionGate=Open", context.local().id(), cluster);
      dispatchListener.reported(
          context.local(),
          false,
          "Worker cluster \"" + cluster + "\" may preempt for it from now on");
    }
    return Optional.empty();
  }

  /** Makes the worker stop the job and release its quota. */
  Optional<Duration> stop(RemoteWorkloadContext context, String cluster) throws IOException {
    JsonNode copy = context.copies().getOrDefault(cluster, JsonNodeFactory.instance.objectNode());
    ObjectNode patch = RemoteWorkloadFactory.stopped(copy, context.now());
    if (!patch.isEmpty() && copy.path("spec").path("active").asBoolean(true)) {
      String path = RemoteWorkloadFactory.path(context.key().namespace(), context.key().name());
      remoteClients.of(cluster).patch(path + "/status", patch);
      LOG.info(
          "workload={} cluster={} stopped=true reason=EvictedOnManagerCluster",
          context.local().id(),
          cluster);
    }
    return Optional.empty();
  }
}

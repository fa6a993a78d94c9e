package dev.sluice.topology;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets the phase of pods that wait for a node that they can't run on any more to Failed, so that
 * their job makes others (docs/topology-operating.md#failed-nodes).
 */
final class StrandedPods {

  private static final Logger LOG = LoggerFactory.getLogger(StrandedPods.class);
  private static final String STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json";

  private final ApiClient client;
  private final EventRecorder events;

  StrandedPods(ApiClient client, EventRecorder events) {
    this.client = client;
    this.events = events;
  }

  /**
   * Ends a pod; returns whether it has to be tried again.
   *
   * @param reason what is wrong with the node that the pod is assigned to, or with its assignment
   */
  boolean end(TopologyPod pod, String reason, Instant now) throws InterruptedException {
    String node = pod.target();
    String message = "The node " + node + ", which the pod is assigned to, " + reason;
    String path = "/api/v1/namespaces/%s/pods/%s/status".formatted(pod.namespace(), pod.name());
    ApiOutcome outcome =
        Futures.forResult(
            client.send(
                new ApiRequest(
                    "PATCH", path, STRATEGIC_MERGE_PATCH, patch(pod, message, now).toString())));
    return switch (outcome) {
      case ApiOutcome.Written written -> {
        LOG.info("pod={}/{} failed=true node={}", pod.namespace(), pod.name(), node);
        events.record(
            new ObjectReference("v1", "Pod", pod.namespace(), pod.name(), pod.uid()),
            EventRecorder.Type.NORMAL,
            "PodTerminatedByKueue",
            "Termination",
            message);
        yield false;
      }
      case ApiOutcome.Gone gone -> false;
      case ApiOutcome.Conflict conflict -> true;
      case ApiOutcome.Refused refused -> {
        LOG.warn(
            "pod={}/{} failed=false code={} reason=\"{}\"",
            pod.namespace(),
            pod.name(),
            refused.code(),
            refused.message());
        yield false;
      }
      case ApiOutcome.Unreachable unreachable ->
          throw new IllegalStateException(unreachable.exception());
    };
  }

  private static ObjectNode patch(TopologyPod pod, String message, Instant now) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("metadata").put("resourceVersion", pod.version()).put("uid", pod.uid());
    ObjectNode status = patch.putObject("status").put("phase", "Failed");
    status
        .putArray("conditions")
        .addObject()
        .put("type", "TerminatedByKueue")
        .put("status", "True")
        .put("reason", "UnschedulableOnAssignedNode")
        .put("message", message)
        .put("lastTransitionTime", now.truncatedTo(ChronoUnit.SECONDS).toString());
    return patch;
  }
}

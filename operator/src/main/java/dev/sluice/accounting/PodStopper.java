package dev.sluice.accounting;

import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes pods that run without quota, with a grace period that isn't longer than half a minute,
 * whatever their spec says. A pod that is being deleted with a longer one is deleted once more:
 * that shortens it.
 */
public final class PodStopper {

  private static final Logger LOG = LoggerFactory.getLogger(PodStopper.class);

  private final ApiClient client;
  private final EventRecorder events;

  /** Over the connections of this client. */
  public PodStopper(ApiClient client, EventRecorder events) {
    this.client = client;
    this.events = events;
  }

  /**
   * Deletes those of these pods that don't end soon by themselves.
   *
   * @param cause the reason of the events
   * @param reason why, for people
   * @return how many were deleted
   */
  public int stop(Collection<PodRecord> pods, String cause, String reason)
      throws InterruptedException {
    List<CompletableFuture<Boolean>> deletions =
        pods.stream()
            .filter(pod -> !endsByItself(pod))
            .map(pod -> stop(pod, cause, reason))
            .toList();
    int deleted = 0;
    for (CompletableFuture<Boolean> deletion : deletions) {
      deleted += Futures.forResult(deletion) ? 1 : 0;
    }
    return deleted;
  }

  /** Whether a pod is being deleted with a short grace period. */
  static boolean endsByItself(PodRecord pod) {
    return pod.deletion()
        .filter(it -> it.graceSeconds() <= AdmissionComparison.TOLERATED_GRACE_SECONDS)
        .isPresent();
  }

  private CompletableFuture<Boolean> stop(PodRecord pod, String cause, String reason) {
    long grace =
        Math.clamp(
            pod.eligibility().graceSeconds(), 0, AdmissionComparison.TOLERATED_GRACE_SECONDS);
    String path = "/api/v1/namespaces/%s/pods/%s".formatted(pod.namespace(), pod.name());
    return client
        .send(ApiRequest.delete(path, pod.uid().toString(), grace))
        .thenApply(outcome -> told(pod, cause, reason, outcome));
  }

  private boolean told(PodRecord pod, String cause, String reason, ApiOutcome outcome) {
    String name = pod.namespace() + "/" + pod.name();
    if (outcome instanceof ApiOutcome.Written) {
      LOG.info("pod={} deleted=true reason=\"{}\"", name, reason);
      events.record(
          new ObjectReference("v1", "Pod", pod.namespace(), pod.name(), pod.uid().toString()),
          EventRecorder.Type.WARNING,
          cause,
          "Deletion",
          reason);
    } else if (!(outcome instanceof ApiOutcome.Gone)) {
      LOG.warn("pod={} deleted=false outcome={}", name, outcome);
    }
    return outcome instanceof ApiOutcome.Written;
  }
}

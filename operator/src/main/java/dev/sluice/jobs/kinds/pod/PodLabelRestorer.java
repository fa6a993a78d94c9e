package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.controller.JobClient;
import dev.sluice.jobs.controller.JobEvents;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.Futures;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts the label of managed pods back on a started pod that lost it. Without the label the watch
 * ends for the pod as if it were deleted, and its quota would be given to another pod while it
 * runs.
 */
final class PodLabelRestorer {

  private static final Logger LOG = LoggerFactory.getLogger(PodLabelRestorer.class);
  private static final Duration AGAIN = Duration.ofSeconds(1);
  private static final Duration LATER = Duration.ofSeconds(30);

  private final JobClient objects;
  private final JobEvents events;
  private final Consumer<JobRef> gone;

  /**
   * A restorer that writes with {@code objects}.
   *
   * @param gone told of every pod that does not exist any more
   */
  PodLabelRestorer(JobClient objects, JobEvents events, Consumer<JobRef> gone) {
    this.objects = objects;
    this.events = events;
    this.gone = gone;
  }

  /**
   * Looks for a pod whose watch has ended, and puts the label back if the pod exists without it.
   *
   * @return the delay after which to try again; empty if nothing is left to do
   */
  Optional<Duration> restore(JobRef pod) throws InterruptedException {
    Optional<ObjectNode> found =
        Futures.forResult(objects.read(SinglePod.KIND.path(pod.namespace(), pod.name())))
            .filter(it -> it.path("metadata").path("uid").asText().equals(pod.uid()));
    if (found.isEmpty()) {
      gone.accept(pod);
      return Optional.empty();
    }
    JsonNode metadata = found.get().path("metadata");
    return metadata.path("labels").path(KueueConstants.MANAGED).asText().equals("true")
        ? Optional.empty()
        : write(pod, metadata.path("resourceVersion").asLong());
  }

  private Optional<Duration> write(JobRef pod, long version) throws InterruptedException {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("metadata").putObject("labels").put(KueueConstants.MANAGED, "true");
    return switch (Futures.forResult(objects.patch(pod, version, new JobPatch(false, patch)))) {
      case ApiOutcome.Written written -> {
        LOG.info("job=\"{}\" has the label {} again", pod, KueueConstants.MANAGED);
        events.warning(
            pod,
            "ManagedLabelRestored",
            "The label %s was removed from the pod, which uses quota"
                .formatted(KueueConstants.MANAGED));
        yield Optional.empty();
      }
      case ApiOutcome.Conflict conflict -> Optional.of(AGAIN);
      case ApiOutcome.Gone absent -> {
        gone.accept(pod);
        yield Optional.empty();
      }
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
      case ApiOutcome.Refused refused -> {
        LOG.warn("job=\"{}\" not labelled again, reason=\"{}\"", pod, refused.message());
        events.warning(pod, "WriteRefused", "Not labelled again: " + refused.message());
        yield Optional.of(LATER);
      }
    };
  }
}

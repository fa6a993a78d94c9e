package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a worker is told to do with its copy, by a word in the status of that. */
final class Orders {

  private static final Logger LOG = LoggerFactory.getLogger(Orders.class);

  private final Workers workers;
  private final Told told;

  Orders(Workers workers, Told told) {
    this.workers = workers;
    this.told = told;
  }

  /** It may preempt for its copy from now on. */
  Optional<Duration> openGate(Errand errand, String cluster) throws IOException {
    JsonNode copy = errand.copies().getOrDefault(cluster, JsonNodeFactory.instance.objectNode());
    ObjectNode patch = WorkloadCopies.opened(copy, errand.now());
    if (!patch.isEmpty()) {
      String path = WorkloadCopies.path(errand.key().namespace(), errand.key().name());
      workers.of(cluster).patch(path + "/status", patch);
      LOG.info("workload={} cluster={} preemptionGate=Open", errand.local().id(), cluster);
      told.said(
          errand.local(),
          false,
          "Worker cluster \"" + cluster + "\" may preempt for it from now on");
    }
    return Optional.empty();
  }

  /** It stops the job and gives its quota back. */
  Optional<Duration> stop(Errand errand, String cluster) throws IOException {
    JsonNode copy = errand.copies().getOrDefault(cluster, JsonNodeFactory.instance.objectNode());
    ObjectNode patch = WorkloadCopies.stopped(copy, errand.now());
    if (!patch.isEmpty() && copy.path("spec").path("active").asBoolean(true)) {
      String path = WorkloadCopies.path(errand.key().namespace(), errand.key().name());
      workers.of(cluster).patch(path + "/status", patch);
      LOG.info(
          "workload={} cluster={} stopped=true reason=EvictedOnManagerCluster",
          errand.local().id(),
          cluster);
    }
    return Optional.empty();
  }
}

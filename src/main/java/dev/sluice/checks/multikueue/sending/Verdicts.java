package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.placement.Action;
import dev.sluice.workloads.CheckStates;
import dev.sluice.workloads.StatusPatch;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.Workload.CheckState;
import dev.sluice.workloads.WorkloadWriter;
import dev.sluice.workloads.WorkloadWriter.Outcome;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes down in the manager's Workloads what becomes of them, and tells of it. From any thread.
 */
final class Verdicts {

  private static final Logger LOG = LoggerFactory.getLogger(Verdicts.class);

  private final WorkloadWriter writer;
  private final Told told;

  Verdicts(WorkloadWriter writer, Told told) {
    this.writer = writer;
    this.told = told;
  }

  /** Whether it is written that it runs in this worker. */
  static boolean runsIn(Errand errand, String cluster) {
    boolean ready = errand.state().filter(it -> it.is(CheckState.READY)).isPresent();
    return ready && errand.local().status().elsewhere().cluster().equals(cluster);
  }

  /** Changes the state of its check. */
  Optional<Duration> check(Errand errand, String state, String message) throws IOException {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("admissionChecks", CheckStates.json(errand.checksWith(state, message)));
    write(errand, status);
    LOG.info("workload={} check={} reason=\"{}\"", errand.local().id(), state, message);
    told.said(errand.local(), true, message);
    if (state.equals(CheckState.RETRY)) {
      told.requeued(
          errand.local(), errand.clusterQueue(), errand.local().status().elsewhere().cluster());
    }
    return Optional.empty();
  }

  /** Writes down for people what workers answered. */
  void tell(Errand errand, String text) throws IOException {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("admissionChecks", CheckStates.json(errand.checksSaying(text)));
    write(errand, status);
    LOG.info("workload={} waits=\"{}\"", errand.local().id(), text);
  }

  /** Writes the workers that it is offered to. */
  Optional<Duration> nominate(Errand errand, Action.Nominate nominate) throws IOException {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ArrayNode names = status.putArray("nominatedClusterNames");
    nominate.clusters().forEach(names::add);
    write(errand, status);
    LOG.info("workload={} nominated={}", errand.local().id(), nominate.clusters());
    told.said(
        errand.local(),
        false,
        "Offered to worker clusters " + String.join(", ", nominate.clusters()));
    return Optional.empty();
  }

  private void write(Errand errand, ObjectNode status) throws IOException {
    Workload local = errand.local();
    try {
      Outcome outcome =
          writer
              .patchStatus(local.id(), local.version(), status, WorkloadWriter.Urgency.DECISION)
              .get();
      switch (outcome) {
        case Outcome.Written written ->
            LOG.debug("workload={} version={}", local.id(), written.version());
        case Outcome.Conflict conflict -> throw new Server.ConflictException("it has moved on");
        case Outcome.Gone gone -> throw new Server.ConflictException("it is gone");
        case Outcome.Refused refused -> throw new Server.RefusedException(refused.message());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    }
  }

  /** It runs in this cluster. */
  Optional<Duration> runHere(Errand errand, String cluster) throws IOException {
    String message =
        "The workload runs in this cluster, which is worker cluster \"" + cluster + "\"";
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("admissionChecks", CheckStates.json(errand.checksWith(CheckState.READY, message)));
    status.putNull("nominatedClusterNames");
    write(errand, status);
    LOG.info("workload={} cluster={} check=Ready here=true", errand.local().id(), cluster);
    told.admitted(errand.local(), errand.clusterQueue(), cluster);
    told.said(errand.local(), false, message);
    return Optional.empty();
  }

  /** It runs in a worker from now on, and nobody else gets it while that can't be asked. */
  void decide(Errand errand, String cluster) throws IOException {
    String message = "The workload runs in worker cluster \"" + cluster + "\"";
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("admissionChecks", CheckStates.json(errand.checksWith(CheckState.READY, message)));
    status.put("clusterName", cluster).putNull("nominatedClusterNames");
    write(errand, status);
    LOG.info("workload={} cluster={} check=Ready", errand.local().id(), cluster);
    told.admitted(errand.local(), errand.clusterQueue(), cluster);
    told.said(errand.local(), false, message);
  }

  /** It ended in a worker. */
  void finish(Errand errand, Action.Finish finish) throws IOException {
    ObjectNode status =
        StatusPatch.of(errand.local(), errand.now())
            .condition("Finished", true, finish.reason(), finish.message())
            .build();
    write(errand, status);
    LOG.info(
        "workload={} cluster={} finished=true reason={}",
        errand.local().id(),
        finish.cluster(),
        finish.reason());
  }
}

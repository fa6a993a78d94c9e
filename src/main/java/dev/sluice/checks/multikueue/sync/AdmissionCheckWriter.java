package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.controller.CheckStateWriter;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.workload.lifecycle.CheckedAdmission;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.status.StatusPatch;
import dev.sluice.workload.writing.WorkloadWriter;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the results of placement to the manager's Workloads and notifies the listener.
 * Thread-safe.
 */
final class AdmissionCheckWriter {

  private static final Logger LOG = LoggerFactory.getLogger(AdmissionCheckWriter.class);

  private final CheckStateWriter states;
  private final CheckedAdmission checkedAdmission;
  private final DispatchListener dispatchListener;

  AdmissionCheckWriter(
      WorkloadWriter writer, CheckedAdmission checkedAdmission, DispatchListener dispatchListener) {
    this.states = new CheckStateWriter(writer);
    this.checkedAdmission = checkedAdmission;
    this.dispatchListener = dispatchListener;
  }

  /** Whether the Workload's status says that the Workload runs in this worker. */
  static boolean runsIn(WorkloadGroup workloadGroup, String cluster) {
    boolean ready = workloadGroup.state().filter(it -> it.is(CheckState.READY)).isPresent();
    return ready && workloadGroup.local().status().remotePlacement().cluster().equals(cluster);
  }

  /** Changes the state of the Workload's check. */
  Optional<Duration> check(WorkloadGroup workloadGroup, String state, String message)
      throws IOException {
    ObjectNode status = workloadGroup.checksWith(state, message);
    write(workloadGroup, status);
    LOG.info("workload={} check={} reason=\"{}\"", workloadGroup.local().id(), state, message);
    dispatchListener.reported(workloadGroup.local(), true, message);
    if (state.equals(CheckState.RETRY)) {
      dispatchListener.requeued(
          workloadGroup.local(),
          workloadGroup.clusterQueue(),
          workloadGroup.local().status().remotePlacement().cluster());
    }
    return Optional.empty();
  }

  /** Writes the workers' answers into the message of the check. */
  void notify(WorkloadGroup workloadGroup, String text) throws IOException {
    ObjectNode status = workloadGroup.checksWithMessage(text);
    write(workloadGroup, status);
    LOG.info("workload={} waits=\"{}\"", workloadGroup.local().id(), text);
  }

  /** Writes the nominated workers. */
  Optional<Duration> nominate(WorkloadGroup workloadGroup, PlacementAction.Nominate nominate)
      throws IOException {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ArrayNode names = status.putArray("nominatedClusterNames");
    nominate.clusters().forEach(names::add);
    write(workloadGroup, status);
    workloadGroup.notes().tellsOffer();
    tellOffer(workloadGroup, nominate.clusters());
    return Optional.empty();
  }

  /** Tells users which workers a Workload is offered to. */
  void tellOffer(WorkloadGroup workloadGroup, List<String> clusters) {
    LOG.info("workload={} nominated={}", workloadGroup.local().id(), clusters);
    dispatchListener.reported(
        workloadGroup.local(), false, "Offered to worker clusters " + String.join(", ", clusters));
  }

  private void write(WorkloadGroup workloadGroup, ObjectNode status) throws IOException {
    CachedWorkload local = workloadGroup.local();
    try {
      Outcome outcome = states.write(local, status).get();
      switch (outcome) {
        case Outcome.Written written ->
            LOG.debug("workload={} version={}", local.id(), written.version());
        case Outcome.Conflict conflict ->
            throw new RemoteClient.ConflictException("it has moved on");
        case Outcome.Gone gone -> throw new RemoteClient.ConflictException("it is gone");
        case Outcome.Refused refused -> throw new RemoteClient.RefusedException(refused.message());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    }
  }

  /** Records that the Workload runs in the manager itself, under this cluster name. */
  Optional<Duration> runHere(WorkloadGroup workloadGroup, String cluster) throws IOException {
    String message =
        "The workload runs in this cluster, which is worker cluster \"" + cluster + "\"";
    ready(workloadGroup, "", message);
    LOG.info("workload={} cluster={} check=Ready here=true", workloadGroup.local().id(), cluster);
    dispatchListener.admitted(workloadGroup.local(), workloadGroup.clusterQueue(), cluster);
    dispatchListener.reported(workloadGroup.local(), false, message);
    return Optional.empty();
  }

  /**
   * Records the worker in which the Workload runs, so that no other worker is used while that
   * worker is unreachable.
   */
  void decide(WorkloadGroup workloadGroup, String cluster) throws IOException {
    String message = "The workload runs in worker cluster \"" + cluster + "\"";
    ready(workloadGroup, cluster, message);
    LOG.info("workload={} cluster={} check=Ready", workloadGroup.local().id(), cluster);
    dispatchListener.admitted(workloadGroup.local(), workloadGroup.clusterQueue(), cluster);
    dispatchListener.reported(workloadGroup.local(), false, message);
  }

  /**
   * Sets the check to Ready, and admits the Workload if it was the last one.
   *
   * @param cluster the worker in which the Workload runs; empty if it runs in the manager
   */
  private void ready(WorkloadGroup workloadGroup, String cluster, String message)
      throws IOException {
    ObjectNode status = workloadGroup.checksWith(CheckState.READY, message);
    status.putNull("nominatedClusterNames");
    if (!cluster.isEmpty()) {
      status.put("clusterName", cluster);
    }
    Optional<PatchStatus> admission =
        checkedAdmission.add(workloadGroup.runningIn(cluster, message), status);
    write(workloadGroup, status);
    admission.ifPresent(it -> checkedAdmission.written(workloadGroup.local(), it));
  }

  /** Finishes a Workload that finished in a worker. */
  void finish(WorkloadGroup workloadGroup, PlacementAction.Finish finish) throws IOException {
    ObjectNode status =
        StatusPatch.of(workloadGroup.local(), workloadGroup.now())
            .condition("Finished", true, finish.reason(), finish.message())
            .build();
    write(workloadGroup, status);
    LOG.info(
        "workload={} cluster={} finished=true reason={}",
        workloadGroup.local().id(),
        finish.cluster(),
        finish.reason());
  }
}

package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.controller.CheckStateWriter;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.DispatchListener;
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
  static boolean runsIn(RemoteWorkloadContext context, String cluster) {
    boolean ready = context.checkState().filter(it -> it.is(CheckState.READY)).isPresent();
    return ready && context.local().status().remotePlacement().cluster().equals(cluster);
  }

  /** Changes the state of the Workload's check. */
  Optional<Duration> check(RemoteWorkloadContext context, String state, String message)
      throws IOException {
    ObjectNode status = context.checksWith(state, message);
    write(context, status);
    LOG.info("workload={} check={} reason=\"{}\"", context.local().id(), state, message);
    dispatchListener.reported(context.local(), true, message);
    if (state.equals(CheckState.RETRY)) {
      dispatchListener.requeued(
          context.local(),
          context.clusterQueue(),
          context.local().status().remotePlacement().cluster());
    }
    return Optional.empty();
  }

  /** Writes the workers' answers into the message of the check. */
  void notify(RemoteWorkloadContext context, String text) throws IOException {
    ObjectNode status = context.checksWithMessage(text);
    write(context, status);
    LOG.info("workload={} waits=\"{}\"", context.local().id(), text);
  }

  /** Writes the nominated workers. */
  Optional<Duration> nominate(RemoteWorkloadContext context, PlacementAction.Nominate nominate)
      throws IOException {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    ArrayNode names = status.putArray("nominatedClusterNames");
    nominate.clusters().forEach(names::add);
    write(context, status);
    context.reconcileState().tellsOffer();
    tellOffer(context, nominate.clusters());
    return Optional.empty();
  }

  /** Tells users which workers a Workload is offered to. */
  void tellOffer(RemoteWorkloadContext context, List<String> clusters) {
    LOG.info("workload={} nominated={}", context.local().id(), clusters);
    dispatchListener.reported(
        context.local(), false, "Offered to worker clusters " + String.join(", ", clusters));
  }

  private void write(RemoteWorkloadContext context, ObjectNode status) throws IOException {
    CachedWorkload local = context.local();
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
  Optional<Duration> runHere(RemoteWorkloadContext context, String cluster) throws IOException {
    String message =
        "The workload runs in this cluster, which is worker cluster \"" + cluster + "\"";
    ready(context, "", message);
    LOG.info("workload={} cluster={} check=Ready here=true", context.local().id(), cluster);
    dispatchListener.admitted(context.local(), context.clusterQueue(), cluster);
    dispatchListener.reported(context.local(), false, message);
    return Optional.empty();
  }

  /**
   * Records the worker in which the Workload runs, so that no other worker is used while that
   * worker is unreachable.
   */
  void decide(RemoteWorkloadContext context, String cluster) throws IOException {
    String message = "The workload runs in worker cluster \"" + cluster + "\"";
    ready(context, cluster, message);
    context.reconcileState().runBegins();
    LOG.info("workload={} cluster={} check=Ready", context.local().id(), cluster);
    dispatchListener.admitted(context.local(), context.clusterQueue(), cluster);
    dispatchListener.reported(context.local(), false, message);
  }

  /**
   * Sets the check to Ready, and admits the Workload if it was the last one.
   *
   * @param cluster the worker in which the Workload runs; empty if it runs in the manager
   */
  private void ready(RemoteWorkloadContext context, String cluster, String message)
      throws IOException {
    ObjectNode status = context.checksWith(CheckState.READY, message);
    status.putNull("nominatedClusterNames");
    if (!cluster.isEmpty()) {
      status.put("clusterName", cluster);
    }
    Optional<PatchStatus> admission =
        checkedAdmission.add(context.runningIn(cluster, message), status);
    write(context, status);
    admission.ifPresent(it -> checkedAdmission.written(context.local(), it));
  }

  /** Finishes a Workload that finished in a worker. */
  void finish(RemoteWorkloadContext context, PlacementAction.Finish finish) throws IOException {
    ObjectNode status =
        StatusPatch.of(context.local(), context.now())
            .condition("Finished", true, finish.reason(), finish.message())
            .build();
    write(context, status);
    LOG.info(
        "workload={} cluster={} finished=true reason={}",
        context.local().id(),
        finish.cluster(),
        finish.reason());
  }
}

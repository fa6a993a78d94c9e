package dev.sluice.checks.controller;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.status.CheckStates;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * Writes the states of admission checks into the status of Workloads. A write is refused as a
 * conflict if the Workload has changed since it was read. Thread-safe.
 */
public final class CheckStateWriter {

  private final WorkloadWriter writer;

  /**
   * The answer of a check for a Workload.
   *
   * @param state one of the states of {@link CheckState}
   * @param message why, for people
   */
  public record Answer(String state, String message) {}

  /** Writes by this writer. */
  public CheckStateWriter(WorkloadWriter writer) {
    this.writer = writer;
  }

  /**
   * A patch of the status that gives one check this state, and leaves the others as they are. The
   * caller may add further fields to the patch.
   */
  public static ObjectNode patch(
      CachedWorkload workload, String check, Answer answer, Instant now) {
    return patch(states(workload, check, known -> answered(known, answer, now)));
  }

  /**
   * The Workload as it is after {@link #patch}, if it then runs in this worker cluster.
   *
   * @param cluster empty if it runs in no worker cluster
   */
  public static CachedWorkload patched(
      CachedWorkload workload, String check, Answer answer, String cluster, Instant now) {
    CachedWorkload.Status status = workload.status();
    return workload.with(
        new CachedWorkload.Status(
            status.conditions(),
            status.admission(),
            states(workload, check, known -> answered(known, answer, now)),
            status.reclaimablePods(),
            status.requeueState(),
            status.history(),
            status.requestsWritten(),
            new CachedWorkload.RemotePlacement(cluster, List.of()),
            status.gates(),
            status.unhealthyNodes()));
  }

  private static CheckState answered(CheckState known, Answer answer, Instant now) {
    return new CheckState(
        known.name(),
        answer.state(),
        answer.message(),
        now.truncatedTo(ChronoUnit.SECONDS),
        -1,
        known.retryCount(),
        List.of());
  }

  /** A patch of the status that changes the message of one check, and not its state. */
  public static ObjectNode patchOfMessage(CachedWorkload workload, String check, String message) {
    return patch(
        states(
            workload,
            check,
            known ->
                new CheckState(
                    known.name(),
                    known.state(),
                    message,
                    known.lastTransitionTime(),
                    known.requeueAfterSeconds(),
                    known.retryCount(),
                    known.podSetUpdates())));
  }

  /** A patch of the status that gives all checks these states. */
  public static ObjectNode patch(List<CheckState> states) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set("admissionChecks", CheckStates.json(states));
    return status;
  }

  private static List<CheckState> states(
      CachedWorkload workload, String check, UnaryOperator<CheckState> change) {
    return workload.status().admissionChecks().stream()
        .map(known -> known.name().equals(check) ? change.apply(known) : known)
        .toList();
  }

  /** Writes a patch of the status of a Workload. */
  public CompletableFuture<WorkloadWriter.Outcome> write(
      CachedWorkload workload, ObjectNode status) {
    return writer.patchStatus(
        workload.id(), workload.version(), status, WorkloadWriter.Urgency.DECISION);
  }
}

package dev.sluice.checks;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.AdmissionCheckController.Answer;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.CachedWorkload.CheckState;
import dev.sluice.workload.CheckStates;
import dev.sluice.workload.WorkloadWriter;
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
    return patch(
        workload,
        check,
        known ->
            new CheckState(
                known.name(),
                answer.state(),
                answer.message(),
                now.truncatedTo(ChronoUnit.SECONDS),
                -1,
                known.retryCount(),
                List.of()));
  }

  /** A patch of the status that changes the message of one check, and not its state. */
  public static ObjectNode patchOfMessage(CachedWorkload workload, String check, String message) {
    return patch(
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
                known.podSetUpdates()));
  }

  private static ObjectNode patch(
      CachedWorkload workload, String check, UnaryOperator<CheckState> change) {
    ObjectNode status = JsonNodeFactory.instance.objectNode();
    status.set(
        "admissionChecks",
        CheckStates.json(
            workload.status().admissionChecks().stream()
                .map(known -> known.name().equals(check) ? change.apply(known) : known)
                .toList()));
    return status;
  }

  /** Writes a patch of the status of a Workload. */
  public CompletableFuture<WorkloadWriter.Outcome> write(
      CachedWorkload workload, ObjectNode status) {
    return writer.patchStatus(
        workload.id(), workload.version(), status, WorkloadWriter.Urgency.DECISION);
  }
}

package dev.sluice.workload.writing;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.WorkloadId;
import java.util.concurrent.CompletableFuture;

/**
 * Writes Workloads: merge patches, bounded in number at a time. A future completes with what is
 * certain; while the outcome of a request is unknown (a broken connection), the writer finds out by
 * reading before it completes.
 */
public interface WorkloadWriter {

  /**
   * Patches the status.
   *
   * @param version the resourceVersion that must still hold; 0 for any
   * @param status the merge patch of {@code .status}
   * @param urgency the priority of the write
   */
  CompletableFuture<Outcome> patchStatus(
      WorkloadId id, long version, JsonNode status, Urgency urgency);

  /** Patches metadata and spec with a merge patch of the whole object. */
  CompletableFuture<Outcome> patch(WorkloadId id, long version, JsonNode patch);

  /** Creates a Workload in a namespace. */
  CompletableFuture<Outcome> create(String namespace, JsonNode workload);

  /** Deletes a Workload in the background, if it still has this UID. */
  CompletableFuture<Outcome> delete(WorkloadId id);

  /** The priority of a write. */
  enum Urgency {
    /** Admissions, evictions, ends: a configured number at a time. */
    DECISION,
    /** Explanations for users: one at a time, and only while no decision waits. */
    BEST_EFFORT
  }

  /** What became of a write. */
  sealed interface Outcome {

    /** It stands, in this version. */
    record Written(long version) implements Outcome {}

    /** The object has moved on since the given version: look again. */
    record Conflict() implements Outcome {}

    /** The object doesn't exist, or has another UID. */
    record Gone() implements Outcome {}

    /** The API server refuses it, and would again. */
    record Refused(int code, String message) implements Outcome {}
  }
}

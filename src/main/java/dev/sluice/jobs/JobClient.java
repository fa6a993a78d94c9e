package dev.sluice.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Jobs, and what belongs to them, at the API server: single reads and guarded writes. */
public interface JobClient {

  /**
   * Patches a job.
   *
   * @param version the resourceVersion that must still hold
   */
  CompletableFuture<Outcome> patch(JobRef job, long version, JobPatch patch);

  /** Deletes a job in the background, if it still has this UID. */
  CompletableFuture<Outcome> delete(JobRef job);

  /** Reads the newest state of the object at a path; empty when there is none. */
  CompletableFuture<Optional<ObjectNode>> read(String path);

  /** What became of a write. */
  sealed interface Outcome {

    /** It stands; this is the object that came of it. */
    record Written(ObjectNode object) implements Outcome {}

    /** The object has moved on since the given version: look again. */
    record Conflict() implements Outcome {}

    /** The object doesn't exist. */
    record Gone() implements Outcome {}

    /** The API server refuses it, and would again. */
    record Refused(int code, String message) implements Outcome {}
  }
}

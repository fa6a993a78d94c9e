package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.kube.client.ApiOutcome;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Jobs, and what belongs to them, at the API server: single reads and guarded writes. */
public interface JobClient {

  /** For {@link #patch}: any version of the job with this UID. */
  long ANY_VERSION = 0;

  /**
   * Patches a job.
   *
   * @param version the resourceVersion that must still hold, or {@link #ANY_VERSION}
   */
  CompletableFuture<ApiOutcome> patch(JobRef job, long version, JobPatch patch);

  /** Deletes a job in the background, if it still has this UID. */
  CompletableFuture<ApiOutcome> delete(JobRef job);

  /** Creates an object in a collection. */
  CompletableFuture<ApiOutcome> create(String collection, ObjectNode object);

  /** Deletes the object at a path, if it still has this UID. */
  CompletableFuture<ApiOutcome> delete(String path, String uid);

  /**
   * Reads the newest state of the object at a path; empty when there is none. The future fails when
   * the API server does not answer or refuses.
   */
  CompletableFuture<Optional<ObjectNode>> read(String path);

  /**
   * Reads the objects of a collection, one at a time; blocks.
   *
   * @param path the collection, and what is selected of it
   * @param each gets each object
   * @throws IllegalStateException if the API server doesn't answer or refuses
   */
  void list(String path, Consumer<JsonNode> each);
}

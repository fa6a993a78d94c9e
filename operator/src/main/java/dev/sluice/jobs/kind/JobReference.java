package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Another object that a job refers to, and that its pod sets depend on. The framework hands the
 * spec of that object to the job's integration as a field of the job's JSON.
 *
 * @param kind its kind; its namespace is that of the job, if its kind has namespaces
 * @param name its name
 */
public record JobReference(ReferencedKind kind, String name) {

  /** No object of a kind of jobs has these fields by itself. */
  private static final String FIELD = "referencedSpec";

  private static final String GENERATION = "referencedGeneration";

  /** The spec of the object that a job refers to; a missing node if there is no such object. */
  public static JsonNode specOf(JsonNode job) {
    return job.path(FIELD);
  }

  /** The generation of the object that a job refers to; 0 if it isn't known. */
  public static long generationOf(JsonNode job) {
    return job.path(GENERATION).asLong();
  }

  /** Hands over the generation of the object that a job refers to. */
  public static void setGeneration(ObjectNode job, long generation) {
    job.put(GENERATION, generation);
  }

  /**
   * Hands over the spec of the object that a job refers to.
   *
   * @param job is changed in place
   */
  public static void setSpec(ObjectNode job, JsonNode spec) {
    job.set(FIELD, spec);
  }

  /** Takes away what was handed over. */
  public static void removeSpec(ObjectNode job) {
    job.remove(FIELD);
    job.remove(GENERATION);
  }

  @Override
  public String toString() {
    return kind.kind().kind() + " \"" + name + "\"";
  }
}

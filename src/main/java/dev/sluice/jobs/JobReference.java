package dev.sluice.jobs;

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

  /** No object of a kind of jobs has this field by itself. */
  private static final String FIELD = "referencedSpec";

  /** The spec of the object that a job refers to; a missing node if there is no such object. */
  public static JsonNode specOf(JsonNode job) {
    return job.path(FIELD);
  }

  /**
   * Hands over the spec of the object that a job refers to.
   *
   * @param job is changed in place
   */
  public static void setSpec(ObjectNode job, JsonNode spec) {
    job.set(FIELD, spec);
  }

  /** Takes the spec away. */
  static void removeSpec(ObjectNode job) {
    job.remove(FIELD);
  }

  @Override
  public String toString() {
    return kind.kind().kind() + " \"" + name + "\"";
  }
}

package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Keys;

/**
 * How objects that a manager makes in workers are told from others.
 *
 * @param origin the manager, as the value of a label
 * @param annotates whether a job names its Workload by an annotation; otherwise by a label, where
 *     the name is short enough for one
 */
public record Mark(String origin, boolean annotates) {

  private static final int LONGEST_LABEL = 63;

  /** Whether the object was made by this manager. */
  boolean isOn(JsonNode object) {
    return object
        .path("metadata")
        .path("labels")
        .path(Keys.MULTIKUEUE_ORIGIN)
        .asText()
        .equals(origin);
  }

  /** The Workload that a job names; empty if it names none. */
  static String workload(JsonNode job) {
    JsonNode metadata = job.path("metadata");
    String annotation = metadata.path("annotations").path(Keys.PREBUILT_WORKLOAD_NAME).asText();
    return annotation.isEmpty()
        ? metadata.path("labels").path(Keys.PREBUILT_WORKLOAD_NAME).asText()
        : annotation;
  }

  void putOn(ObjectNode object) {
    object
        .withObjectProperty("metadata")
        .withObjectProperty("labels")
        .put(Keys.MULTIKUEUE_ORIGIN, origin);
  }

  void name(ObjectNode job, String workload) {
    boolean annotation = annotates || workload.length() > LONGEST_LABEL;
    job.withObjectProperty("metadata")
        .withObjectProperty(annotation ? "annotations" : "labels")
        .put(Keys.PREBUILT_WORKLOAD_NAME, workload);
  }
}

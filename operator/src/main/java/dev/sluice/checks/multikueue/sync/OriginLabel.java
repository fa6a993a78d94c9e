package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Recognises the objects that a manager creates in workers.
 *
 * @param origin the manager, as the value of a label
 * @param annotates whether a job names its Workload by an annotation; otherwise by a label, if the
 *     name is short enough for one
 */
public record OriginLabel(String origin, boolean annotates) {

  private static final int MAX_LABEL_LENGTH = 63;

  /** Whether this manager created the object. */
  boolean isOn(JsonNode object) {
    return object
        .path("metadata")
        .path("labels")
        .path(KueueConstants.MULTIKUEUE_ORIGIN)
        .asText()
        .equals(origin);
  }

  /** Whether this manager created the job for this Workload; only then may the job be deleted. */
  boolean isOn(JsonNode job, Key workload) {
    return isOn(job)
        && workload(job).equals(workload.name())
        && job.path("metadata").path("namespace").asText().equals(workload.namespace());
  }

  /**
   * The name of the Workload that a job names; empty if it names none. For a member of a pod group,
   * the name of the group.
   */
  static String workload(JsonNode job) {
    JsonNode metadata = job.path("metadata");
    return named(
        key -> metadata.path("annotations").path(key).asText(),
        key -> metadata.path("labels").path(key).asText());
  }

  /** The name of the Workload that a job names, by the job's metadata. */
  static String workload(ObjectMeta metadata) {
    return named(of(metadata.getAnnotations()), of(metadata.getLabels()));
  }

  private static UnaryOperator<String> of(@Nullable Map<String, String> values) {
    return key -> values == null ? "" : values.getOrDefault(key, "");
  }

  private static String named(UnaryOperator<String> annotations, UnaryOperator<String> labels) {
    return Stream.of(KueueConstants.PREBUILT_WORKLOAD_NAME, KueueConstants.POD_GROUP_NAME)
        .flatMap(key -> Stream.of(annotations.apply(key), labels.apply(key)))
        .filter(name -> !name.isEmpty())
        .findFirst()
        .orElse("");
  }

  /** Whether an object is being deleted. */
  static boolean isDeleting(JsonNode object) {
    return object.path("metadata").hasNonNull("deletionTimestamp");
  }

  void apply(ObjectNode object) {
    object
        .withObjectProperty("metadata")
        .withObjectProperty("labels")
        .put(KueueConstants.MULTIKUEUE_ORIGIN, origin);
  }

  void name(ObjectNode job, String workload) {
    boolean annotation = annotates || workload.length() > MAX_LABEL_LENGTH;
    job.withObjectProperty("metadata")
        .withObjectProperty(annotation ? "annotations" : "labels")
        .put(KueueConstants.PREBUILT_WORKLOAD_NAME, workload);
  }
}

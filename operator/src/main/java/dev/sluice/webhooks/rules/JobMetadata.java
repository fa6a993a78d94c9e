package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.QueueNames;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.FieldPath;
import java.util.Map;
import java.util.Optional;

/**
 * The part of a job that all kinds share, as input of validation.
 *
 * @param labels labels of the job
 * @param annotations annotations of the job
 * @param isSuspended whether the job is suspended
 */
public record JobMetadata(
    Map<String, String> labels, Map<String, String> annotations, boolean isSuspended) {

  /** The path of the labels. */
  public static final FieldPath LABELS = FieldPath.of("metadata", "labels");

  /** The path of the annotations. */
  public static final FieldPath ANNOTATIONS = FieldPath.of("metadata", "annotations");

  /** Reads labels and annotations; whether it is suspended, the caller knows from the kind. */
  public static JobMetadata of(JsonNode object, boolean isSuspended) {
    return new JobMetadata(JsonFields.labels(object), JsonFields.annotations(object), isSuspended);
  }

  /** The name of the LocalQueue, if the job has one. */
  public Optional<String> queue() {
    return QueueNames.of(labels, annotations);
  }

  /** The path of the queue name. */
  FieldPath queuePath() {
    boolean annotated =
        labels.getOrDefault(KueueConstants.QUEUE_NAME, "").isEmpty()
            && annotations.containsKey(KueueConstants.QUEUE_NAME);
    return (annotated ? ANNOTATIONS : LABELS).key(KueueConstants.QUEUE_NAME);
  }

  /** The name of the prebuilt Workload, if the job has one. */
  public Optional<String> prebuilt() {
    return Optional.ofNullable(annotations.get(KueueConstants.PREBUILT_WORKLOAD_NAME))
        .or(() -> Optional.ofNullable(labels.get(KueueConstants.PREBUILT_WORKLOAD_NAME)));
  }

  /** The path of the name of the prebuilt Workload. */
  public FieldPath prebuiltPath() {
    return (annotations.containsKey(KueueConstants.PREBUILT_WORKLOAD_NAME) ? ANNOTATIONS : LABELS)
        .key(KueueConstants.PREBUILT_WORKLOAD_NAME);
  }

  /** The value of a label; empty if the job has no such label. */
  public String label(String key) {
    return labels.getOrDefault(key, "");
  }

  /** Whether the job may change its size while it runs. */
  public boolean isElastic() {
    return "true".equals(annotations.get(KueueConstants.ELASTIC_JOB));
  }
}

package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Keys;
import dev.sluice.api.QueueNames;
import java.util.Map;
import java.util.Optional;

/**
 * A job of any kind, as the rules that all kinds share see it.
 *
 * @param labels of the job
 * @param annotations of the job
 * @param isSuspended whether it may not run now
 */
record JobFacts(Map<String, String> labels, Map<String, String> annotations, boolean isSuspended) {

  static final FieldPath LABELS = FieldPath.of("metadata", "labels");
  static final FieldPath ANNOTATIONS = FieldPath.of("metadata", "annotations");

  static JobFacts of(JsonNode object, boolean isSuspended) {
    return new JobFacts(Json.labels(object), Json.annotations(object), isSuspended);
  }

  Optional<String> queue() {
    return QueueNames.of(labels, annotations);
  }

  /** Where the queue name is written, or should be. */
  FieldPath queuePath() {
    boolean annotated =
        labels.getOrDefault(Keys.QUEUE_NAME, "").isEmpty()
            && annotations.containsKey(Keys.QUEUE_NAME);
    return (annotated ? ANNOTATIONS : LABELS).key(Keys.QUEUE_NAME);
  }

  Optional<String> prebuilt() {
    return Optional.ofNullable(annotations.get(Keys.PREBUILT_WORKLOAD_NAME))
        .or(() -> Optional.ofNullable(labels.get(Keys.PREBUILT_WORKLOAD_NAME)));
  }

  FieldPath prebuiltPath() {
    return (annotations.containsKey(Keys.PREBUILT_WORKLOAD_NAME) ? ANNOTATIONS : LABELS)
        .key(Keys.PREBUILT_WORKLOAD_NAME);
  }

  String label(String key) {
    return labels.getOrDefault(key, "");
  }

  boolean isElastic() {
    return "true".equals(annotations.get(Keys.ELASTIC_JOB));
  }
}

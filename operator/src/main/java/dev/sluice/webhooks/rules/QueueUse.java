package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;

/**
 * What a job or a Workload uses.
 *
 * @param queue the LocalQueue; empty if none
 * @param priorityClass the WorkloadPriorityClass; empty if none
 */
public record QueueUse(String queue, String priorityClass) {

  /** Nothing. */
  public static final QueueUse NONE = new QueueUse("", "");

  /** What a job of any kind uses; {@link #NONE} if there is no such object. */
  public static QueueUse ofJob(JsonNode job) {
    JobMetadata metadata = JobMetadata.of(job, false);
    return new QueueUse(metadata.queue().orElse(""), metadata.label(KueueConstants.PRIORITY_CLASS));
  }

  /** What a Workload uses; {@link #NONE} if there is no such object. */
  public static QueueUse ofWorkload(JsonNode workload) {
    boolean ofThisApi =
        JsonFields.text(workload, "spec", "priorityClassRef", "kind")
            .equals("WorkloadPriorityClass");
    return new QueueUse(
        JsonFields.text(workload, "spec", "queueName"),
        ofThisApi ? JsonFields.text(workload, "spec", "priorityClassRef", "name") : "");
  }
}

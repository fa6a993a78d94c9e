package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.LongNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import java.util.Map;
import java.util.Optional;

/**
 * Validates what jobs say about their run time and their checkpoints (docs/run-times.md), and about
 * their costs (docs/prices.md#flavors-by-cost).
 */
public final class RunTimeValidation {

  private static final int MOST_SHOWN = 64;
  private static final String LIMIT = "maximumExecutionTimeSeconds";

  private RunTimeValidation() {}

  /** Validates the annotations of a job or Workload at creation and at every update. */
  public static void validateObject(Map<String, String> annotations, FieldErrors bad) {
    String expected = annotations.get(RunTimeAnnotations.EXPECTED);
    if (expected != null && RunTimeAnnotations.parse(expected).isEmpty()) {
      bad.invalid(
          JobMetadata.ANNOTATIONS.key(RunTimeAnnotations.EXPECTED),
          TextLimits.shown(expected, MOST_SHOWN),
          "must be " + RunTimeAnnotations.RULE);
    }
    String checkpointed = annotations.get(CheckpointAnnotations.CHECKPOINTED_AT);
    if (checkpointed != null && CheckpointAnnotations.parse(checkpointed).isEmpty()) {
      bad.invalid(
          JobMetadata.ANNOTATIONS.key(CheckpointAnnotations.CHECKPOINTED_AT),
          TextLimits.shown(checkpointed, MOST_SHOWN),
          "must be " + CheckpointAnnotations.RULE);
    }
    CostAnnotations.faultsOfJob(annotations)
        .forEach(
            (annotation, allowed) ->
                bad.invalid(
                    JobMetadata.ANNOTATIONS.key(annotation),
                    TextLimits.shown(annotations.getOrDefault(annotation, ""), MOST_SHOWN),
                    "must be " + allowed));
  }

  /**
   * Gives a Workload that names no limit that of its queue, as the operator does to those of jobs
   * (docs/run-times.md#queues). Those of the operator, and of a manager cluster, stay as they are.
   */
  public static void limitWorkload(
      AdmissionRequest request, ClusterLookup cluster, JsonPatch patch) {
    if (request.isCreate() && limit(request.object()) == 0) {
      longest(request, cluster)
          .map(most -> most.runTime().toSeconds())
          .ifPresent(
              seconds -> {
                patch.set(LongNode.valueOf(seconds), "spec", LIMIT);
                patch.set(seconds + "s", "metadata", "annotations", RunTimeAnnotations.MAX);
              });
    }
  }

  /**
   * Validates the limit of a Workload that somebody creates, or gives another limit or queue: it
   * has one, and no more than its queue allows. Those of the operator, and of a manager cluster,
   * aren't looked at.
   */
  public static void validateWorkload(
      AdmissionRequest request, ClusterLookup cluster, FieldErrors bad) {
    long seconds = limit(request.object());
    if (request.isUpdate()
        && seconds == limit(request.oldObject())
        && queue(request.object()).equals(queue(request.oldObject()))) {
      return;
    }
    longest(request, cluster)
        .filter(most -> seconds == 0 || seconds > most.runTime().toSeconds())
        .ifPresent(
            most ->
                bad.invalid(
                    FieldPath.of("spec", LIMIT),
                    LongNode.valueOf(seconds),
                    "must be from 1 to %d, the longest run time of %s"
                        .formatted(most.runTime().toSeconds(), most.queue())));
  }

  private static Optional<QueueRunTime> longest(AdmissionRequest request, ClusterLookup cluster) {
    String queue = queue(request.object());
    return queue.isEmpty()
            || JsonFields.labels(request.object()).containsKey(KueueConstants.MULTIKUEUE_ORIGIN)
            || cluster.isOperator(request.user())
        ? Optional.empty()
        : cluster.maxRunTime(request.namespace(), queue);
  }

  private static long limit(JsonNode workload) {
    return JsonFields.at(workload, "spec", LIMIT).asLong();
  }

  private static String queue(JsonNode workload) {
    return JsonFields.text(workload, "spec", "queueName");
  }

  /**
   * Validates the limit that a job names, which is a positive number, against that of its queue.
   *
   * @param seconds the job's limit
   * @param most the limit of its queue
   */
  static void validateLimit(int seconds, Optional<QueueRunTime> most, FieldErrors bad) {
    most.filter(limit -> limit.runTime().toSeconds() < seconds)
        .ifPresent(
            limit ->
                bad.invalid(
                    JobMetadata.LABELS.key(KueueConstants.MAX_EXEC_TIME_SECONDS),
                    String.valueOf(seconds),
                    "must be at most %d, the longest run time of %s"
                        .formatted(limit.runTime().toSeconds(), limit.queue())));
  }
}

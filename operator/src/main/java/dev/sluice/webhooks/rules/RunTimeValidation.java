package dev.sluice.webhooks.rules;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.webhooks.review.FieldErrors;
import java.util.Map;
import java.util.Optional;

/**
 * Validates what jobs say about their run time and their checkpoints (docs/run-times.md), and about
 * their costs (docs/prices.md#flavors-by-cost).
 */
public final class RunTimeValidation {

  private static final int MOST_SHOWN = 64;

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

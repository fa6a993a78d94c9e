package dev.sluice.webhooks.rules;

import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import java.util.Map;
import java.util.function.Function;

/**
 * Validates the annotations of queues and Cohorts (docs/queueing-policies.md#annotations). A wrong
 * value that an update leaves as it is doesn't stand in the way of the update.
 */
public final class QueueAnnotationValidation {

  private static final FieldPath ANNOTATIONS = FieldPath.of("metadata", "annotations");

  private QueueAnnotationValidation() {}

  /**
   * Adds the errors of an object's annotations.
   *
   * @param faults what is allowed, by annotation with a wrong value
   */
  public static void validate(
      AdmissionRequest request,
      Function<Map<String, String>, Map<String, String>> faults,
      FieldErrors errors) {
    Map<String, String> annotations = JsonFields.annotations(request.object());
    Map<String, String> before = JsonFields.annotations(request.oldObject());
    faults
        .apply(annotations)
        .forEach(
            (annotation, allowed) -> {
              String value = annotations.getOrDefault(annotation, "");
              if (!value.equals(before.get(annotation))) {
                errors.invalid(ANNOTATIONS.key(annotation), value, "must be " + allowed);
              }
            });
  }
}

package dev.sluice.webhooks.rules;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import java.util.List;

/**
 * Validates the wish of a job that kube-scheduler binds all of its pods or none
 * (docs/gang-scheduling.md#who-may-ask).
 */
public final class PodGroupValidation {

  private static final FieldPath PATH = JobMetadata.ANNOTATIONS.key(KueueConstants.WAS_POD_GROUP);
  private static final int MAX_SHOWN = 100;

  private PodGroupValidation() {}

  /** Validates a job that a field suspends, at creation and at every update. */
  public static void validateObject(JobMetadata job, WebhookSettings settings, FieldErrors errors) {
    String value = job.annotations().get(KueueConstants.WAS_POD_GROUP);
    if (value == null || !settings.isOn(FeatureGate.WAS_POD_GROUPS)) {
      return;
    }
    if (!value.equals("true") && !value.equals("false")) {
      errors.notSupported(PATH, TextLimits.shown(value, MAX_SHOWN), List.of("true", "false"));
    } else if (value.equals("true") && job.isElastic()) {
      errors.forbidden(PATH, "may not be set for an elastic job, whose pods come one by one");
    }
  }

  /** Validates an object whose pods are there before they are admitted. */
  public static void forbid(JobMetadata job, WebhookSettings settings, FieldErrors errors) {
    if (job.annotations().containsKey(KueueConstants.WAS_POD_GROUP)
        && settings.isOn(FeatureGate.WAS_POD_GROUPS)) {
      errors.forbidden(PATH, "only jobs that a field suspends get PodGroups");
    }
  }
}

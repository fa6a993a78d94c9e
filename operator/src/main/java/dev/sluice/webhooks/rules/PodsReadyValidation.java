package dev.sluice.webhooks.rules;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.queueing.PodsReadyTimeouts;
import dev.sluice.webhooks.review.FieldErrors;
import java.util.Map;

/**
 * Validates how long a job or Workload says that its pods may take to be ready
 * (docs/workload-lifecycle.md#time-outs-of-a-single-workload).
 */
public final class PodsReadyValidation {

  private static final int MOST_SHOWN = 100;

  private PodsReadyValidation() {}

  /** Validates the annotation at creation and at every update, if its feature gate is on. */
  public static void validateObject(
      Map<String, String> annotations, WebhookSettings settings, FieldErrors errors) {
    String value = annotations.get(KueueConstants.WAIT_FOR_PODS_READY);
    if (value != null
        && settings.isOn(FeatureGate.WORKLOAD_LEVEL_WAIT_FOR_PODS_READY)
        && PodsReadyTimeouts.parse(value).isEmpty()) {
      errors.invalid(
          JobMetadata.ANNOTATIONS.key(KueueConstants.WAIT_FOR_PODS_READY),
          TextLimits.shown(value, MOST_SHOWN),
          "must be " + PodsReadyTimeouts.RULE);
    }
  }
}

package dev.sluice.webhooks.review;

import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;

/** Reviews admission requests of one kind. Stateless and thread-safe. */
@FunctionalInterface
public interface AdmissionFunction {

  /** The result of the review; never throws for the content of the object. */
  AdmissionResult review(AdmissionRequest request);
}

package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;

/** Webhook for Cohorts. */
final class CohortWebhook {

  private static final ResourceGroupValidation QUOTAS =
      new ResourceGroupValidation("parentName", false);

  private CohortWebhook() {}

  static AdmissionResult validate(AdmissionRequest request) {
    if (request.isFinalizing()) {
      return AdmissionResult.allowed();
    }
    FieldErrors bad = new FieldErrors();
    JsonNode spec = ReviewJson.at(request.object(), "spec");
    String parent = ReviewJson.text(spec, "parentName");
    if (!parent.isEmpty()) {
      bad.invalid(FieldPath.of("spec", "parentName"), parent, NameValidation.subdomain(parent));
    }
    QUOTAS.validate(spec, bad);
    ResourceGroupValidation.weight(spec, bad);
    return AdmissionResult.of(bad.errors());
  }
}

package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.QueueAnnotations;

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
    JsonNode spec = JsonFields.at(request.object(), "spec");
    String parent = JsonFields.text(spec, "parentName");
    if (!parent.isEmpty()) {
      bad.invalid(FieldPath.of("spec", "parentName"), parent, NameValidation.subdomain(parent));
    }
    if (!parent.isEmpty() && parent.equals(JsonFields.text(request.object(), "metadata", "name"))) {
      bad.invalid(FieldPath.of("spec", "parentName"), parent, "a Cohort can't be its own parent");
    }
    QUOTAS.validate(spec, bad);
    ResourceGroupValidation.weight(spec, bad);
    QueueAnnotationValidation.validate(
        request, annotations -> QueueAnnotations.ofCohort(annotations).faults(), bad);
    return AdmissionResult.of(bad.errors());
  }
}

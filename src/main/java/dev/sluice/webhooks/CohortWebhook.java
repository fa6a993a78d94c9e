package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.QueueAnnotations;
import java.util.List;

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
    QUOTAS.validate(spec, bad);
    ResourceGroupValidation.weight(spec, bad);
    QueueAnnotationValidation.validate(
        request, annotations -> QueueAnnotations.ofCohort(annotations).faults(), bad);
    return AdmissionResult.of(bad.errors(), warnings(request.object(), parent));
  }

  /** Cycles are not refused; the shortest one is seen in the object alone. */
  private static List<String> warnings(JsonNode cohort, String parent) {
    return !parent.isEmpty() && parent.equals(JsonFields.text(cohort, "metadata", "name"))
        ? List.of("as its own parent the Cohort makes the ClusterQueues below it inactive")
        : List.of();
  }
}

package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.webhooks.review.AdmissionRequest;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.NameValidation;
import dev.sluice.webhooks.rules.QueueAnnotationValidation;
import dev.sluice.webhooks.rules.ResourceGroupValidation;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Webhook for Cohorts. */
final class CohortWebhook {

  private static final ResourceGroupValidation QUOTAS =
      new ResourceGroupValidation("parentName", false);

  /** Cohorts nest less deep than this; what is beyond isn't searched for a cycle. */
  private static final int DEEPEST = 100;

  private final ClusterLookup cluster;

  CohortWebhook(ClusterLookup cluster) {
    this.cluster = cluster;
  }

  AdmissionResult validate(AdmissionRequest request) {
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

  /** A cycle is not refused: it may be the way to another order. Who closes one is warned. */
  private List<String> warnings(JsonNode cohort, String parent) {
    String name = JsonFields.text(cohort, "metadata", "name");
    Set<String> members = new LinkedHashSet<>();
    String above = parent;
    while (!above.isEmpty() && !above.equals(name) && members.size() < DEEPEST) {
      above = members.add(above) ? cluster.parentOfCohort(above) : "";
    }
    if (above.isEmpty() || !above.equals(name)) {
      return List.of();
    }
    return List.of(
        members.isEmpty()
            ? "as its own parent the Cohort makes the ClusterQueues below it inactive"
            : "the parents of the Cohort form a cycle, %s → %s → %s, which makes the ClusterQueues below it inactive"
                .formatted(name, String.join(" → ", members), name));
  }
}

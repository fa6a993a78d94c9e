package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;

/** Cohorts. */
final class CohortRules {

  private static final ResourceGroupRules QUOTAS = new ResourceGroupRules("parentName", false);

  private CohortRules() {}

  static Verdict check(AdmissionRequest request) {
    if (request.isFadingOut()) {
      return Verdict.allowed();
    }
    Complaints bad = new Complaints();
    JsonNode spec = Json.at(request.object(), "spec");
    String parent = Json.text(spec, "parentName");
    if (!parent.isEmpty()) {
      bad.invalid(FieldPath.of("spec", "parentName"), parent, Names.subdomain(parent));
    }
    QUOTAS.check(spec, bad);
    ResourceGroupRules.weight(spec, bad);
    return Verdict.of(bad.errors());
  }
}

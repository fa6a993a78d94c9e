package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.FeatureGate;
import java.util.List;

/** Pod templates of Workloads. */
final class PodTemplateRules {

  private static final String RESERVED = "pods";

  private final WebhookSettings settings;

  PodTemplateRules(WebhookSettings settings) {
    this.settings = settings;
  }

  void check(FieldPath path, JsonNode template, Complaints bad) {
    if (settings.isOn(FeatureGate.WORKLOAD_VALIDATION_FOR_POD_SET_METADATA)) {
      FieldPath metadata = path.child("metadata");
      LabelRules.labels(metadata.child("labels"), Json.labels(template), bad);
      LabelRules.annotations(metadata.child("annotations"), Json.annotations(template), bad);
    }
    FieldPath spec = path.child("spec");
    containers(spec, template, "initContainers", bad);
    containers(spec, template, "containers", bad);
    resources(spec.child("resources"), Json.at(template, "spec", "resources"), bad);
    amounts(spec.child("overhead"), Json.at(template, "spec", "overhead"), bad);
  }

  private void containers(FieldPath spec, JsonNode template, String field, Complaints bad) {
    List<JsonNode> containers = Json.list(template, "spec", field);
    for (int i = 0; i < containers.size(); i++) {
      resources(
          spec.child(field).index(i).child("resources"),
          Json.at(containers.get(i), "resources"),
          bad);
    }
  }

  private void resources(FieldPath path, JsonNode resources, Complaints bad) {
    for (String field : List.of("requests", "limits")) {
      JsonNode amounts = Json.at(resources, field);
      if (amounts.has(RESERVED)) {
        bad.invalid(
            path.child(field).key(RESERVED),
            RESERVED,
            "the resource name is reserved for the number of pods, it may not be requested");
      }
      amounts(path.child(field), amounts, bad);
    }
  }

  private void amounts(FieldPath path, JsonNode amounts, Complaints bad) {
    if (settings.isOn(FeatureGate.WORKLOAD_VALIDATE_RESOURCES_ARE_NON_NEGATIVE)) {
      amounts
          .properties()
          .forEach(it -> QuantityRules.checkNonNegative(path.key(it.getKey()), it.getValue(), bad));
    }
  }
}

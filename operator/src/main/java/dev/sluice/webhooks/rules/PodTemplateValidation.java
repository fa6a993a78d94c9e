package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.rules.ResourceGroupValidation.QuantityValidation;
import java.util.List;

/** Validates the pod templates of Workloads. */
public final class PodTemplateValidation {

  private static final String RESERVED = "pods";

  private final WebhookSettings settings;

  /** Validates labels and annotations only by the feature gate that {@code settings} has for it. */
  public PodTemplateValidation(WebhookSettings settings) {
    this.settings = settings;
  }

  /** Validates the template at {@code path}: metadata, resources of containers, overhead. */
  public void validate(FieldPath path, JsonNode template, FieldErrors errors) {
    if (settings.isOn(FeatureGate.WORKLOAD_VALIDATION_FOR_POD_SET_METADATA)) {
      FieldPath metadata = path.child("metadata");
      LabelValidation.labels(metadata.child("labels"), JsonFields.labels(template), errors);
      LabelValidation.annotations(
          metadata.child("annotations"), JsonFields.annotations(template), errors);
    }
    FieldPath spec = path.child("spec");
    containers(spec, template, "initContainers", errors);
    containers(spec, template, "containers", errors);
    resources(spec.child("resources"), JsonFields.at(template, "spec", "resources"), errors);
    amounts(spec.child("overhead"), JsonFields.at(template, "spec", "overhead"), errors);
  }

  private void containers(FieldPath spec, JsonNode template, String field, FieldErrors errors) {
    List<JsonNode> containers = JsonFields.list(template, "spec", field);
    for (int i = 0; i < containers.size(); i++) {
      resources(
          spec.child(field).index(i).child("resources"),
          JsonFields.at(containers.get(i), "resources"),
          errors);
    }
  }

  private void resources(FieldPath path, JsonNode resources, FieldErrors errors) {
    for (String field : List.of("requests", "limits")) {
      JsonNode amounts = JsonFields.at(resources, field);
      if (amounts.has(RESERVED)) {
        errors.invalid(
            path.child(field).key(RESERVED),
            RESERVED,
            "the resource name is reserved for the number of pods, it may not be requested");
      }
      amounts(path.child(field), amounts, errors);
    }
  }

  private void amounts(FieldPath path, JsonNode amounts, FieldErrors errors) {
    if (settings.isOn(FeatureGate.WORKLOAD_VALIDATE_RESOURCES_ARE_NON_NEGATIVE)) {
      amounts
          .properties()
          .forEach(
              it ->
                  QuantityValidation.checkNonNegative(
                      path.key(it.getKey()), it.getValue(), errors));
    }
  }
}

package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.List;
import java.util.Map;

/** The pods of jobs that may change their size while they run: a gate holds them back. */
final class ElasticPodsWebhook {

  private static final JsonPointer SPEC = JsonPointer.compile("/spec");
  private static final String GATES = "schedulingGates";

  private final JobKindDescription kind;
  private final WebhookSettings settings;

  ElasticPodsWebhook(JobKindDescription kind, WebhookSettings settings) {
    this.kind = kind;
    this.settings = settings;
  }

  /** Whether a job may change its size while it runs. */
  boolean isElastic(JsonNode object) {
    return kind.canBeElastic()
        && settings.isOn(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES)
        && "true".equals(JsonFields.annotations(object).get(KueueConstants.ELASTIC_JOB));
  }

  /** Adds the gate to the templates of an elastic job. */
  void mutate(JsonPatch patch) {
    if (isElastic(patch.object())) {
      ObjectNode gate = JsonNodeFactory.instance.objectNode();
      gate.put("name", KueueConstants.ELASTIC_JOB);
      for (JsonPointer template : kind.elasticTemplates(patch.object())) {
        patch.append(gate, template.append(SPEC), GATES);
      }
    }
  }

  /** What is wrong with the templates of an elastic job in a queue. */
  void validate(JsonNode object, FieldErrors errors) {
    if (!isElastic(object)) {
      return;
    }
    for (JsonPointer template : kind.elasticTemplates(object)) {
      JsonPointer spec = template.append(SPEC);
      boolean gated =
          JsonFields.list(object.at(spec), GATES).stream()
              .anyMatch(gate -> JsonFields.text(gate, "name").equals(KueueConstants.ELASTIC_JOB));
      if (object.at(spec).isObject() && !gated) {
        errors.required(
            new FieldPath(InvalidField.path(spec)).child(GATES),
            "pods of an elastic job must have the gate " + KueueConstants.ELASTIC_JOB);
      }
      forbidPlaces(
          new FieldPath(InvalidField.path(template) + ".metadata.annotations"),
          JsonFields.annotations(object.at(template)),
          errors);
    }
  }

  /** Pods that come one after the other can't be asked to be in one place together. */
  static void forbidPlaces(FieldPath path, Map<String, String> annotations, FieldErrors errors) {
    for (String key :
        List.of(
            KueueConstants.PODSET_REQUIRED_TOPOLOGY, KueueConstants.PODSET_PREFERRED_TOPOLOGY)) {
      if (annotations.containsKey(key)) {
        errors.forbidden(path.key(key), "may not be set for an elastic job");
      }
    }
  }
}

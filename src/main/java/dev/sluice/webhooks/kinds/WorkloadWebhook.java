package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.webhooks.review.AdmissionRequest;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.NumberReader;
import dev.sluice.webhooks.rules.AdmissionGateValidation;
import dev.sluice.webhooks.rules.PlacementValidation;
import dev.sluice.webhooks.rules.PodTemplateValidation;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.List;
import java.util.Map;

/** Webhook for Workloads: defaults and validation of the spec. */
final class WorkloadWebhook {

  private static final FieldPath POD_SETS = FieldPath.of("spec", "podSets");

  private final WebhookSettings settings;
  private final PodTemplateValidation templates;
  private final WorkloadStatusValidation status;
  private final WorkloadUpdateValidation update;

  WorkloadWebhook(WebhookSettings settings) {
    this.settings = settings;
    this.templates = new PodTemplateValidation(settings);
    this.status = new WorkloadStatusValidation();
    this.update = new WorkloadUpdateValidation(settings);
  }

  AdmissionResult mutate(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (request.isCreate() && !settings.isOn(FeatureGate.PARTIAL_ADMISSION)) {
      int count = JsonFields.list(request.object(), "spec", "podSets").size();
      for (int i = 0; i < count; i++) {
        patch.removeFromElement("minCount", i, "spec", "podSets");
      }
    }
    return AdmissionResult.patched(patch);
  }

  AdmissionResult validate(AdmissionRequest request) {
    if (request.isFinalizing()) {
      return AdmissionResult.allowed();
    }
    FieldErrors bad = new FieldErrors();
    WorkloadReview now = new WorkloadReview(request.object(), isElastic(request.object()));
    if (isSpecToBeChecked(request)) {
      spec(now, bad);
      annotations(JsonFields.annotations(request.object()), bad);
    }
    if (request.isUpdate()) {
      WorkloadReview before =
          new WorkloadReview(request.oldObject(), isElastic(request.oldObject()));
      status.validate(now, before, bad);
      update.validate(now, before, bad);
    } else {
      status.validate(now, WorkloadReview.NONE, bad);
    }
    return AdmissionResult.of(bad.errors());
  }

  /**
   * Whether the spec must be validated: an unchanged spec does not block an update of the status.
   */
  private static boolean isSpecToBeChecked(AdmissionRequest request) {
    return !request.isUpdate()
        || !JsonFields.at(request.object(), "spec")
            .equals(JsonFields.at(request.oldObject(), "spec"))
        || !JsonFields.annotations(request.object())
            .equals(JsonFields.annotations(request.oldObject()));
  }

  private boolean isElastic(JsonNode object) {
    return settings.isOn(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES)
        && "true".equals(JsonFields.annotations(object).get(KueueConstants.ELASTIC_JOB));
  }

  private void spec(WorkloadReview workload, FieldErrors bad) {
    List<JsonNode> podSets = workload.podSets();
    if (podSets.size() > PodSetTemplate.MOST) {
      bad.tooMany(POD_SETS, podSets.size(), PodSetTemplate.MOST, "items");
      return;
    }
    int partial = 0;
    for (int i = 0; i < podSets.size(); i++) {
      JsonNode podSet = podSets.get(i);
      FieldPath path = POD_SETS.index(i);
      templates.validate(path.child("template"), JsonFields.at(podSet, "template"), bad);
      if (JsonFields.isPresent(podSet, "minCount")) {
        partial++;
        if (workload.isElastic()) {
          bad.invalid(
              path.child("minCount"),
              JsonFields.at(podSet, "minCount"),
              "must not be given together with annotation " + KueueConstants.ELASTIC_JOB + "=true");
        }
      }
      if (settings.isOn(FeatureGate.TAS_VALIDATE_WORKLOAD_SLICE_SIZE)) {
        slices(path.child("topologyRequest"), JsonFields.at(podSet, "topologyRequest"), bad);
      }
    }
    if (partial > 1) {
      bad.invalid(POD_SETS, partial + " with minCount", "at most one podSet can use minCount");
    }
  }

  private static void slices(FieldPath path, JsonNode request, FieldErrors bad) {
    boolean topology = JsonFields.isPresent(request, "podSetSliceRequiredTopology");
    JsonNode size = JsonFields.at(request, "podSetSliceSize");
    FieldPath sizePath = path.child("podSetSliceSize");
    if (topology && size.isMissingNode()) {
      bad.required(sizePath, "must be set when podSetSliceRequiredTopology is");
    } else if (!topology && !size.isMissingNode()) {
      bad.forbidden(sizePath, "may not be set without podSetSliceRequiredTopology, now " + size);
    }
    if (!size.isMissingNode() && size.asLong() <= 0) {
      bad.invalid(sizePath, size, "must be greater than or equal to 1");
    }
  }

  private void annotations(Map<String, String> annotations, FieldErrors bad) {
    if (settings.isOn(FeatureGate.ADMISSION_GATED_BY)) {
      AdmissionGateValidation.validateObject(annotations, bad);
    }
    PlacementValidation.validateObject(annotations, bad);
    String boost = annotations.get(KueueConstants.PRIORITY_BOOST);
    if (settings.isOn(FeatureGate.PRIORITY_BOOST)
        && boost != null
        && NumberReader.int32(boost).isEmpty()) {
      bad.invalid(
          FieldPath.of("metadata", "annotations").key(KueueConstants.PRIORITY_BOOST),
          boost,
          "must be a whole number from " + Integer.MIN_VALUE + " to " + Integer.MAX_VALUE);
    }
  }
}

package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Keys;
import dev.sluice.api.config.FeatureGate;
import java.util.List;
import java.util.Map;

/** Workloads: what is filled in, and what their spec must hold to. */
final class WorkloadRules {

  private static final FieldPath POD_SETS = FieldPath.of("spec", "podSets");

  private final WebhookSettings settings;
  private final PodTemplateRules templates;
  private final WorkloadStatusRules status;
  private final WorkloadUpdateRules update;

  WorkloadRules(WebhookSettings settings) {
    this.settings = settings;
    this.templates = new PodTemplateRules(settings);
    this.status = new WorkloadStatusRules();
    this.update = new WorkloadUpdateRules(settings);
  }

  Verdict fillIn(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (request.isCreate() && !settings.isOn(FeatureGate.PARTIAL_ADMISSION)) {
      int count = Json.list(request.object(), "spec", "podSets").size();
      for (int i = 0; i < count; i++) {
        patch.removeFromElement("minCount", i, "spec", "podSets");
      }
    }
    return Verdict.patched(patch);
  }

  Verdict check(AdmissionRequest request) {
    if (request.isFadingOut()) {
      return Verdict.allowed();
    }
    Complaints bad = new Complaints();
    Workload now = new Workload(request.object(), isElastic(request.object()));
    if (isSpecToBeChecked(request)) {
      spec(now, bad);
      annotations(Json.annotations(request.object()), bad);
    }
    if (request.isUpdate()) {
      Workload before = new Workload(request.oldObject(), isElastic(request.oldObject()));
      status.check(now, before, bad);
      update.check(now, before, bad);
    } else {
      status.check(now, Workload.NONE, bad);
    }
    return Verdict.of(bad.errors());
  }

  /** A spec that nobody changed doesn't stand in the way of its status. */
  private static boolean isSpecToBeChecked(AdmissionRequest request) {
    return !request.isUpdate()
        || !Json.at(request.object(), "spec").equals(Json.at(request.oldObject(), "spec"))
        || !Json.annotations(request.object()).equals(Json.annotations(request.oldObject()));
  }

  private boolean isElastic(JsonNode object) {
    return settings.isOn(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES)
        && "true".equals(Json.annotations(object).get(Keys.ELASTIC_JOB));
  }

  private void spec(Workload workload, Complaints bad) {
    List<JsonNode> podSets = workload.podSets();
    int partial = 0;
    for (int i = 0; i < podSets.size(); i++) {
      JsonNode podSet = podSets.get(i);
      FieldPath path = POD_SETS.index(i);
      templates.check(path.child("template"), Json.at(podSet, "template"), bad);
      if (Json.isPresent(podSet, "minCount")) {
        partial++;
        if (workload.isElastic()) {
          bad.invalid(
              path.child("minCount"),
              Json.at(podSet, "minCount"),
              "must not be given together with annotation " + Keys.ELASTIC_JOB + "=true");
        }
      }
      if (settings.isOn(FeatureGate.TAS_VALIDATE_WORKLOAD_SLICE_SIZE)) {
        slices(path.child("topologyRequest"), Json.at(podSet, "topologyRequest"), bad);
      }
    }
    if (partial > 1) {
      bad.invalid(POD_SETS, partial + " with minCount", "at most one podSet can use minCount");
    }
  }

  private static void slices(FieldPath path, JsonNode request, Complaints bad) {
    boolean topology = Json.isPresent(request, "podSetSliceRequiredTopology");
    JsonNode size = Json.at(request, "podSetSliceSize");
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

  private void annotations(Map<String, String> annotations, Complaints bad) {
    if (settings.isOn(FeatureGate.ADMISSION_GATED_BY)) {
      GatedByRules.form(annotations, bad);
    }
    PlacementRules.form(annotations, bad);
    String boost = annotations.get(Keys.PRIORITY_BOOST);
    if (settings.isOn(FeatureGate.PRIORITY_BOOST)
        && boost != null
        && Numbers.int32(boost).isEmpty()) {
      bad.invalid(
          FieldPath.of("metadata", "annotations").key(Keys.PRIORITY_BOOST),
          boost,
          "must be a whole number from " + Integer.MIN_VALUE + " to " + Integer.MAX_VALUE);
    }
  }
}

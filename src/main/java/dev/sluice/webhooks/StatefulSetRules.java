package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Keys;
import dev.sluice.workloads.PodShape;
import java.util.ArrayList;
import java.util.List;

/** StatefulSets: their pods start together, with the quota that is reserved for all of them. */
final class StatefulSetRules {

  private static final String FRAMEWORK = "statefulset";
  private static final FieldPath REPLICAS = FieldPath.of("spec", "replicas");
  private static final FieldPath TEMPLATE = FieldPath.of("spec", "template", "spec");

  private final ServingRules serving;
  private final ClusterFacts cluster;

  StatefulSetRules(WebhookSettings settings, ClusterFacts cluster) {
    this.serving = new ServingRules(settings, cluster);
    this.cluster = cluster;
  }

  Verdict fillIn(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (isOurs(request.object()) && serving.fillIn(request, patch)) {
      ServingRules.holdBack(patch, FRAMEWORK);
    }
    return Verdict.patched(patch);
  }

  /** Whether no other integration has laid its hand on the pods. */
  private static boolean isOurs(JsonNode object) {
    String parent = ServingRules.templateAnnotation(object, Keys.POD_SUSPENDING_PARENT);
    return parent.isEmpty() || parent.equals(FRAMEWORK);
  }

  Verdict check(AdmissionRequest request) {
    if (request.isFadingOut() || !isOurs(request.object())) {
      return Verdict.allowed();
    }
    List<FieldError> errors = new ArrayList<>(serving.errors(request));
    if (request.isUpdate() && serving.isManaged(request)) {
      Complaints bad = new Complaints();
      shape(request, bad);
      replicas(request, bad);
      errors.addAll(bad.errors());
    }
    return Verdict.of(errors);
  }

  /** The Workload is made from the template, and its quota is given for that. */
  private static void shape(AdmissionRequest request, Complaints bad) {
    JsonNode before = PodShape.of(podSpec(request.oldObject())).parts();
    JsonNode now = PodShape.of(podSpec(request.object())).parts();
    for (String field : PodShape.FIELDS) {
      if (!Json.at(before, field).equals(Json.at(now, field))) {
        FieldPath path = TEMPLATE.child(field.equals("requests") ? "resources" : field);
        bad.immutable(path, Json.at(now, field), "for a StatefulSet in a queue");
      }
    }
  }

  private static JsonNode podSpec(JsonNode object) {
    return Json.at(object, "spec", "template", "spec");
  }

  private void replicas(AdmissionRequest request, Complaints bad) {
    long before = Json.at(request.oldObject(), "spec", "replicas").asLong(1);
    JsonNode value = Json.at(request.object(), "spec", "replicas");
    long now = value.asLong(1);
    if (before == now || now == 0) {
      return;
    }
    if (before > 0) {
      bad.immutable(
          REPLICAS,
          value,
          "for a StatefulSet in a queue, except for scaling to 0 and, from there, to any number");
    } else if (Json.at(request.object(), "status", "replicas").asLong() > 0) {
      bad.forbidden(REPLICAS, "may not be raised to " + now + " while scaling to 0 is in progress");
    } else if (cluster.hasWorkloadInUse(request.namespace(), self(request.object()))) {
      bad.forbidden(REPLICAS, "may not be raised to " + now + " while its Workload is not on hold");
    }
  }

  private static ClusterFacts.Owner self(JsonNode object) {
    String origin = Json.annotations(object).getOrDefault(Keys.MULTIKUEUE_ORIGIN_UID, "");
    return new ClusterFacts.Owner(
        Json.text(object, "apiVersion"),
        Json.text(object, "kind"),
        Json.text(object, "metadata", "name"),
        origin.isEmpty() ? Json.text(object, "metadata", "uid") : origin);
  }
}

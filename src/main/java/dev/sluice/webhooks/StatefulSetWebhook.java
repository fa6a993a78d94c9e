package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.workload.PodRoleHash;
import java.util.ArrayList;
import java.util.List;

/**
 * Webhook for StatefulSets: the pods of a StatefulSet start together, with quota reserved for all
 * of them.
 */
final class StatefulSetWebhook {

  private static final String FRAMEWORK = "statefulset";
  private static final FieldPath REPLICAS = FieldPath.of("spec", "replicas");
  private static final FieldPath TEMPLATE = FieldPath.of("spec", "template", "spec");

  private final WebhookRuleText serving;
  private final ClusterLookup cluster;

  StatefulSetWebhook(WebhookSettings settings, ClusterLookup cluster) {
    this.serving = new WebhookRuleText(settings, cluster);
    this.cluster = cluster;
  }

  AdmissionResult mutate(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (isOurs(request.object()) && serving.mutate(request, patch)) {
      WebhookRuleText.addSchedulingGates(patch, FRAMEWORK);
    }
    return AdmissionResult.patched(patch);
  }

  /** Whether no other integration manages the pods. */
  private static boolean isOurs(JsonNode object) {
    String parent =
        WebhookRuleText.templateAnnotation(object, KueueConstants.POD_SUSPENDING_PARENT);
    return parent.isEmpty() || parent.equals(FRAMEWORK);
  }

  AdmissionResult validate(AdmissionRequest request) {
    if (request.isFinalizing() || !isOurs(request.object())) {
      return AdmissionResult.allowed();
    }
    List<FieldError> errors = new ArrayList<>(serving.errors(request));
    if (request.isUpdate() && serving.isManaged(request)) {
      FieldErrors bad = new FieldErrors();
      validateTemplate(request, bad);
      replicas(request, bad);
      errors.addAll(bad.errors());
    }
    return AdmissionResult.of(errors);
  }

  /** Rejects changes of the template fields from which the Workload and its quota were computed. */
  private static void validateTemplate(AdmissionRequest request, FieldErrors bad) {
    JsonNode before = PodRoleHash.of(podSpec(request.oldObject())).parts();
    JsonNode now = PodRoleHash.of(podSpec(request.object())).parts();
    for (String field : PodRoleHash.FIELDS) {
      if (!ReviewJson.at(before, field).equals(ReviewJson.at(now, field))) {
        FieldPath path = TEMPLATE.child(field.equals("requests") ? "resources" : field);
        bad.immutable(path, ReviewJson.at(now, field), "for a StatefulSet in a queue");
      }
    }
  }

  private static JsonNode podSpec(JsonNode object) {
    return ReviewJson.at(object, "spec", "template", "spec");
  }

  private void replicas(AdmissionRequest request, FieldErrors bad) {
    long before = ReviewJson.at(request.oldObject(), "spec", "replicas").asLong(1);
    JsonNode value = ReviewJson.at(request.object(), "spec", "replicas");
    long now = value.asLong(1);
    if (before == now || now == 0) {
      return;
    }
    if (before > 0) {
      bad.immutable(
          REPLICAS,
          value,
          "for a StatefulSet in a queue, except for scaling to 0 and, from there, to any number");
    } else if (ReviewJson.at(request.object(), "status", "replicas").asLong() > 0) {
      bad.forbidden(REPLICAS, "may not be raised to " + now + " while scaling to 0 is in progress");
    } else if (cluster.hasWorkloadInUse(request.namespace(), self(request.object()))) {
      bad.forbidden(REPLICAS, "may not be raised to " + now + " while its Workload is not on hold");
    }
  }

  private static ClusterLookup.Owner self(JsonNode object) {
    String origin =
        ReviewJson.annotations(object).getOrDefault(KueueConstants.MULTIKUEUE_ORIGIN_UID, "");
    return new ClusterLookup.Owner(
        ReviewJson.text(object, "apiVersion"),
        ReviewJson.text(object, "kind"),
        ReviewJson.text(object, "metadata", "name"),
        origin.isEmpty() ? ReviewJson.text(object, "metadata", "uid") : origin);
  }
}

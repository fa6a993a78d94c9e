package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kinds.statefulset.StatefulSets;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldError;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.JobWarnings.MisnamedQueueLabels;
import dev.sluice.webhooks.rules.ServingDefaults;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.ArrayList;
import java.util.List;

/**
 * Webhook for StatefulSets: the pods of a StatefulSet start together, with quota reserved for all
 * of them.
 */
final class StatefulSetWebhook implements KindWebhook {

  private static final String FRAMEWORK = StatefulSets.KIND.framework();
  private static final String IN_A_QUEUE = "for a StatefulSet in a queue";
  private static final FieldPath REPLICAS = FieldPath.of("spec", "replicas");
  private static final FieldPath TEMPLATE = FieldPath.of("spec", "template", "spec");
  private static final FieldPath PARENT =
      FieldPath.of("spec", "template", "metadata", "annotations")
          .key(KueueConstants.POD_SUSPENDING_PARENT);

  private final ServingDefaults serving;
  private final ClusterLookup cluster;

  StatefulSetWebhook(WebhookSettings settings, ClusterLookup cluster) {
    this.serving = new ServingDefaults(settings, cluster);
    this.cluster = cluster;
  }

  @Override
  public AdmissionResult mutate(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (isOurs(request.object()) && serving.mutate(request, patch)) {
      ServingDefaults.addSchedulingGates(patch, FRAMEWORK);
    }
    return AdmissionResult.patched(patch);
  }

  /** Whether no other integration manages the pods. */
  private static boolean isOurs(JsonNode object) {
    return parent(object).isEmpty() || isGated(object);
  }

  /** Whether the pods are held back on behalf of the StatefulSet. */
  private static boolean isGated(JsonNode object) {
    return parent(object).equals(FRAMEWORK);
  }

  private static String parent(JsonNode object) {
    return ServingDefaults.templateAnnotation(object, KueueConstants.POD_SUSPENDING_PARENT);
  }

  @Override
  public AdmissionResult validate(AdmissionRequest request) {
    if (request.isFinalizing() || (!isOurs(request.object()) && !isGated(request.oldObject()))) {
      return AdmissionResult.allowed();
    }
    List<FieldError> errors = new ArrayList<>(serving.errors(request));
    if (request.isUpdate() && serving.isManaged(request, self(request.oldObject()))) {
      FieldErrors fieldErrors = new FieldErrors();
      if (isGated(request.oldObject()) && !isGated(request.object())) {
        fieldErrors.immutable(PARENT, TextNode.valueOf(parent(request.object())), IN_A_QUEUE);
      }
      ServingDefaults.shapeStays(
          podSpec(request.oldObject()),
          podSpec(request.object()),
          TEMPLATE,
          IN_A_QUEUE,
          fieldErrors);
      replicas(request, fieldErrors);
      errors.addAll(fieldErrors.errors());
    }
    return AdmissionResult.of(
        errors, request.isCreate() ? MisnamedQueueLabels.warnings(request.object()) : List.of());
  }

  private static JsonNode podSpec(JsonNode object) {
    return JsonFields.at(object, "spec", "template", "spec");
  }

  private void replicas(AdmissionRequest request, FieldErrors fieldErrors) {
    long before = JsonFields.at(request.oldObject(), "spec", "replicas").asLong(1);
    JsonNode value = JsonFields.at(request.object(), "spec", "replicas");
    long now = value.asLong(1);
    if (before == now || now == 0) {
      return;
    }
    if (before > 0) {
      fieldErrors.immutable(
          REPLICAS, value, IN_A_QUEUE + ", except for scaling to 0 and, from there, to any number");
    } else if (JsonFields.at(request.object(), "status", "replicas").asLong() > 0) {
      fieldErrors.forbidden(
          REPLICAS, "may not be raised to " + now + " while scaling to 0 is in progress");
    } else if (cluster.hasWorkloadInUse(request.namespace(), self(request.object()))) {
      fieldErrors.forbidden(
          REPLICAS, "may not be raised to " + now + " while its Workload is not on hold");
    }
  }

  private static ClusterLookup.Owner self(JsonNode object) {
    String origin =
        JsonFields.annotations(object).getOrDefault(KueueConstants.MULTIKUEUE_ORIGIN_UID, "");
    ClusterLookup.Owner self = ClusterLookup.Owner.of(object);
    return origin.isEmpty()
        ? self
        : new ClusterLookup.Owner(self.apiVersion(), self.kind(), self.name(), origin);
  }
}

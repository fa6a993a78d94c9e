package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldError;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import dev.sluice.webhooks.rules.JobWarnings.MisnamedQueueLabels;
import dev.sluice.webhooks.rules.ServingDefaults;
import dev.sluice.webhooks.rules.TopologyValidation;
import dev.sluice.webhooks.rules.TopologyValidation.PodSetShape;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.ArrayList;
import java.util.List;

/**
 * Webhook for LeaderWorkerSets: the pods of a group start together, with quota reserved for all of
 * them.
 */
final class LeaderWorkerSetWebhook implements KindWebhook {

  private static final String FRAMEWORK = LeaderWorkerSets.KIND.framework();
  private static final String POD_INDEX_OFFSET = "kueue.x-k8s.io/pod-index-offset";
  private static final long MOST_REPLICAS = 1_000_000;
  private static final String[] TEMPLATES = {"spec", "leaderWorkerTemplate"};
  private static final String LEADER = "leaderTemplate";
  private static final String WORKER = "workerTemplate";
  private static final String IN_A_QUEUE = "for a LeaderWorkerSet in a queue";

  private final WebhookSettings settings;
  private final ServingDefaults serving;
  private final TopologyValidation topology;

  LeaderWorkerSetWebhook(WebhookSettings settings, ClusterLookup cluster) {
    this.settings = settings;
    this.serving = new ServingDefaults(settings, cluster);
    this.topology = new TopologyValidation(settings);
  }

  private static JsonNode templates(JsonNode object) {
    return JsonFields.at(object, TEMPLATES);
  }

  private static boolean hasLeader(JsonNode object) {
    return templates(object).hasNonNull(LEADER);
  }

  @Override
  public AdmissionResult mutate(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (serving.mutate(request, patch)) {
      boolean leader = hasLeader(patch.object());
      if (leader) {
        mutate(patch, LEADER);
      }
      mutate(patch, WORKER);
      JsonNode annotations =
          JsonFields.at(templates(patch.object()), WORKER, "metadata", "annotations");
      if (leader && !annotations.has(KueueConstants.PODSET_GROUP_NAME)) {
        set(patch, WORKER, "annotations", POD_INDEX_OFFSET, "1");
      }
    }
    return AdmissionResult.patched(patch);
  }

  private static void mutate(JsonPatch patch, String template) {
    JobMetadata job = JobMetadata.of(patch.object(), false);
    job.queue().ifPresent(it -> set(patch, template, "labels", KueueConstants.QUEUE_NAME, it));
    String priority = job.label(KueueConstants.PRIORITY_CLASS);
    if (!priority.isEmpty()) {
      set(patch, template, "labels", KueueConstants.PRIORITY_CLASS, priority);
    }
    set(patch, template, "annotations", KueueConstants.POD_SUSPENDING_PARENT, FRAMEWORK);
    set(patch, template, "annotations", KueueConstants.POD_GROUP_SERVING, "true");
  }

  private static void set(JsonPatch patch, String template, String map, String key, String value) {
    String[] path = {TEMPLATES[0], TEMPLATES[1], template, "metadata", map, key};
    if (!JsonFields.text(patch.object(), path).equals(value)) {
      patch.set(value, path);
    }
  }

  @Override
  public AdmissionResult validate(AdmissionRequest request) {
    if (request.isFinalizing()) {
      return AdmissionResult.allowed();
    }
    List<FieldError> errors = new ArrayList<>(serving.errors(request));
    errors.addAll(request.newErrors(this::validateObject));
    if (request.isUpdate()
        && serving.isManaged(request, ClusterLookup.Owner.of(request.oldObject()))) {
      FieldErrors fieldErrors = new FieldErrors();
      validateUpdate(request.oldObject(), request.object(), fieldErrors);
      errors.addAll(fieldErrors.errors());
    }
    return AdmissionResult.of(
        errors, request.isCreate() ? MisnamedQueueLabels.warnings(request.object()) : List.of());
  }

  private List<FieldError> validateObject(JsonNode object) {
    FieldErrors fieldErrors = new FieldErrors();
    JsonNode replicas = JsonFields.at(object, "spec", "replicas");
    long count = replicas.asLong(1);
    if (count < 0 || count > MOST_REPLICAS) {
      fieldErrors.invalid(
          FieldPath.of("spec", "replicas"), replicas, "must be between 0 and " + MOST_REPLICAS);
    }
    long size = Math.max(1, templates(object).path("size").asLong(1));
    topology.validate(
        hasLeader(object)
            ? List.of(shape(object, LEADER, 1), shape(object, WORKER, size - 1))
            : List.of(shape(object, WORKER, size)),
        fieldErrors);
    return fieldErrors.errors();
  }

  private static PodSetShape shape(JsonNode object, String template, long count) {
    return new PodSetShape(
        count,
        path(template).child("metadata").child("annotations"),
        JsonFields.annotations(templates(object).path(template)));
  }

  private static FieldPath path(String field) {
    return FieldPath.of(TEMPLATES).child(field);
  }

  /** Rejects changes of what the Workloads and their quota were computed from. */
  private void validateUpdate(JsonNode before, JsonNode now, FieldErrors fieldErrors) {
    if (hasLeader(before) != hasLeader(now)) {
      fieldErrors.forbidden(path(LEADER), "may not be added or removed " + IN_A_QUEUE);
    } else if (hasLeader(now)) {
      validateShape(before, now, LEADER, fieldErrors);
    }
    validateShape(before, now, WORKER, fieldErrors);
    JsonNode size = templates(now).path("size");
    if (settings.isOn(FeatureGate.LWS_IMMUTABLE_GROUP_SIZE)
        && size.asLong(1) != templates(before).path("size").asLong(1)) {
      fieldErrors.immutable(path("size"), size, IN_A_QUEUE);
    }
  }

  private static void validateShape(
      JsonNode before, JsonNode now, String template, FieldErrors fieldErrors) {
    ServingDefaults.shapeStays(
        JsonFields.at(templates(before), template, "spec"),
        JsonFields.at(templates(now), template, "spec"),
        path(template).child("spec"),
        IN_A_QUEUE,
        fieldErrors);
  }
}

package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.JobKindDescription.FieldDefault;
import dev.sluice.jobs.kind.WebhookRules.Review.SuspendField;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldError;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.JobDefaults;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import dev.sluice.webhooks.rules.JobMetadataValidation;
import dev.sluice.webhooks.rules.JobWarnings;
import dev.sluice.webhooks.rules.PlacementValidation;
import dev.sluice.webhooks.rules.PodGroupValidation;
import dev.sluice.webhooks.rules.TopologyValidation;
import dev.sluice.webhooks.rules.TopologyValidation.PodSetShape;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.List;

/** Webhook for jobs that a field suspends, of any kind; the kind adds its own rules. */
final class SuspendFieldWebhook implements KindWebhook {

  private final SuspendField field;
  private final JobKindDescription kind;
  private final WebhookSettings settings;
  private final JobDefaults defaults;
  private final JobMetadataValidation keys;
  private final TopologyValidation topology;
  private final ClusterLookup cluster;
  private final JobWarnings notices;
  private final ElasticPodsWebhook elastic;

  SuspendFieldWebhook(
      SuspendField field,
      JobKindDescription kind,
      WebhookSettings settings,
      ClusterLookup cluster) {
    this.field = field;
    this.kind = kind;
    this.cluster = cluster;
    this.settings = settings;
    this.defaults = new JobDefaults(settings, cluster);
    this.keys = JobMetadataValidation.of(kind, settings, cluster);
    this.topology = new TopologyValidation(settings);
    this.notices = new JobWarnings(settings, cluster);
    this.elastic = new ElasticPodsWebhook(kind, settings);
  }

  @Override
  public AdmissionResult mutate(AdmissionRequest request) {
    if (!request.isCreate() || !kind.isManageable(request.object())) {
      return AdmissionResult.allowed();
    }
    JsonPatch patch = new JsonPatch(request.object());
    if (defaults.mutate(request, patch, field)) {
      for (FieldDefault further : kind.defaults(patch.object())) {
        patch.set(further.value(), further.path().toArray(String[]::new));
      }
      elastic.mutate(patch);
    }
    return AdmissionResult.patched(patch);
  }

  @Override
  public AdmissionResult validate(AdmissionRequest request) {
    List<FieldError> errors = defaults.refusedStart(request, field);
    if (request.isFinalizing() || isOfNoConcern(request)) {
      return AdmissionResult.of(errors);
    }
    boolean mayBeManaged = defaults.isInScope(request) && !defaults.isOwnerManaged(request);
    errors.addAll(
        request.newErrors(object -> validateObject(object, request.namespace(), mayBeManaged)));
    if (request.isUpdate()
        && (kind.isManageable(request.oldObject()) || kind.isManageable(request.object()))) {
      FieldErrors fieldErrors = new FieldErrors();
      protectAnnotations(request, fieldErrors);
      keys.validateUpdate(
          metadata(request.oldObject()),
          metadata(request.object()),
          request.namespace(),
          fieldErrors);
      errors.addAll(fieldErrors.errors());
    }
    return AdmissionResult.of(errors, notices.of(request));
  }

  private void protectAnnotations(AdmissionRequest request, FieldErrors fieldErrors) {
    JsonNode before = request.oldObject();
    for (String annotation : kind.operatorAnnotations(before)) {
      if (!JsonFields.text(before, "metadata", "annotations", annotation)
              .equals(JsonFields.text(request.object(), "metadata", "annotations", annotation))
          && !cluster.isOperator(request.user())) {
        fieldErrors.operatorOnly(JobMetadata.ANNOTATIONS.key(annotation));
      }
    }
  }

  /** Whether the request updates a job without a queue, and the kind leaves such updates alone. */
  private boolean isOfNoConcern(AdmissionRequest request) {
    return request.isUpdate()
        && kind.validatesQueuedUpdatesOnly()
        && !isQueued(request.object())
        && !(settings.isOn(FeatureGate.VALIDATE_RAY_AND_SPARK_JOB_UPDATES)
            && isQueued(request.oldObject()));
  }

  private boolean isQueued(JsonNode object) {
    return settings.manageJobsWithoutQueueName() || metadata(object).queue().isPresent();
  }

  private List<FieldError> validateObject(JsonNode object, String namespace, boolean mayBeManaged) {
    FieldErrors fieldErrors = new FieldErrors();
    if (kind.isManageable(object)) {
      JobMetadata job = metadata(object);
      keys.validateObject(job, namespace, fieldErrors);
      PodGroupValidation.validateObject(job, settings, fieldErrors);
      PlacementValidation.validateManagedBy(job, object, field.managedBy(), fieldErrors);
      topology.validate(
          kind.reviewedPodSets(cluster.resolved(kind.kind(), object)).stream()
              .map(
                  podSet ->
                      new PodSetShape(
                          podSet.count(), new FieldPath(podSet.path()), podSet.annotations()))
              .toList(),
          fieldErrors);
    }
    if (mayBeManaged && isQueued(object)) {
      boolean isElastic = elastic.isElastic(object);
      kind.validate(object, isElastic).forEach(each -> add(each, fieldErrors));
      kind.validateByGate(object, isElastic, settings::isOn)
          .forEach(each -> add(each, fieldErrors));
      elastic.validate(object, fieldErrors);
    }
    return fieldErrors.errors();
  }

  private static void add(InvalidField field, FieldErrors fieldErrors) {
    FieldPath path = new FieldPath(field.path());
    if (field.value().isMissingNode()) {
      fieldErrors.required(path, field.rule());
    } else {
      fieldErrors.invalid(path, field.value(), field.rule());
    }
  }

  private JobMetadata metadata(JsonNode object) {
    return JobMetadata.of(
        object, JsonFields.at(object, field.suspend().toArray(String[]::new)).asBoolean());
  }
}

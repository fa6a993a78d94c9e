package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.WebhookRules.Review.SuspendField;
import java.util.List;

/** Webhook for jobs that a field suspends, of any kind. */
final class SuspendFieldWebhook implements KindWebhook {

  private final SuspendField field;
  private final JobDefaults defaults;
  private final JobMetadataValidation keys;
  private final JobWarnings notices;

  SuspendFieldWebhook(SuspendField field, WebhookSettings settings, ClusterLookup cluster) {
    this.field = field;
    this.defaults = new JobDefaults(settings, cluster);
    this.keys = new JobMetadataValidation(settings, cluster, false);
    this.notices = new JobWarnings(settings);
  }

  @Override
  public AdmissionResult mutate(AdmissionRequest request) {
    if (!request.isCreate()) {
      return AdmissionResult.allowed();
    }
    JsonPatch patch = new JsonPatch(request.object());
    defaults.mutate(request, patch, field);
    return AdmissionResult.patched(patch);
  }

  @Override
  public AdmissionResult validate(AdmissionRequest request) {
    if (request.isFinalizing()) {
      return AdmissionResult.allowed();
    }
    List<FieldError> errors = request.newErrors(this::validateObject);
    if (request.isUpdate()) {
      FieldErrors bad = new FieldErrors();
      keys.validateUpdate(
          metadata(request.oldObject()), metadata(request.object()), request.namespace(), bad);
      errors.addAll(bad.errors());
    }
    return AdmissionResult.of(errors, notices.of(request));
  }

  private List<FieldError> validateObject(JsonNode object) {
    FieldErrors bad = new FieldErrors();
    JobMetadata job = metadata(object);
    keys.validateObject(job, bad);
    PlacementValidation.validateManagedBy(job, object, field.managedBy(), bad);
    return bad.errors();
  }

  private JobMetadata metadata(JsonNode object) {
    return JobMetadata.of(
        object, JsonFields.at(object, field.suspend().toArray(String[]::new)).asBoolean());
  }
}

package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.Booleans;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.WebhookRules.Review.SuspendField;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldError;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.NumberReader;
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
import java.util.Objects;
import java.util.OptionalInt;

/** Webhook for Jobs of batch/v1. */
final class BatchJobWebhook implements KindWebhook {

  private static final FieldPath SPEC = FieldPath.of("spec");
  private static final FieldPath TEMPLATE_ANNOTATIONS =
      FieldPath.of("spec", "template", "metadata", "annotations");
  private static final FieldPath MIN =
      JobMetadata.ANNOTATIONS.key(KueueConstants.JOB_MIN_PARALLELISM);
  private static final FieldPath EQUAL =
      JobMetadata.ANNOTATIONS.key(KueueConstants.JOB_COMPLETIONS_EQUAL_PARALLELISM);
  private static final SuspendField FIELD =
      new SuspendField(
          List.of("spec", "suspend"), List.of("spec", "managedBy"), "kubernetes.io/job-controller");
  private static final FeatureGate ELASTIC_GATE = FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES;

  private final WebhookSettings settings;
  private final JobDefaults defaults;
  private final JobMetadataValidation keys;
  private final TopologyValidation topology;
  private final JobWarnings notices;

  BatchJobWebhook(WebhookSettings settings, ClusterLookup cluster) {
    this.settings = settings;
    this.defaults = new JobDefaults(settings, cluster);
    this.keys = new JobMetadataValidation(settings, cluster, true);
    this.topology = new TopologyValidation(settings);
    this.notices = new JobWarnings(settings, cluster);
  }

  @Override
  public AdmissionResult mutate(AdmissionRequest request) {
    if (!request.isCreate()) {
      return AdmissionResult.allowed();
    }
    JsonPatch patch = new JsonPatch(request.object());
    boolean managed = defaults.mutate(request, patch, FIELD);
    JobMetadata job = facts(request.object());
    if (managed && job.isElastic() && settings.isOn(ELASTIC_GATE)) {
      patch.append(
          JsonNodeFactory.instance.objectNode().put("name", KueueConstants.ELASTIC_JOB),
          "spec",
          "template",
          "spec",
          "schedulingGates");
    }
    return AdmissionResult.patched(patch);
  }

  @Override
  public AdmissionResult validate(AdmissionRequest request) {
    List<FieldError> errors = defaults.refusedStart(request, FIELD);
    if (request.isFinalizing()) {
      return AdmissionResult.of(errors);
    }
    boolean judgesMinimum = judgesMinimum(request);
    errors.addAll(
        request.newErrors(object -> validateObject(object, request.namespace(), judgesMinimum)));
    if (request.isUpdate()) {
      errors.addAll(validateUpdate(request));
    }
    return AdmissionResult.of(errors, notices.of(request));
  }

  /**
   * Whether the minimum is compared with the number of pods: when the job is created or its minimum
   * changes. At other times the job may have fewer pods, because it was started with fewer, or
   * restarted with fewer than its minimum after pods were reclaimed.
   */
  private static boolean judgesMinimum(AdmissionRequest request) {
    return !request.isUpdate()
        || !Objects.equals(
            facts(request.oldObject()).annotations().get(KueueConstants.JOB_MIN_PARALLELISM),
            facts(request.object()).annotations().get(KueueConstants.JOB_MIN_PARALLELISM));
  }

  private List<FieldError> validateObject(
      JsonNode object, String namespace, boolean judgesMinimum) {
    FieldErrors fieldErrors = new FieldErrors();
    JobMetadata job = facts(object);
    keys.validateObject(job, namespace, fieldErrors);
    PodGroupValidation.validateObject(job, settings, fieldErrors);
    PlacementValidation.validateManagedBy(job, object, FIELD.managedBy(), fieldErrors);
    partial(job, object, judgesMinimum, fieldErrors);
    PodSetShape podSet =
        new PodSetShape(
            pods(object),
            TEMPLATE_ANNOTATIONS,
            JsonFields.annotations(JsonFields.at(object, "spec", "template")));
    topology.validate(List.of(podSet), fieldErrors);
    if (job.isElastic()) {
      ElasticPodsWebhook.forbidPlaces(podSet.path(), podSet.annotations(), fieldErrors);
    }
    return fieldErrors.errors();
  }

  private static void partial(
      JobMetadata job, JsonNode object, boolean judgesMinimum, FieldErrors fieldErrors) {
    String min = job.annotations().get(KueueConstants.JOB_MIN_PARALLELISM);
    if (min != null) {
      OptionalInt number = NumberReader.int32(min);
      long pods = pods(object);
      if (judgesMinimum
          && (number.isEmpty() || number.getAsInt() <= 0 || number.getAsInt() >= pods)) {
        fieldErrors.invalid(
            MIN, min, "must be an integer greater than 0 and less than the pods count, " + pods);
      }
      if (job.isElastic()) {
        fieldErrors.invalid(
            MIN, min, "must not be given together with " + KueueConstants.ELASTIC_JOB + "=true");
      }
    }
    String equal = job.annotations().get(KueueConstants.JOB_COMPLETIONS_EQUAL_PARALLELISM);
    if (equal != null) {
      completionsEqual(equal, object, fieldErrors);
    }
  }

  private static void completionsEqual(String value, JsonNode object, FieldErrors fieldErrors) {
    if (Booleans.parse(value).isEmpty()) {
      fieldErrors.invalid(EQUAL, value, "must be a boolean value, true or false");
      return;
    }
    if (!Booleans.isTrue(value)) {
      return;
    }
    JsonNode spec = JsonFields.at(object, "spec");
    if (!JsonFields.text(spec, "completionMode").equals("Indexed")) {
      fieldErrors.invalid(EQUAL, value, "must not be true unless spec.completionMode is Indexed");
    }
    long parallelism = JsonFields.at(spec, "parallelism").asLong(1);
    JsonNode completions = JsonFields.at(spec, "completions");
    if (completions.asLong(-1) != parallelism) {
      fieldErrors.invalid(
          SPEC.child("completions"),
          completions,
          "must be equal to parallelism, "
              + parallelism
              + ", with "
              + KueueConstants.JOB_COMPLETIONS_EQUAL_PARALLELISM);
    }
  }

  private List<FieldError> validateUpdate(AdmissionRequest request) {
    FieldErrors fieldErrors = new FieldErrors();
    JobMetadata before = facts(request.oldObject());
    JobMetadata now = facts(request.object());
    keys.validateUpdate(before, now, request.namespace(), fieldErrors);
    if (!before.isSuspended() && !now.isSuspended()) {
      whileRunning(before, now, request, fieldErrors);
    }
    return fieldErrors.errors();
  }

  private static void whileRunning(
      JobMetadata before, JobMetadata now, AdmissionRequest request, FieldErrors fieldErrors) {
    JsonNode parallelism = JsonFields.at(request.object(), "spec", "parallelism");
    if (now.annotations().containsKey(KueueConstants.JOB_MIN_PARALLELISM)
        && parallelism.asLong(1)
            != JsonFields.at(request.oldObject(), "spec", "parallelism").asLong(1)) {
      fieldErrors.immutable(
          SPEC.child("parallelism"),
          parallelism,
          "while the job runs with " + KueueConstants.JOB_MIN_PARALLELISM);
    }
    String key = KueueConstants.JOB_COMPLETIONS_EQUAL_PARALLELISM;
    if (!Objects.equals(before.annotations().get(key), now.annotations().get(key))) {
      fieldErrors.immutable(
          EQUAL, TextNode.valueOf(now.annotations().getOrDefault(key, "")), "while the job runs");
    }
  }

  private static JobMetadata facts(JsonNode object) {
    return JobMetadata.of(object, JsonFields.at(object, "spec", "suspend").asBoolean());
  }

  /** The number of pods that run at the same time. */
  private static long pods(JsonNode object) {
    long parallelism = JsonFields.at(object, "spec", "parallelism").asLong(1);
    return Math.min(
        parallelism, JsonFields.at(object, "spec", "completions").asLong(Long.MAX_VALUE));
  }
}

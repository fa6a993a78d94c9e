package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.jobs.kinds.pod.SinglePod;
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
import dev.sluice.webhooks.rules.NameValidation;
import dev.sluice.webhooks.rules.PodGroupValidation;
import dev.sluice.webhooks.rules.TopologyValidation;
import dev.sluice.webhooks.rules.TopologyValidation.PodSetShape;
import dev.sluice.webhooks.rules.WebhookSettings;
import dev.sluice.workload.record.PodRoleHash;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Webhook for pods: pods that are jobs, alone or in a group, and pods of objects that are gated
 * through their pods.
 */
final class PodWebhook implements KindWebhook {

  private static final FieldPath GROUP_NAME =
      JobMetadata.ANNOTATIONS.key(KueueConstants.POD_GROUP_NAME);
  private static final FieldPath TOTAL_COUNT =
      JobMetadata.ANNOTATIONS.key(KueueConstants.POD_GROUP_TOTAL_COUNT);

  private final WebhookSettings settings;
  private final ClusterLookup cluster;
  private final JobDefaults defaults;
  private final JobMetadataValidation keys;
  private final TopologyValidation topology;

  PodWebhook(WebhookSettings settings, ClusterLookup cluster) {
    this.settings = settings;
    this.cluster = cluster;
    this.defaults = new JobDefaults(settings, cluster, JobDefaults::hasMadeUpOwner);
    this.keys = new JobMetadataValidation(settings, cluster, false);
    this.topology = new TopologyValidation(settings);
  }

  // ---- defaults

  @Override
  public AdmissionResult mutate(AdmissionRequest request) {
    if (!request.isCreate()
        || isPlaceholder(request.object()) && cluster.isOperator(request.user())) {
      return AdmissionResult.allowed();
    }
    JsonPatch patch = new JsonPatch(request.object());
    if (hasSuspendingParent(request.object())) {
      addSchedulingGates(patch);
    } else if (isJob(request, patch)) {
      patch.set("true", "metadata", "labels", KueueConstants.MANAGED);
      patch.append(TextNode.valueOf(KueueConstants.MANAGED), "metadata", "finalizers");
      addSchedulingGates(patch);
    }
    return AdmissionResult.patched(patch);
  }

  private static boolean isPlaceholder(JsonNode pod) {
    return JsonFields.labels(pod).containsKey(NodeCapacityAnnotations.PLACEHOLDER);
  }

  private boolean isJob(AdmissionRequest request, JsonPatch patch) {
    return settings.frameworks().contains(SinglePod.KIND.framework())
        && defaults.isInScope(request)
        && defaults.names(request, patch);
  }

  private void addSchedulingGates(JsonPatch patch) {
    gate(patch, KueueConstants.ADMISSION_GATE);
    if (settings.working().contains(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)) {
      gate(patch, KueueConstants.TOPOLOGY_GATE);
    }
    JsonNode pod = patch.object();
    String indexLabel = annotation(pod, KueueConstants.POD_GROUP_POD_INDEX_LABEL);
    String index = JsonFields.labels(pod).getOrDefault(indexLabel, "");
    if (!index.isEmpty()) {
      patch.set(index, "metadata", "labels", KueueConstants.POD_GROUP_POD_INDEX);
    }
    if (annotation(pod, KueueConstants.ROLE_HASH).isEmpty()) {
      patch.set(
          PodRoleHash.of(JsonFields.at(pod, "spec")).roleHash(),
          "metadata",
          "annotations",
          KueueConstants.ROLE_HASH);
    }
  }

  private static void gate(JsonPatch patch, String name) {
    patch.append(
        JsonNodeFactory.instance.objectNode().put("name", name), "spec", "schedulingGates");
  }

  // ---- validation

  @Override
  public AdmissionResult validate(AdmissionRequest request) {
    boolean becomesPlaceholder =
        isPlaceholder(request.object())
            && !isPlaceholder(request.oldObject())
            && !cluster.isOperator(request.user());
    boolean changesPlaceholder =
        isPlaceholder(request.oldObject())
            && !request.object().path("spec").equals(request.oldObject().path("spec"))
            && !cluster.isOperator(request.user());
    if (request.isFinalizing() && !becomesPlaceholder && !changesPlaceholder) {
      return AdmissionResult.allowed();
    }
    boolean ours = hasSuspendingParent(request.object()) || !defaults.isOwnerManaged(request);
    List<FieldError> errors =
        request.newErrors(object -> validateObject(object, request.namespace(), ours));
    if (becomesPlaceholder) {
      FieldErrors forbidden = new FieldErrors();
      forbidden.operatorOnly(JobMetadata.LABELS.key(NodeCapacityAnnotations.PLACEHOLDER));
      errors.addAll(forbidden.errors());
    }
    if (changesPlaceholder) {
      FieldErrors forbidden = new FieldErrors();
      forbidden.forbidden(FieldPath.of("spec"), "a placeholder is changed by the operator alone");
      errors.addAll(forbidden.errors());
    }
    if (request.isUpdate()) {
      if (ours) {
        errors.addAll(validateUpdate(request));
      }
    }
    return AdmissionResult.of(errors, warnings(request.object(), ours));
  }

  private static List<String> warnings(JsonNode pod, boolean ours) {
    return ours || !JsonFields.labels(pod).containsKey(KueueConstants.MANAGED)
        ? List.of()
        : List.of(
            "label "
                + KueueConstants.MANAGED
                + " has no effect: the pod belongs to a job that is managed itself");
  }

  private List<FieldError> validateObject(JsonNode pod, String namespace, boolean ours) {
    FieldErrors fieldErrors = new FieldErrors();
    String managed = JsonFields.labels(pod).get(KueueConstants.MANAGED);
    if (managed != null && !managed.equals("true")) {
      fieldErrors.notSupported(
          JobMetadata.LABELS.key(KueueConstants.MANAGED), managed, List.of("true"));
    }
    if (ours) {
      JobMetadata job = facts(pod);
      keys.validateObject(job, namespace, fieldErrors);
      PodGroupValidation.forbid(job, settings, fieldErrors);
      group(job, fieldErrors);
      if ("true".equals(managed) || hasSuspendingParent(pod)) {
        topology.validate(
            new PodSetShape(mostPods(pod), JobMetadata.ANNOTATIONS, JsonFields.annotations(pod)),
            fieldErrors);
      }
    }
    return fieldErrors.errors();
  }

  /** The largest pod set that can contain this pod. */
  private static long mostPods(JsonNode pod) {
    String total = annotation(pod, KueueConstants.POD_GROUP_TOTAL_COUNT);
    if (!total.isEmpty()) {
      return NumberReader.int32(total).orElse(Integer.MAX_VALUE);
    }
    return annotation(pod, KueueConstants.POD_SUSPENDING_PARENT).equals("deployment")
            || !hasSuspendingParent(pod)
        ? 1
        : Integer.MAX_VALUE;
  }

  private void mostNotReady(JobMetadata pod, FieldErrors fieldErrors) {
    String value = pod.annotations().get(KueueConstants.POD_GROUP_MAX_NOT_READY_COUNT);
    if (value != null && settings.isOn(FeatureGate.WAIT_FOR_PODS_READY_MAX_NOT_READY)) {
      OptionalInt count = NumberReader.int32(value);
      if (count.isEmpty() || count.getAsInt() < 0) {
        fieldErrors.invalid(
            JobMetadata.ANNOTATIONS.key(KueueConstants.POD_GROUP_MAX_NOT_READY_COUNT),
            value,
            "must be an integer greater than or equal to 0");
      }
    }
  }

  private void group(JobMetadata pod, FieldErrors fieldErrors) {
    String group = groupName(pod);
    String total = pod.annotations().get(KueueConstants.POD_GROUP_TOTAL_COUNT);
    if (group.isEmpty()) {
      if (total != null) {
        fieldErrors.required(
            groupPath(pod),
            "must be set when annotation "
                + KueueConstants.POD_GROUP_TOTAL_COUNT
                + " is, \""
                + total
                + "\"");
      }
      return;
    }
    fieldErrors.invalid(groupPath(pod), group, NameValidation.subdomain(group));
    if (total == null) {
      fieldErrors.required(TOTAL_COUNT, "must be set for a pod of group \"" + group + "\"");
    } else {
      OptionalInt count = NumberReader.int32(total);
      if (count.isEmpty() || count.getAsInt() < 1) {
        fieldErrors.invalid(TOTAL_COUNT, total, "must be an integer greater than or equal to 1");
      }
    }
    mostNotReady(pod, fieldErrors);
    pod.prebuilt()
        .filter(name -> !name.equals(group))
        .ifPresent(
            name ->
                fieldErrors.invalid(
                    pod.prebuiltPath(),
                    name,
                    "must be the same as the pod group's name, \"" + group + "\""));
  }

  private List<FieldError> validateUpdate(AdmissionRequest request) {
    FieldErrors fieldErrors = new FieldErrors();
    JobMetadata before = facts(request.oldObject());
    JobMetadata now = facts(request.object());
    keys.validateUpdate(before, now, request.namespace(), fieldErrors);
    String group = groupName(before);
    if (!group.equals(groupName(now)) && !joins(request, group)) {
      fieldErrors.immutable(groupPath(now), TextNode.valueOf(groupName(now)), "");
    }
    if ("false".equals(before.annotations().get(KueueConstants.RETRIABLE_IN_GROUP))
        && !"false".equals(now.annotations().get(KueueConstants.RETRIABLE_IN_GROUP))) {
      fieldErrors.forbidden(
          JobMetadata.ANNOTATIONS.key(KueueConstants.RETRIABLE_IN_GROUP),
          "must stay \"false\" once it is");
    }
    return fieldErrors.errors();
  }

  /** Whether the update adds a pod that another object created to its group. */
  private static boolean joins(AdmissionRequest request, String before) {
    return before.isEmpty()
        && hasSuspendingParent(request.object())
        && facts(request.object()).isSuspended();
  }

  // ---- labels and annotations of pods

  private static JobMetadata facts(JsonNode pod) {
    return JobMetadata.of(pod, isGated(pod) || hasEnded(pod));
  }

  private static boolean isGated(JsonNode pod) {
    return JsonFields.list(pod, "spec", "schedulingGates").stream()
        .anyMatch(gate -> JsonFields.text(gate, "name").equals(KueueConstants.ADMISSION_GATE));
  }

  private static boolean hasEnded(JsonNode pod) {
    String phase = JsonFields.text(pod, "status", "phase");
    return phase.equals("Succeeded") || phase.equals("Failed");
  }

  private static boolean hasSuspendingParent(JsonNode pod) {
    return !annotation(pod, KueueConstants.POD_SUSPENDING_PARENT).isEmpty();
  }

  private static String annotation(JsonNode pod, String key) {
    return JsonFields.annotations(pod).getOrDefault(key, "");
  }

  /** The name of the pod's group; empty if it is in none. */
  static String groupName(JobMetadata pod) {
    String annotation = pod.annotations().getOrDefault(KueueConstants.POD_GROUP_NAME, "");
    return annotation.isEmpty() ? pod.label(KueueConstants.POD_GROUP_NAME) : annotation;
  }

  /** The path of the group's name. */
  private static FieldPath groupPath(JobMetadata pod) {
    Map<String, String> annotations = pod.annotations();
    return !annotations.containsKey(KueueConstants.POD_GROUP_NAME)
            && pod.labels().containsKey(KueueConstants.POD_GROUP_NAME)
        ? JobMetadata.LABELS.key(KueueConstants.POD_GROUP_NAME)
        : GROUP_NAME;
  }
}

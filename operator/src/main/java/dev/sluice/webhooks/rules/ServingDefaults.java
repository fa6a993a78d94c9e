package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.FieldError;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.SemanticEquality;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import dev.sluice.workload.record.PodRoleHash;
import java.util.List;
import java.util.Set;

/**
 * Shared defaults and validation of the webhooks for Deployments, StatefulSets and
 * LeaderWorkerSets, which create serving pods.
 */
public final class ServingDefaults {

  private static final Set<String> WITH_AMOUNTS =
      Set.of("initContainers", "containers", "overhead", "requests");

  private final WebhookSettings settings;
  private final ClusterLookup cluster;
  private final JobDefaults defaults;
  private final JobMetadataValidation keys;

  /** Fills in and validates by {@code settings} and what {@code cluster} has. */
  public ServingDefaults(WebhookSettings settings, ClusterLookup cluster) {
    this.settings = settings;
    this.cluster = cluster;
    this.defaults = new JobDefaults(settings, cluster);
    this.keys = new JobMetadataValidation(settings, cluster, false);
  }

  /** The value of an annotation of the pod template. */
  public static String templateAnnotation(JsonNode object, String key) {
    return JsonFields.text(object, "spec", "template", "metadata", "annotations", key);
  }

  /**
   * Sets queue and priority class, where they may still be chosen.
   *
   * @return whether the object is managed
   */
  public boolean mutate(AdmissionRequest request, JsonPatch patch) {
    return request.isUpdate() && hasReadyPods(request.oldObject())
        ? defaults.isManaged(request)
        : defaults.names(request, patch);
  }

  /**
   * Whether quota follows from the object: it is managed, or it names a managed owner while it has
   * a Workload of its own, which would be its again without that owner.
   *
   * @param asOwner the object, as Workloads name it
   */
  public boolean isManaged(AdmissionRequest request, ClusterLookup.Owner asOwner) {
    return defaults.isManaged(request)
        || (defaults.isOwnerManaged(request)
            && cluster.hasWorkloadInUse(request.namespace(), asOwner));
  }

  /** The errors of the object and of its update, without errors that the old object already had. */
  public List<FieldError> errors(AdmissionRequest request) {
    List<FieldError> errors = request.newErrors(this::validateObject);
    if (request.isUpdate()) {
      FieldErrors bad = new FieldErrors();
      boolean suspended = !hasReadyPods(request.oldObject());
      keys.validateBasicUpdate(
          JobMetadata.of(request.oldObject(), suspended),
          JobMetadata.of(request.object(), suspended),
          bad);
      errors.addAll(bad.errors());
    }
    return errors;
  }

  private List<FieldError> validateObject(JsonNode object) {
    FieldErrors bad = new FieldErrors();
    JobMetadata job = JobMetadata.of(object, false);
    keys.validateBasicObject(job, bad);
    PodGroupValidation.forbid(job, settings, bad);
    return bad.errors();
  }

  private static boolean hasReadyPods(JsonNode object) {
    return JsonFields.at(object, "status", "readyReplicas").asLong() > 0;
  }

  /** Writes the gate and its integration into the pod template. */
  public static void addSchedulingGates(JsonPatch patch, String framework) {
    if (!templateAnnotation(patch.object(), KueueConstants.POD_SUSPENDING_PARENT)
        .equals(framework)) {
      patch.set(
          framework,
          "spec",
          "template",
          "metadata",
          "annotations",
          KueueConstants.POD_SUSPENDING_PARENT);
    }
  }

  /**
   * Rejects changes of what the Workload and its quota were computed from.
   *
   * @param before the spec of the pod template that quota was reserved for
   * @param now the new spec of that template
   * @param path where it is
   * @param when completes "field is immutable"
   */
  public static void shapeStays(
      JsonNode before, JsonNode now, FieldPath path, String when, FieldErrors errors) {
    JsonNode was = PodRoleHash.of(PodRoleHash.withLimitsRequested(before)).parts();
    JsonNode is = PodRoleHash.of(PodRoleHash.withLimitsRequested(now)).parts();
    for (String part : PodRoleHash.FIELDS) {
      if (!same(part, JsonFields.at(was, part), JsonFields.at(is, part))) {
        errors.immutable(
            path.child(part.equals("requests") ? "resources" : part),
            JsonFields.at(is, part),
            when);
      }
    }
  }

  /** Compares amounts by what they are: the API server leaves them as written in other kinds. */
  private static boolean same(String part, JsonNode was, JsonNode is) {
    return was.equals(is)
        || (WITH_AMOUNTS.contains(part)
            && SemanticEquality.same(named(part, was), named(part, is)));
  }

  /** A part under its name, which says whether its values are amounts. */
  private static JsonNode named(String part, JsonNode value) {
    return JsonNodeFactory.instance.objectNode().set(part, value);
  }
}

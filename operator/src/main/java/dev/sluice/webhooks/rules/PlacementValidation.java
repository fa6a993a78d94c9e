package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.placement.PlacementLimits;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Validates the annotations that restrict the worker clusters of a job. */
public final class PlacementValidation {

  private PlacementValidation() {}

  /** Validates a job or Workload at creation and at every update. */
  public static void validateObject(Map<String, String> annotations, FieldErrors errors) {
    PlacementLimits.faults(annotations)
        .forEach(
            fault ->
                errors.invalid(
                    JobMetadata.ANNOTATIONS.key(fault.key()), fault.value(), fault.rule()));
  }

  /**
   * Validates the field that names the controller that runs a job.
   *
   * @param managedBy path of the field; empty for kinds without it
   */
  public static void validateManagedBy(
      JobMetadata job, JsonNode object, List<String> managedBy, FieldErrors errors) {
    if (job.annotations().containsKey(LocalClusterAnnotations.MAY_RUN_HERE)
        && JsonFields.text(object, managedBy.toArray(String[]::new))
            .equals(KueueConstants.MULTIKUEUE)) {
      errors.forbidden(
          JobMetadata.ANNOTATIONS.key(LocalClusterAnnotations.MAY_RUN_HERE),
          "a job with "
              + String.join(".", managedBy)
              + " "
              + KueueConstants.MULTIKUEUE
              + " runs in other clusters only");
    }
  }

  /** Validates an update of a job: the restriction is immutable once the job is unsuspended. */
  static void validateUpdate(JobMetadata before, JobMetadata now, FieldErrors errors) {
    String here = before.annotations().get(LocalClusterAnnotations.MAY_RUN_HERE);
    if (!Objects.equals(here, now.annotations().get(LocalClusterAnnotations.MAY_RUN_HERE))) {
      errors.immutable(
          JobMetadata.ANNOTATIONS.key(LocalClusterAnnotations.MAY_RUN_HERE),
          TextNode.valueOf(
              now.annotations().getOrDefault(LocalClusterAnnotations.MAY_RUN_HERE, "")),
          "");
    }
    for (String key : PlacementLimits.KEYS) {
      if (!Objects.equals(before.annotations().get(key), now.annotations().get(key))
          && !(before.isSuspended() && now.isSuspended())) {
        errors.immutable(
            JobMetadata.ANNOTATIONS.key(key),
            TextNode.valueOf(now.annotations().getOrDefault(key, "")),
            "unless the job is suspended");
      }
    }
  }
}

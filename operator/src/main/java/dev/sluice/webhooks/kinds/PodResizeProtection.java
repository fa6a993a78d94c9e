package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import java.util.List;

/**
 * Refuses to resize a pod in place above what it was admitted with: quota was computed from that,
 * and nothing else would notice. A pod that is a job of its own isn't resized at all, because it
 * would differ from its Workload and be stopped.
 */
public final class PodResizeProtection implements AdmissionFunction {

  /** The subresource of pods that changes resources of a pod that runs. */
  public static final String RESIZE = "resize";

  private final ClusterLookup cluster;
  private final AdmissionFunction others;

  /**
   * Creates the function.
   *
   * @param others handles all other requests
   */
  PodResizeProtection(ClusterLookup cluster, AdmissionFunction others) {
    this.cluster = cluster;
    this.others = others;
  }

  @Override
  public AdmissionResult review(AdmissionRequest request) {
    if (!request.subResource().equals(RESIZE)) {
      return others.review(request);
    }
    FieldErrors errors = new FieldErrors();
    if (isItsOwnJob(request.oldObject())) {
      errors.forbidden(
          FieldPath.of("spec", "containers"),
          "the resources of a pod that is queued by itself can't change: its Workload says what it requests");
      return AdmissionResult.of(errors.errors(), List.of());
    }
    cluster
        .admissionExcess(request.namespace(), request.oldObject(), request.object())
        .ifPresent(excess -> refuse(request, excess, errors));
    return AdmissionResult.of(errors.errors(), List.of());
  }

  /**
   * Whether a pod has a Workload of its own. Once the pod differs from that Workload, it is
   * stopped.
   */
  private static boolean isItsOwnJob(JsonNode pod) {
    JobMetadata metadata = JobMetadata.of(pod, false);
    return metadata.label(KueueConstants.MANAGED).equals("true")
        && PodWebhook.groupName(metadata).isEmpty();
  }

  private static void refuse(AdmissionRequest request, String excess, FieldErrors errors) {
    FieldPath path = FieldPath.of("spec", "resources");
    JsonNode value = JsonFields.at(request.object(), "spec", "resources");
    for (String list : List.of("initContainers", "containers")) {
      List<JsonNode> before = JsonFields.list(request.oldObject(), "spec", list);
      List<JsonNode> now = JsonFields.list(request.object(), "spec", list);
      for (int i = 0; i < Math.min(before.size(), now.size()); i++) {
        JsonNode resources = JsonFields.at(now.get(i), "resources");
        if (!resources.equals(JsonFields.at(before.get(i), "resources"))) {
          path = FieldPath.of("spec", list).index(i).child("resources");
          value = resources;
        }
      }
    }
    errors.invalid(
        path,
        value,
        "the pod may not request more than it was admitted with, which is counted as " + excess);
  }
}

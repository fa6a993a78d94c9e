package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import java.util.List;

/**
 * Refuses to resize a pod in place above what it was admitted with: quota was computed from that,
 * and nothing else would notice.
 */
final class PodResizeProtection implements AdmissionFunction {

  /** The subresource of pods that changes resources of a pod that runs. */
  static final String RESIZE = "resize";

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
    FieldErrors bad = new FieldErrors();
    cluster
        .admissionExcess(request.namespace(), request.oldObject(), request.object())
        .ifPresent(excess -> refuse(request, excess, bad));
    return AdmissionResult.of(bad.errors(), List.of());
  }

  private static void refuse(AdmissionRequest request, String excess, FieldErrors bad) {
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
    bad.invalid(
        path,
        value,
        "the pod may not request more than it was admitted with, which is counted as " + excess);
  }
}

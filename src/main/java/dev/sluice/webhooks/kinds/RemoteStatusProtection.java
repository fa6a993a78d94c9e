package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionRequest;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.JobMetadata;
import java.util.Objects;

/**
 * Rejects changes of the remote-status annotation by users other than the operator: quota is held
 * and released according to it. Delegates everything else to another function.
 */
final class RemoteStatusProtection implements AdmissionFunction {

  private final ClusterLookup cluster;
  private final AdmissionFunction behind;

  RemoteStatusProtection(ClusterLookup cluster, AdmissionFunction behind) {
    this.cluster = cluster;
    this.behind = behind;
  }

  @Override
  public AdmissionResult review(AdmissionRequest request) {
    String now = status(request.object());
    String before = status(request.oldObject());
    if (Objects.equals(now, before)
        || !(request.isCreate() || request.isUpdate())
        || cluster.isOperator(request.user())) {
      return behind.review(request);
    }
    FieldErrors bad = new FieldErrors();
    bad.forbidden(
        JobMetadata.ANNOTATIONS.key(LocalClusterAnnotations.REMOTE_STATUS),
        "is written by the operator alone");
    return new AdmissionResult.Rejected(bad.errors());
  }

  private static String status(JsonNode object) {
    return JsonFields.at(object, "metadata", "annotations", LocalClusterAnnotations.REMOTE_STATUS)
        .toString();
  }
}

package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.placement.LocalWorker;
import java.util.Objects;

/**
 * Has the operator alone write what a job tells of its status in another cluster: quota is kept and
 * given back by it. Everything else is left to the function behind.
 */
final class StatusGuard implements AdmissionFunction {

  private final ClusterFacts cluster;
  private final AdmissionFunction behind;

  StatusGuard(ClusterFacts cluster, AdmissionFunction behind) {
    this.cluster = cluster;
    this.behind = behind;
  }

  @Override
  public Verdict review(AdmissionRequest request) {
    String now = status(request.object());
    String before = status(request.oldObject());
    if (Objects.equals(now, before)
        || !(request.isCreate() || request.isUpdate())
        || cluster.isOperator(request.user())) {
      return behind.review(request);
    }
    Complaints bad = new Complaints();
    bad.forbidden(
        JobFacts.ANNOTATIONS.key(LocalWorker.REMOTE_STATUS), "is written by the operator alone");
    return new Verdict.Rejected(bad.errors());
  }

  private static String status(JsonNode object) {
    return Json.at(object, "metadata", "annotations", LocalWorker.REMOTE_STATUS).toString();
  }
}

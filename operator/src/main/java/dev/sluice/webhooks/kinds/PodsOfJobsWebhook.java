package dev.sluice.webhooks.kinds;

import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionRequest;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.rules.ClusterLookup;
import java.util.List;

/**
 * Refuses a pod with which a job would run more than it was admitted with: at its creation, when
 * its last scheduling gate goes, when it gets a controller, and when it is resized
 * (docs/pod-accounting.md#prevent). Ephemeral containers request nothing, so that their addition
 * isn't reviewed.
 */
public final class PodsOfJobsWebhook implements AdmissionFunction {

  /** The path of the webhook. */
  public static final String PATH = "/validate--v1-pods-of-jobs";

  /** A pod has a controller that may be a job, or a part of one. */
  private static final String CONTROLLED =
      "(has(%1$s.metadata.ownerReferences) && %1$s.metadata.ownerReferences.exists(r,"
          + " has(r.controller) && r.controller"
          + " && !(r.kind in ['ReplicaSet', 'DaemonSet', 'Node'])))";

  private static final String GETS_A_CONTROLLER =
      "(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(r,"
          + " has(r.controller) && r.controller && !(has(oldObject.metadata.ownerReferences)"
          + " && oldObject.metadata.ownerReferences.exists(o,"
          + " o.uid == r.uid && has(o.controller) && o.controller))))";

  private static final String GATED =
      "(has(%1$s.spec) && has(%1$s.spec.schedulingGates)"
          + " && size(%1$s.spec.schedulingGates) > 0)";

  /**
   * The expression that a request may add to what a job runs. Pods of ReplicaSets, DaemonSets and
   * Nodes are in no account, and don't wait for an operator.
   */
  public static final String MAY_ADD =
      "(request.operation == 'CREATE' && "
          + CONTROLLED.formatted("object")
          + ") || (request.operation == 'UPDATE' && ("
          + "(has(request.subResource) && request.subResource == 'resize')"
          + " || ("
          + GATED.formatted("oldObject")
          + " && !"
          + GATED.formatted("object")
          + ") || "
          + GETS_A_CONTROLLER
          + "))";

  private final ClusterLookup cluster;

  PodsOfJobsWebhook(ClusterLookup cluster) {
    this.cluster = cluster;
  }

  @Override
  public AdmissionResult review(AdmissionRequest request) {
    FieldErrors bad = new FieldErrors();
    cluster.excessWith(request).ifPresent(excess -> bad.forbidden(path(request), excess));
    return AdmissionResult.of(bad.errors(), List.of());
  }

  private static FieldPath path(AdmissionRequest request) {
    if (request.subResource().equals(PodResizeProtection.RESIZE)) {
      return FieldPath.of("spec", "containers");
    }
    return request.isCreate()
        ? FieldPath.of("metadata", "ownerReferences")
        : FieldPath.of("spec", "schedulingGates");
  }
}

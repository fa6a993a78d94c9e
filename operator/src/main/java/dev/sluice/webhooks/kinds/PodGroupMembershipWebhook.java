package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionRequest;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.rules.ClusterLookup;

/**
 * Makes a new pod a member of the PodGroup of kube-scheduler that its annotation names. A template
 * can't say it: that of a Job can't be changed so, and definitions of other kinds don't have the
 * field. A pod that comes after the group was scheduled replaces another one and joins nothing
 * (docs/gang-scheduling.md#replacements).
 */
public final class PodGroupMembershipWebhook implements AdmissionFunction {

  /** The path of the webhook. */
  public static final String PATH = "/mutate--v1-pods-of-podgroups";

  /** The expression that a pod is to become a member. */
  public static final String NAMES_A_GROUP =
      "has(object.metadata.annotations) && '"
          + KueueConstants.NATIVE_POD_GROUP
          + "' in object.metadata.annotations";

  private final ClusterLookup cluster;

  PodGroupMembershipWebhook(ClusterLookup cluster) {
    this.cluster = cluster;
  }

  @Override
  public AdmissionResult review(AdmissionRequest request) {
    String podGroup =
        JsonFields.annotations(request.object()).getOrDefault(KueueConstants.NATIVE_POD_GROUP, "");
    if (!request.isCreate()
        || !KubernetesNames.isSubdomain(podGroup)
        || JsonFields.at(request.object(), "spec", "schedulingGroup").isObject()
        || cluster.isScheduledPodGroup(request.namespace(), podGroup)) {
      return AdmissionResult.allowed();
    }
    JsonPatch patch = new JsonPatch(request.object());
    patch.set(
        JsonNodeFactory.instance.objectNode().put("podGroupName", podGroup),
        "spec",
        "schedulingGroup");
    return AdmissionResult.patched(patch);
  }
}

package dev.sluice.webhooks.kinds;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kinds.pod.Deployments;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import dev.sluice.webhooks.rules.JobWarnings.MisnamedQueueLabels;
import dev.sluice.webhooks.rules.ServingDefaults;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.List;

/**
 * Webhook for Deployments: each pod of a Deployment is a job of its own, so the webhook copies the
 * queue's labels into the pod template.
 */
final class DeploymentWebhook implements KindWebhook {

  private static final String FRAMEWORK = Deployments.KIND.framework();

  private final ServingDefaults serving;

  DeploymentWebhook(WebhookSettings settings, ClusterLookup cluster) {
    this.serving = new ServingDefaults(settings, cluster);
  }

  @Override
  public AdmissionResult mutate(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (serving.mutate(request, patch)) {
      ServingDefaults.addSchedulingGates(patch, FRAMEWORK);
      label(patch, KueueConstants.MANAGED, "true");
      JobMetadata deployment = JobMetadata.of(patch.object(), false);
      deployment.queue().ifPresent(queue -> label(patch, KueueConstants.QUEUE_NAME, queue));
      if (!deployment.label(KueueConstants.PRIORITY_CLASS).isEmpty()) {
        label(
            patch, KueueConstants.PRIORITY_CLASS, deployment.label(KueueConstants.PRIORITY_CLASS));
      }
    }
    return AdmissionResult.patched(patch);
  }

  private static void label(JsonPatch patch, String key, String value) {
    String[] path = {"spec", "template", "metadata", "labels", key};
    if (!JsonFields.text(patch.object(), path).equals(value)) {
      patch.set(value, path);
    }
  }

  @Override
  public AdmissionResult validate(AdmissionRequest request) {
    return request.isFinalizing()
        ? AdmissionResult.allowed()
        : AdmissionResult.of(
            serving.errors(request),
            request.isCreate() ? MisnamedQueueLabels.warnings(request.object()) : List.of());
  }
}

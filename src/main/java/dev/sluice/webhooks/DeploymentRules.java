package dev.sluice.webhooks;

import dev.sluice.api.Keys;

/** Deployments: each of their pods is a job of its own, and they are told so by the template. */
final class DeploymentRules {

  private static final String FRAMEWORK = "deployment";

  private final ServingRules serving;

  DeploymentRules(WebhookSettings settings, ClusterFacts cluster) {
    this.serving = new ServingRules(settings, cluster);
  }

  Verdict fillIn(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (serving.fillIn(request, patch)) {
      ServingRules.holdBack(patch, FRAMEWORK);
      label(patch, Keys.MANAGED, "true");
      JobFacts deployment = JobFacts.of(patch.object(), false);
      deployment.queue().ifPresent(queue -> label(patch, Keys.QUEUE_NAME, queue));
      if (!deployment.label(Keys.PRIORITY_CLASS).isEmpty()) {
        label(patch, Keys.PRIORITY_CLASS, deployment.label(Keys.PRIORITY_CLASS));
      }
    }
    return Verdict.patched(patch);
  }

  private static void label(JsonPatch patch, String key, String value) {
    String[] path = {"spec", "template", "metadata", "labels", key};
    if (!Json.text(patch.object(), path).equals(value)) {
      patch.set(value, path);
    }
  }

  Verdict check(AdmissionRequest request) {
    return request.isFadingOut() ? Verdict.allowed() : Verdict.of(serving.errors(request));
  }
}

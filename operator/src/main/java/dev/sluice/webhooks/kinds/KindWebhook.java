package dev.sluice.webhooks.kinds;

import dev.sluice.jobs.kind.WebhookRules.Review;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.WebhookSettings;

/** The webhooks of one kind of job. Stateless and thread-safe. */
interface KindWebhook {

  /** Sets defaults. */
  AdmissionResult mutate(AdmissionRequest request);

  /** Validates. */
  AdmissionResult validate(AdmissionRequest request);

  /** The webhooks that carry out the rules of a kind. */
  static KindWebhook of(WebhookKind kind, WebhookSettings settings, ClusterLookup cluster) {
    return switch (kind.review()) {
      case Review.SuspendField field ->
          new SuspendFieldWebhook(field, kind.job().orElseThrow(), settings, cluster);
      case Review.Parallelism job -> new BatchJobWebhook(settings, cluster);
      case Review.GatedPod pod -> new PodWebhook(settings, cluster);
      case Review.GatedTemplate template ->
          template.together()
              ? new StatefulSetWebhook(settings, cluster)
              : new DeploymentWebhook(settings, cluster);
      case Review.GatedGroups groups -> new LeaderWorkerSetWebhook(settings, cluster);
      case Review.Unreviewed none -> new AllowingWebhook();
    };
  }

  /** Allows every request unchanged. */
  final class AllowingWebhook implements KindWebhook {

    @Override
    public AdmissionResult mutate(AdmissionRequest request) {
      return AdmissionResult.allowed();
    }

    @Override
    public AdmissionResult validate(AdmissionRequest request) {
      return AdmissionResult.allowed();
    }
  }
}

package dev.sluice.webhooks.kinds;

import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Assigns the admission functions to paths. */
public final class Webhooks {

  private Webhooks() {}

  /**
   * A function for every path of {@link WebhookKind#all}. Kinds whose integration is disabled or
   * not supported allow every request unchanged.
   */
  public static Map<String, AdmissionFunction> functions(
      WebhookSettings settings, ClusterLookup cluster) {
    return functions(settings, cluster, WebhookKind.all());
  }

  /** The same, for these kinds. */
  static Map<String, AdmissionFunction> functions(
      WebhookSettings settings, ClusterLookup cluster, List<WebhookKind> kinds) {
    Map<String, AdmissionFunction> functions = new HashMap<>();
    for (WebhookKind kind : kinds) {
      KindWebhook webhook =
          kind.isEnabledBy(settings.frameworks())
              ? KindWebhook.of(kind, settings, cluster)
              : new KindWebhook.AllowingWebhook();
      if (!kind.mutating().isEmpty()) {
        functions.put(kind.mutatingPath(), webhook::mutate);
      }
      AdmissionFunction validate =
          kind.isPod() ? new PodResizeProtection(cluster, webhook::validate) : webhook::validate;
      functions.put(
          kind.validatingPath(),
          kind.isOwn() ? validate : new RemoteStatusProtection(cluster, validate));
    }
    functions.put(PodsOfJobsWebhook.PATH, new PodsOfJobsWebhook(cluster));
    ownKinds(settings, cluster, functions);
    return Map.copyOf(functions);
  }

  private static void ownKinds(
      WebhookSettings settings, ClusterLookup cluster, Map<String, AdmissionFunction> functions) {
    ClusterQueueWebhook clusterQueues = new ClusterQueueWebhook(settings);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-clusterqueue", clusterQueues::mutate);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-clusterqueue", clusterQueues::validate);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-resourceflavor", ResourceFlavorWebhook::mutate);
    functions.put(
        "/validate-kueue-x-k8s-io-v1beta2-resourceflavor", ResourceFlavorWebhook::validate);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-cohort", new CohortWebhook(cluster)::validate);
    WorkloadWebhook workloads = new WorkloadWebhook(settings);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-workload", workloads::mutate);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-workload", workloads::validate);
  }
}

package dev.sluice.webhooks;

import java.util.HashMap;
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
    Map<String, AdmissionFunction> functions = new HashMap<>();
    for (WebhookKind kind : WebhookKind.all()) {
      if (!kind.mutating().isEmpty()) {
        functions.put(kind.mutatingPath(), request -> AdmissionResult.allowed());
      }
      functions.put(kind.validatingPath(), request -> AdmissionResult.allowed());
    }
    ownKinds(settings, functions);
    if (settings.frameworks().contains("batch/job")) {
      BatchJobWebhook jobs = new BatchJobWebhook(settings, cluster);
      functions.put("/mutate-batch-v1-job", jobs::mutate);
      functions.put("/validate-batch-v1-job", jobs::validate);
    }
    if (PodWebhook.areActive(settings.frameworks())) {
      PodWebhook pods = new PodWebhook(settings, cluster);
      functions.put("/mutate--v1-pod", pods::mutate);
      functions.put("/validate--v1-pod", pods::validate);
    }
    if (settings.frameworks().contains("deployment")) {
      DeploymentWebhook deployments = new DeploymentWebhook(settings, cluster);
      functions.put("/mutate-apps-v1-deployment", deployments::mutate);
      functions.put("/validate-apps-v1-deployment", deployments::validate);
    }
    if (settings.frameworks().contains("statefulset")) {
      StatefulSetWebhook statefulSets = new StatefulSetWebhook(settings, cluster);
      functions.put("/mutate-apps-v1-statefulset", statefulSets::mutate);
      functions.put("/validate-apps-v1-statefulset", statefulSets::validate);
    }
    for (WebhookKind kind : WebhookKind.all()) {
      if (!kind.isOwn()) {
        functions.compute(
            kind.validatingPath(),
            (path, function) -> new RemoteStatusProtection(cluster, function));
      }
    }
    return Map.copyOf(functions);
  }

  private static void ownKinds(WebhookSettings settings, Map<String, AdmissionFunction> functions) {
    ClusterQueueWebhook clusterQueues = new ClusterQueueWebhook(settings);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-clusterqueue", clusterQueues::mutate);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-clusterqueue", clusterQueues::validate);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-resourceflavor", ResourceFlavorWebhook::mutate);
    functions.put(
        "/validate-kueue-x-k8s-io-v1beta2-resourceflavor", ResourceFlavorWebhook::validate);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-cohort", CohortWebhook::validate);
    WorkloadWebhook workloads = new WorkloadWebhook(settings);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-workload", workloads::mutate);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-workload", workloads::validate);
  }
}

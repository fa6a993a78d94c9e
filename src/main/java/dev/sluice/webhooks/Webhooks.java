package dev.sluice.webhooks;

import java.util.HashMap;
import java.util.Map;

/** Which function answers at which path. */
public final class Webhooks {

  private Webhooks() {}

  /**
   * A function for every path of the contract. Integrations that aren't enabled, or aren't there
   * yet, allow everything and change nothing.
   */
  public static Map<String, AdmissionFunction> functions(
      WebhookSettings settings, ClusterFacts cluster) {
    Map<String, AdmissionFunction> functions = new HashMap<>();
    for (ReviewedKind kind : ReviewedKind.all()) {
      if (!kind.mutating().isEmpty()) {
        functions.put(kind.mutatingPath(), request -> Verdict.allowed());
      }
      functions.put(kind.validatingPath(), request -> Verdict.allowed());
    }
    ownKinds(settings, functions);
    if (settings.frameworks().contains("batch/job")) {
      BatchJobRules jobs = new BatchJobRules(settings, cluster);
      functions.put("/mutate-batch-v1-job", jobs::fillIn);
      functions.put("/validate-batch-v1-job", jobs::check);
    }
    if (PodRules.areActive(settings.frameworks())) {
      PodRules pods = new PodRules(settings, cluster);
      functions.put("/mutate--v1-pod", pods::fillIn);
      functions.put("/validate--v1-pod", pods::check);
    }
    if (settings.frameworks().contains("deployment")) {
      DeploymentRules deployments = new DeploymentRules(settings, cluster);
      functions.put("/mutate-apps-v1-deployment", deployments::fillIn);
      functions.put("/validate-apps-v1-deployment", deployments::check);
    }
    if (settings.frameworks().contains("statefulset")) {
      StatefulSetRules statefulSets = new StatefulSetRules(settings, cluster);
      functions.put("/mutate-apps-v1-statefulset", statefulSets::fillIn);
      functions.put("/validate-apps-v1-statefulset", statefulSets::check);
    }
    for (ReviewedKind kind : ReviewedKind.all()) {
      if (!kind.isOwn()) {
        functions.compute(
            kind.validatingPath(), (path, function) -> new StatusGuard(cluster, function));
      }
    }
    return Map.copyOf(functions);
  }

  private static void ownKinds(WebhookSettings settings, Map<String, AdmissionFunction> functions) {
    ClusterQueueRules clusterQueues = new ClusterQueueRules(settings);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-clusterqueue", clusterQueues::fillIn);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-clusterqueue", clusterQueues::check);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-resourceflavor", ResourceFlavorRules::fillIn);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-resourceflavor", ResourceFlavorRules::check);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-cohort", CohortRules::check);
    WorkloadRules workloads = new WorkloadRules(settings);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-workload", workloads::fillIn);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-workload", workloads::check);
  }
}

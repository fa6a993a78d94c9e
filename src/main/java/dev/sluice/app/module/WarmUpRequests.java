package dev.sluice.app.module;

import dev.sluice.server.endpoints.WarmUp;
import dev.sluice.server.endpoints.WebhookEndpoint;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Requests with which the webhooks are exercised before they are said to be ready: what an API
 * server sends most, each in the form that takes the longest way through the code.
 */
final class WarmUpRequests {

  private static final String JOB_KIND =
      "{\"group\": \"batch\", \"version\": \"v1\", \"kind\": \"Job\"}";

  private static final String WORKLOAD_KIND =
      "{\"group\": \"kueue.x-k8s.io\", \"version\": \"v1beta2\", \"kind\": \"Workload\"}";

  private static final String QUEUE_KIND =
      "{\"group\": \"kueue.x-k8s.io\", \"version\": \"v1beta2\", \"kind\": \"ClusterQueue\"}";

  private static final String JOB =
      """
      {"apiVersion": "batch/v1", "kind": "Job",
       "metadata": {"name": "warm-up", "namespace": "warm-up",
         "labels": {"kueue.x-k8s.io/queue-name": "warm-up"}},
       "spec": {"parallelism": 3, "completions": 3, "template": {"spec": {
         "restartPolicy": "Never", "containers": [{"name": "main", "image": "none",
           "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}}}
      """;

  private static final String WORKLOAD =
      """
      {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
       "metadata": {"name": "warm-up", "namespace": "warm-up", "uid": "warm-up"},
       "spec": {"queueName": "warm-up", "priority": 0, "podSets": [{"name": "main", "count": 3,
         "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main",
           "image": "none", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}}]},
       "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending",
         "message": "warm-up", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
      """;

  private static final String CLUSTER_QUEUE =
      """
      {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
       "metadata": {"name": "warm-up", "uid": "warm-up"},
       "spec": {"cohortName": "warm-up", "namespaceSelector": {}, "resourceGroups": [
         {"coveredResources": ["cpu"], "flavors": [{"name": "warm-up",
           "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}]},
       "status": {"pendingWorkloads": 1, "flavorsUsage": [{"name": "warm-up",
         "resources": [{"name": "cpu", "total": "1", "borrowed": "0"}]}]}}
      """;

  private WarmUpRequests() {}

  /** One request for each of the usual questions. */
  static List<WarmUp.Sample> all() {
    return List.of(
        review("/mutate-batch-v1-job", JOB_KIND, JOB),
        review("/validate-batch-v1-job", JOB_KIND, JOB),
        review("/mutate-kueue-x-k8s-io-v1beta2-workload", WORKLOAD_KIND, WORKLOAD),
        review("/validate-kueue-x-k8s-io-v1beta2-workload", WORKLOAD_KIND, WORKLOAD),
        review("/validate-kueue-x-k8s-io-v1beta2-clusterqueue", QUEUE_KIND, CLUSTER_QUEUE),
        conversion(WORKLOAD),
        conversion(CLUSTER_QUEUE));
  }

  /** Those that are answered before the cluster is listed. */
  static List<WarmUp.Sample> conversions() {
    return List.of(conversion(WORKLOAD), conversion(CLUSTER_QUEUE));
  }

  /** An update to what was there before: both objects are read, and compared. */
  private static WarmUp.Sample review(String path, String kind, String object) {
    return sample(
        path,
        """
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
         "request": {"uid": "warm-up", "operation": "UPDATE", "namespace": "warm-up",
           "name": "warm-up", "userInfo": {"username": "warm-up"}, "kind": %s,
           "object": %s, "oldObject": %s}}
        """
            .formatted(kind, object, object));
  }

  private static WarmUp.Sample conversion(String object) {
    return sample(
        WebhookEndpoint.CONVERSION_PATH,
        """
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
         "request": {"uid": "warm-up", "desiredAPIVersion": "kueue.x-k8s.io/v1beta1",
           "objects": [%s]}}
        """
            .formatted(object));
  }

  private static WarmUp.Sample sample(String path, String body) {
    return new WarmUp.Sample(path, body.getBytes(StandardCharsets.UTF_8));
  }
}

package dev.sluice.app;

import dev.sluice.server.WarmUp;
import java.nio.charset.StandardCharsets;

/** Requests with which the webhooks are exercised before they are said to be ready. */
final class WarmUpRequests {

  private static final String REVIEW =
      """
      {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
       "request": {"uid": "warm-up", "operation": "CREATE", "namespace": "warm-up",
         "name": "warm-up", "kind": {"group": "batch", "version": "v1", "kind": "Job"},
         "object": {"apiVersion": "batch/v1", "kind": "Job",
           "metadata": {"name": "warm-up", "namespace": "warm-up",
             "labels": {"kueue.x-k8s.io/queue-name": "warm-up"}},
           "spec": {"parallelism": 3, "completions": 3, "template": {"spec": {
             "restartPolicy": "Never", "containers": [{"name": "main", "image": "none",
               "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}}}}}
      """;

  private WarmUpRequests() {}

  /** The creation of a Job that names a queue. */
  static WarmUp.Sample job() {
    return new WarmUp.Sample("/mutate-batch-v1-job", REVIEW.getBytes(StandardCharsets.UTF_8));
  }
}

package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The annotation that MPIJobs get at their creation, besides what every job gets. */
class MpiJobWebhookTest {

  private static final JsonNode QUEUED =
      yaml(
          """
          apiVersion: kubeflow.org/v2beta1
          kind: MPIJob
          metadata: {name: a, namespace: team, labels: {kueue.x-k8s.io/queue-name: training}}
          spec:
            runLauncherAsWorker: true
            mpiReplicaSpecs:
              Launcher: {template: {spec: {}}}
              Worker: {template: {spec: {}}}
          """);

  private static String changes(JsonNode job) {
    WebhookSettings some = Reviews.settings();
    AdmissionResult result =
        Webhooks.functions(
                new WebhookSettings(
                    false,
                    some.managedNamespaces(),
                    Set.of("kubeflow.org/mpijob"),
                    some.gates(),
                    some.working()),
                Reviews.Cluster.EMPTY)
            .getOrDefault("/mutate-kubeflow-org-v2beta1-mpijob", any -> AdmissionResult.allowed())
            .review(create(job));
    return ((AdmissionResult.Allowed) result).patch().toString();
  }

  @Test
  void aQueuedJobIsSuspendedAndItsWorkersAreCountedFromOne() {
    assertThat(changes(QUEUED))
        .contains("/spec/runPolicy/suspend")
        .contains(
            "/spec/mpiReplicaSpecs/Worker/template/metadata/annotations/"
                + "kueue.x-k8s.io~1pod-index-offset\",\"value\":\"1\"");
  }

  @Test
  void aJobWithoutAQueueGetsNothing() {
    assertThat(changes(edited(QUEUED, set("/metadata/labels", "{}")))).isEqualTo("[]");
  }
}

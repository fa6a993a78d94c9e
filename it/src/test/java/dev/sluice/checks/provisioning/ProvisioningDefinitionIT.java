package dev.sluice.checks.provisioning;

import static dev.sluice.checks.provisioning.ProvisionedQueue.JOB;
import static dev.sluice.checks.provisioning.ProvisionedQueue.REQUEST;
import static dev.sluice.checks.provisioning.ProvisionedQueue.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The definition of ProvisioningRequests comes and goes while the operator runs, and the operator
 * ends in the midst of its work: nothing is created twice, and nothing is left behind.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Tag(BuildBreadth.NIGHTLY)
class ProvisioningDefinitionIT {

  private static final String LOCAL_QUEUE = "kueue.x-k8s.io/v1beta2/LocalQueue";

  @Test
  void theDefinitionComesLaterAndTheOperatorIsStartedAnew(TestCluster cluster) {
    ProvisionedQueue queue = new ProvisionedQueue(cluster);
    QueuedJobs jobs = queue.jobs();
    ProvisionedQueue.uninstall(cluster.client());
    String waiting;
    String first;
    try (LocalOperator operator = start(cluster)) {
      queue.withCheck("").withQueues();
      queue.awaitActive("False", "ProvisioningRequestsNotServed", "is not served");
      jobs.awaitCondition(LOCAL_QUEUE, "lq", "Active", "False");
      waiting = queue.submit("waiting", "");

      ProvisionedQueue.install(cluster.client());

      queue.awaitActive("True", "Active", "");
      first = queue.awaitRequest(waiting, 1).at("/metadata/uid").asText();
      queue.awaitCheck(waiting, "Pending", "waits for an autoscaler");
    }
    // all of this happens while no operator is there
    String request = queue.request(waiting, 1);
    String template = "ppt-" + request + "-main";
    jobs.delete("v1/PodTemplate", template);
    queue.answer(request, "Accepted", "soon");

    try (LocalOperator operator = start(cluster)) {
      queue.awaitCheck(waiting, "Pending", "soon");
      eventually(() -> assertThat(jobs.find("v1/PodTemplate", template)).isPresent());
      assertThat(jobs.get(REQUEST, request).at("/metadata/uid").asText()).isEqualTo(first);
    }
    // as if an earlier version had made it, for an earlier reservation
    jobs.patch(
        REQUEST,
        request,
        "{'metadata': {'annotations': {'sluice.dev/quota-reserved-at': '2026-03-01T10:00:00Z',"
            + " 'sluice.dev/request-digest': null}}}");
    queue.answer(request, "Provisioned", "for an earlier reservation");

    try (LocalOperator operator = start(cluster)) {
      eventually(
          () ->
              assertThat(jobs.get(REQUEST, request).at("/metadata/uid").asText())
                  .isNotEqualTo(first));
      queue.awaitCheck(waiting, "Pending", "waits for an autoscaler");
      queue.answer(request, "Provisioned", "");
      jobs.awaitCondition(QueuedJobs.WORKLOAD, waiting, "Admitted", "True");
      assertThat(jobs.find("v1/PodTemplate", template)).isPresent();

      String left = queue.submit("left", "");
      queue.awaitRequest(left, 1);
      ProvisionedQueue.uninstall(cluster.client());
      queue.awaitActive("False", "ProvisioningRequestsNotServed", "is not served");
      queue.awaitCheck(left, "Pending", "is not served");
      assertThat(jobs.get(JOB, "waiting").at("/spec/suspend").asBoolean()).isFalse();
      assertThat(queue.check(waiting).path("state").asText()).isEqualTo("Ready");

      ProvisionedQueue.install(cluster.client());
      queue.awaitActive("True", "Active", "");
      queue.awaitRequest(left, 1);
    }
  }

  private static LocalOperator start(TestCluster cluster) {
    return LocalOperator.start(cluster.name("operator"), cluster.kubeconfig(), "");
  }
}

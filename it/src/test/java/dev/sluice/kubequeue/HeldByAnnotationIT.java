package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.jobs.kinds.kubeflow.LegacyMpiJob;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/**
 * MPIJobs of the first version, which an annotation alone holds, on a real control plane. The test
 * plays their operator; no other version of the definition is served.
 */
@OperatorTest(configuration = "kubeQueue: {enabled: true, sources: []}")
class HeldByAnnotationIT {

  private static final String MPI_JOB = "kubeflow.org/v1alpha1/MPIJob";
  private static final String UNIT = "scheduling.x-k8s.io/v1alpha1/QueueUnit";
  private static final String ANNOTATION = "/metadata/annotations/scheduling.x-k8s.io~1suspend";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** Takes the versions away that other tests had, or have, as the stored ones. */
  private static void remove(TestCluster cluster) {
    PlayedDefinitions.remove(cluster.client(), LegacyMpiJob.KIND);
  }

  @AfterAll
  static void leaveNothing(TestCluster cluster) {
    remove(cluster);
  }

  private static void install(TestCluster cluster) {
    remove(cluster);
    cluster.applyText(
        """
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata:
          name: mpijobs.kubeflow.org
        spec:
          group: kubeflow.org
          scope: Namespaced
          names: {kind: MPIJob, plural: mpijobs, singular: mpijob, listKind: MPIJobList}
          versions:
          - name: v1alpha1
            served: true
            storage: true
            schema:
              openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
        """);
    cluster
        .client()
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .withName(LegacyMpiJob.KIND.definition())
        .waitUntilCondition(PlayedDefinitions::isEstablished, 120, TimeUnit.SECONDS);
  }

  /** Submits as soon as the API server tells clients of the definition, which may be later. */
  private static void submit(TestCluster cluster, String name, int workers) {
    String manifest =
        """
        apiVersion: kubeflow.org/v1alpha1
        kind: MPIJob
        metadata: {name: %s, annotations: {scheduling.x-k8s.io/suspend: "true"}}
        spec:
          replicas: %d
          template:
            spec: {containers: [{name: c, image: none, resources: {requests: {cpu: 500m}}}]}
        """
            .formatted(name, workers);
    await("submission of " + name)
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> !cluster.applyText(manifest).isEmpty());
  }

  private static void awaitPhase(QueuedJobs api, String unit, String phase) {
    await(unit + " " + phase)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(api.find(UNIT, unit).map(it -> it.at("/status/phase").asText()))
                    .contains(phase));
  }

  @Test
  void theAnnotationHoldsStartsAndStops(TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    api.givenQueues(0);
    QuotaFixture.givenQuotas(cluster, "video");
    QuotaFixture.givenLocalQueue(cluster, "video");
    install(cluster);
    submit(cluster, "first", 2);
    awaitPhase(api, "first-mpi-qu", "Dequeued");
    JsonNode first = api.get(MPI_JOB, "first");
    assertThat(first.at(ANNOTATION).isMissingNode()).isTrue();
    assertThat(first.at("/spec/template/spec/nodeSelector/pool").asText()).isEqualTo("spot");
    api.patch(MPI_JOB, "first", "{'status': {'launcherStatus': 'Active', 'workerReplicas': 2}}");
    awaitPhase(api, "first-mpi-qu", "Running");

    // its workers need 1.5 of the 2 CPUs, of which 1 is taken
    submit(cluster, "second", 3);
    awaitPhase(api, "second-mpi-qu", "Enqueued");
    assertThat(api.get(MPI_JOB, "second").at(ANNOTATION).asText()).isEqualTo("true");
    api.patch(MPI_JOB, "first", "{'status': {'launcherStatus': 'Succeeded', 'workerReplicas': 0}}");
    awaitPhase(api, "first-mpi-qu", "Succeed");
    awaitPhase(api, "second-mpi-qu", "Dequeued");
    api.patch(MPI_JOB, "second", "{'status': {'launcherStatus': 'Active', 'workerReplicas': 3}}");
    awaitPhase(api, "second-mpi-qu", "Running");

    api.patch(UNIT, "second-mpi-qu", "{'spec': {'active': false}}");
    awaitPhase(api, "second-mpi-qu", "Preempted");
    await("held again")
        .atMost(LIMIT)
        .until(() -> api.get(MPI_JOB, "second").at(ANNOTATION).asText().equals("true"));
    assertThat(api.get(MPI_JOB, "second").at("/spec/template/spec").has("nodeSelector")).isFalse();
    api.patch(MPI_JOB, "second", "{'status': {'launcherStatus': null, 'workerReplicas': 0}}");
    awaitPhase(api, "second-mpi-qu", "Enqueued");
  }
}

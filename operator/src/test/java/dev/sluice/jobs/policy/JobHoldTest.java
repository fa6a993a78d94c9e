package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenObject.yaml;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.BothWriters;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.GivenObject;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kinds.kubeflow.TrainingJob;
import dev.sluice.jobs.kinds.ray.RayJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs that their own controller would not run have no quota until it would. */
class JobHoldTest {

  private static final String FAILED =
      "{jobDeploymentStatus: ValidationFailed, message: backoffLimit is negative}";
  private static final GivenWorkload WORKLOAD = workloadOf(job());

  private static GivenWorkload held() {
    return workloadOf(job()).condition("QuotaReserved", "False", "OnHold", "m");
  }

  private static Optional<List<JobAction>> decide(
      boolean suspended, String status, CachedWorkload workload) {
    return decide(
        new RayJob(),
        GivenObject.status(
            yaml(
                """
                metadata: {name: ray, namespace: team, uid: u}
                spec: {suspend: %s, rayClusterSpec: {}}
                """
                    .formatted(suspended)),
            status),
        workload);
  }

  private static Optional<List<JobAction>> decide(
      JobIntegration kind, ObjectNode object, CachedWorkload workload) {
    CachedJob job = CachedJobParser.of(kind, object);
    GivenCluster cluster = GivenCluster.cluster();
    return JobHold.decide(
        new ReconcileContext(
            job,
            new ManagementStatus.Own(),
            List.of(workload),
            Optional.empty(),
            cluster,
            cluster,
            GivenCluster.NOW),
        workload,
        JobOptions.defaults("kueue-system"));
  }

  private static JsonNode reserved(Optional<List<JobAction>> actions) {
    PatchStatus patch = (PatchStatus) actions.orElseThrow().getFirst();
    for (JsonNode condition : patch.status().path("conditions")) {
      if (condition.path("type").asText().equals("QuotaReserved")) {
        return condition;
      }
    }
    throw new AssertionError(patch);
  }

  @Test
  void aJobThatIsNotOnHoldIsHandledAsAnyOther() {
    assertThat(decide(true, "{jobDeploymentStatus: Suspended}", WORKLOAD.get())).isEmpty();
    assertThat(decide(false, "{jobDeploymentStatus: Running}", WORKLOAD.get())).isEmpty();
  }

  @Test
  void itsReservationIsDropped() {
    Optional<List<JobAction>> actions =
        decide(false, FAILED, workloadOf(job()).admitted("spot").get());

    assertThat(actions.orElseThrow()).hasSize(1);
    assertThat(reserved(actions).path("status").asText()).isEqualTo("False");
    assertThat(reserved(actions).path("reason").asText()).isEqualTo("OnHold");
    assertThat(reserved(actions).path("message").asText())
        .isEqualTo("The RayJob is not valid: backoffLimit is negative");
    assertThat(((PatchStatus) actions.get().getFirst()).status().path("admission").isNull())
        .isTrue();
  }

  @Test
  void aWaitingOneIsTakenOutOfTheQueue() {
    assertThat(reserved(decide(true, FAILED, WORKLOAD.get())).path("reason").asText())
        .isEqualTo("OnHold");
  }

  @Test
  void thenItIsSuspended() {
    assertThat(decide(false, FAILED, held().get()).orElseThrow())
        .singleElement()
        .isInstanceOf(Stop.class);
    assertThat(decide(true, FAILED, held().get()).orElseThrow()).isEmpty();
  }

  @Test
  void itIsQueuedAgainWhenItIsValid() {
    assertThat(
            reserved(decide(true, "{jobDeploymentStatus: Suspended}", held().get()))
                .path("reason")
                .asText())
        .isEqualTo("PendingEvaluation");
  }

  /** A job whose pods can't be counted any more keeps its quota until they are gone. */
  @Test
  void whatRunsIsStoppedBeforeItsQuotaIsGivenBack() {
    String training =
        """
        metadata: {name: train, namespace: team, uid: u}
        spec: {runPolicy: {suspend: %s}, pytorchReplicaSpecs: {Worker: {}, worker: {}}}
        status: {replicaStatuses: {Worker: {active: %d}}}
        """;
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();

    assertThat(
            decide(TrainingJob.pyTorch(), yaml(training.formatted(false, 2)), admitted)
                .orElseThrow())
        .singleElement()
        .isInstanceOf(Stop.class);
    assertThat(
            decide(TrainingJob.pyTorch(), yaml(training.formatted(true, 2)), admitted)
                .orElseThrow())
        .isEmpty();
    assertThat(
            reserved(decide(TrainingJob.pyTorch(), yaml(training.formatted(true, 0)), admitted))
                .path("reason")
                .asText())
        .isEqualTo("OnHold");
  }

  /** The eviction stays that of its deactivation, which says how long the job is kept. */
  @Test
  void theQuotaOfADeactivatedOneGoesBackAsThatOfAnyOther() {
    CachedWorkload deactivated =
        workloadOf(job())
            .admitted("spot")
            .inactive()
            .evicted("DeactivatedDueToRequeuingLimitExceeded", "")
            .get();

    assertThat(reserved(decide(false, FAILED, deactivated)).path("reason").asText())
        .isEqualTo("Deactivated");
  }

  /** Reasons for waiting: deactivated comes before on hold, and two writers come to an end. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatIsDeactivatedAndOnHoldIsWrittenOnce(boolean reserved) {
    ObjectNode workload =
        yaml(
            """
            metadata:
              name: ray
              namespace: team
              uid: w
              resourceVersion: "1"
              generation: 1
              creationTimestamp: "2026-03-01T09:00:00Z"
              labels: {kueue.x-k8s.io/job-uid: u}
              ownerReferences:
              - {apiVersion: ray.io/v1, kind: RayJob, name: ray, uid: u, controller: true}
            spec:
              active: false
              queueName: training
              podSets:
              - {name: main, count: 1, template: {spec: {containers: [{name: c, image: i}]}}}
            status: {conditions: []}
            """);
    if (reserved) {
      workload.set(
          "status",
          yaml(
              """
              conditions:
              - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: "", lastTransitionTime: "2026-03-01T10:00:00Z"}
              admission:
                clusterQueue: pool
                podSetAssignments: [{name: main, flavors: {cpu: spot}, resourceUsage: {cpu: "1"}, count: 1}]
              """));
    }

    List<String> reasons =
        BothWriters.reasons(workload, seen -> decide(true, FAILED, seen).orElseThrow());

    assertThat(reasons).hasSizeLessThan(4).last().isEqualTo("Deactivated");
    List<String> training =
        BothWriters.reasons(
            workload,
            seen ->
                decide(
                        TrainingJob.pyTorch(),
                        yaml(
                            """
                            metadata: {name: train, namespace: team, uid: u}
                            spec: {runPolicy: {suspend: true}, pytorchReplicaSpecs: {Worker: {}, worker: {}}}
                            """),
                        seen)
                    .orElseThrow());
    assertThat(training).hasSizeLessThan(4).last().isEqualTo("Deactivated");
  }
}

package dev.sluice.jobs.kinds.pod;

import static dev.sluice.jobs.kinds.pod.GivenGroupWorkload.workload;
import static dev.sluice.jobs.kinds.pod.GivenPod.pod;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.FinishWorkload;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizer;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizers;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a single pod needs: a job that is stopped by its deletion, and has a finalizer. */
class SinglePodDecisionsTest {

  private final GivenCluster cluster = GivenCluster.cluster();
  private JobOptions rules = JobOptions.defaults("kueue-system");
  private boolean elsewhere;

  @Test
  void aGatedPodGetsItsWorkload() {
    JsonNode made = only(CreateWorkload.class, decide(pod("p1"))).workload();
    assertThat(made.at("/metadata/ownerReferences/0/controller").asBoolean()).isTrue();
    assertThat(made.at("/metadata/labels/kueue.x-k8s.io~1job-uid").asText()).isEqualTo("uid-of-p1");
    assertThat(made.at("/spec/podSets/0/name").asText()).isEqualTo("main");
  }

  @Test
  void anAdmittedOneStarts() {
    only(Start.class, decide(pod("p1"), own("p1").admitted("spot")));
  }

  @Test
  void anAdmittedOneThatRunsInAnotherClusterStaysGated() {
    elsewhere = true;
    assertThat(decide(pod("p1"), own("p1").admitted("spot"))).isEmpty();
    assertThat(decide(pod("p1").phase("Running"), own("p1").admitted("spot"))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"Succeeded, Succeeded, The pod succeeded", "Failed, Failed, The pod failed"})
  void itsEndIsThatOfItsWorkload(String phase, String reason, String message) {
    FinishWorkload finish =
        only(FinishWorkload.class, decide(pod("p1").ended(phase, 1), own("p1").admitted("spot")));
    assertThat(finish.reason()).isEqualTo(reason);
    assertThat(finish.message()).isEqualTo(message);
  }

  @Test
  void bothAreReleasedAtTheEnd() {
    GivenPod ended = pod("p1").ended("Succeeded", 1);
    List<JobAction> actions =
        decide(ended, own("p1").condition("Finished", "True", "Succeeded", ""));
    assertThat(actions).hasSize(2);
    assertThat(actions.get(0)).isInstanceOf(RemoveFinalizer.class);
    assertThat(((RemoveFinalizers) actions.get(1)).patch().body().toString())
        .isEqualTo("{\"metadata\":{\"finalizers\":[\"other.example/finalizer\"]}}");
  }

  @Test
  void oneThatEndedWithoutWorkloadIsReleased() {
    only(RemoveFinalizers.class, decide(pod("p1").ended("Failed", 1)));
    assertThat(decide(pod("p1").ended("Failed", 1).withoutFinalizer())).isEmpty();
  }

  @Test
  void anEvictedOneIsStopped() {
    Stop stop =
        only(
            Stop.class,
            decide(pod("p1").running(), own("p1").admitted("spot").evicted("Preempted", "m")));
    assertThat(stop.reason()).isEqualTo(StopReason.WORKLOAD_EVICTED);
    assertThat(stop.word()).isEqualTo("WorkloadEvictedDueToPreempted");
    assertThat(stop.note()).isEqualTo("m");
  }

  @Test
  void anEvictedOneThatNeverStartedIsQueuedAgain() {
    PatchStatus status =
        only(
            PatchStatus.class,
            decide(pod("p1"), own("p1").reserved("spot").evicted("Preempted", "")));
    assertThat(status.status().toString()).contains("\"type\":\"Requeued\",\"status\":\"True\"");
  }

  @Test
  void oneThatIsBeingDeletedKeepsItsQuotaWhileItMayRun() {
    List<JobAction> actions =
        decide(
            pod("p1").running().deletedBy("12:01"),
            own("p1").admitted("spot").evicted("Preempted", ""));
    assertThat(actions).hasSize(3);
    assertThat(actions.get(0)).isInstanceOf(RemoveFinalizer.class);
    assertThat(actions.get(1)).isInstanceOf(RemoveFinalizers.class);
    assertThat(actions.get(2)).isInstanceOf(Requeue.class);
  }

  /** It can't run again: whatever Requeued says, its Workload is finished in the same write. */
  @ParameterizedTest
  @CsvSource({"Preempted, true, True", "PodsReadyTimeout, true, False", "Preempted, false, False"})
  void oneThatShouldBeGoneGivesItsQuotaBackAndIsFinished(
      String reason, boolean requeues, String requeued) {
    rules = rules.with(FeatureGate.SKIP_REASSIGNMENT_FOR_POD_OWNED_WORKLOADS, !requeues);
    PatchStatus status =
        only(
            PatchStatus.class,
            decide(
                pod("p1").running().deletedBy("11:59"),
                own("p1").admitted("spot").evicted(reason, "")));
    assertThat(status.status().path("admission").isNull()).isTrue();
    assertThat(status.status().toString())
        .contains("\"type\":\"Requeued\",\"status\":\"" + requeued + "\"")
        .contains("\"reason\":\"" + reason + "\"")
        .contains("\"type\":\"Finished\",\"status\":\"True\"")
        .contains("\"reason\":\"OwnerNotFound\"");
  }

  /** Integrations, Pod, "Active": with FastQuotaReleaseInPodIntegration no pod is, once deleted. */
  @Test
  void oneThatIsBeingDeletedGivesItsQuotaBackAtOnceWithTheGate() {
    rules = rules.with(FeatureGate.FAST_QUOTA_RELEASE_IN_POD_INTEGRATION, true);
    GivenPod pod = pod("p1").running().deletedBy("12:01");
    PatchStatus status =
        only(PatchStatus.class, decide(pod, own("p1").admitted("spot").evicted("Preempted", "")));
    assertThat(status.status().path("admission").isNull()).isTrue();
    assertThat(decide(pod("p1").running(), own("p1").admitted("spot").evicted("Preempted", "")))
        .hasOnlyElementsOfType(Stop.class);

    FinishWorkload deletedByPeople =
        only(FinishWorkload.class, decide(pod, own("p1").admitted("spot")));
    assertThat(deletedByPeople.reason()).isEqualTo("OwnerNotFound");
    assertThat(decide(pod, own("p1")))
        .as("without quota there is nothing to give back")
        .hasOnlyElementsOfTypes(RemoveFinalizer.class, RemoveFinalizers.class);
  }

  @Test
  void oneThatPeopleDeleteIsReleased() {
    List<JobAction> actions =
        decide(pod("p1").running().deletedBy("12:01"), own("p1").admitted("spot"));
    assertThat(actions)
        .hasOnlyElementsOfTypes(RemoveFinalizer.class, RemoveFinalizers.class)
        .hasSize(2);
  }

  private static GivenGroupWorkload own(String pod) {
    return workload("main", 1)
        .ofSomethingElse()
        .template(pod(pod).object().path("spec"))
        .controlledBy("Pod", pod, "uid-of-" + pod);
  }

  private List<JobAction> decide(GivenPod pod, GivenGroupWorkload... workloads) {
    CachedJob job = pod.view().job();
    List<CachedWorkload> owned = List.of(workloads).stream().map(GivenGroupWorkload::get).toList();
    return new JobPolicy(new SinglePod(), rules, (view, workload) -> elsewhere)
        .decide(
            new ReconcileContext(
                job,
                new ManagementStatus.Own(),
                owned,
                Optional.empty(),
                cluster,
                cluster,
                GivenCluster.NOW));
  }

  private static <T extends JobAction> T only(Class<T> type, List<JobAction> actions) {
    assertThat(actions).hasSize(1);
    assertThat(actions.getFirst()).isInstanceOf(type);
    return type.cast(actions.getFirst());
  }
}

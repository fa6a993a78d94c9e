package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenObject;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.pod.CachedPodParser;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The steps that stop a job, over scripted answers of the API server. */
class JobStopperTest {

  private static final String CONDITIONS = "[{type: Suspended, status: 'True'}]";

  private final ScriptedApi api = new ScriptedApi();

  private boolean patient = true;

  private JobStopper.Result stop(GivenJob job, Optional<CachedWorkload> original)
      throws InterruptedException {
    return new JobStopper(new BatchJob(), api, () -> GivenCluster.NOW)
        .stop(job.view(), new Stop(StopReason.WORKLOAD_EVICTED, original, "evicted"), patient);
  }

  private static GivenJob settled() {
    return job()
        .annotation(KueueConstants.STOPPING, "true")
        .status("startTime", "'2026-03-01T10:00:05Z'")
        .status("conditions", CONDITIONS);
  }

  @Test
  void aRunningJobIsSuspendedAndTheRestWaitsForItsController() throws InterruptedException {
    GivenJob running = job().running(3);
    api.store(running);
    assertThat(stop(running, Optional.empty())).isEqualTo(new JobStopper.Result.InProgress());
    assertThat(api.stored(running.view().ref()).path("spec").path("suspend").asBoolean()).isTrue();
    assertThat(api.calls).hasSize(1);
  }

  /** The API server refuses changes of the template until the controller has observed the stop. */
  @Test
  void aSuspendedJobIsNotRestoredBeforeItsControllerHasObservedThat() throws InterruptedException {
    GivenJob suspended =
        job()
            .annotation(KueueConstants.STOPPING, "true")
            .status("startTime", "'2026-03-01T10:00:05Z'");
    api.store(suspended);
    assertThat(stop(suspended, Optional.empty())).isEqualTo(new JobStopper.Result.InProgress());
    assertThat(api.calls).isEmpty();
    patient = false;
    assertThat(stop(suspended, Optional.empty())).isInstanceOf(JobStopper.Result.Stopped.class);
    assertThat(api.calls).hasSize(2);
  }

  @Test
  void aSuspendedJobLosesItsStartTimeAndThenTheMarkOfTheStop() throws InterruptedException {
    GivenJob job = settled();
    api.store(job);
    assertThat(stop(job, Optional.empty())).isEqualTo(new JobStopper.Result.Stopped(102));
    assertThat(api.calls).hasSize(2);
    assertThat(api.calls.getFirst()).startsWith("patch status of");
    assertThat(api.stored(job.view().ref()).path("status").has("startTime")).isFalse();
    assertThat(api.stored(job.view().ref()).path("metadata").path("annotations"))
        .noneMatch(annotation -> annotation.asText().equals("true"));
  }

  @Test
  void theTemplateIsRestoredFromTheWorkload() throws InterruptedException {
    GivenJob job = settled().pods("nodeSelector", "{instance-type: spot}");
    CachedWorkload workload = GivenWorkload.workloadOf(job()).admitted("spot").get();
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    object
        .withObjectProperty("spec")
        .putArray("podSets")
        .addObject()
        .put("name", "main")
        .put("count", 3)
        .set("template", job().object().path("spec").path("template"));
    api.objects.put(JobKind.WORKLOAD.path(workload.id().namespace(), workload.id().name()), object);
    api.store(job);
    assertThat(stop(job, Optional.of(workload))).isInstanceOf(JobStopper.Result.Stopped.class);
    assertThat(api.stored(job.view().ref()).at("/spec/template/spec").has("nodeSelector"))
        .isFalse();
  }

  @Test
  void aJobThatIsGoneOrReplacedIsLeftAlone() throws InterruptedException {
    assertThat(stop(job().running(1), Optional.empty())).isEqualTo(new JobStopper.Result.Gone());
    api.store(job().running(1).named("sample", "another-uid"));
    assertThat(stop(job().running(1), Optional.empty())).isEqualTo(new JobStopper.Result.Gone());
    assertThat(api.calls).isEmpty();
  }

  /** Otherwise whoever goes on writing a job would keep it running. */
  @Test
  void aJobThatSomebodyElseWritesIsSuspendedInAnyVersion() throws InterruptedException {
    GivenJob running = job().running(1);
    api.store(running);
    api.jobAnswers.add(new ApiOutcome.Conflict());
    assertThat(stop(running, Optional.empty())).isEqualTo(new JobStopper.Result.InProgress());
    assertThat(api.stored(running.view().ref()).path("spec").path("suspend").asBoolean()).isTrue();
    assertThat(api.versions).containsExactly(100L, JobClient.ANY_VERSION);
  }

  @Test
  void otherConflictsAreTriedAgainAndARefusalIsReported() throws InterruptedException {
    GivenJob settled = settled();
    api.store(settled);
    api.jobAnswers.add(new ApiOutcome.Conflict());
    assertThat(stop(settled, Optional.empty())).isEqualTo(new JobStopper.Result.Requeue());
    assertThat(api.versions).containsExactly(100L);
    GivenJob running = job().running(1);
    api.store(running);
    api.jobAnswers.addAll(
        List.of(new ApiOutcome.Conflict(), new ApiOutcome.Refused(422, "not allowed")));
    assertThat(stop(running, Optional.empty()))
        .isEqualTo(new JobStopper.Result.Refused("not allowed"));
  }

  @Test
  void aStoppedJobNeedsNoWrite() throws InterruptedException {
    api.store(job());
    assertThat(stop(job(), Optional.empty())).isEqualTo(new JobStopper.Result.Stopped(100));
    assertThat(api.calls).isEmpty();
  }

  /** Runs in the cluster, under a policy that protects the status of pods. */
  private JobStopper.Result stopPod(String labels, ApiOutcome said) throws InterruptedException {
    ObjectNode object =
        GivenObject.yaml(
            """
            apiVersion: v1
            kind: Pod
            metadata: {name: p, namespace: team, uid: uid-p, resourceVersion: "7", labels: %s}
            spec: {nodeName: n, containers: [{name: c}]}
            status: {phase: Running}
            """
                .formatted(labels));
    CachedJob pod = CachedPodParser.of(new SinglePod(), object).job();
    api.objects.put(pod.ref().kind().path("team", "p"), object);
    api.jobAnswers.add(said);
    return new JobStopper(new SinglePod(), api, () -> GivenCluster.NOW)
        .stop(pod, new Stop(StopReason.WORKLOAD_EVICTED, Optional.empty(), "evicted"), patient);
  }

  @Test
  void aPodIsDeletedAlthoughItsReasonIsRefused() throws InterruptedException {
    assertThat(stopPod("{}", new ApiOutcome.Refused(403, "protected")))
        .isEqualTo(new JobStopper.Result.Stopped(7));
    assertThat(api.calls)
        .satisfiesExactly(
            reason -> assertThat(reason).startsWith("patch status of Pod team/p "),
            deletion -> assertThat(deletion).isEqualTo("delete Pod team/p"));
  }

  @Test
  void aPodIsNotDeletedWhenItHasChangedSinceItWasLookedAt() throws InterruptedException {
    assertThat(stopPod("{}", new ApiOutcome.Conflict())).isEqualTo(new JobStopper.Result.Requeue());
    assertThat(api.calls).hasSize(1);
  }

  /** Without the reason its manager would take it for one that has ended. */
  @Test
  void aPodThatAManagerSentIsNotDeletedWithoutItsReason() throws InterruptedException {
    assertThat(
            stopPod(
                "{kueue.x-k8s.io/multikueue-origin: manager}",
                new ApiOutcome.Refused(403, "protected")))
        .isEqualTo(new JobStopper.Result.Refused("protected"));
    assertThat(api.calls).hasSize(1);
  }
}

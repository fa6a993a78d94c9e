package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.JobRulesOf;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The course of one reconciliation: cached data, fresh data before anything destructive, writes.
 */
class JobReconcilerTest {

  private final ScriptedApi api = new ScriptedApi();
  private final JobOptions options = JobOptions.defaults("kueue-system");
  private final JobReconciler reconciler = reconciler(options);

  private JobReconciler reconciler(JobOptions with) {
    return new JobReconciler(
        new BatchJob(),
        with,
        new OwnerChainResolver(
            with, api, new IntegrationRegistry(List.of(), List.of(), gate -> true)),
        (job, workload) -> false,
        api.dependencies(),
        1);
  }

  private String name(GivenJob job) {
    return new JobPolicy(new BatchJob(), options, (any, workload) -> false)
        .workloadName(job.view());
  }

  @Test
  void aSuspendedJobGetsAWorkloadOnce() throws InterruptedException {
    assertThat(reconciler.reconcile(job().view())).isEmpty();
    assertThat(api.calls).containsExactly("create Workload " + name(job()));
    assertThat(reconciler.reconcile(job().view())).contains(Duration.ofSeconds(1));
    assertThat(api.calls).hasSize(1);
  }

  @Test
  void howLongTheWorkloadTookIsMeasuredUnlessTheJobWasChangedBefore() throws InterruptedException {
    reconciler.reconcile(job().view());
    assertThat(api.creationLatencies).containsExactly(Duration.ofHours(2));

    GivenJob changed = job();
    changed.object().withObjectProperty("metadata").put("generation", 2).put("uid", "uid-2");
    reconciler.reconcile(changed.view());
    assertThat(api.calls).hasSize(2);
    assertThat(api.creationLatencies).hasSize(1);
  }

  @Test
  void aJobThatNobodyQueuedIsLeftAlone() throws InterruptedException {
    assertThat(reconciler.reconcile(job().queue("").view())).isEmpty();
    assertThat(api.calls).isEmpty();
  }

  @Test
  void aJobStartsWhenItsWorkloadIsAdmitted() throws InterruptedException {
    api.store(job());
    api.cached.add(GivenWorkload.workloadOf(job()).admitted("spot").get());
    assertThat(reconciler.reconcile(job().view())).isEmpty();
    assertThat(api.stored(job().view().ref()).at("/spec/suspend").asBoolean()).isFalse();
    assertThat(
            api.stored(job().view().ref())
                .at("/spec/template/spec/nodeSelector/instance-type")
                .asText())
        .isEqualTo("spot");
    assertThat(api.events).containsExactly("Normal Started");
  }

  /** Readiness that comes after it was lost is not told as older than the loss. */
  @Test
  void readinessThatIsLostWhileItsWriteIsPostponedIsPostponedAnew() throws InterruptedException {
    JobReconciler telling = reconciler(JobRulesOf.readiness(Duration.ofSeconds(30)));
    GivenJob unready = job().running(3);
    GivenJob ready = job().running(3).status("ready", "3");
    CachedWorkload admitted =
        GivenWorkload.workloadOf(job())
            .admitted("spot")
            .condition(
                "PodsReady",
                "False",
                "WaitForStart",
                "Not all pods have been ready or succeeded yet")
            .get();
    api.cached.add(admitted);
    api.now = admitted.createdAt().plusSeconds(1);
    assertThat(telling.reconcile(ready.view())).contains(Duration.ofSeconds(2));

    api.now = api.now.plusSeconds(1);
    assertThat(telling.reconcile(unready.view())).isEmpty();
    api.now = api.now.plusSeconds(2);

    assertThat(telling.reconcile(ready.view())).contains(Duration.ofSeconds(2));
    assertThat(api.calls).isEmpty();
  }

  @Test
  void aJobIsStoppedOnlyIfFreshDataSaySo() throws InterruptedException {
    GivenJob running = job().running(3);
    CachedWorkload evicted = GivenWorkload.workloadOf(job()).evicted("Preempted", "no").get();
    api.cached.add(evicted);
    api.store(running);
    reconciler.reconcile(running.view());
    assertThat(api.calls.getFirst()).startsWith("refresh Workload");
    assertThat(api.stored(running.view().ref()).at("/spec/suspend").asBoolean()).isTrue();
  }

  /** Others get the quota at once, and its watch may be behind a start. */
  @Test
  void theQuotaOfAJobIsGivenBackOnlyIfFreshDataSayThatItHasStopped() throws InterruptedException {
    CachedWorkload evicted =
        GivenWorkload.workloadOf(job()).admitted("spot").evicted("Preempted", "no").get();
    api.cached.add(evicted);
    api.store(job().running(3));
    reconciler.reconcile(job().view());
    assertThat(api.stored(job().view().ref()).at("/spec/suspend").asBoolean()).isTrue();
    assertThat(api.calls).noneMatch(call -> call.contains("status of Workload"));

    api.store(job());
    reconciler(options).reconcile(job().view());
    assertThat(api.calls).last().asString().startsWith("patch status of Workload");
  }

  @Test
  void aWorkloadThatIsDeletedGoesOnlyIfFreshDataSayThatItsJobHasStopped()
      throws InterruptedException {
    api.cached.add(GivenWorkload.workloadOf(job()).admitted("spot").deleting().get());
    api.store(job().running(3));
    reconciler.reconcile(job().view());
    assertThat(api.stored(job().view().ref()).at("/spec/suspend").asBoolean()).isTrue();
    assertThat(api.calls).noneMatch(call -> call.startsWith("patch Workload"));

    api.store(job());
    reconciler(options).reconcile(job().view());
    assertThat(api.calls).last().asString().startsWith("patch Workload");
  }

  @Test
  void aJobThatIsGoneOrReplacedAtTheApiServerIsNotStopped() throws InterruptedException {
    GivenJob running = job().running(3);
    api.cached.add(GivenWorkload.workloadOf(job()).evicted("Preempted", "no").get());
    assertThat(reconciler.reconcile(running.view())).isEmpty();
    api.store(job().running(3).named("sample", "another-uid"));
    assertThat(reconciler.reconcile(running.view())).isEmpty();
    assertThat(api.calls).allMatch(call -> call.startsWith("refresh"));
  }

  @Test
  void theWorkloadsOfADeletedJobAreReleased() throws InterruptedException {
    api.cached.add(GivenWorkload.workloadOf(job()).named("kept").get());
    api.cached.add(GivenWorkload.workloadOf(job()).named("leaving").deleting().get());
    assertThat(reconciler.gone(job().view())).isEmpty();
    assertThat(api.calls).containsExactly("patch Workload leaving");
  }

  @Test
  void aRefusedReleaseIsTriedAgain() throws InterruptedException {
    api.cached.add(GivenWorkload.workloadOf(job()).named("leaving").deleting().get());
    api.workloadAnswers.add(new WorkloadWriter.Outcome.Refused(503, "no answer"));
    assertThat(reconciler.gone(job().view())).isPresent();
  }
}

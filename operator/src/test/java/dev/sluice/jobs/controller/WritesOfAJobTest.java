package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.JobRulesOf;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.policy.JobOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How many writes a job costs from its creation to its end, besides the one that admits it. */
class WritesOfAJobTest {

  private static final String CREATE = "create Workload " + NAME;
  private static final String STATUS = "patch status of Workload " + NAME;
  private static final String RELEASE = "patch Workload " + NAME;

  /** All tests are within this time after admission. */
  private static final Duration EARLY = Duration.ofHours(3);

  private final ScriptedApi api = new ScriptedApi();
  private JobReconciler reconciler = reconciler(EARLY);

  private JobReconciler reconciler(Duration quickStart) {
    JobOptions options = JobRulesOf.readiness(quickStart);
    return new JobReconciler(
        new BatchJob(),
        options,
        new OwnerChainResolver(
            options, api, new IntegrationRegistry(List.of(), List.of(), gate -> true)),
        (job, workload) -> false,
        api.dependencies(),
        1);
  }

  private static GivenWorkload admitted() {
    return GivenWorkload.workloadOf(job())
        .admitted("spot")
        .condition(
            "PodsReady", "False", "WaitForStart", "Not all pods have been ready or succeeded yet");
  }

  /** As it is when it runs: with the node selector of its flavor. */
  private static GivenJob ready() {
    return job()
        .running(3)
        .pods("nodeSelector", "{instance-type: spot}")
        .pods("tolerations", "[{key: spot, operator: Exists, effect: NoSchedule}]")
        .status("ready", "3");
  }

  private static GivenJob done() {
    return ready()
        .status("active", "0")
        .status("ready", "0")
        .status("succeeded", "3")
        .ended("Complete", "done");
  }

  private Optional<Duration> reconcile(GivenJob job, GivenWorkload workload)
      throws InterruptedException {
    api.cached.clear();
    api.cached.add(workload.get());
    return reconciler.reconcile(job.view());
  }

  /** The condition in the last status that was written: status and reason. */
  private String written(String type) {
    for (var condition : api.lastStatus.path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("reason").asText();
      }
    }
    return "";
  }

  private void forgetWhatIsExpected() {
    reconciler.forget(job().view().ref());
  }

  @Test
  void aShortJobCostsFourWritesAndSaysTheSameInTheEnd() throws InterruptedException {
    reconciler.reconcile(job().view());
    forgetWhatIsExpected();
    api.store(job());
    reconcile(job(), admitted());
    forgetWhatIsExpected();
    assertThat(reconcile(ready(), admitted())).contains(Duration.ofSeconds(2));
    api.now = api.now.plusMillis(1900);
    assertThat(reconcile(done(), admitted())).isEmpty();

    assertThat(written("PodsReady")).isEqualTo("True Started");
    assertThat(written("Finished")).isEqualTo("True Succeeded");
    forgetWhatIsExpected();
    reconcile(done(), admitted().podsReady("True", "Started").finished());

    assertThat(api.calls).hasSize(4);
    assertThat(api.calls.get(0)).isEqualTo(CREATE);
    assertThat(api.calls.get(1)).startsWith("patch Job team/sample").contains("\"suspend\":false");
    assertThat(api.calls.get(2)).isEqualTo(STATUS);
    assertThat(api.calls.get(3)).isEqualTo(RELEASE);
  }

  @Test
  void readinessIsToldAfterTwoSecondsIfTheJobRunsOn() throws InterruptedException {
    Instant before = api.now;
    assertThat(reconcile(ready(), admitted())).contains(Duration.ofSeconds(2));
    api.now = api.now.plusMillis(1500);
    assertThat(reconcile(ready(), admitted())).contains(Duration.ofMillis(500));
    assertThat(api.calls).isEmpty();
    api.now = api.now.plusMillis(500);
    assertThat(reconcile(ready(), admitted())).isEmpty();

    assertThat(api.calls).containsExactly(STATUS);
    assertThat(written("PodsReady")).isEqualTo("True Started");
    assertThat(written("Finished")).isEmpty();
    assertThat(api.lastStatus.toString()).contains("\"lastTransitionTime\":\"" + before + "\"");
  }

  @Test
  void readinessWaitsLongerWhileWritesTakeLong() throws InterruptedException {
    api.leisure = 0.1;
    assertThat(reconcile(ready(), admitted())).contains(Duration.ofSeconds(20));
    api.now = api.now.plusSeconds(15);
    assertThat(reconcile(ready(), admitted())).contains(Duration.ofSeconds(5));
    assertThat(api.calls).isEmpty();
    api.leisure = 1;
    assertThat(reconcile(ready(), admitted())).isEmpty();

    assertThat(api.calls).containsExactly(STATUS);
  }

  @Test
  void readinessIsToldAtOnceIfItWasLostOrSomebodyWaits() throws InterruptedException {
    assertThat(reconcile(ready(), admitted().podsReady("False", "WaitForRecovery"))).isEmpty();
    assertThat(written("PodsReady")).isEqualTo("True Recovered");
    forgetWhatIsExpected();
    reconciler = reconciler(Duration.ZERO);
    assertThat(reconcile(ready(), admitted())).isEmpty();
    assertThat(api.calls).containsExactly(STATUS, STATUS);
  }

  @Test
  void aJobThatFailedBeforeItsPodsWereReadyWasNeverReady() throws InterruptedException {
    GivenJob failed = ready().status("active", "0").status("ready", "0").ended("Failed", "no");
    assertThat(reconcile(failed, admitted())).isEmpty();
    assertThat(written("Finished")).isEqualTo("True Failed");
    assertThat(written("PodsReady")).isEqualTo("False WaitForStart");
  }

  @Test
  void whatIsFinishedAndReleasedIsNotWrittenAgain() throws InterruptedException {
    assertThat(reconcile(done(), admitted().podsReady("True", "Started").finished().finalizers()))
        .isEmpty();
    assertThat(api.calls).isEmpty();
  }
}

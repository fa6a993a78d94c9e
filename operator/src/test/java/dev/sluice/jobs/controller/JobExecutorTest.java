package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.Attempt;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.DeleteJob;
import dev.sluice.jobs.policy.JobAction.DeleteWorkload;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.PatchStatusSoon;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What each action writes, which delay each answer leads to, and what is told as events. */
class JobExecutorTest {

  private static final Duration SOON = Duration.ofMillis(200);
  private static final Duration LATER = Duration.ofSeconds(30);

  private final ScriptedApi api = new ScriptedApi();
  private final JobExecutor executor = new JobExecutor(new BatchJob(), api.dependencies());
  private final CachedWorkload workload =
      GivenWorkload.workloadOf(job()).admitted("plain").named("w").get();

  private static CreateWorkload create() {
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    object.putObject("metadata").put("name", "w");
    return new CreateWorkload(object);
  }

  private static JobPatch patch(boolean ofStatus, String field) {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject(ofStatus ? "status" : "spec").put(field, false);
    return new JobPatch(ofStatus, body);
  }

  @Test
  void aCreatedWorkloadIsToldAndExpectedInTheCache() throws InterruptedException {
    assertThat(executor.execute(job().view(), List.of(create()))).isEmpty();
    assertThat(api.calls).containsExactly("create Workload w");
    assertThat(api.events).containsExactly("Normal CreatedWorkload");
    assertThat(executor.unseen(job().view())).isTrue();
    executor.forget(job().view().ref());
    assertThat(executor.unseen(job().view())).isFalse();
  }

  @Test
  void theFirstActionThatFailsEndsTheList() throws InterruptedException {
    api.workloadAnswers.add(new WorkloadWriter.Outcome.Conflict());
    assertThat(executor.execute(job().view(), List.of(create(), new Warn("Reason", "note"))))
        .contains(SOON);
    assertThat(api.events).isEmpty();
  }

  @Test
  void whatFollowsAnAttemptIsDoneUnlessItsWriteIsNotSeen() throws InterruptedException {
    api.store(job());
    Start start = new Start(workload, List.of(patch(false, "suspend")), "go");
    List<JobAction> actions =
        List.of(new Attempt(List.of(create(), new Warn("Grown", "note"))), start);
    api.workloadAnswers.add(new WorkloadWriter.Outcome.Refused(403, "exceeded quota"));
    assertThat(executor.execute(job().view(), actions)).contains(LATER);
    assertThat(api.events).containsExactly("Warning ErrWorkloadCompose", "Normal Started");

    api.events.clear();
    executor.forget(job().view().ref());
    assertThat(executor.execute(job().view(), actions)).isEmpty();
    assertThat(api.events).containsExactly("Normal CreatedWorkload", "Warning Grown");

    api.events.clear();
    executor.forget(job().view().ref());
    api.cached.add(workload);
    api.workloadAnswers.add(new WorkloadWriter.Outcome.Written(workload.version()));
    api.store(job());
    assertThat(executor.execute(job().view(), actions)).isEmpty();
    assertThat(api.events)
        .containsExactly("Normal CreatedWorkload", "Warning Grown", "Normal Started");
  }

  @Test
  void aWorkloadThatIsRefusedIsToldAndTriedAgainMuchLater() throws InterruptedException {
    api.workloadAnswers.add(new WorkloadWriter.Outcome.Refused(403, "exceeded quota"));
    assertThat(executor.execute(job().view(), List.of(create()))).contains(LATER);
    assertThat(api.events).containsExactly("Warning ErrWorkloadCompose");
  }

  /** A policy of the cluster denies with the same code as the schema, and people may change it. */
  @Test
  void aWorkloadThatTheSchemaOrAPolicyRefusesIsToldAndTriedAgainAfterTenMinutes()
      throws InterruptedException {
    ObjectNode pods = JsonNodeFactory.instance.objectNode();
    pods.putObject("spec").putArray("podSets");
    JobAction rewrite = new JobAction.PatchWorkload(workload, pods, "note");
    for (JobAction action : List.of(create(), rewrite)) {
      api.workloadAnswers.add(
          new WorkloadWriter.Outcome.Refused(422, "minCount 3 must not exceed count 2"));
      assertThat(executor.execute(job().view(), List.of(action))).contains(Duration.ofMinutes(10));
    }
    assertThat(api.events)
        .containsExactly("Warning ErrWorkloadCompose", "Warning ErrWorkloadCompose");
  }

  /** Such as that of a queue name: a retry may succeed, and the pod sets are not to blame. */
  @Test
  void anotherChangeThatIsRefusedIsTriedAgainMuchLater() throws InterruptedException {
    ObjectNode queue = JsonNodeFactory.instance.objectNode();
    queue.putObject("spec").put("queueName", "other");
    api.workloadAnswers.add(new WorkloadWriter.Outcome.Refused(422, "not now"));
    assertThat(
            executor.execute(
                job().view(), List.of(new JobAction.PatchWorkload(workload, queue, "note"))))
        .contains(LATER);
    assertThat(api.events).isEmpty();
  }

  @Test
  void aWorkloadThatIsNotValidIsToldAndNotWrittenUntilTheJobChanges() throws InterruptedException {
    api.invalid = List.of("spec.podSets[0]: Invalid value: 1: rule");
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").putArray("podSets");
    assertThat(executor.execute(job().view(), List.of(create()))).isEmpty();
    assertThat(
            executor.execute(
                job().view(), List.of(new JobAction.PatchWorkload(workload, patch, "note"))))
        .isEmpty();
    assertThat(api.calls).isEmpty();
    assertThat(api.events)
        .containsExactly("Warning ErrWorkloadCompose", "Warning ErrWorkloadCompose");
    assertThat(executor.unseen(job().view())).isFalse();
  }

  @Test
  void aChangeThatLeavesThePodSetsIsNotValidated() throws InterruptedException {
    api.invalid = List.of("spec.podSets[0]: Invalid value: 1: rule");
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").put("priority", 1);
    executor.execute(job().view(), List.of(new JobAction.PatchWorkload(workload, patch, "note")));
    assertThat(api.calls).hasSize(1);
  }

  @Test
  void aJobWhoseOwnerIsNotAdmittedIsToldToBeSuspendedAndAnyOtherStopped()
      throws InterruptedException {
    api.store(job());
    assertThat(executor.execute(job().view(), List.of(stop(StopReason.OWNER_NOT_ADMITTED))))
        .isEmpty();
    assertThat(executor.execute(job().view(), List.of(stop(StopReason.NOT_ADMITTED)))).isEmpty();
    assertThat(api.events).containsExactly("Normal Suspended", "Normal Stopped");
  }

  private static Stop stop(StopReason reason) {
    return new Stop(reason, Optional.empty(), "note");
  }

  @Test
  void aDeletedWorkloadIsToldUnlessItWasGone() throws InterruptedException {
    api.workloadAnswers.add(new WorkloadWriter.Outcome.Gone());
    List<JobAction> delete = List.of(new DeleteWorkload(workload, "not needed"));
    assertThat(executor.execute(job().view(), delete)).isEmpty();
    assertThat(api.events).isEmpty();
    assertThat(executor.execute(job().view(), delete)).isEmpty();
    assertThat(api.events).containsExactly("Normal DeletedWorkload");
  }

  @Test
  void theWritesOfAStartFollowEachOther() throws InterruptedException {
    api.store(job());
    Start start =
        new Start(workload, List.of(patch(true, "startTime"), patch(false, "suspend")), "go");
    assertThat(executor.execute(job().view(), List.of(start))).isEmpty();
    assertThat(api.stored(job().view().ref()).at("/metadata/resourceVersion").asText())
        .isEqualTo("102");
    assertThat(api.events).containsExactly("Normal Started");
    assertThat(executor.unseen(job().view())).isTrue();
  }

  @Test
  void aStartThatConflictsIsTriedAgainSoonAndOneThatIsRefusedMuchLater()
      throws InterruptedException {
    List<JobAction> start = List.of(new Start(workload, List.of(patch(false, "suspend")), "go"));
    api.jobAnswers.add(new ApiOutcome.Conflict());
    api.jobAnswers.add(new ApiOutcome.Refused(422, "immutable"));
    api.jobAnswers.add(new ApiOutcome.Gone());
    assertThat(executor.execute(job().view(), start)).contains(SOON);
    assertThat(api.events).isEmpty();
    assertThat(executor.execute(job().view(), start)).contains(LATER);
    assertThat(executor.execute(job().view(), start)).isEmpty();
    assertThat(api.events).containsExactly("Warning WriteRefused");
  }

  @Test
  void aStartThatIsRefusedWhileTheJobStillStopsIsTriedAgainAfterASecond()
      throws InterruptedException {
    CachedJob stopping = job().status("active", "1").view();
    api.jobAnswers.add(new ApiOutcome.Refused(422, "immutable"));
    assertThat(
            executor.execute(
                stopping, List.of(new Start(workload, List.of(patch(false, "suspend")), "go"))))
        .contains(Duration.ofSeconds(1));
  }

  /** It was deleted while it was looked at, and nobody says so again. */
  @Test
  void theWaitOfAJobThatNobodyLooksAtAnyMoreIsForgotten() throws InterruptedException {
    List<JobAction> soon =
        List.of(
            new PatchStatusSoon(
                first ->
                    new PatchStatus(workload, JsonNodeFactory.instance.objectNode(), "readiness"),
                Duration.ofSeconds(2)));
    assertThat(executor.execute(job().view(), soon)).contains(Duration.ofSeconds(2));
    api.now = api.now.plus(Duration.ofMinutes(11));
    assertThat(executor.execute(job().named("other", "other-uid").view(), soon))
        .contains(Duration.ofSeconds(2));
    assertThat(executor.waiting()).isEqualTo(1);
    assertThat(api.calls).isEmpty();
  }

  @Test
  void aJobIsDeletedWithAnEvent() throws InterruptedException {
    api.store(job());
    assertThat(executor.execute(job().view(), List.of(new DeleteJob("Retention", "too old"))))
        .isEmpty();
    assertThat(api.calls).containsExactly("delete Job team/sample");
    assertThat(api.events).containsExactly("Normal Retention");
  }

  @Test
  void warningsAreToldAndDelaysArePassedOn() throws InterruptedException {
    assertThat(
            executor.execute(
                job().view(),
                List.of(new Warn("Reason", "note"), new Requeue(Duration.ofSeconds(7)))))
        .contains(Duration.ofSeconds(7));
    assertThat(api.events).containsExactly("Warning Reason");
  }
}

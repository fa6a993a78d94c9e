package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenCluster.cluster;
import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenObject;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.JobRulesOf;
import dev.sluice.jobs.controller.OwnerChainResolver.BelievedOwners;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.DeleteWorkload;
import dev.sluice.jobs.policy.JobAction.FinishWorkload;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizer;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a job needs, by how it and its Workload stand. */
class JobPolicyTest {

  private ManagementStatus managementStatus = new ManagementStatus.Own();
  private final GivenCluster cluster = cluster();
  private final List<CachedWorkload> workloads = new ArrayList<>();
  private Optional<CachedWorkload> prebuilt = Optional.empty();
  private JobOptions rules = JobOptions.defaults("kueue-system");

  @Nested
  class WithoutWorkload {

    @Test
    void aSuspendedJobGetsOne() {
      CreateWorkload create = only(CreateWorkload.class, decide(job()));
      assertThat(create.workload().path("metadata").path("name").asText())
          .isEqualTo(GivenWorkload.NAME);
    }

    /** docs/workload-lifecycle.md#time-outs-of-a-single-workload. */
    @Test
    void aWorkloadGetsTheTimesOfItsPodsWhereTheGateIsOn() {
      GivenJob timed = job().annotation(KueueConstants.WAIT_FOR_PODS_READY, "{}");
      String key = "/metadata/annotations/kueue.x-k8s.io~1wait-for-pods-ready";
      assertThat(only(CreateWorkload.class, decide(timed)).workload().at(key).isMissingNode())
          .isTrue();
      rules = rules.with(FeatureGate.WORKLOAD_LEVEL_WAIT_FOR_PODS_READY, true);
      assertThat(only(CreateWorkload.class, decide(timed)).workload().at(key).asText())
          .isEqualTo("{}");
    }

    @Test
    void aJobThatSlippedInIsStoppedFirst() {
      Stop stop = only(Stop.class, decide(job().running(0)));
      assertThat(stop.reason()).isEqualTo(StopReason.NO_MATCHING_WORKLOAD);
      assertThat(stop.original()).isEmpty();
    }

    @Test
    void aHalfStoppedJobIsStoppedToTheEnd() {
      only(Stop.class, decide(job().annotation(KueueConstants.STOPPING, "true")));
    }

    @Test
    void aStoppedJobWaitsUntilItsPodsAreGone() {
      assertThat(decide(job().status("active", "1"))).isEmpty();
    }

    @Test
    void anEndedJobNeedsNone() {
      assertThat(decide(job().ended("Complete", ""))).isEmpty();
    }

    @Test
    void aJobThatIsBeingDeletedNeedsNone() {
      assertThat(decide(job().deleting())).isEmpty();
    }

    /** Changes of 0.20, section 7. */
    @Test
    void aMissingPriorityClassIsWarnedOfAndWaitedFor() {
      List<JobAction> actions = decide(job().label(KueueConstants.PRIORITY_CLASS, "urgent"));
      assertThat(actions).hasSize(2);
      assertThat(actions.get(0))
          .isEqualTo(
              new Warn(
                  "WorkloadPriorityClassNotFound",
                  "WorkloadPriorityClass \"urgent\" does not exist"));
      assertThat(actions.get(1)).isInstanceOf(Requeue.class);
    }

    @Test
    void aPriorityClassThatIsMadeTogetherWithTheJobIsWaitedForInSilence() {
      GivenJob job = job().label(KueueConstants.PRIORITY_CLASS, "urgent");
      job.object().withObjectProperty("metadata").put("creationTimestamp", GivenCluster.NOW + "");
      only(Requeue.class, decide(job));
    }
  }

  @Nested
  class NotToBeHandled {

    @Test
    void whoIsUnmanagedIsLeftAlone() {
      managementStatus = new ManagementStatus.Unmanaged();
      assertThat(decide(job().queue("").running(2))).isEmpty();
    }

    @Test
    void aChildOfWhatIsNotAdmittedIsStopped() {
      managementStatus = new ManagementStatus.ChildOfManaged(false);
      Stop stop = only(Stop.class, decide(job().running(1)));
      assertThat(stop.reason()).isEqualTo(StopReason.OWNER_NOT_ADMITTED);
      assertThat(stop.word()).isEqualTo("NotAdmitted");
    }

    @Test
    void aChildOfWhatIsNotAdmittedStaysSuspended() {
      managementStatus = new ManagementStatus.ChildOfManaged(false);
      assertThat(decide(job())).isEmpty();
    }

    @Test
    void aChildOfWhatIsAdmittedIsLeftAlone() {
      managementStatus = new ManagementStatus.ChildOfManaged(true);
      assertThat(decide(job())).isEmpty();
      assertThat(decide(job().running(1))).isEmpty();
    }

    /** Whoever makes a job a part of another one doesn't keep it from being preempted. */
    @Test
    void whatHasQuotaFromBeforeIsEvictedAllTheSame() {
      given(workloadOf(job()).admitted("spot").evicted("Preempted", ""));
      for (ManagementStatus status :
          List.of(
              new ManagementStatus.ChildOfManaged(true), new ManagementStatus.NestedTooDeep())) {
        managementStatus = status;
        assertThat(only(Stop.class, decide(job().running(3))).reason())
            .isEqualTo(StopReason.WORKLOAD_EVICTED);
        assertThat(decide(job().status("active", "3"))).isEmpty();
        only(PatchStatus.class, decide(job()));
      }
    }

    @Test
    void nestingTooDeepIsWarnedOf() {
      managementStatus = new ManagementStatus.NestedTooDeep();
      assertThat(only(Warn.class, decide(job())).reason()).isEqualTo("JobNestingTooDeep");
    }
  }

  @Nested
  class Waiting {

    @Test
    void nothingIsDoneWhileItWaits() {
      given(workloadOf(job()));
      assertThat(decide(job())).isEmpty();
    }

    @Test
    void nothingIsDoneWhileItHoldsQuotaButIsNotAdmitted() {
      given(workloadOf(job()).reserved("spot"));
      assertThat(decide(job())).isEmpty();
    }

    @Test
    void aChangedQueueIsPropagated() {
      given(workloadOf(job()));
      PatchWorkload patch = only(PatchWorkload.class, decide(job().queue("other")));
      assertThat(patch.patch()).hasToString("{\"spec\":{\"queueName\":\"other\"}}");
    }

    /** Jobs without a queue name may be managed as well; the API refuses an empty name. */
    @Test
    void aQueueThatIsNoLongerNamedIsRemoved() {
      given(workloadOf(job()));
      PatchWorkload patch = only(PatchWorkload.class, decide(job().queue("")));
      assertThat(patch.patch()).hasToString("{\"spec\":{\"queueName\":null}}");
    }

    /** What was reclaimed of ten pods would be missing from the three that it has now. */
    @Test
    void aResizedJobRequestsAllItsPodsAgainBeforeItsWorkloadIsRewritten() {
      GivenJob resized = job().spec("parallelism", "2");
      given(workloadOf(job()).reclaimable(1));
      PatchStatus status = only(PatchStatus.class, decide(resized));
      assertThat(status.status()).hasToString("{\"reclaimablePods\":[]}");

      givenOnly(workloadOf(job()));
      only(PatchWorkload.class, decide(resized));
    }

    /** A Job that was there before the webhook. */
    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "-2147483648", "many"})
    void aSmallestParallelismThatIsNoneDoesNotMatter(String parallelism) {
      GivenJob job = job().annotation(KueueConstants.JOB_MIN_PARALLELISM, parallelism);
      given(workloadOf(job()));
      assertThat(decide(job)).isEmpty();
    }

    @Test
    void aChangedQueueIsNotPropagatedWhileQuotaIsHeld() {
      given(workloadOf(job()).reserved("spot"));
      assertThat(decide(job().queue("other"))).isEmpty();
    }

    @Test
    void anotherPriorityClassThatDoesNotExistIsWarnedOf() {
      given(workloadOf(job()));
      List<JobAction> actions = decide(job().label(KueueConstants.PRIORITY_CLASS, "gone"));
      assertThat(actions).hasSize(2);
      assertThat(actions.get(0))
          .isEqualTo(
              new Warn(
                  "WorkloadPriorityClassNotFound",
                  "WorkloadPriorityClass \"gone\" does not exist"));
      assertThat(actions.get(1)).isInstanceOf(Requeue.class);
    }

    @Test
    void aChangedPriorityClassIsPropagated() {
      cluster.workloadPriorityClass("urgent", 100);
      given(workloadOf(job()));
      PatchWorkload patch =
          only(PatchWorkload.class, decide(job().label(KueueConstants.PRIORITY_CLASS, "urgent")));
      assertThat(patch.patch())
          .hasToString(
              "{\"spec\":{\"priority\":100,\"priorityClassRef\":{\"group\":\"kueue.x-k8s.io\","
                  + "\"kind\":\"WorkloadPriorityClass\",\"name\":\"urgent\"}}}");
    }

    @Test
    void aRemovedPriorityClassIsPropagated() {
      given(workloadOf(job()).workloadPriorityClass("urgent"));
      PatchWorkload patch = only(PatchWorkload.class, decide(job()));
      assertThat(patch.patch())
          .hasToString("{\"spec\":{\"priority\":0,\"priorityClassRef\":null}}");
    }

    /**
     * An invalid reference would be written: the class can't be taken away with the quota kept
     * (changes of 0.20, section 2).
     */
    @Test
    void aPriorityClassThatIsRemovedWhileQuotaIsReservedStays() {
      given(workloadOf(job()).workloadPriorityClass("urgent").reserved("plain"));
      assertThat(decide(job())).isEmpty();
    }

    @Test
    void liftedGatesArePropagated() {
      given(
          workloadOf(job())
              .annotation(KueueConstants.ADMISSION_GATED_BY, "example.com/a,example.com/b"));
      PatchWorkload fewer =
          only(
              PatchWorkload.class,
              decide(job().annotation(KueueConstants.ADMISSION_GATED_BY, "example.com/b")));
      assertThat(fewer.patch())
          .hasToString(
              "{\"metadata\":{\"annotations\":"
                  + "{\"kueue.x-k8s.io/admission-gated-by\":\"example.com/b\"}}}");
      PatchWorkload none = only(PatchWorkload.class, decide(job()));
      assertThat(none.patch())
          .hasToString(
              "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/admission-gated-by\":null}}}");
    }

    @Test
    void aJobThatRunsElsewhereAlthoughItMightRunHereIsNotStarted() {
      given(workloadOf(job()).admitted("spot").inCluster("remote"));

      assertThat(decide(job().annotation("sluice.dev/may-run-here", "true"))).isEmpty();
    }

    @Test
    void aJobThatMightRunElsewhereAndRunsHereIsStarted() {
      given(workloadOf(job()).admitted("spot"));

      only(Start.class, decide(job().annotation("sluice.dev/may-run-here", "true")));
    }

    @Test
    void aJobThatCannotRunHereIsReleasedHereWhileItRunsElsewhere() {
      given(workloadOf(job()).admitted("spot").inCluster("remote"));

      only(Start.class, decide(job()));
    }

    @Test
    void whatMayRunElsewhereHoldsItsQuotaWhileItIsSentBack() {
      given(
          workloadOf(job())
              .admitted("spot")
              .inCluster("remote")
              .evicted("Preempted", "for another"));

      assertThat(
              decide(
                  job()
                      .annotation("sluice.dev/may-run-here", "true")
                      .annotation("sluice.dev/remote-status", "{}")))
          .isEmpty();
      only(PatchStatus.class, decide(job().annotation("sluice.dev/may-run-here", "true")));
    }

    @Test
    void whatAJobThatRunsHereTellsOfAnotherClusterIsNotBelieved() {
      given(workloadOf(job()).admitted("spot").evicted("Preempted", "for another"));
      only(
          PatchStatus.class,
          decide(
              job()
                  .annotation("sluice.dev/may-run-here", "true")
                  .annotation("sluice.dev/remote-status", "{\"active\":3}")));

      given(workloadOf(job()).admitted("spot"));
      assertThat(
              decide(
                  job()
                      .running(3)
                      .annotation("sluice.dev/may-run-here", "true")
                      .annotation("sluice.dev/remote-status", "{\"succeeded\":3,\"ready\":3}")))
          .isEqualTo(decide(job().running(3).annotation("sluice.dev/may-run-here", "true")));
    }

    @Test
    void whatIsToldIsNotBelievedOfAJobThatCannotRunHereAsWellAsElsewhere() {
      given(
          workloadOf(job())
              .admitted("spot")
              .inCluster("remote")
              .evicted("Preempted", "for another"));

      only(PatchStatus.class, decide(job().annotation("sluice.dev/remote-status", "{}")));
    }

    @Test
    void whereItMayGoIsPropagatedUntilItGoes() {
      given(workloadOf(job()).annotation("sluice.dev/placement-cluster-selector", "tier=gpu"));

      PatchWorkload patch =
          only(PatchWorkload.class, decide(job().annotation("sluice.dev/placement-region", "eu")));

      assertThat(patch.patch().toString())
          .isEqualTo(
              "{\"metadata\":{\"annotations\":{\"sluice.dev/placement-region\":\"eu\","
                  + "\"sluice.dev/placement-cluster-selector\":null}}}");

      given(workloadOf(job()).admitted("spot"));
      assertThat(decide(job().running(3).annotation("sluice.dev/placement-region", "eu")))
          .noneMatch(PatchWorkload.class::isInstance);
    }

    @Test
    void theExpectedRunTimeFollowsAtAnyTime() {
      given(workloadOf(job()).admitted("spot").annotation("sluice.dev/expected-run-time", "1h"));
      assertThat(decide(job().running(3)))
          .filteredOn(PatchWorkload.class::isInstance)
          .map(action -> ((PatchWorkload) action).patch().toString())
          .containsExactly(
              "{\"metadata\":{\"annotations\":{\"sluice.dev/expected-run-time\":null}}}");
      assertThat(decide(job().running(3).annotation("sluice.dev/expected-run-time", "2h")))
          .filteredOn(PatchWorkload.class::isInstance)
          .map(action -> ((PatchWorkload) action).patch().toString())
          .containsExactly(
              "{\"metadata\":{\"annotations\":{\"sluice.dev/expected-run-time\":\"2h\"}}}");
      assertThat(decide(job().running(3).annotation("sluice.dev/expected-run-time", "1h")))
          .noneMatch(PatchWorkload.class::isInstance);
    }

    @Test
    void aCheckpointIsTold() {
      String saved = "2026-03-01T12:00:00Z";
      given(workloadOf(job()).admitted("spot"));
      assertThat(decide(job().running(3).annotation("sluice.dev/checkpointed-at", saved)))
          .filteredOn(PatchWorkload.class::isInstance)
          .map(action -> ((PatchWorkload) action).patch().toString())
          .containsExactly(
              "{\"metadata\":{\"annotations\":{\"sluice.dev/checkpointed-at\":\""
                  + saved
                  + "\"}}}");
    }

    @Test
    void aRequestForACheckpointIsPassedOn() {
      String requested = "9998-03-01T12:00:00Z";
      given(
          workloadOf(job())
              .admitted("spot")
              .annotation("sluice.dev/checkpoint-requested-at", requested));
      assertThat(decide(job().running(3)))
          .filteredOn(JobAction.Annotate.class::isInstance)
          .map(action -> ((JobAction.Annotate) action).patch().body().toString())
          .containsExactly(
              "{\"metadata\":{\"annotations\":{\"sluice.dev/checkpoint-requested-at\":\""
                  + requested
                  + "\"}}}");
      assertThat(
              decide(job().running(3).annotation("sluice.dev/checkpoint-requested-at", requested)))
          .noneMatch(JobAction.Annotate.class::isInstance);
    }

    @Test
    void aPrebuiltWorkloadKeepsItsExpectedRunTime() {
      GivenJob job = job().annotation(KueueConstants.PREBUILT_WORKLOAD_NAME, "made");
      given(workloadOf(job).named("made").annotation("sluice.dev/expected-run-time", "1h"));
      prebuilt = Optional.of(workloads.getFirst());
      assertThat(decide(job)).noneMatch(PatchWorkload.class::isInstance);
      assertThat(decide(job.annotation("sluice.dev/expected-run-time", "2h")))
          .anyMatch(PatchWorkload.class::isInstance);
    }

    @Test
    void allThatChangedIsPropagatedInOnePatch() {
      cluster.workloadPriorityClass("urgent", 100);
      given(workloadOf(job()));
      PatchWorkload patch =
          only(
              PatchWorkload.class,
              decide(job().queue("other").label(KueueConstants.PRIORITY_CLASS, "urgent")));
      assertThat(patch.patch().path("spec").path("queueName").asText()).isEqualTo("other");
      assertThat(patch.patch().path("spec").path("priority").asInt()).isEqualTo(100);
    }

    @Test
    void aResizedJobHasItsWorkloadRewritten() {
      given(workloadOf(job()));
      PatchWorkload patch =
          only(
              PatchWorkload.class, decide(job().spec("parallelism", "5").spec("completions", "5")));
      ObjectNode spec = (ObjectNode) patch.patch().path("spec");
      assertThat(spec.path("podSets").path(0).path("count").asInt()).isEqualTo(5);
      assertThat(spec.has("active")).isFalse();
      assertThat(spec.path("priorityClassRef").isNull()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "[{name: main, image: 'registry.example/batch/work:2',"
              + " resources: {requests: {cpu: '1'}}}]",
          "[{name: main, image: 'registry.example/batch/work:1',"
              + " resources: {requests: {cpu: '2'}}}]",
        })
    void anotherTemplateHasItsWorkloadRewritten(String containers) {
      given(workloadOf(job()));
      only(PatchWorkload.class, decide(job().pods("containers", containers)));
    }

    @Test
    void otherTolerationsHaveTheWorkloadRewritten() {
      given(workloadOf(job()));
      only(PatchWorkload.class, decide(job().pods("tolerations", "[{key: a, operator: Exists}]")));
    }

    @Test
    void anotherTimeLimitHasTheWorkloadRewritten() {
      given(workloadOf(job()));
      PatchWorkload patch =
          only(
              PatchWorkload.class, decide(job().label(KueueConstants.MAX_EXEC_TIME_SECONDS, "60")));
      assertThat(patch.patch().path("spec").path("maximumExecutionTimeSeconds").asInt())
          .isEqualTo(60);
    }

    @Test
    void selectorsAndAffinityAreNotCompared() {
      given(workloadOf(job()));
      assertThat(
              decide(
                  job().pods("nodeSelector", "{zone: a}").pods("affinity", "{nodeAffinity: {}}")))
          .isEmpty();
    }

    @Test
    void aMismatchThatHoldsQuotaIsDeletedAndMadeAnew() {
      given(workloadOf(job()).reserved("spot"));
      only(DeleteWorkload.class, decide(job().spec("parallelism", "2")));
    }

    @Test
    void aSecondWorkloadIsDeleted() {
      given(workloadOf(job()));
      given(workloadOf(job()).named("z"));
      assertThat(only(DeleteWorkload.class, decide(job())).workload().id().name()).isEqualTo("z");
    }
  }

  @Nested
  class Admitted {

    @Test
    void theJobStartsInOneUpdate() {
      given(workloadOf(job()).admitted("spot"));
      Start start = only(Start.class, decide(job()));
      assertThat(start.patches()).hasSize(1);
      assertThat(start.patches().getFirst().ofStatus()).isFalse();
    }

    @Test
    void itsPodsGetWhatTheChecksAddThatSaidYes() {
      given(
          workloadOf(job())
              .admitted("spot")
              .check(
                  "yes",
                  "Ready",
                  Map.of("from", "yes"),
                  List.of(
                      new CachedWorkload.PodToleration(
                          "late", "Exists", "", "NoExecute", OptionalLong.of(30))))
              .check("later", "Pending", Map.of("from", "later"), List.of()));
      Start start = only(Start.class, decide(job()));
      JsonNode template = start.patches().getFirst().body().at("/spec/template");
      assertThat(template.at("/metadata/labels/from").asText()).isEqualTo("yes");
      assertThat(template.at("/spec/tolerations").toString())
          .contains(
              "{\"key\":\"late\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
                  + "\"tolerationSeconds\":30}");
    }

    @Test
    void podsOfAJobThatAManagerSentAreMarked() {
      given(workloadOf(job()).admitted("spot").label(KueueConstants.MULTIKUEUE_ORIGIN, "manager"));
      Start start = only(Start.class, decide(job()));
      JsonNode labels = start.patches().getFirst().body().at("/spec/template/metadata/labels");
      assertThat(labels.path(KueueConstants.MULTIKUEUE_WORKER_POD).asText()).isEqualTo("true");

      givenOnly(workloadOf(job()).admitted("spot"));
      Start own = only(Start.class, decide(job()));
      assertThat(own.patches().getFirst().body().at("/spec/template/metadata/labels"))
          .noneMatch(label -> label.asText().equals("true"));
    }

    @Test
    void checksThatContradictEachOtherOrTheQueueEndTheWorkload() {
      given(
          workloadOf(job())
              .admitted("spot")
              .check("one", "Ready", Map.of("x", "1"), List.of())
              .check("two", "Ready", Map.of("x", "2"), List.of()));
      FinishWorkload finish = only(FinishWorkload.class, decide(job()));
      assertThat(finish.reason()).isEqualTo("FailedToStart");
      assertThat(finish.message())
          .isEqualTo(
              "pod set main: admission check two sets labels[x] to \"2\", which is \"1\" already");
    }

    @Test
    void aJobWhoseFlavorIsNotKnownYetWaits() {
      given(workloadOf(job()).admitted("unheard-of"));
      only(Requeue.class, decide(job()));
    }

    @Test
    void aContradictionEndsTheWorkload() {
      GivenJob job = job().pods("nodeSelector", "{instance-type: ondemand}");
      given(workloadOf(job).admitted("spot"));
      FinishWorkload finish = only(FinishWorkload.class, decide(job));
      assertThat(finish.reason()).isEqualTo("FailedToStart");
      assertThat(finish.message())
          .isEqualTo(
              "pod set main: template.spec.nodeSelector[instance-type] is \"ondemand\","
                  + " but it was admitted with \"spot\"");
    }

    @Test
    void aRunningJobIsLeftAlone() {
      given(workloadOf(job()).admitted("spot"));
      GivenJob running =
          job()
              .running(3)
              .pods("nodeSelector", "{instance-type: spot}")
              .pods("tolerations", "[{key: spot, operator: Exists, effect: NoSchedule}]");
      assertThat(decide(running)).isEmpty();
    }

    /** Evicted and admitted again; one of its pods had ended before. */
    @Test
    void aRunningJobThatWasAdmittedForThePodsThatAreLeftIsLeftAlone() {
      given(workloadOf(job()).admitted("spot", 2));
      GivenJob running =
          job()
              .running(2)
              .pods("nodeSelector", "{instance-type: spot}")
              .pods("tolerations", "[{key: spot, operator: Exists, effect: NoSchedule}]");
      assertThat(decide(running)).isEmpty();
    }

    @Test
    void aRunningJobThatIsResizedIsStopped() {
      given(workloadOf(job()).admitted("spot"));
      Stop stop = only(Stop.class, decide(job().running(3).spec("parallelism", "2")));
      assertThat(stop.reason()).isEqualTo(StopReason.NO_MATCHING_WORKLOAD);
      assertThat(stop.original()).isPresent();
      assertThat(stop.note()).endsWith(" says: pod set main has 2 pods, not 3");
    }

    @Test
    void aRunningJobThatWasStartedSmallerMatchesWhatItWasAdmittedWith() {
      GivenJob job = job().annotation(KueueConstants.JOB_MIN_PARALLELISM, "1");
      given(workloadOf(job).admitted("spot", 2));
      assertThat(decide(job.running(2).spec("parallelism", "2"))).isEmpty();
    }

    @Test
    void aRunningJobMayChangeItsPriorityClass() {
      cluster.workloadPriorityClass("low", 1);
      given(workloadOf(job()).admitted("spot").workloadPriorityClass("urgent"));
      PatchWorkload patch =
          only(
              PatchWorkload.class,
              decide(job().running(3).label(KueueConstants.PRIORITY_CLASS, "low")));
      assertThat(patch.patch().path("spec").path("priority").asInt()).isEqualTo(1);
    }

    /**
     * Its job has the label of the time when it was sent: each cluster would undo what the other
     * one writes (changes of 0.20, section 2).
     */
    @Test
    void aManagersPriorityClassIsNotReplacedByThatOfTheJobItSent() {
      cluster.workloadPriorityClass("low", 1);
      GivenWorkload sent =
          workloadOf(job())
              .label(KueueConstants.MULTIKUEUE_ORIGIN, "manager")
              .workloadPriorityClass("urgent");
      GivenJob labelled = job().label(KueueConstants.PRIORITY_CLASS, "low");
      given(sent);
      assertThat(decide(labelled)).isEmpty();
      givenOnly(sent.admitted("spot"));
      assertThat(decide(labelled.running(3))).isEmpty();
      assertThat(decide(labelled.label(KueueConstants.PRIORITY_CLASS, "gone"))).isEmpty();
    }

    @Test
    void aHalfStoppedJobIsStoppedBeforeAnythingElse() {
      given(workloadOf(job()).admitted("spot"));
      only(Stop.class, decide(job().annotation(KueueConstants.STOPPING, "true")));
    }

    @Test
    void podsThatAreDoneAreReclaimed() {
      given(workloadOf(job()).admitted("spot"));
      PatchStatus patch =
          only(PatchStatus.class, decide(job().running(1).status("succeeded", "2")));
      assertThat(patch.status())
          .hasToString("{\"reclaimablePods\":[{\"name\":\"main\",\"count\":2}]}");
    }

    @Test
    void podsThatAreDoneKeepTheirQuotaWithoutTheGate() {
      rules = JobRulesOf.withoutReclaiming();
      given(workloadOf(job()).admitted("spot"));
      assertThat(decide(job().running(1).status("succeeded", "2"))).isEmpty();
    }

    @Test
    void whatIsReclaimedAlreadyIsNotWrittenAgain() {
      given(workloadOf(job()).admitted("spot").reclaimable(2));
      assertThat(decide(job().running(1).status("succeeded", "2"))).isEmpty();
    }

    @Test
    void reclaimedPodsNeverBecomeFewer() {
      given(workloadOf(job()).admitted("spot").reclaimable(2));
      assertThat(decide(job().running(2).status("succeeded", "1"))).isEmpty();
    }
  }

  @Nested
  class NotAdmitted {

    @Test
    void aRunningJobIsStopped() {
      given(workloadOf(job()));
      Stop stop = only(Stop.class, decide(job().running(3)));
      assertThat(stop.reason()).isEqualTo(StopReason.NOT_ADMITTED);
      assertThat(stop.original()).isPresent();
    }

    @Test
    void aRunningJobWithQuotaButOpenChecksIsStopped() {
      given(workloadOf(job()).reserved("spot"));
      assertThat(only(Stop.class, decide(job().running(3))).reason())
          .isEqualTo(StopReason.NOT_ADMITTED);
    }
  }

  @Nested
  class Readiness {

    private GivenJob job() {
      return GivenJob.job()
          .running(3)
          .pods("nodeSelector", "{instance-type: spot}")
          .pods("tolerations", "[{key: spot, operator: Exists, effect: NoSchedule}]");
    }

    private String told(GivenJob job) {
      rules = JobRulesOf.readiness(Optional.empty());
      return condition(only(PatchStatus.class, decide(job)).status(), "PodsReady");
    }

    @Test
    void followsTheJob() {
      givenOnly(workloadOf(GivenJob.job()).admitted("spot").podsReady("False", "WaitForStart"));
      assertThat(told(job().status("ready", "3"))).startsWith("True Started ");
      givenOnly(workloadOf(GivenJob.job()).admitted("spot").podsReady("True", "Started"));
      assertThat(told(job().status("ready", "2"))).startsWith("False WaitForRecovery ");
      givenOnly(workloadOf(GivenJob.job()).admitted("spot").podsReady("False", "WaitForRecovery"));
      assertThat(told(job().status("ready", "3"))).startsWith("True Recovered ");
      givenOnly(workloadOf(GivenJob.job()).admitted("spot").podsReady("True", "Recovered"));
      assertThat(told(job().status("ready", "0"))).startsWith("False WaitForRecovery ");
    }

    @Test
    void beginsAnewWithoutAdmissionButIsNotSaidOfItself() {
      givenOnly(workloadOf(GivenJob.job()).podsReady("True", "Started"));
      assertThat(told(GivenJob.job())).startsWith("False WaitForStart ");
      givenOnly(workloadOf(GivenJob.job()));
      assertThat(decide(GivenJob.job())).isEmpty();
    }

    @Test
    void isNobodysBusinessUnlessSomebodyWaitsForIt() {
      givenOnly(workloadOf(GivenJob.job()).admitted("spot"));
      assertThat(decide(job().status("ready", "3"))).isEmpty();
    }

    @Test
    void isOverWhenTheQuotaGoesBack() {
      givenOnly(
          workloadOf(GivenJob.job())
              .admitted("spot")
              .podsReady("True", "Started")
              .evicted("Preempted", ""));
      assertThat(told(GivenJob.job())).startsWith("False WaitForStart ");
    }
  }

  @Nested
  class Retention {

    private List<JobAction> after(Duration kept, String reason) {
      rules = JobRulesOf.readiness(Optional.of(kept));
      givenOnly(
          workloadOf(job())
              .inactive()
              .podsReady("False", "WaitForStart")
              .condition("QuotaReserved", "False", "Deactivated", "")
              .evicted(reason, ""));
      return decide(job());
    }

    @Test
    void aJobThatTheOperatorDeactivatedGoesAfterItsTime() {
      String reason = "DeactivatedDueToMaximumExecutionTimeExceeded";
      assertThat(only(JobAction.DeleteJob.class, after(Duration.ofSeconds(7199), reason)).note())
          .contains("7199s");
      assertThat(only(Requeue.class, after(Duration.ofSeconds(7201), reason)).after())
          .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(3));
    }

    /** Its owner paused it again, and the Workload doesn't say so yet. */
    @Test
    void aJobThatWasActiveSinceTheOperatorDeactivatedItStays() {
      rules = JobRulesOf.readiness(Optional.of(Duration.ZERO));
      givenOnly(
          workloadOf(job())
              .inactive()
              .podsReady("False", "WaitForStart")
              .condition("QuotaReserved", "False", "WaitingForQuota", "")
              .evicted("DeactivatedDueToMaximumExecutionTimeExceeded", ""));
      assertThat(decide(job())).isEmpty();
    }

    @Test
    void aJobThatSomebodyElseDeactivatedStays() {
      assertThat(after(Duration.ZERO, "Deactivated")).isEmpty();
    }
  }

  @Nested
  class Evicted {

    @Test
    void theJobIsStopped() {
      given(workloadOf(job()).admitted("spot").evicted("Preempted", "for a better one"));
      Stop stop = only(Stop.class, decide(job().running(3)));
      assertThat(stop.reason()).isEqualTo(StopReason.WORKLOAD_EVICTED);
      assertThat(stop.note()).isEqualTo("for a better one");
    }

    @Test
    void quotaIsHeldWhilePodsRun() {
      given(workloadOf(job()).admitted("spot").evicted("Preempted", ""));
      assertThat(decide(job().status("active", "1"))).isEmpty();
    }

    @Test
    void quotaIsGivenBackWhenPodsAreGone() {
      given(workloadOf(job()).admitted("spot").evicted("Preempted", "for a better one"));
      ObjectNode status = only(PatchStatus.class, decide(job())).status();
      assertThat(status.path("admission").isNull()).isTrue();
      assertThat(condition(status, "QuotaReserved"))
          .isEqualTo("False PendingEvaluation for a better one");
      assertThat(condition(status, "Admitted"))
          .isEqualTo("False NoReservation The workload has no reservation");
      assertThat(condition(status, "Requeued")).isEqualTo("True Preempted for a better one");
      assertThat(condition(status, "Evicted")).isEqualTo("True Preempted for a better one");
      assertThat(status.path("accumulatedPastExecutionTimeSeconds").asInt()).isEqualTo(7199);
    }

    /**
     * The contract's page of metrics: waits are measured from the requeuing, not from an earlier
     * one.
     */
    @Test
    void whoIsPreemptedAgainIsQueuedSinceThisTime() {
      given(
          workloadOf(job())
              .admitted("spot")
              .condition("Requeued", "True", "Preempted", "for a better one")
              .evicted("Preempted", "for a better one"));
      ObjectNode status = only(PatchStatus.class, decide(job())).status();
      assertThat(status.path("conditions"))
          .filteredOn(condition -> condition.path("type").asText().equals("Requeued"))
          .extracting(condition -> condition.path("lastTransitionTime").asText())
          .containsExactly(GivenCluster.NOW.toString());
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "PodsReadyTimeout",
          "AdmissionCheck",
          "ClusterQueueStopped",
          "LocalQueueStopped"
        })
    void whoIsNotSimplyRequeuedStaysOut(String reason) {
      given(workloadOf(job()).admitted("spot").evicted(reason, "m"));
      ObjectNode status = only(PatchStatus.class, decide(job())).status();
      assertThat(condition(status, "Requeued")).isEqualTo("False " + reason + " m");
    }

    @Test
    void failedNodesRequeueAtOnce() {
      given(workloadOf(job()).admitted("spot").evicted("NodeFailures", "m"));
      ObjectNode status = only(PatchStatus.class, decide(job())).status();
      assertThat(condition(status, "Requeued")).isEqualTo("True NodeFailures m");
    }

    @Test
    void aDeactivatedOneSaysSo() {
      given(workloadOf(job()).admitted("spot").inactive().evicted("Deactivated", "m"));
      ObjectNode status = only(PatchStatus.class, decide(job())).status();
      assertThat(condition(status, "QuotaReserved")).isEqualTo("False Deactivated m");
    }

    /** Workload lifecycle, section 8: reclaimablePods and PodsReady come before the eviction. */
    @Test
    void podsThatWereDoneBeforeItStoppedNeedNoQuotaNextTime() {
      GivenJob running = job().running(1).status("succeeded", "2");
      GivenJob stopped = job().status("succeeded", "2");
      givenOnly(workloadOf(job()).admitted("spot").evicted("Preempted", ""));
      only(Stop.class, decide(running));
      assertThat(only(PatchStatus.class, decide(stopped)).status().has("reclaimablePods"))
          .as("the quota goes back first")
          .isFalse();
      givenOnly(workloadOf(job()).evicted("Preempted", ""));
      assertThat(only(PatchStatus.class, decide(stopped)).status())
          .hasToString("{\"reclaimablePods\":[{\"name\":\"main\",\"count\":2}]}");
      givenOnly(workloadOf(job()).evicted("Preempted", "").reclaimable(2));
      assertThat(decide(stopped)).isEmpty();
      givenOnly(
          workloadOf(job())
              .evicted("Preempted", "")
              .condition("sluice.dev/EvictedFromCluster", "True", "SentBack", "worker"));
      assertThat(decide(stopped)).as("in the next cluster it begins anew").isEmpty();
    }

    @Test
    void aJobThatWasInAWorkerClusterNeedsQuotaForAllItsPodsAgain() {
      givenOnly(workloadOf(job()).admitted("spot").reclaimable(2).evicted("Preempted", ""));
      assertThat(only(PatchStatus.class, decide(job())).status().has("reclaimablePods")).isFalse();
      givenOnly(
          workloadOf(job())
              .admitted("spot")
              .reclaimable(2)
              .evicted("Preempted", "")
              .condition("sluice.dev/EvictedFromCluster", "True", "SentBack", "worker"));
      ObjectNode status = only(PatchStatus.class, decide(job())).status();
      assertThat(status.path("admission").isNull()).isTrue();
      assertThat(status.path("reclaimablePods").isArray()).isTrue();
      assertThat(status.path("reclaimablePods")).isEmpty();
      givenOnly(
          workloadOf(job())
              .admitted("spot")
              .condition("sluice.dev/EvictedFromCluster", "True", "SentBack", "worker"));
      assertThat(decide(job().running(1).status("succeeded", "2")))
          .as("the count may be that of the copy before")
          .isEmpty();
    }

    /** Workload lifecycle, section 8: reclaimablePods and PodsReady come before the eviction. */
    @Test
    void podsThatTerminateAreNotReady() {
      rules = JobRulesOf.readiness(Optional.empty());
      given(
          workloadOf(job()).admitted("spot").podsReady("True", "Started").evicted("Preempted", ""));
      ObjectNode status = only(PatchStatus.class, decide(job().status("active", "1"))).status();
      assertThat(condition(status, "PodsReady")).startsWith("False WaitForRecovery ");
      only(Stop.class, decide(job().running(2)));
    }

    @Test
    void withoutQuotaNothingIsLeftToDo() {
      given(workloadOf(job()).evicted("Preempted", ""));
      assertThat(decide(job())).isEmpty();
    }
  }

  @Nested
  class Ending {

    @Test
    void successIsReported() {
      given(workloadOf(job()).admitted("spot"));
      FinishWorkload finish =
          only(FinishWorkload.class, decide(job().ended("Complete", "Reached 3 pods")));
      assertThat(condition(finish.status(), "Finished")).isEqualTo("True Succeeded Reached 3 pods");
    }

    @Test
    void failureIsReported() {
      given(workloadOf(job()).admitted("spot"));
      FinishWorkload finish =
          only(FinishWorkload.class, decide(job().ended("Failed", "Backoff limit")));
      assertThat(condition(finish.status(), "Finished")).isEqualTo("True Failed Backoff limit");
    }

    @Test
    void theEndIsReportedEvenIfItWasEvictedMeanwhile() {
      given(workloadOf(job()).admitted("spot").evicted("Preempted", ""));
      only(FinishWorkload.class, decide(job().ended("Complete", "")));
    }

    @Test
    void aFinishedWorkloadIsNotGuardedAnyMore() {
      given(workloadOf(job()).admitted("spot").finished());
      only(RemoveFinalizer.class, decide(job().ended("Complete", "")));
    }

    @Test
    void aReleasedWorkloadIsLeftAlone() {
      given(workloadOf(job()).admitted("spot").finished().finalizers());
      assertThat(decide(job().ended("Complete", ""))).isEmpty();
    }

    @Test
    void whatHasEndedIsNotTakenApartForAChange() {
      given(workloadOf(job()).admitted("spot").finished().finalizers());
      assertThat(decide(job().ended("Complete", "").spec("parallelism", "1"))).isEmpty();
    }

    @Test
    void aJobThatFailedToStartIsGivenANewChanceWhenItChanges() {
      given(workloadOf(job()).admitted("spot").finished().finalizers());
      only(DeleteWorkload.class, decide(job().spec("parallelism", "1")));
    }
  }

  @Nested
  class Deleted {

    @Test
    void aDeletedJobGuardsNothing() {
      given(workloadOf(job()).admitted("spot"));
      only(RemoveFinalizer.class, decide(job().running(3).deleting()));
    }

    /** Somebody's finalizer may hold it for ever, and with it the quota that others preempt. */
    @Test
    void anEvictedJobThatIsBeingDeletedIsStoppedAndGivesItsQuotaBack() {
      given(workloadOf(job()).admitted("spot").evicted("Preempted", "for a better one"));
      assertThat(decide(job().running(3).deleting()))
          .hasExactlyElementsOfTypes(RemoveFinalizer.class, Stop.class);
      workloads.clear();
      given(
          workloadOf(job()).admitted("spot").evicted("Preempted", "for a better one").finalizers());
      Stop stop = only(Stop.class, decide(job().running(3).deleting()));
      assertThat(stop.reason()).isEqualTo(StopReason.WORKLOAD_EVICTED);
      assertThat(stop.original()).isEmpty();
      AtomicInteger pods = new AtomicInteger(1);
      rules = JobRulesOf.running(pods);
      assertThat(decide(job().deleting())).isEmpty();
      pods.set(0);
      ObjectNode status =
          only(PatchStatus.class, decide(job().status("active", "3").deleting())).status();
      assertThat(condition(status, "QuotaReserved"))
          .isEqualTo("False PendingEvaluation for a better one");
      assertThat(condition(status, "Finished")).startsWith("True OwnerNotFound");
    }

    @Test
    void anEvictedJobThatHasEndedWhileItIsDeletedFinishes() {
      given(workloadOf(job()).admitted("spot").evicted("Preempted", "").finalizers());
      only(FinishWorkload.class, decide(job().ended("Complete", "done").deleting()));
    }

    @Test
    void aDeletedWorkloadStopsItsJob() {
      given(workloadOf(job()).admitted("spot").deleting());
      Stop stop = only(Stop.class, decide(job().running(3)));
      assertThat(stop.reason()).isEqualTo(StopReason.WORKLOAD_DELETED);
      assertThat(stop.original()).isPresent();
    }

    @Test
    void aDeletedWorkloadIsGuardedWhilePodsRun() {
      given(workloadOf(job()).admitted("spot").deleting());
      assertThat(decide(job().status("active", "3"))).isEmpty();
    }

    @Test
    void aDeletedWorkloadIsLetGoWhenItsJobHasStopped() {
      given(workloadOf(job()).admitted("spot").deleting());
      only(RemoveFinalizer.class, decide(job()));
    }

    @Test
    void aDeletedWorkloadOfAnEndedJobIsLetGo() {
      given(workloadOf(job()).admitted("spot").deleting());
      only(RemoveFinalizer.class, decide(job().ended("Complete", "")));
    }

    @Test
    void nothingIsMadeWhileTheOldOneLeaves() {
      given(workloadOf(job()).deleting().finalizers("example.com/other"));
      assertThat(decide(job())).isEmpty();
    }
  }

  @Nested
  class Prebuilt {

    private final GivenJob job = job().annotation(KueueConstants.PREBUILT_WORKLOAD_NAME, "made");

    @Test
    void itIsWaitedFor() {
      assertThat(decide(job)).allMatch(Requeue.class::isInstance);
    }

    @Test
    void itIsAdopted() {
      prebuilt = Optional.of(workloadOf(job).named("made").unowned().get());
      PatchWorkload patch = only(PatchWorkload.class, decide(job));
      assertThat(
              patch.patch().path("metadata").path("ownerReferences").path(0).path("uid").asText())
          .isEqualTo(GivenJob.UID);
    }

    @Test
    void itKeepsTheOwnersThatDoNotHoldIt() {
      prebuilt =
          Optional.of(
              workloadOf(job)
                  .named("made")
                  .unowned()
                  .ownedBy("example.com/v1", "Plan", "plan")
                  .get());
      assertThat(only(PatchWorkload.class, decide(job)).patch().at("/metadata/ownerReferences"))
          .extracting(owner -> owner.path("kind").asText())
          .containsExactly("Plan", "Job");
    }

    @Test
    void thatOfAnotherIsNotTaken() {
      for (GivenWorkload of :
          List.of(
              workloadOf(job).ofJob("other"),
              workloadOf(job).unowned().ownedBy("v1", "Pod", "other"),
              workloadOf(job).unowned().ownedBy("apps/v1", "StatefulSet", "other"))) {
        prebuilt = Optional.of(of.named("made").admitted("spot").get());
        List<JobAction> actions = decide(job);
        assertThat(actions).hasSize(2);
        assertThat(actions.getFirst())
            .isInstanceOfSatisfying(
                Warn.class,
                warn ->
                    assertThat(warn.note()).startsWith("Prebuilt Workload ").endsWith(" other"));
        assertThat(actions.getLast()).isInstanceOf(Requeue.class);
      }
      only(
          Stop.class,
          decide(job().annotation(KueueConstants.PREBUILT_WORKLOAD_NAME, "made").running(1)));
    }

    /** Whoever names another one later doesn't keep the quota that the job has from before. */
    @Test
    void theOneThatTheJobHadBeforeIsEvictedLikeOthers() {
      given(workloadOf(job()).admitted("spot").evicted("Preempted", ""));
      assertThat(
              only(
                      Stop.class,
                      decide(
                          job()
                              .annotation(KueueConstants.PREBUILT_WORKLOAD_NAME, "made")
                              .running(3)))
                  .reason())
          .isEqualTo(StopReason.WORKLOAD_EVICTED);
      only(PatchStatus.class, decide(job));
    }

    @Test
    void theOneThatAStoppedJobHadBeforeIsDeleted() {
      given(workloadOf(job()).admitted("spot"));
      assertThat(only(DeleteWorkload.class, decide(job)).why()).contains("names another Workload");
      prebuilt = Optional.of(workloadOf(job).named("made").unowned().get());
      only(PatchWorkload.class, decide(job));
      givenOnly(workloadOf(job()));
      givenPrebuilt(workloadOf(job).named("made"));
      assertThat(only(DeleteWorkload.class, decide(job)).workload().id().name())
          .as("the older one matches, too, and is not the one that is named")
          .isNotEqualTo("made");
    }

    @Test
    void whenOutOfStepItEndsAndNotTheOneBefore() {
      given(workloadOf(job()));
      givenPrebuilt(workloadOf(job).named("made"));
      assertThat(
              only(FinishWorkload.class, decide(job.spec("parallelism", "1")))
                  .workload()
                  .id()
                  .name())
          .isEqualTo("made");
    }

    @Test
    void onceAdoptedItIsLikeAnyOther() {
      given(workloadOf(job).named("made").admitted("spot"));
      prebuilt = Optional.of(workloads.getFirst());
      only(Start.class, decide(job));
    }

    /** Its own Workload, which was made without limit in a queue that doesn't exist. */
    @Test
    void broughtIntoAQueueItGetsItsLimit() {
      rules = JobRulesOf.anHourIn("short");
      givenPrebuilt(workloadOf(job).named("made"));
      ObjectNode patch = only(PatchWorkload.class, decide(job.queue("short"))).patch();
      assertThat(patch.at("/spec/queueName").asText()).isEqualTo("short");
      assertThat(patch.at("/spec/maximumExecutionTimeSeconds").asInt()).isEqualTo(3_600);
      assertThat(patch.at("/metadata/annotations/sluice.dev~1max-run-time").asText())
          .isEqualTo("3600s");
    }

    /** Whoever may make Workloads gets no more time by them than by jobs. */
    @Test
    void inItsOwnQueueItGetsTheLimitAsLongAsItWaits() {
      rules = JobRulesOf.anHourIn("short");
      GivenJob queued = job.queue("short");
      givenPrebuilt(workloadOf(queued).named("made").queue("short"));
      assertThat(only(PatchWorkload.class, decide(queued)).patch())
          .isEqualTo(
              GivenObject.yaml(
                  """
                  {spec: {maximumExecutionTimeSeconds: 3600},
                   metadata: {annotations: {sluice.dev/max-run-time: 3600s}}}
                  """));
      givenOnly(workloadOf(queued).named("made").queue("short").admitted("spot"));
      only(Start.class, decide(queued));
      workloads.clear();
      prebuilt = Optional.of(workloadOf(queued).named("made").queue("short").unowned().get());
      assertThat(
              only(PatchWorkload.class, decide(queued))
                  .patch()
                  .at("/spec/maximumExecutionTimeSeconds")
                  .asInt())
          .as("together with its owner, lest it is admitted before")
          .isEqualTo(3_600);
    }

    @Test
    void oneThatIsAdmittedForLongerThanTheQueueAllowsIsNotTaken() {
      rules = JobRulesOf.anHourIn("short");
      GivenJob queued = job.queue("short");
      GivenWorkload admitted =
          workloadOf(queued).named("made").queue("short").unowned().admitted("spot");
      prebuilt = Optional.of(admitted.get());
      assertThat(decide(queued).getFirst())
          .isInstanceOfSatisfying(
              Warn.class,
              warn -> assertThat(warn.note()).contains("longer than the 3600 s that its queue"));
      only(
          Stop.class,
          decide(
              job()
                  .annotation(KueueConstants.PREBUILT_WORKLOAD_NAME, "made")
                  .queue("short")
                  .running(1)));
      prebuilt = Optional.of(admitted.label(KueueConstants.MULTIKUEUE_ORIGIN, "manager").get());
      only(PatchWorkload.class, decide(queued));
      prebuilt =
          Optional.of(workloadOf(job).named("made").queue("long").unowned().admitted("spot").get());
      only(PatchWorkload.class, decide(queued));
    }

    /** docs/run-times.md#queues: the manager's maximum counts. */
    @Test
    void oneThatAManagerSentKeepsItsLimitInEachQueue() {
      rules = JobRulesOf.anHourIn("short");
      givenPrebuilt(
          workloadOf(job).named("made").label(KueueConstants.MULTIKUEUE_ORIGIN, "manager"));
      assertThat(only(PatchWorkload.class, decide(job.queue("short"))).patch())
          .isEqualTo(GivenObject.yaml("{spec: {queueName: short}}"));
    }

    private void givenPrebuilt(GivenWorkload workload) {
      given(workload);
      prebuilt = Optional.of(workloads.getLast());
    }

    @Test
    void whenOutOfStepItEnds() {
      given(workloadOf(job).named("made"));
      prebuilt = Optional.of(workloads.getFirst());
      assertThat(only(FinishWorkload.class, decide(job.spec("parallelism", "1"))).reason())
          .isEqualTo("OutOfSync");
    }

    @Test
    void withoutItARunningJobIsStopped() {
      only(Stop.class, decide(job.running(1)));
    }
  }

  private void givenOnly(GivenWorkload workload) {
    workloads.clear();
    given(workload);
  }

  private void given(GivenWorkload workload) {
    workloads.add(workload.get());
  }

  private List<JobAction> decide(GivenJob job) {
    return new JobPolicy(
            new BatchJob(),
            rules,
            RemoteExecutionCheck.whereMarked(() -> true, sent -> false),
            new PrebuiltWorkloads(
                new BelievedOwners(BuiltInIntegrations.descriptions())::sharesWorkload))
        .decide(
            new ReconcileContext(
                job.view(),
                managementStatus,
                workloads,
                prebuilt,
                cluster,
                cluster,
                GivenCluster.NOW));
  }

  private static <A extends JobAction> A only(Class<A> kind, List<JobAction> actions) {
    assertThat(actions).singleElement().isInstanceOf(kind);
    return kind.cast(actions.getFirst());
  }

  private static String condition(ObjectNode status, String type) {
    for (var condition : status.path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText()
            + " "
            + condition.path("reason").asText()
            + " "
            + condition.path("message").asText();
      }
    }
    return "absent";
  }
}

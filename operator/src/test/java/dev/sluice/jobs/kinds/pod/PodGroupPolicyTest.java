package dev.sluice.jobs.kinds.pod;

import static dev.sluice.jobs.kinds.pod.GivenGroupWorkload.workload;
import static dev.sluice.jobs.kinds.pod.GivenPod.member;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.FeatureGates;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.kinds.pod.PodGroupPolicy.PodGroupAction;
import dev.sluice.jobs.kinds.pod.PodGroupPolicy.PodGroupContext;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.AddOwners;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.DeleteJob;
import dev.sluice.jobs.policy.JobAction.FinishWorkload;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizer;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizers;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobOptions.ClusterState;
import dev.sluice.jobs.policy.JobOptions.CopiedKeys;
import dev.sluice.jobs.policy.JobOptions.Readiness;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.workload.feed.AdmittedRequests;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a group of pods needs, by how its pods and its Workload stand. */
class PodGroupPolicyTest {

  private ManagementStatus managementStatus = new ManagementStatus.Own();
  private boolean elsewhere;
  private Set<String> unwritable = Set.of();
  private JobOptions rules = rules(false);
  private final GivenCluster cluster = GivenCluster.cluster();

  private static JobOptions rules(boolean podsReady) {
    return new JobOptions(
        FeatureGates.DEFAULT,
        false,
        namespace -> true,
        new CopiedKeys(List.of("team"), List.of()),
        new Readiness(podsReady, Duration.ZERO),
        Optional.of(Duration.ofMinutes(10)),
        AdmittedRequests.PLAIN,
        ClusterState.NONE);
  }

  @Nested
  class WithoutWorkload {

    @Test
    void waitsUntilAllPodsAreThere() {
      assertThat(decide(member("a", 3), member("b", 3))).isEmpty();
    }

    @Test
    void getsOneOfItsNameWithAPodSetPerRoleWhenItIsComplete() {
      JsonNode made =
          create(member("a", 3).role("worker"), member("b", 3).role("boss"), member("c", 3));
      assertThat(made.at("/metadata/name").asText()).isEqualTo("sample");
      assertThat(made.at("/metadata/annotations/kueue.x-k8s.io~1is-group-workload").asText())
          .isEqualTo("true");
      assertThat(made.at("/metadata/labels").has(KueueConstants.JOB_UID)).isFalse();
      assertThat(made.at("/spec/queueName").asText()).isEqualTo("training");
      assertThat(each(made.at("/spec/podSets"), "name")).containsExactly("boss", "worker");
      assertThat(each(made.at("/spec/podSets"), "count")).containsExactly("1", "2");
      assertThat(made.at("/spec/podSets/0/template/spec/containers/0/image").asText())
          .isEqualTo("registry.example/work:1");
      assertThat(made.at("/metadata/ownerReferences").toString())
          .isEqualTo(
              "[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"a\",\"uid\":\"uid-of-a\"},"
                  + "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"b\",\"uid\":\"uid-of-b\"},"
                  + "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"c\",\"uid\":\"uid-of-c\"}]");
    }

    /** docs/pods.md#groups: gate PodGroupSchedulingShapeOrdering (changes of 0.20, section 4). */
    @Test
    void hasItsPodSetsInTheOrderOfTheirShapesWhateverTheyAreCalled() {
      String small = "[{name: c, resources: {requests: {cpu: 1}}}]";
      String large = "[{name: c, resources: {requests: {cpu: 8}}}]";
      GivenPod[] one = {
        member("a", 2).role("x").spec("containers", small),
        member("b", 2).role("y").spec("containers", large)
      };
      GivenPod[] other = {
        member("a", 2).role("y").spec("containers", small),
        member("b", 2).role("x").spec("containers", large)
      };
      assertThat(each(create(one).at("/spec/podSets"), "name")).containsExactly("x", "y");
      assertThat(each(create(other).at("/spec/podSets"), "name")).containsExactly("y", "x");

      rules = rules.with(FeatureGate.POD_GROUP_SCHEDULING_SHAPE_ORDERING, false);
      assertThat(each(create(other).at("/spec/podSets"), "name")).containsExactly("x", "y");
    }

    @Test
    void getsOneWithItsFirstPodWhenThatIsFast() {
      JsonNode made =
          create(member("a", 3).annotation(KueueConstants.POD_GROUP_FAST_ADMISSION, "true"));
      assertThat(each(made.at("/spec/podSets"), "name")).containsExactly("worker");
      assertThat(made.at("/spec/podSets/0/count").asInt()).isEqualTo(3);
    }

    @Test
    void hasThePodsOfOneTooManyDeletedTheYoungestFirst() {
      List<PodGroupAction> steps = decide(member("a", 1).later(1), member("b", 1));
      assertThat(told(steps)).containsExactly("RemoveFinalizers a", "DeleteJob a");
      assertThat(((DeleteJob) steps.get(1).action()).reason()).isEqualTo("ExcessPodDeleted");
      assertThat(((RemoveFinalizers) steps.get(0).action()).patch().body().toString())
          .isEqualTo("{\"metadata\":{\"finalizers\":[\"other.example/finalizer\"]}}");
    }

    @Test
    void keepsThoseWithFinalizerBeforeThoseWithout() {
      assertThat(told(decide(member("a", 1).withoutFinalizer(), member("b", 1).later(1))))
          .containsExactly("DeleteJob a");
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "kueue.x-k8s.io/pod-group-total-count | 3 | kueue.x-k8s.io/pod-group-total-count: \"2\""
              + " in a, \"3\" in b",
          "kueue.x-k8s.io/queue-name | other | kueue.x-k8s.io/queue-name: \"training\" in a,"
              + " \"other\" in b",
          "team | blue | team: \"red\" in a, \"blue\" in b",
        })
    void mustAgree(String key, String other, String message) {
      GivenPod differing =
          key.endsWith("count")
              ? member("b", 2).annotation(key, other)
              : member("b", 2).label(key, other);
      Warn warn = only(Warn.class, decide(member("a", 2).label("team", "red"), differing));
      assertThat(warn.reason()).isEqualTo("ErrWorkloadCompose");
      assertThat(warn.note()).isEqualTo("pods of group \"sample\" must have the same " + message);
    }

    @Test
    void mayHaveACopiedLabelOnSomePodsOnly() {
      JsonNode made = create(member("a", 2), member("b", 2).label("team", "blue").later(1));
      assertThat(made.at("/metadata/labels/team").asText()).isEqualTo("blue");
    }

    @Test
    void mustNumberItsPodsFromZero() {
      Warn warn =
          only(Warn.class, decide(member("a", 1).label(KueueConstants.POD_GROUP_POD_INDEX, "1")));
      assertThat(warn.note())
          .isEqualTo(
              "label kueue.x-k8s.io/pod-group-pod-index of pod a is \"1\", which must be a number"
                  + " from 0 to 0");
      only(
          CreateWorkload.class,
          decide(member("a", 1).label(KueueConstants.POD_GROUP_POD_INDEX, "0")));
    }

    @Test
    void mustSayHowManyThereAre() {
      Warn warn =
          only(Warn.class, decide(member("a", 1).without(KueueConstants.POD_GROUP_TOTAL_COUNT)));
      assertThat(warn.note()).contains("kueue.x-k8s.io/pod-group-total-count is missing");
    }

    @Test
    void isNotMadeOneWhenItNamesOneThatSomebodyElseMakes() {
      assertThat(decide(member("a", 1).annotation(KueueConstants.PREBUILT_WORKLOAD_NAME, "sample")))
          .isEmpty();
    }

    @Test
    void isStoppedWhereItRunsAndReleasedWhereItEnded() {
      List<PodGroupAction> steps =
          decide(member("a", 3).running(), member("b", 3).ended("Failed", 1), member("c", 3));
      assertThat(told(steps)).containsExactly("RemoveFinalizers b", "Stop a");
      assertThat(((Stop) steps.get(1).action()).reason())
          .isEqualTo(StopReason.NO_MATCHING_WORKLOAD);
    }

    /** Nobody makes a pod again that has succeeded: the group would wait for it for ever. */
    @Test
    void countsPodsThatHaveSucceeded() {
      GivenPod through = member("b", 3).role("boss").ended("Succeeded", 1);
      assertThat(told(decide(member("a", 3).running(), through, member("c", 3))))
          .containsExactly("Stop a");
      assertThat(decide(through, member("c", 3))).isEmpty();

      JsonNode made = create(member("a", 3), through, member("c", 3));
      assertThat(each(made.at("/spec/podSets"), "name")).containsExactly("worker", "boss");
      assertThat(each(made.at("/spec/podSets"), "count")).containsExactly("2", "1");
      assertThat(told(decide(member("a", 3), through, member("c", 3), member("d", 3).later(1))))
          .containsExactly("RemoveFinalizers d", "DeleteJob d");
    }

    @Test
    void releasesPodsThatHaveSucceededWhenNoneIsLeft() {
      assertThat(
              told(decide(member("a", 3).ended("Failed", 2), member("b", 3).ended("Succeeded", 1))))
          .containsExactly("RemoveFinalizers a", "RemoveFinalizers b");
    }

    @Test
    void ofMoreThan18RolesIsRefused() {
      GivenPod[] pods = new GivenPod[19];
      Arrays.setAll(pods, i -> member("p" + i, 19).role("role-" + i));
      assertThat(only(Warn.class, decide(pods)).note())
          .isEqualTo("the pods are of 19 roles, at most 18 are allowed");
    }

    @Test
    void needsNothingWhenItIsNotOurs() {
      managementStatus = new ManagementStatus.Unmanaged();
      assertThat(told(decide(member("a", 1), member("b", 1).deletedBy("11:00"))))
          .containsExactly("RemoveFinalizers b");
    }
  }

  @Nested
  class WithAnother {

    @Test
    void isWarnedAndWaits() {
      Warn warn = only(Warn.class, given(workload("main", 1).ofSomethingElse(), member("a", 1)));
      assertThat(warn.reason()).isEqualTo("WorkloadNameConflict");
    }

    /** docs/pods.md#groups: gate PodIntegrationValidateGroupOwner. */
    @Test
    void takesItWithoutTheGateUnlessSomethingControlsIt() {
      rules = rules.with(FeatureGate.POD_INTEGRATION_VALIDATE_GROUP_OWNER, false);
      only(AddOwners.class, given(workload("worker", 1).ofSomethingElse(), member("a", 1)));
      only(
          Warn.class,
          given(workload("worker", 1).ofSomethingElse().controlledBy("Job"), member("a", 1)));
    }

    @Test
    void takesOneThatIsPrebuilt() {
      GivenPod pod = member("a", 1).label(KueueConstants.PREBUILT_WORKLOAD_NAME, "sample");
      only(AddOwners.class, given(workload("worker", 1).ofSomethingElse(), pod));
      assertThat(
              only(
                      Warn.class,
                      given(workload("worker", 1).ofSomethingElse().controlledBy("Job"), pod))
                  .reason())
          .isEqualTo("WorkloadNameConflict");
    }
  }

  @Nested
  class WhileItWaits {

    @Test
    void nothingIsDone() {
      GivenPod[] pods = {member("a", 2), member("b", 2)};
      assertThat(given(workload("worker", 2).ownedBy(pods), pods)).isEmpty();
    }

    @Test
    void newPodsAreNotedAsOwners() {
      GivenPod known = member("a", 2);
      AddOwners add =
          only(AddOwners.class, given(workload("worker", 2).ownedBy(known), known, member("b", 2)));
      assertThat(add.patch().at("/metadata/ownerReferences").findValuesAsText("name"))
          .containsExactly("a", "b");
    }

    @Test
    void otherRolesAreTakenOver() {
      GivenPod[] pods = {member("a", 2), member("b", 2).role("boss")};
      PatchWorkload patch =
          only(PatchWorkload.class, given(workload("worker", 2).ownedBy(pods), pods));
      assertThat(each(patch.patch().at("/spec/podSets"), "name")).containsExactly("boss", "worker");
    }

    @Test
    void rolesWithPodsThatHaveSucceededAreThoseOfTheWorkload() {
      GivenPod[] pods = {member("a", 2), member("b", 2).role("boss").ended("Succeeded", 1)};
      assertThat(told(given(workload("boss", 1).and("worker", 1).ownedBy(pods), pods)))
          .doesNotContain("PatchWorkload a");
    }

    @Test
    void anotherQueueIsTakenOver() {
      GivenPod pod = member("a", 1).label(KueueConstants.QUEUE_NAME, "other");
      PatchWorkload patch =
          only(PatchWorkload.class, given(workload("worker", 1).ownedBy(pod), pod));
      assertThat(patch.patch().toString()).isEqualTo("{\"spec\":{\"queueName\":\"other\"}}");
    }

    @Test
    void theQueueOfOneThatServesIsLeftToItsParent() {
      GivenPod pod =
          member("a", 1)
              .label(KueueConstants.QUEUE_NAME, "other")
              .annotation(KueueConstants.POD_GROUP_SERVING, "true");
      assertThat(given(workload("worker", 1).ownedBy(pod), pod)).isEmpty();
    }

    @Test
    void aDeletedPodIsReleasedAndMissed() {
      GivenPod[] pods = {member("a", 2), member("b", 2).deletedBy("11:00")};
      assertThat(told(given(workload("worker", 2).ownedBy(pods), pods)))
          .containsExactly("RemoveFinalizers b");
      PatchStatus status =
          only(
              PatchStatus.class,
              given(workload("worker", 2).ownedBy(pods), pods[0], pods[1].withoutFinalizer()));
      assertThat(condition(status, "WaitingForReplacementPods")).isEqualTo("True PodsFailed");
    }

    @Test
    void podsThatSlippedInAreStopped() {
      GivenPod pod = member("a", 1).running();
      Stop stop = only(Stop.class, given(workload("worker", 1).ownedBy(pod), pod));
      assertThat(stop.reason()).isEqualTo(StopReason.NOT_ADMITTED);
    }
  }

  @Nested
  class Admitted {

    @Test
    void everyPodStartsWithWhatItsRoleWasGiven() {
      GivenPod[] pods = {member("a", 2), member("b", 2).role("boss")};
      List<PodGroupAction> steps =
          given(workload("boss", 1).and("worker", 1).ownedBy(pods).admitted("spot"), pods);
      assertThat(told(steps)).containsExactly("Start a", "Start b");
      JsonNode patch = ((Start) steps.get(1).action()).patches().getFirst().body();
      assertThat(patch.at("/metadata/labels/kueue.x-k8s.io~1podset").asText()).isEqualTo("boss");
      assertThat(patch.at("/spec/nodeSelector/instance-type").asText()).isEqualTo("spot");
      assertThat(patch.at("/spec/schedulingGates").isNull()).isTrue();
    }

    /** Gate AssignQueueLabelsForPods. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void podsHaveTheNamesOfTheirQueuesIfTheGateSaysSo(boolean on) {
      rules = rules.with(FeatureGate.ASSIGN_QUEUE_LABELS_FOR_PODS, on);
      GivenPod pod = member("a", 1);
      List<PodGroupAction> steps = given(workload("worker", 1).ownedBy(pod).admitted("spot"), pod);
      assertThat(told(steps)).containsExactly("Start a");
      JsonNode labels =
          ((Start) steps.getFirst().action()).patches().getFirst().body().at("/metadata/labels");
      assertThat(labels.path(KueueConstants.PODSET).asText()).isEqualTo("worker");
      assertThat(labels.has(KueueConstants.LOCAL_QUEUE_NAME)).isEqualTo(on);
      assertThat(labels.has(KueueConstants.CLUSTER_QUEUE_NAME)).isEqualTo(on);
    }

    /** The pods of a StatefulSet, too: each when its gate is opened. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyPodStartsWithWhatTheChecksOfItsRoleAdd(boolean ofSet) {
      GivenPod[] pods = {member("a", 2), member("b", 2).role("boss")};
      for (GivenPod pod : pods) {
        if (ofSet) {
          pod.annotation(KueueConstants.POD_SUSPENDING_PARENT, "statefulset")
              .annotation(KueueConstants.POD_GROUP_SERVING, "true");
        }
      }
      List<PodGroupAction> steps =
          given(
              workload("boss", 1)
                  .and("worker", 1)
                  .ownedBy(pods)
                  .admitted("spot")
                  .check("prov", "Ready", "worker", "of-prov")
                  .check("later", "Pending", "boss", "of-later"),
              pods);
      assertThat(told(steps)).containsExactly("Start a", "Start b");
      JsonNode worker = ((Start) steps.get(0).action()).patches().getFirst().body();
      assertThat(worker.at("/metadata/annotations/check").asText()).isEqualTo("of-prov");
      assertThat(worker.at("/spec/nodeSelector/zone").asText()).isEqualTo("of-prov");
      JsonNode boss = ((Start) steps.get(1).action()).patches().getFirst().body();
      assertThat(boss.at("/metadata/annotations/check").isMissingNode()).isTrue();
      assertThat(boss.at("/spec/nodeSelector/zone").isMissingNode()).isTrue();
    }

    @Test
    void onlyThoseStartThatWait() {
      GivenPod[] pods = {member("a", 3).running(), member("b", 3).deletedBy("13:00").started()};
      GivenPod late = member("c", 3);
      assertThat(
              told(
                  given(
                      workload("worker", 3).ownedBy(pods).ownedBy(late).admitted("spot"),
                      pods[0],
                      pods[1],
                      late)))
          .containsExactly("Start c");
    }

    @Test
    void noMoreStartThanQuotaWasGivenFor() {
      GivenPod leaving = member("a", 2).deletedBy("13:00").running();
      GivenPod next = member("b", 2);
      GivenPod last = member("c", 2);
      for (GivenPod pod : List.of(leaving, next, last)) {
        pod.annotation(KueueConstants.POD_SUSPENDING_PARENT, "statefulset")
            .annotation(KueueConstants.POD_GROUP_SERVING, "true");
      }
      GivenGroupWorkload workload = workload("worker", 2).admitted("spot");
      assertThat(told(given(workload, leaving, next, last))).containsExactly("Start b");
      assertThat(told(given(workload, leaving.deletedBy("11:00"), next, last)))
          .containsExactly("Start b", "Start c");
      assertThat(told(given(workload, next.running(), last))).containsExactly("Start c");
    }

    @Test
    void aPodThatRequestsMoreThanItsRoleWasCountedWithStaysGated() {
      GivenPod large =
          member("a", 2).spec("containers", "[{name: main, resources: {requests: {cpu: \"2\"}}}]");
      GivenPod other =
          member("b", 2)
              .spec("containers", "[{name: main, resources: {requests: {example.com/gpu: 1}}}]");
      GivenPod counted = member("c", 2);
      List<PodGroupAction> steps =
          given(
              workload("worker", 3).ownedBy(large, other, counted).admitted("spot"),
              large,
              other,
              counted);
      assertThat(told(steps)).containsExactly("Warn a", "Warn b", "Start c");
      assertThat(((Warn) steps.getFirst().action()).reason()).isEqualTo("PodExceedsAdmission");
      assertThat(((Warn) steps.getFirst().action()).note()).endsWith("cpu: 2000 of 1000");
      assertThat(((Warn) steps.get(1).action()).note()).endsWith("example.com/gpu: 1 of 0");
    }

    @Test
    void nobodyStartsWhoRunsInAnotherCluster() {
      elsewhere = true;
      GivenPod pod = member("a", 1).phase("Running");
      assertThat(given(workload("worker", 1).ownedBy(pod).admitted("spot"), pod)).isEmpty();
    }

    @Test
    void aContradictionIsTheEnd() {
      GivenPod pod = member("a", 1).spec("nodeSelector", "{instance-type: large}");
      FinishWorkload finish =
          only(
              FinishWorkload.class,
              given(workload("worker", 1).ownedBy(pod).admitted("spot"), pod));
      assertThat(finish.reason()).isEqualTo("FailedToStart");
    }

    @Test
    void aPodTooManyOfItsRoleGoesThoughAnotherRoleIsMissing() {
      GivenPod[] pods = {member("a", 2).running(), member("b", 2).later(1)};
      assertThat(
              told(
                  given(workload("boss", 1).and("worker", 1).ownedBy(pods).admitted("spot"), pods)))
          .containsExactly("RemoveFinalizers b", "DeleteJob b");
    }

    @Test
    void whoRunsStaysBeforeWhoWaits() {
      GivenPod[] pods = {member("a", 1), member("b", 1).running().later(9)};
      assertThat(told(given(workload("worker", 1).ownedBy(pods).admitted("spot"), pods)))
          .containsExactly("RemoveFinalizers a", "DeleteJob a");
    }

    @Test
    void aParentSeesToTheNumberOfItsPodsItself() {
      GivenPod[] pods = {
        member("a", 1).running().annotation(KueueConstants.POD_SUSPENDING_PARENT, "statefulset"),
        member("b", 1).running().annotation(KueueConstants.POD_SUSPENDING_PARENT, "statefulset")
      };
      assertThat(given(workload("worker", 1).admitted("spot"), pods)).isEmpty();
    }

    @Test
    void aFailedPodIsKeptUntilItIsReplaced() {
      GivenPod failed = member("a", 2).ended("Failed", 1);
      GivenPod good = member("b", 2).running();
      GivenPod other = member("c", 2).running();
      PatchStatus status =
          only(
              PatchStatus.class,
              given(workload("worker", 2).ownedBy(failed, good).admitted("spot"), failed, good));
      assertThat(condition(status, "WaitingForReplacementPods")).isEqualTo("True PodsFailed");

      GivenGroupWorkload waiting =
          workload("worker", 2)
              .ownedBy(failed, good, other)
              .admitted("spot")
              .condition("WaitingForReplacementPods", "True", "PodsFailed", "");
      assertThat(told(given(waiting, failed, good, other))).containsExactly("RemoveFinalizers a");
      status = only(PatchStatus.class, given(waiting, failed.withoutFinalizer(), good, other));
      assertThat(condition(status, "WaitingForReplacementPods")).isEqualTo("False PodsReady");
    }

    @Test
    void ofFailedPodsTheMostRecentlyActiveAreKept() {
      GivenPod[] pods = {
        member("a", 2).ended("Failed", 5),
        member("b", 2).ended("Failed", 9),
        member("c", 2).running()
      };
      assertThat(told(given(workload("worker", 2).ownedBy(pods).admitted("spot"), pods)))
          .containsExactly("RemoveFinalizers a");
    }

    @Test
    void whatSucceededNeedsNoQuota() {
      GivenPod[] pods = {member("a", 2).ended("Succeeded", 1), member("b", 2).running()};
      PatchStatus status =
          only(
              PatchStatus.class, given(workload("worker", 2).ownedBy(pods).admitted("spot"), pods));
      assertThat(status.status().toString())
          .isEqualTo("{\"reclaimablePods\":[{\"name\":\"worker\",\"count\":1}]}");
      assertThat(
              given(
                  workload("worker", 2).ownedBy(pods).admitted("spot").reclaimable("worker", 1),
                  pods))
          .isEmpty();
    }

    @Test
    void whatWasReclaimedStaysReclaimedWhenMorePodsSucceed() {
      GivenPod[] pods = {
        member("a", 3).role("leader").ended("Succeeded", 1),
        member("b", 3).running(),
        member("c", 3).running()
      };
      PatchStatus status =
          only(
              PatchStatus.class,
              given(
                  workload("leader", 1)
                      .and("worker", 2)
                      .ownedBy(pods)
                      .admitted("spot")
                      .reclaimable("worker", 1),
                  pods));
      assertThat(status.status().toString())
          .isEqualTo(
              "{\"reclaimablePods\":[{\"name\":\"leader\",\"count\":1},"
                  + "{\"name\":\"worker\",\"count\":1}]}");
    }

    @Test
    void isReadyWhenAllPodsAreReadyOrThrough() {
      rules = rules(true);
      GivenPod[] pods = {member("a", 2).ended("Succeeded", 1), member("b", 2).running()};
      PatchStatus status =
          only(
              PatchStatus.class,
              given(
                  workload("worker", 2).ownedBy(pods).admitted("spot").reclaimable("worker", 1),
                  pods));
      assertThat(condition(status, "PodsReady")).isEqualTo("True Started");
    }

    /**
     * docs/pods.md#groups: gate PodIntegrationCountSucceededPodsAsReady (changes of 0.20, section
     * 4).
     */
    @Test
    void doesNotCountSucceededPodsAsReadyWithoutTheGate() {
      rules = rules(true).with(FeatureGate.POD_INTEGRATION_COUNT_SUCCEEDED_PODS_AS_READY, false);
      GivenPod[] pods = {member("a", 2).ended("Succeeded", 1), member("b", 2).running()};
      PatchStatus status =
          only(
              PatchStatus.class,
              given(
                  workload("worker", 2)
                      .ownedBy(pods)
                      .admitted("spot")
                      .reclaimable("worker", 1)
                      .condition("PodsReady", "True", "Started", ""),
                  pods));
      assertThat(condition(status, "PodsReady")).isEqualTo("False WaitForRecovery");
    }

    /** docs/pods.md#groups: gate WaitForPodsReadyMaxNotReady (changes of 0.20, section 4). */
    @Test
    void isReadyWithoutThePodsThatNeedNotBeReady() {
      GivenPod[] pods = {
        member("a", 3).running().annotation(KueueConstants.POD_GROUP_MAX_NOT_READY_COUNT, "1"),
        member("b", 3).running(),
        member("c", 3).started().phase("Running")
      };
      GivenGroupWorkload workload =
          workload("worker", 3)
              .ownedBy(pods)
              .admitted("spot")
              .condition(
                  "PodsReady",
                  "False",
                  "WaitForStart",
                  "Not all pods have been ready or succeeded yet");
      rules = rules(true);
      assertThat(given(workload, pods)).isEmpty();
      rules = rules.with(FeatureGate.WAIT_FOR_PODS_READY_MAX_NOT_READY, true);
      assertThat(condition(only(PatchStatus.class, given(workload, pods)), "PodsReady"))
          .isEqualTo("True Started");
      pods[1] = member("b", 3).started();
      assertThat(given(workload, pods)).as("two aren't ready").isEmpty();
    }

    /**
     * docs/scheduling-semantics.md#waiting-for-pods (semantics, section 11): a pod whose image
     * can't be pulled has a node and isn't ready, so that its group is sent back by {@code
     * timeout}, or by {@code recoveryTimeout} if it was ready.
     */
    @Test
    void isNotReadyWhileAnImageIsNotPulled() {
      rules = rules(true);
      GivenPod waits = member("a", 2).started().phase("Pending");
      waits
          .object()
          .withObject("/status")
          .putArray("containerStatuses")
          .addObject()
          .put("name", "c")
          .withObject("/state/waiting")
          .put("reason", "ImagePullBackOff");
      GivenPod[] pods = {waits, member("b", 2).running()};
      GivenGroupWorkload starting =
          workload("worker", 2)
              .ownedBy(pods)
              .admitted("spot")
              .condition(
                  "PodsReady",
                  "False",
                  "WaitForStart",
                  "Not all pods have been ready or succeeded yet");
      GivenGroupWorkload ran =
          workload("worker", 2)
              .ownedBy(pods)
              .admitted("spot")
              .condition("PodsReady", "True", "Started", "");

      assertThat(given(starting, pods)).isEmpty();
      assertThat(condition(only(PatchStatus.class, given(ran, pods)), "PodsReady"))
          .isEqualTo("False WaitForRecovery");
    }

    /** As for a job: a group that is not admitted has no pods that could be ready. */
    @Test
    void isNotReadyWhileItIsNotAdmitted() {
      rules = rules(true);
      GivenPod[] pods = {member("a", 2), member("b", 2)};
      GivenGroupWorkload before =
          workload("worker", 2).ownedBy(pods).condition("PodsReady", "True", "Started", "");
      assertThat(condition(only(PatchStatus.class, given(before, pods)), "PodsReady"))
          .isEqualTo("False WaitForStart");

      assertThat(
              condition(
                  only(PatchStatus.class, given(workload("worker", 2).ownedBy(pods), pods)),
                  "PodsReady"))
          .isEqualTo("False WaitForStart");
      rules = rules(false);
      assertThat(given(before, pods)).isEmpty();
      assertThat(given(workload("worker", 2).ownedBy(pods), pods)).isEmpty();
    }
  }

  @Nested
  class AtItsEnd {

    @ParameterizedTest
    @CsvSource({
      "Succeeded, Succeeded, true,  Pods succeeded: 2/2.",
      "Succeeded, Failed,    false, Pods succeeded: 1/2.",
      "Failed,    Failed,    false, Pods succeeded: 0/2.",
    })
    void itsWorkloadIsFinished(String one, String other, boolean retriable, String message) {
      GivenPod[] pods = {
        member("a", 2).ended(one, 1).annotation(KueueConstants.RETRIABLE_IN_GROUP, retriable + ""),
        member("b", 2).ended(other, 1)
      };
      FinishWorkload finish =
          only(
              FinishWorkload.class,
              given(workload("worker", 2).ownedBy(pods).admitted("spot"), pods));
      assertThat(finish.reason()).isEqualTo("Succeeded");
      assertThat(finish.message()).isEqualTo(message);
    }

    @Test
    void itGoesOnWhileAPodOfOneThatIsNotRetriableMayStillRun() {
      GivenPod[] pods = {
        member("a", 2).annotation(KueueConstants.RETRIABLE_IN_GROUP, "false"), member("b", 2)
      };
      assertThat(given(workload("worker", 2).ownedBy(pods), pods)).isEmpty();
    }

    @Test
    void oneThatServesHasNone() {
      GivenPod pod =
          member("a", 1).ended("Succeeded", 1).annotation(KueueConstants.POD_GROUP_SERVING, "true");
      assertThat(given(workload("worker", 1).ownedBy(pod).admitted("spot"), pod)).isEmpty();
    }

    @Test
    void workloadAndPodsAreReleased() {
      GivenPod[] pods = {member("a", 2).ended("Succeeded", 1), member("b", 2).running()};
      assertThat(
              told(
                  given(
                      workload("worker", 2)
                          .ownedBy(pods)
                          .condition("Finished", "True", "Succeeded", ""),
                      pods)))
          .containsExactly("RemoveFinalizer a", "RemoveFinalizers a", "RemoveFinalizers b");
    }
  }

  @Nested
  class SentBack {

    @Test
    void itsPodsAreStopped() {
      GivenPod[] pods = {member("a", 3).running(), member("b", 3).started(), member("c", 3)};
      List<PodGroupAction> steps =
          given(
              workload("worker", 3).ownedBy(pods).admitted("spot").evicted("Preempted", "for b"),
              pods);
      assertThat(told(steps)).containsExactly("Stop a", "Stop b");
      assertThat(((Stop) steps.getFirst().action()).word())
          .isEqualTo("WorkloadEvictedDueToPreempted");
      assertThat(((Stop) steps.getFirst().action()).note()).isEqualTo("for b");
    }

    @Test
    void itKeepsItsQuotaWhileAPodMayRun() {
      GivenPod[] pods = {member("a", 2).running().deletedBy("12:01"), member("b", 2)};
      List<PodGroupAction> steps =
          given(
              workload("worker", 2).ownedBy(pods).admitted("spot").evicted("Preempted", ""), pods);
      assertThat(only(Requeue.class, steps).after()).isGreaterThan(Duration.ofSeconds(60));
    }

    /**
     * Integrations, Pod, "Active": with FastQuotaReleaseInPodIntegration no pod is, once deleted.
     */
    @Test
    void itGivesItsQuotaBackWhileItsPodsTerminateWithTheGate() {
      rules = rules.with(FeatureGate.FAST_QUOTA_RELEASE_IN_POD_INTEGRATION, true);
      GivenPod[] pods = {member("a", 2).running().deletedBy("12:01"), member("b", 2)};
      GivenGroupWorkload workload =
          workload("worker", 2)
              .ownedBy(pods)
              .admitted("spot")
              .evicted("Preempted", "")
              .condition(
                  "WaitingForReplacementPods", "True", "Preempted", "; pods to be replaced: 1");
      PatchStatus status = only(PatchStatus.class, given(workload, pods));
      assertThat(condition(status, "QuotaReserved")).isEqualTo("False PendingEvaluation");
    }

    /** Those that terminate have given their quota back, and need none of what it has now. */
    @Test
    void admittedAgainItStartsWhileOldPodsTerminateWithTheGate() {
      GivenPod[] pods = twoThatTerminateAndTwoOthers();
      GivenGroupWorkload workload = workload("worker", 2).ownedBy(pods).admitted("spot");
      assertThat(told(given(workload, pods))).doesNotContain("Start c", "Start d");
      rules = rules.with(FeatureGate.FAST_QUOTA_RELEASE_IN_POD_INTEGRATION, true);
      assertThat(told(given(workload, pods))).contains("Start c", "Start d");
    }

    /** What makes the pods of a set makes others for them. */
    @Test
    void deletedByPeopleItEndsAtOnceWithTheGateUnlessASetMadeIt() {
      GivenPod[] pods = {
        member("a", 2).running().deletedBy("12:01"), member("b", 2).running().deletedBy("12:01")
      };
      GivenGroupWorkload workload = workload("worker", 2).ownedBy(pods).admitted("spot");
      assertThat(given(workload, pods))
          .extracting(PodGroupAction::action)
          .hasOnlyElementsOfType(RemoveFinalizers.class);
      rules = rules.with(FeatureGate.FAST_QUOTA_RELEASE_IN_POD_INTEGRATION, true);
      assertThat(only(FinishWorkload.class, given(workload, pods)).reason())
          .isEqualTo("OwnerNotFound");
      for (GivenPod pod : pods) {
        pod.annotation(KueueConstants.POD_SUSPENDING_PARENT, "statefulset");
      }
      assertThat(given(workload, pods))
          .extracting(PodGroupAction::action)
          .hasOnlyElementsOfType(RemoveFinalizers.class);
    }

    @Test
    void itWaitsForOtherPodsFirst() {
      GivenPod[] pods = {member("a", 2).ended("Failed", 1).deletedBy("11:59"), member("b", 2)};
      PatchStatus status =
          only(
              PatchStatus.class,
              given(
                  workload("worker", 2).ownedBy(pods).admitted("spot").evicted("Preempted", "m"),
                  pods));
      assertThat(condition(status, "WaitingForReplacementPods")).isEqualTo("True Preempted");
    }

    @ParameterizedTest
    @CsvSource({"Preempted, True Preempted", "PodsReadyTimeout, False PodsReadyTimeout"})
    void itsQuotaGoesWhenNoPodIsLeftOrAllAreOverdue(String reason, String requeued) {
      GivenPod[] pods = {member("a", 2).running().deletedBy("11:59"), member("b", 2)};
      GivenGroupWorkload workload =
          workload("worker", 2).ownedBy(pods).admitted("spot").evicted(reason, "");
      PatchStatus status = only(PatchStatus.class, given(workload, pods));
      assertThat(condition(status, "WaitingForReplacementPods")).isEqualTo("True " + reason);

      workload.condition("WaitingForReplacementPods", "True", reason, "; pods to be replaced: 1");
      status = only(PatchStatus.class, given(workload, pods));
      assertThat(condition(status, "Requeued")).isEqualTo(requeued);
      assertThat(condition(status, "QuotaReserved")).isEqualTo("False PendingEvaluation");
      assertThat(status.status().path("admission").isNull()).isTrue();
    }

    @Test
    void itsPodsKeepTheirFinalizersUntilTheyAreReplaced() {
      GivenPod[] gone = {
        member("a", 2).ungated().deletedBy("11:58"), member("b", 2).running().deletedBy("11:58")
      };
      GivenGroupWorkload workload =
          workload("worker", 2)
              .ownedBy(gone)
              .evicted("Preempted", "m")
              .condition("QuotaReserved", "False", "PendingEvaluation", "")
              .condition(
                  "WaitingForReplacementPods", "True", "Preempted", "m; pods to be replaced: 2");
      assertThat(given(workload, gone)).isEmpty();

      GivenPod one = member("c", 2).later(9);
      assertThat(given(workload, gone[0], gone[1], one))
          .as("a Workload without owners is deleted by the garbage collector")
          .extracting(PodGroupAction::action)
          .hasOnlyElementsOfType(AddOwners.class)
          .hasSize(1);
      workload.ownedBy(one);
      assertThat(told(given(workload, gone[0], gone[1], one)))
          .containsExactly("RemoveFinalizers a");
      GivenPod two = member("d", 2).later(9);
      workload.ownedBy(two);
      assertThat(told(given(workload, gone[0], gone[1], one, two)))
          .containsExactlyInAnyOrder("RemoveFinalizers a", "RemoveFinalizers b");
    }

    @Test
    void aGatedPodThatPeopleDeleteIsLetGo() {
      GivenPod[] pods = {member("a", 2).deletedBy("11:58"), member("b", 2)};
      assertThat(
              told(
                  given(
                      workload("worker", 2)
                          .ownedBy(pods)
                          .evicted("Preempted", "m")
                          .condition("QuotaReserved", "False", "PendingEvaluation", ""),
                      pods)))
          .containsExactly("RemoveFinalizers a");
    }

    @Test
    void replacementsMayComeWhilePodsTerminate() {
      GivenPod[] pods = twoThatTerminateAndTwoOthers();
      assertThat(
              told(
                  given(
                      workload("worker", 2).ownedBy(pods).admitted("spot").evicted("Preempted", ""),
                      pods)))
          .containsExactly("Requeue a");
    }

    @Test
    void deletedAsConfiguredItLetsItsPodsGo() {
      GivenPod[] pods = {member("a", 2).ungated().deletedBy("11:58"), member("b", 2)};
      List<PodGroupAction> steps =
          given(
              workload("worker", 2)
                  .ownedBy(pods)
                  .inactive()
                  .evicted("DeactivatedDueToAdmissionCheck", "")
                  .condition("QuotaReserved", "False", "Deactivated", "")
                  .condition(
                      "WaitingForReplacementPods",
                      "True",
                      "DeactivatedDueToAdmissionCheck",
                      "; pods to be replaced: 1"),
              pods);
      assertThat(told(steps)).containsExactly("RemoveFinalizers a", "DeleteJob b");
    }

    @Test
    void deactivatedByTheOperatorItIsDeletedAsConfigured() {
      GivenPod[] pods = {member("a", 2), member("b", 2)};
      List<PodGroupAction> steps =
          given(
              workload("worker", 2)
                  .ownedBy(pods)
                  .inactive()
                  .evicted("DeactivatedDueToAdmissionCheck", "")
                  .condition("QuotaReserved", "False", "Deactivated", ""),
              pods);
      assertThat(told(steps)).containsExactly("DeleteJob a", "DeleteJob b");
    }

    /** The rollout would wait for them for ever; with quota, they are stopped like the others. */
    @Test
    void podsThatARolloutReplacesRunWithoutQuota() {
      GivenPod old = member("a", 2).running().label("revision", "1");
      GivenPod other = member("b", 2).running();
      for (GivenPod pod : List.of(old, other)) {
        pod.annotation(KueueConstants.POD_SUSPENDING_PARENT, "statefulset")
            .annotation(KueueConstants.POD_GROUP_SERVING, "true");
      }
      replaced = pod -> pod.job().labels().containsKey("revision");
      assertThat(told(given(workload("worker", 2), old, other))).containsExactly("Stop b");
      assertThat(told(given(workload("worker", 2), old))).isEmpty();
      assertThat(
              told(
                  given(
                      workload("worker", 2)
                          .evicted("Preempted", "")
                          .condition("QuotaReserved", "False", "PendingEvaluation", ""),
                      old)))
          .isEmpty();
      assertThat(told(given(workload("worker", 2).admitted("spot").evicted("Preempted", ""), old)))
          .containsExactly("Stop a");
      old.deletedBy("13:00");
      assertThat(told(given(workload("worker", 2), old, member("c", 2)))).isEmpty();
      assertThat(told(given(workload("worker", 2), old.ended("Succeeded", 1), member("c", 2))))
          .containsExactly("RemoveFinalizers a");
    }

    /** They would be made again, and deleted again, without end. */
    @Test
    void podsThatASetMakesAreNotDeletedByRetention() {
      GivenPod pod =
          member("a", 1)
              .annotation(KueueConstants.POD_SUSPENDING_PARENT, "statefulset")
              .annotation(KueueConstants.POD_GROUP_SERVING, "true");
      assertThat(
              given(
                  workload("worker", 1)
                      .ownedBy(pod)
                      .inactive()
                      .evicted("DeactivatedDueToAdmissionCheck", "")
                      .condition("QuotaReserved", "False", "Deactivated", ""),
                  pod))
          .isEmpty();
    }
  }

  @Nested
  class WithoutPodsAfterItWasSentBack {

    private GivenGroupWorkload waiting() {
      return workload("worker", 2)
          .evicted("Preempted", "")
          .condition("QuotaReserved", "False", "PendingEvaluation", "")
          .condition("WaitingForReplacementPods", "True", "Preempted", "; pods to be replaced: 2");
    }

    @Test
    void itWaitsUntilEnoughNewPodsAreThere() {
      GivenPod[] pods = {member("a", 2), member("b", 2)};
      assertThat(given(waiting())).isEmpty();
      PatchStatus status = only(PatchStatus.class, given(waiting().ownedBy(pods[0]), pods[0]));
      assertThat(condition(status, "WaitingForReplacementPods")).isEqualTo("True Preempted");
      status = only(PatchStatus.class, given(waiting().ownedBy(pods), pods));
      assertThat(condition(status, "WaitingForReplacementPods")).isEqualTo("False PodsReady");
    }
  }

  /** Nothing could start, so that quota would be held for nobody until the Workload is finished. */
  @Nested
  class WithoutPodsBeforeItHasQuota {

    @Test
    void itWaitsForPods() {
      PatchStatus status =
          only(PatchStatus.class, given(workload("worker", 2).ownedBy(member("a", 2))));
      assertThat(condition(status, "WaitingForReplacementPods")).isEqualTo("True PodsFailed");
    }

    /** As in a worker cluster, where the Workload precedes the pods. */
    @Test
    void itIsQueuedIfItNeverHadPods() {
      assertThat(given(workload("worker", 2))).isEmpty();
    }
  }

  @Nested
  class WithAPodThatCannotBeWritten {

    @Test
    void theOthersStart() {
      GivenPod[] pods = {
        member("a", 1).running(), member("b", 1).role("boss"), member("c", 1).later(2)
      };
      GivenGroupWorkload workload = workload("boss", 1).and("worker", 1).ownedBy(pods);
      workload.admitted("spot");
      assertThat(told(given(workload, pods))).containsExactly("RemoveFinalizers c", "DeleteJob c");
      unwritable = Set.of("uid-of-c");
      assertThat(told(given(workload, pods))).containsExactly("Start b");
    }

    @Test
    void aNewGroupIsQueued() {
      GivenPod[] pods = {member("a", 1).ended("Failed", 1), member("b", 1)};
      assertThat(told(decide(pods))).containsExactly("RemoveFinalizers a");
      unwritable = Set.of("uid-of-a");
      create(pods);
    }

    @Test
    void aGroupThatWasSentBackKeepsItsQuotaWhileThePodRuns() {
      unwritable = Set.of("uid-of-a");
      GivenPod[] pods = {member("a", 2).running(), member("b", 2)};
      assertThat(
              told(
                  given(
                      workload("worker", 2).ownedBy(pods).admitted("spot").evicted("Preempted", ""),
                      pods)))
          .containsExactly("Stop a");
    }
  }

  @Nested
  class Deleted {

    @Test
    void theWorkloadStopsThePodsFirst() {
      GivenPod[] pods = {member("a", 2).running(), member("b", 2)};
      List<PodGroupAction> steps =
          given(workload("worker", 2).ownedBy(pods).admitted("spot").deleting(), pods);
      assertThat(told(steps)).containsExactly("Stop a");
      assertThat(((Stop) steps.getFirst().action()).reason())
          .isEqualTo(StopReason.WORKLOAD_DELETED);
    }

    @Test
    void theWorkloadGoesWhenNoPodRuns() {
      GivenPod[] pods = {member("a", 2).ended("Failed", 1), member("b", 2)};
      only(
          RemoveFinalizer.class,
          given(workload("worker", 2).ownedBy(pods).admitted("spot").deleting(), pods));
    }

    @Test
    void theGroupIsReleasedAsAWhole() {
      GivenPod[] pods = {
        member("a", 2).running().deletedBy("13:00"),
        member("b", 2).ended("Failed", 1).deletedBy("11:00")
      };
      assertThat(told(given(workload("worker", 2).ownedBy(pods).admitted("spot"), pods)))
          .containsExactly("RemoveFinalizers a", "RemoveFinalizers b");
    }

    @Test
    void aWorkloadWithoutPodsIsLeftAlone() {
      assertThat(given(workload("worker", 2))).isEmpty();
      assertThat(given(workload("worker", 2).deleting())).isEmpty();
    }

    /** Changes of 0.20, section 2. */
    @Test
    void aWorkloadWhosePodsAreAllGoneWaitsForOthersAndGivesItsQuotaBackWhenItWasSentBack() {
      GivenGroupWorkload evicted = workload("worker", 2).admitted("spot").evicted("Preempted", "");
      PatchStatus status = only(PatchStatus.class, given(evicted));
      assertThat(condition(status, "WaitingForReplacementPods")).isEqualTo("True Preempted");
      evicted.condition(
          "WaitingForReplacementPods", "True", "Preempted", "; pods to be replaced: 2");
      status = only(PatchStatus.class, given(evicted));
      assertThat(condition(status, "QuotaReserved")).isEqualTo("False PendingEvaluation");
    }
  }

  private Predicate<CachedPod> replaced = pod -> false;

  private static GivenPod[] twoThatTerminateAndTwoOthers() {
    return new GivenPod[] {
      member("a", 2).running().deletedBy("12:01"),
      member("b", 2).running().deletedBy("12:01"),
      member("c", 2).later(9),
      member("d", 2).later(9)
    };
  }

  private List<PodGroupAction> decide(GivenPod... pods) {
    return steps(Optional.empty(), pods);
  }

  private List<PodGroupAction> given(GivenGroupWorkload workload, GivenPod... pods) {
    return steps(Optional.of(workload), pods);
  }

  private List<PodGroupAction> steps(Optional<GivenGroupWorkload> workload, GivenPod... pods) {
    PodGroup group =
        new PodGroup(
            "team",
            "sample",
            Arrays.stream(pods).map(GivenPod::view).toList(),
            GivenCluster.NOW,
            pod -> replaced.test(pod),
            rules.on(FeatureGate.FAST_QUOTA_RELEASE_IN_POD_INTEGRATION));
    return new PodGroupPolicy(rules)
        .decide(
            new PodGroupContext(
                group,
                managementStatus,
                workload.map(GivenGroupWorkload::get),
                elsewhere,
                cluster,
                cluster,
                GivenCluster.NOW,
                unwritable));
  }

  private static List<String> each(JsonNode list, String field) {
    return StreamSupport.stream(list.spliterator(), false)
        .map(item -> item.path(field).asText())
        .toList();
  }

  private JsonNode create(GivenPod... pods) {
    return only(CreateWorkload.class, decide(pods)).workload();
  }

  private static <T extends JobAction> T only(Class<T> type, List<PodGroupAction> steps) {
    assertThat(steps).hasSize(1);
    assertThat(steps.getFirst().action()).isInstanceOf(type);
    return type.cast(steps.getFirst().action());
  }

  /** Each step as "Action pod". */
  private static List<String> told(List<PodGroupAction> steps) {
    return steps.stream()
        .map(step -> step.action().getClass().getSimpleName() + " " + step.subject().ref().name())
        .toList();
  }

  private static String condition(PatchStatus patch, String type) {
    for (JsonNode condition : patch.status().path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("reason").asText();
      }
    }
    return "absent";
  }
}

package dev.sluice.jobs.kinds.statefulset;

import static dev.sluice.jobs.kinds.statefulset.Given.set;
import static dev.sluice.jobs.kinds.statefulset.Given.with;
import static dev.sluice.jobs.kinds.statefulset.Given.workload;
import static dev.sluice.jobs.kinds.statefulset.Given.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.BothWriters;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.JobRulesOf;
import dev.sluice.jobs.kinds.statefulset.StatefulSetPolicy.ReplicaRange;
import dev.sluice.jobs.kinds.statefulset.StatefulSetPolicy.ReplicaRanges;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatefulSetPolicyTest {

  private static final String NAME = "statefulset-web-0012b";
  private static final String RESERVED =
      """
      conditions:
      - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: "", lastTransitionTime: "2026-03-01T10:00:00Z"}
      - {type: Admitted, status: "True", reason: Admitted, message: "", lastTransitionTime: "2026-03-01T10:00:00Z"}
      admission:
        clusterQueue: pool
        podSetAssignments: [{name: main, flavors: {cpu: plain}, resourceUsage: {cpu: "3"}, count: 3}]
      """;
  private static final String ON_HOLD =
      """
      conditions:
      - {type: QuotaReserved, status: "False", reason: OnHold, message: "", lastTransitionTime: "2026-03-01T10:00:00Z"}
      """;

  private StatefulSetPolicy decisions = new StatefulSetPolicy(JobOptions.defaults("kueue-system"));

  private List<JobAction> decide(CachedStatefulSet set, CachedWorkload... workloads) {
    return decide(set, new ManagementStatus.Own(), workloads);
  }

  private List<JobAction> decide(
      CachedStatefulSet set, ManagementStatus managementStatus, CachedWorkload... workloads) {
    Optional<CachedWorkload> workload = List.of(workloads).stream().findFirst();
    GivenCluster cluster = GivenCluster.cluster().workloadPriorityClass("high", 7);
    return decisions.decide(
        set,
        new ReconcileContext(
            set.job(), managementStatus, List.of(), workload, cluster, cluster, GivenCluster.NOW),
        NAME,
        new ReplicaRanges(
            workload.map(it -> List.of(ReplicaRange.of(0, it))).orElse(List.of()),
            List.of(),
            "next",
            true,
            0));
  }

  private ObjectNode created(CachedStatefulSet set) {
    return decide(set).getFirst() instanceof JobAction.CreateWorkload create
        ? create.workload()
        : yaml("{}").deepCopy();
  }

  @Test
  void oneWorkloadIsMadeForAllPods() {
    assertThat(created(set()))
        .isEqualTo(
            yaml(
                """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: Workload
                metadata:
                  name: statefulset-web-0012b
                  namespace: team
                  finalizers: [kueue.x-k8s.io/resource-in-use]
                  labels: {kueue.x-k8s.io/job-uid: 4b5b3c2e-0000-4000-8000-000000000001}
                  ownerReferences:
                  - apiVersion: apps/v1
                    kind: StatefulSet
                    name: web
                    uid: 4b5b3c2e-0000-4000-8000-000000000001
                  annotations:
                    kueue.x-k8s.io/is-group-workload: "true"
                    kueue.x-k8s.io/job-owner-gvk: apps/v1, Kind=StatefulSet
                    kueue.x-k8s.io/job-owner-name: web
                spec:
                  active: true
                  queueName: serving
                  priority: 0
                  podSets:
                  - name: main
                    count: 3
                    template:
                      metadata: {annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset}}
                      spec: {containers: [{name: c, image: "one:1", resources: {requests: {cpu: "1"}}}]}
                """));
  }

  @Test
  void itHasThePriorityAndTheTopologyThatAreAskedFor() {
    ObjectNode workload =
        created(
            set(
                with("/metadata/labels/kueue.x-k8s.io~1priority-class", "high"),
                with(
                    "/spec/template/metadata/annotations/kueue.x-k8s.io~1podset-required-topology",
                    "rack")));

    assertThat(workload.at("/spec/priority").asInt()).isEqualTo(7);
    assertThat(workload.at("/spec/priorityClassRef/name").asText()).isEqualTo("high");
    assertThat(workload.at("/spec/podSets/0/topologyRequest"))
        .isEqualTo(yaml("{required: rack, podIndexLabel: apps.kubernetes.io/pod-index}"));
  }

  /** A prebuilt Workload that a set names is none that it has. */
  @Test
  void itHasTheLimitOfItsQueueAlsoIfTheSetNamesAPrebuiltOne() {
    decisions = new StatefulSetPolicy(JobRulesOf.anHourIn("serving"));
    String prebuilt = "/metadata/annotations/kueue.x-k8s.io~1prebuilt-workload-name";
    for (CachedStatefulSet each : List.of(set(), set(with(prebuilt, "mine")))) {
      assertThat(created(each).at("/spec/maximumExecutionTimeSeconds").asInt()).isEqualTo(3_600);
    }
  }

  @Test
  void aMissingPriorityClassIsToldOfAndTriedAgain() {
    assertThat(decide(set(with("/metadata/labels/kueue.x-k8s.io~1priority-class", "no-such"))))
        .hasExactlyElementsOfTypes(JobAction.Warn.class, JobAction.Requeue.class);
  }

  @Test
  void noWorkloadIsMadeForWhatIsNotHeldBackIsEmptyLeavesOrWasSentHere() {
    assertThat(decide(set(with("/spec/replicas", "0")))).isEmpty();
    assertThat(
            decide(
                set(
                    with(
                        "/spec/template/metadata/annotations/kueue.x-k8s.io~1pod-suspending-parent",
                        "null"))))
        .isEmpty();
    assertThat(decide(set(with("/metadata/deletionTimestamp", "\"2026-03-01T10:00:00Z\""))))
        .isEmpty();
    assertThat(decide(set(with("/metadata/labels/kueue.x-k8s.io~1multikueue-origin", "manager"))))
        .isEmpty();
    assertThat(decide(set(), new ManagementStatus.Unmanaged())).isEmpty();
    assertThat(decide(set(), new ManagementStatus.ChildOfManaged(true))).isEmpty();
    assertThat(decide(set(), new ManagementStatus.NestedTooDeep()))
        .hasExactlyElementsOfTypes(JobAction.Warn.class);
  }

  @Test
  void whatIsAsItShouldBeIsLeftAlone() {
    ObjectNode created = created(set());

    assertThat(decide(set(), workload(created))).isEmpty();
    assertThat(decide(set(), workload(created, with("/status", RESERVED)))).isEmpty();
  }

  @Test
  void aWorkloadThatLeavesOrHasFinishedIsLeftAlone() {
    ObjectNode created = created(set());
    CachedStatefulSet empty = set(with("/spec/replicas", "0"), with("/status", "{}"));

    assertThat(
            decide(
                empty,
                workload(created, with("/metadata/deletionTimestamp", "\"2026-03-01T10:00:00Z\""))))
        .isEmpty();
    assertThat(
            decide(
                empty,
                workload(
                    created,
                    with(
                        "/status/conditions",
                        "[{type: Finished, status: \"True\", reason: OutOfSync, message: \"\","
                            + " lastTransitionTime: \"2026-03-01T10:00:00Z\"}]"))))
        .isEmpty();
  }

  @Test
  void theWorkloadThatTheManagerSentIsTakenAndOtherwiseLeftToIt() {
    CachedStatefulSet sent =
        set(
            with("/metadata/labels/kueue.x-k8s.io~1multikueue-origin", "manager"),
            with("/spec/replicas", "2"));
    ObjectNode copy = created(set());

    List<JobAction> actions =
        decide(sent, workload(copy, with("/metadata/ownerReferences", "null")));

    assertThat(actions)
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.PatchWorkload.class,
            it ->
                assertThat(it.patch())
                    .isEqualTo(
                        yaml(
                            """
                            metadata:
                              ownerReferences:
                              - apiVersion: apps/v1
                                kind: StatefulSet
                                name: web
                                uid: 4b5b3c2e-0000-4000-8000-000000000001
                            """)));
    assertThat(decide(sent, workload(copy))).isEmpty();
  }

  @Test
  void aWorkloadOfThisNameThatIsNoGroupsIsNotTaken() {
    CachedWorkload other =
        workload(
            created(set()),
            with("/metadata/annotations/kueue.x-k8s.io~1is-group-workload", "null"));

    assertThat(decide(set(), other))
        .hasExactlyElementsOfTypes(JobAction.Warn.class, JobAction.Requeue.class)
        .first()
        .isInstanceOfSatisfying(
            JobAction.Warn.class, it -> assertThat(it.reason()).isEqualTo("WorkloadNameConflict"));
  }

  @Test
  void aWorkloadOfAnEarlierOperatorGetsTheNameOfItsStatefulSet() {
    CachedWorkload earlier =
        workload(
            created(set()),
            with("/metadata/annotations/kueue.x-k8s.io~1job-owner-gvk", "null"),
            with("/metadata/annotations/kueue.x-k8s.io~1job-owner-name", "null"));

    assertThat(decide(set(), earlier))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.PatchWorkload.class,
            it -> {
              assertThat(it.patch().at("/metadata/annotations"))
                  .isEqualTo(
                      yaml(
                          "{kueue.x-k8s.io/job-owner-gvk: \"apps/v1, Kind=StatefulSet\","
                              + " kueue.x-k8s.io/job-owner-name: web}"));
              assertThat(it.patch().at("/metadata/ownerReferences")).hasSize(1);
            });
  }

  // ---- scaling

  @Test
  void scaledToZeroItsQuotaGoesBackWhenThePodsAreGone() {
    ObjectNode created = created(set());
    CachedWorkload reserved = workload(created, with("/status", RESERVED));
    CachedStatefulSet draining = set(with("/spec/replicas", "0"), with("/status/replicas", "1"));
    CachedStatefulSet drained = set(with("/spec/replicas", "0"), with("/status/replicas", "0"));

    assertThat(decide(draining, reserved)).isEmpty();
    assertThat(decide(drained, reserved))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.PatchStatus.class,
            it -> {
              assertThat(it.status().path("admission").isNull()).isTrue();
              assertThat(it.status().path("clusterName").isNull()).isTrue();
              assertThat(it.status().at("/conditions/0/type").asText()).isEqualTo("QuotaReserved");
              assertThat(it.status().at("/conditions/0/status").asText()).isEqualTo("False");
              assertThat(it.status().at("/conditions/0/reason").asText()).isEqualTo("OnHold");
              assertThat(it.status().at("/conditions/1/status").asText()).isEqualTo("False");
            });
    assertThat(decide(drained, workload(created, with("/status", ON_HOLD)))).isEmpty();
  }

  /** Reasons for waiting: deactivated comes before on hold, and two writers come to an end. */
  @Test
  void scaledToZeroAndDeactivatedIsWrittenOnce() {
    ObjectNode created = created(set());
    created.withObjectProperty("spec").put("active", false);
    created
        .withObjectProperty("metadata")
        .put("uid", "workload-uid")
        .put("resourceVersion", "30")
        .put("generation", 1)
        .put("creationTimestamp", "2026-03-01T10:00:00Z");
    created.set("status", yaml(RESERVED));
    CachedStatefulSet drained = set(with("/spec/replicas", "0"), with("/status/replicas", "0"));

    assertThat(BothWriters.reasons(created, seen -> decide(drained, seen)))
        .hasSizeLessThan(4)
        .last()
        .isEqualTo("Deactivated");
  }

  /** Changes of 0.20, section 2. */
  @Test
  void scaledUpFromZeroTheWorkloadIsRewrittenAndThenQueuedAgain() {
    CachedWorkload held = workload(created(set()), with("/status", ON_HOLD));

    assertThat(decide(set(with("/spec/replicas", "5")), held))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.PatchWorkload.class,
            it -> assertThat(it.patch().at("/spec/podSets/0/count").asInt()).isEqualTo(5));
    assertThat(decide(set(), held))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.PatchStatus.class,
            it ->
                assertThat(it.status().at("/conditions/0/reason").asText())
                    .isEqualTo("PendingEvaluation"));
  }

  @Test
  void whatWasScaledAndRunsInAnotherClusterKeepsWhatRunsOrWaitsAnew() {
    ObjectNode created = created(set());
    CachedStatefulSet four = set(with("/spec/replicas", "4"));

    assertThat(decide(four, workload(created, with("/status", RESERVED))))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.Warn.class,
            it -> {
              assertThat(it.reason()).isEqualTo("ReplicasNotAdmitted");
              assertThat(it.note()).startsWith("3 of 4 replicas are admitted");
            });
    assertThat(
            decide(set(with("/spec/replicas", "2")), workload(created, with("/status", RESERVED))))
        .hasExactlyElementsOfTypes(JobAction.DeleteWorkload.class);
    assertThat(decide(four, workload(created)))
        .hasExactlyElementsOfTypes(JobAction.PatchWorkload.class);
  }

  // ---- changes

  @Test
  void anotherImageIsWrittenWhileItWaitsAndRolledOutWhileItRuns() {
    ObjectNode created = created(set());
    CachedStatefulSet changed =
        set(with("/spec/template/spec/containers", "[{name: c, image: \"two:1\"}]"));

    assertThat(decide(changed, workload(created)))
        .hasExactlyElementsOfTypes(JobAction.PatchWorkload.class);
    assertThat(decide(changed, workload(created, with("/status", RESERVED)))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anotherQueueIsWrittenOnlyWhileItWaits(boolean reserved) {
    ObjectNode created = created(set());
    CachedStatefulSet moved = set(with("/metadata/labels/kueue.x-k8s.io~1queue-name", "other"));
    CachedWorkload workload =
        reserved ? workload(created, with("/status", RESERVED)) : workload(created);

    if (reserved) {
      assertThat(decide(moved, workload)).isEmpty();
    } else {
      assertThat(decide(moved, workload))
          .singleElement()
          .isInstanceOfSatisfying(
              JobAction.PatchWorkload.class,
              it -> assertThat(it.patch()).isEqualTo(yaml("{spec: {queueName: other}}")));
    }
  }

  @Test
  void namesComeFromTheManagersObjectWhereThatIsTheOrigin() {
    assertThat(set().uidOfOrigin()).isEqualTo("4b5b3c2e-0000-4000-8000-000000000001");
    assertThat(
            set(with("/metadata/annotations/kueue.x-k8s.io~1multikueue-origin-uid", "o"))
                .uidOfOrigin())
        .isEqualTo("o");
  }
}

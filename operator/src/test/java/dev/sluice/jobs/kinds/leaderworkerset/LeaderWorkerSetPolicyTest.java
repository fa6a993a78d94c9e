package dev.sluice.jobs.kinds.leaderworkerset;

import static dev.sluice.jobs.kinds.leaderworkerset.GivenSet.set;
import static dev.sluice.jobs.kinds.leaderworkerset.GivenSet.workload;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.GivenObject;
import dev.sluice.jobs.JobRulesOf;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSetController.LeaderWorkerSetPolicy;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets.CachedLeaderWorkerSet;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.workload.record.CachedWorkload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LeaderWorkerSetPolicyTest {

  private static final String RESERVED =
      """
      status:
        conditions:
        - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: "", lastTransitionTime: "2026-03-01T10:00:00Z"}
        admission: {clusterQueue: pool, podSetAssignments: []}
      """;

  private final LeaderWorkerSetPolicy policy =
      new LeaderWorkerSetPolicy(JobOptions.defaults("kueue-system"));

  private List<JobAction> decide(
      CachedLeaderWorkerSet set, ManagementStatus status, List<CachedWorkload> workloads) {
    return decide(policy, set, status, workloads);
  }

  private static List<JobAction> decide(
      LeaderWorkerSetPolicy policy,
      CachedLeaderWorkerSet set,
      ManagementStatus status,
      List<CachedWorkload> workloads) {
    GivenCluster cluster = GivenCluster.cluster();
    return policy.decide(
        set,
        new ReconcileContext(
            set.job(), status, List.of(), Optional.empty(), cluster, cluster, GivenCluster.NOW),
        workloads,
        name -> workloads.stream().filter(it -> it.id().name().equals(name)).findFirst());
  }

  private List<JobAction> decide(CachedLeaderWorkerSet set, List<CachedWorkload> workloads) {
    return decide(set, new ManagementStatus.Own(), workloads);
  }

  private List<ObjectNode> created(CachedLeaderWorkerSet set) {
    return decide(set, List.of()).stream()
        .map(JobAction.CreateWorkload.class::cast)
        .map(JobAction.CreateWorkload::workload)
        .toList();
  }

  private List<CachedWorkload> all(CachedLeaderWorkerSet set, String changes) {
    return created(set).stream().map(it -> workload(it, changes)).toList();
  }

  @Test
  void everyGroupGetsAWorkload() {
    List<ObjectNode> created = created(set("{}"));

    assertThat(created)
        .extracting(
            it -> it.at("/metadata/annotations/kueue.x-k8s.io~1component-workload-index").asText())
        .containsExactly("0", "1");
    assertThat(created)
        .extracting(it -> it.at("/metadata/name").asText())
        .doesNotHaveDuplicates()
        .allMatch(name -> name.startsWith("leaderworkerset-lws-"));
    ObjectNode first = created.getFirst();
    assertThat(first.at("/metadata/ownerReferences"))
        .containsExactly(
            GivenObject.yaml(
                """
                apiVersion: leaderworkerset.x-k8s.io/v1
                kind: LeaderWorkerSet
                name: lws
                uid: 4b5b3c2e-0000-4000-8000-000000000001
                """));
    assertThat(first.at("/metadata/annotations/kueue.x-k8s.io~1job-owner-gvk").asText())
        .isEqualTo("leaderworkerset.x-k8s.io/v1, Kind=LeaderWorkerSet");
    assertThat(first.at("/spec/podSets").findValuesAsText("count")).containsExactly("1", "2");
    assertThat(first.at("/spec/queueName").asText()).isEqualTo("serving");
  }

  @Test
  void manyGroupsAreMadeInPortions() {
    assertThat(created(set("{spec: {replicas: 1000000}}"))).hasSize(32);
  }

  /** One object would fill the memory of the operator and the store of the API server. */
  @Test
  void aThousandOfThemWaitAndTheOthersAreMadeWhenTheseHaveQuota() {
    CachedLeaderWorkerSet million = set("{spec: {replicas: 1000000}}");
    ObjectNode first = created(set("{spec: {replicas: 1}}")).getFirst();
    Map<String, CachedWorkload> known = new LinkedHashMap<>();
    for (int group = 0; group < 1_000; group++) {
      known.put(policy.nameOf(million, group), named(first, policy.nameOf(million, group), "{}"));
    }
    AtomicInteger looks = new AtomicInteger();
    assertThat(decide(million, known, looks)).isEmpty();
    assertThat(looks).hasValue(1_001);

    for (int group = 500; group < 520; group++) {
      known.put(
          policy.nameOf(million, group), named(first, policy.nameOf(million, group), RESERVED));
    }
    assertThat(decide(million, known, looks))
        .hasSize(20)
        .first()
        .isInstanceOfSatisfying(
            JobAction.CreateWorkload.class,
            create ->
                assertThat(create.workload().at("/metadata/name").asText())
                    .isEqualTo(policy.nameOf(million, 1_000)));

    known.remove(policy.nameOf(million, 7));
    known.put(policy.nameOf(million, 2_000), named(first, policy.nameOf(million, 2_000), RESERVED));
    CachedLeaderWorkerSet smaller = set("{spec: {replicas: 1000}}");
    assertThat(decide(smaller, known, looks))
        .as("a group that is missing comes before those that are too many")
        .singleElement()
        .isInstanceOf(JobAction.CreateWorkload.class);
  }

  private List<JobAction> decide(
      CachedLeaderWorkerSet set, Map<String, CachedWorkload> known, AtomicInteger looks) {
    GivenCluster cluster = GivenCluster.cluster();
    return policy.decide(
        set,
        new ReconcileContext(
            set.job(),
            new ManagementStatus.Own(),
            List.of(),
            Optional.empty(),
            cluster,
            cluster,
            GivenCluster.NOW),
        List.copyOf(known.values()),
        name -> {
          looks.incrementAndGet();
          return Optional.ofNullable(known.get(name));
        });
  }

  private static CachedWorkload named(ObjectNode created, String name, String changes) {
    ObjectNode other = created.deepCopy();
    other.withObjectProperty("metadata").put("name", name);
    return workload(other, changes);
  }

  @Test
  void nothingIsDoneForSetsThatAreNotManagedHere() {
    assertThat(decide(set("{}"), new ManagementStatus.Unmanaged(), List.of())).isEmpty();
    assertThat(decide(set("{}"), new ManagementStatus.ChildOfManaged(true), List.of())).isEmpty();
    assertThat(created(set("{metadata: {deletionTimestamp: '2026-03-01T10:00:00Z'}}"))).isEmpty();
    assertThat(
            created(
                set(
                    "{spec: {leaderWorkerTemplate: {workerTemplate: {metadata: {annotations:"
                        + " null}}}}}")))
        .isEmpty();
    assertThat(decide(set("{}"), new ManagementStatus.NestedTooDeep(), List.of()))
        .singleElement()
        .isInstanceOf(JobAction.Warn.class);
  }

  @Test
  void whatIsAsItShouldBeIsLeftAlone() {
    assertThat(decide(set("{}"), all(set("{}"), "{}"))).isEmpty();
    assertThat(decide(set("{}"), all(set("{}"), RESERVED))).isEmpty();
  }

  @Test
  void aWorkloadThatWaitsFollowsTheTemplatesAndOneWithQuotaDoesNot() {
    CachedLeaderWorkerSet changed =
        set(
            "{spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers:"
                + " [{name: w, image: two}]}}}}}");

    assertThat(decide(changed, all(set("{}"), "{}")))
        .hasSize(2)
        .allMatch(JobAction.PatchWorkload.class::isInstance);
    assertThat(decide(changed, all(set("{}"), RESERVED))).isEmpty();
    assertThat(decide(set("{spec: {leaderWorkerTemplate: {size: 4}}}"), all(set("{}"), "{}")))
        .hasSize(2)
        .allMatch(JobAction.PatchWorkload.class::isInstance);
  }

  /**
   * Runs are as long as the queue allows in which they get quota, not the one they were made in.
   */
  @Test
  void aSetThatMovesToAQueueGetsItsLimit() {
    LeaderWorkerSetPolicy limiting = new LeaderWorkerSetPolicy(JobRulesOf.anHourIn("short"));
    CachedLeaderWorkerSet moved =
        set("{metadata: {labels: {kueue.x-k8s.io/queue-name: short}}, spec: {replicas: 1}}");
    for (int before : new int[] {0, 60, 7200}) {
      List<CachedWorkload> one =
          List.of(
              workload(
                  created(set("{}")).getFirst(),
                  before == 0
                      ? "{}"
                      : "{spec: {maximumExecutionTimeSeconds: %d}}".formatted(before)));
      ObjectNode patch =
          ((JobAction.PatchWorkload)
                  decide(limiting, moved, new ManagementStatus.Own(), one).getFirst())
              .patch();
      assertThat(patch.at("/spec/queueName").asText()).isEqualTo("short");
      assertThat(patch.at("/spec/maximumExecutionTimeSeconds").asInt())
          .isEqualTo(before == 60 ? 0 : 3600);
      assertThat(patch.at("/metadata/annotations/sluice.dev~1max-run-time").asText())
          .isEqualTo(before == 60 ? "" : "3600s");
    }
  }

  /** A prebuilt Workload that a set names is none that it has. */
  @Test
  void aSetThatNamesAPrebuiltWorkloadGetsTheLimitOfItsQueue() {
    LeaderWorkerSetPolicy limiting = new LeaderWorkerSetPolicy(JobRulesOf.anHourIn("serving"));
    CachedLeaderWorkerSet naming =
        set("{metadata: {annotations: {kueue.x-k8s.io/prebuilt-workload-name: mine}}}");

    assertThat(decide(limiting, naming, new ManagementStatus.Own(), List.of()))
        .hasSize(2)
        .map(JobAction.CreateWorkload.class::cast)
        .allMatch(it -> it.workload().at("/spec/maximumExecutionTimeSeconds").asInt() == 3_600);
  }

  @Test
  void workloadsOfGroupsThatAreGoneAreDeleted() {
    List<CachedWorkload> two = all(set("{}"), RESERVED);

    assertThat(decide(set("{spec: {replicas: 1}}"), two))
        .singleElement()
        .isEqualTo(new JobAction.DeleteWorkload(two.getLast(), "its group is gone"));
    assertThat(decide(set("{spec: {replicas: 0}}"), two)).hasSize(2);
    assertThat(
            decide(
                set(
                    "{spec: {replicas: 1, rolloutStrategy: {rollingUpdateConfiguration: {maxSurge:"
                        + " 1}}}, status: {replicas: 2}}"),
                two))
        .isEmpty();
  }

  @Test
  void workloadsOfOthersAreNot() {
    List<CachedWorkload> foreign =
        IntStream.range(0, 2)
            .mapToObj(i -> created(set("{}")).get(i))
            .map(it -> workload(it, "{metadata: {ownerReferences: []}}"))
            .toList();

    assertThat(decide(set("{spec: {replicas: 0}}"), foreign)).isEmpty();
    assertThat(
            decide(
                set("{}"),
                all(
                    set("{}"),
                    "{metadata: {annotations: {kueue.x-k8s.io/is-group-workload: null}}}")))
        .hasSize(2)
        .allMatch(
            it ->
                it instanceof JobAction.Warn warn && warn.reason().equals("WorkloadNameConflict"));
    assertThat(decide(set("{}"), foreign))
        .hasSize(2)
        .allMatch(JobAction.PatchWorkload.class::isInstance);
  }

  private static final String SENT =
      """
      metadata:
        uid: uid-there
        labels: {kueue.x-k8s.io/multikueue-origin: manager}
        annotations: {kueue.x-k8s.io/multikueue-origin-uid: 4b5b3c2e-0000-4000-8000-000000000001}
      """;

  /** A set in a worker: its Workloads are the manager's, under the manager's names. */
  @Test
  void aSetThatAManagerSentOnlyAdoptsWorkloads() {
    CachedLeaderWorkerSet there = set(SENT);
    assertThat(decide(there, List.of())).isEmpty();
    assertThat(policy.nameOf(there, 0)).isEqualTo("leaderworkerset-lws-0-9d38b");

    List<CachedWorkload> copies = all(set("{}"), RESERVED);
    assertThat(decide(there, copies))
        .hasSize(2)
        .allSatisfy(step -> assertThat(step).isInstanceOf(JobAction.PatchWorkload.class));

    // one group fewer: the manager deletes the Workload
    assertThat(decide(set(SENT + "spec: {replicas: 1}"), copies)).hasSize(1);
  }
}

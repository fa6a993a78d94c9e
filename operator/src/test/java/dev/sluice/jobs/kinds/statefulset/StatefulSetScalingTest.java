package dev.sluice.jobs.kinds.statefulset;

import static dev.sluice.jobs.kinds.statefulset.Given.set;
import static dev.sluice.jobs.kinds.statefulset.Given.with;
import static dev.sluice.jobs.kinds.statefulset.Given.workload;
import static dev.sluice.jobs.kinds.statefulset.Given.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.kinds.statefulset.StatefulSetPolicy.ReplicaRange;
import dev.sluice.jobs.kinds.statefulset.StatefulSetPolicy.ReplicaRanges;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What happens to the Workloads of a StatefulSet of three pods, which was admitted, and scaled. */
class StatefulSetScalingTest {

  private static final String NAME = "statefulset-web-0012b";

  private final Map<String, CachedWorkload> store = new TreeMap<>();
  private final StatefulSetWorkloads workloads =
      new StatefulSetWorkloads(new KnownWorkloads(store), 253);
  private int known;

  private static String reserved(int count, String more) {
    return """
    conditions:
    - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: "", lastTransitionTime: "2026-03-01T10:00:00Z"}
    - {type: Admitted, status: "True", reason: Admitted, message: "", lastTransitionTime: "2026-03-01T10:00:00Z"}
    admission:
      clusterQueue: pool
      podSetAssignments: [{name: main, flavors: {cpu: plain}, resourceUsage: {cpu: "%d"}, count: %d}]
    %s
    """
        .formatted(count, count, more);
  }

  private static CachedStatefulSet replicas(int replicas) {
    return set(with("/spec/replicas", Integer.toString(replicas)));
  }

  private List<JobAction> decide(CachedStatefulSet set) {
    Optional<CachedWorkload> base = Optional.ofNullable(store.get(NAME));
    List<ReplicaRange> ranges = base.map(it -> workloads.ranges(set, it)).orElse(List.of());
    List<CachedWorkload> superfluous = new ArrayList<>(store.values());
    superfluous.removeIf(
        it ->
            !StatefulSetWorkloads.isForAddedReplicas(set, it)
                || ranges.stream().anyMatch(range -> range.workload().equals(it)));
    GivenCluster cluster = GivenCluster.cluster();
    int end = ranges.isEmpty() ? 0 : ranges.getLast().end();
    return new StatefulSetPolicy(JobOptions.defaults("kueue-system"))
        .decide(
            set,
            new ReconcileContext(
                set.job(),
                new ManagementStatus.Own(),
                List.of(),
                base,
                cluster,
                cluster,
                GivenCluster.NOW),
            NAME,
            new ReplicaRanges(ranges, superfluous, workloads.nameFrom(set, end), false, known));
  }

  private ObjectNode created(CachedStatefulSet set) {
    return decide(set).stream()
        .filter(JobAction.CreateWorkload.class::isInstance)
        .map(action -> ((JobAction.CreateWorkload) action).workload())
        .findFirst()
        .orElseThrow();
  }

  private CachedWorkload put(ObjectNode created, Given.Edit... edits) {
    CachedWorkload workload = workload(created, edits);
    store.put(workload.id().name(), workload);
    return workload;
  }

  private void givenThreeAdmitted() {
    put(created(replicas(3)), with("/status", reserved(3, "")));
  }

  /** Three pods are admitted, and so many more of five. */
  private CachedWorkload givenAdded(boolean admitted) {
    givenThreeAdmitted();
    ObjectNode created = created(replicas(5));
    return admitted ? put(created, with("/status", reserved(2, ""))) : put(created);
  }

  @Test
  void addedReplicasGetAWorkloadOfTheirOwn() {
    givenThreeAdmitted();

    ObjectNode added = created(replicas(5));

    assertThat(added.at("/metadata/name").asText())
        .startsWith("statefulset-web-")
        .isNotEqualTo(NAME);
    assertThat(added.at("/spec/podSets/0/count").asInt()).isEqualTo(2);
    assertThat(added.at("/metadata/annotations"))
        .isEqualTo(
            yaml(
                """
                kueue.x-k8s.io/is-group-workload: "true"
                kueue.x-k8s.io/job-owner-gvk: apps/v1, Kind=StatefulSet
                kueue.x-k8s.io/job-owner-name: web
                sluice.dev/first-replica: "3"
                """));
    assertThat(added.at("/metadata/ownerReferences")).hasSize(1);
  }

  @Test
  void whatIsRequestedAlreadyIsLeftAlone() {
    givenAdded(false);
    assertThat(decide(replicas(5))).isEmpty();
    store.clear();
    givenAdded(true);
    assertThat(decide(replicas(5))).isEmpty();
  }

  @Test
  void podsBelongToTheWorkloadThatHasTheirQuota() {
    CachedWorkload added = givenAdded(true);
    List<ReplicaRange> list =
        workloads.ranges(replicas(6), Objects.requireNonNull(store.get(NAME)));
    ReplicaRanges ranges = new ReplicaRanges(list, List.of(), "next", false, 0);

    for (int place = 0; place < 3; place++) {
      assertThat(ranges.find(place).orElseThrow().workload().id().name()).isEqualTo(NAME);
    }
    assertThat(ranges.find(3).orElseThrow().workload()).isEqualTo(added);
    assertThat(ranges.find(4).orElseThrow().workload()).isEqualTo(added);
    assertThat(ranges.find(5)).isEmpty();
  }

  @Test
  void aRequestThatWaitsFollowsTheReplicas() {
    CachedWorkload added = givenAdded(false);

    assertThat(decide(replicas(7)))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.PatchWorkload.class,
            it -> {
              assertThat(it.workload()).isEqualTo(added);
              assertThat(it.patch().at("/spec/podSets/0/count").asInt()).isEqualTo(4);
            });
  }

  @Test
  void furtherReplicasAreRequestedBesideThoseThatWereAdmitted() {
    givenAdded(true);
    ObjectNode third = created(replicas(6));
    assertThat(third.at("/spec/podSets/0/count").asInt()).isEqualTo(1);
    assertThat(third.at("/metadata/annotations/sluice.dev~1first-replica").asText()).isEqualTo("5");
  }

  @ParameterizedTest
  @CsvSource({"3", "2", "0"})
  void aWorkloadWhoseReplicasAreRemovedIsDeleted(int replicas) {
    CachedWorkload added = givenAdded(true);

    assertThat(decide(replicas(replicas)))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.DeleteWorkload.class, it -> assertThat(it.workload()).isEqualTo(added));
  }

  @ParameterizedTest
  @CsvSource({"false, 2, 1", "false, 1, 2", "true, 4, 1"})
  void quotaOfRemovedReplicasIsGivenBackWhenTheirPodsAreGone(
      boolean added, int replicas, int givenBack) {
    if (added) {
      givenAdded(true);
    } else {
      givenThreeAdmitted();
    }

    known = replicas + 1;
    assertThat(decide(replicas(replicas))).isEmpty();
    known = replicas;
    assertThat(decide(replicas(replicas)))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.PatchStatus.class,
            it ->
                assertThat(it.status())
                    .isEqualTo(
                        yaml("{reclaimablePods: [{name: main, count: %d}]}".formatted(givenBack))));
  }

  @Test
  void whatWasGivenBackIsRequestedAgainBesideWhatIsHeld() {
    JsonNode base = created(replicas(3));
    put(
        (ObjectNode) base,
        with("/status", reserved(3, "reclaimablePods: [{name: main, count: 2}]")));

    assertThat(decide(replicas(1))).isEmpty();
    ObjectNode added = created(replicas(3));
    assertThat(added.at("/spec/podSets/0/count").asInt()).isEqualTo(2);
    assertThat(added.at("/metadata/annotations/sluice.dev~1first-replica").asText()).isEqualTo("1");
  }

  @Test
  void theFirstWorkloadThatLosesItsQuotaRequestsAllThatFollow() {
    CachedWorkload added = givenAdded(true);
    store.remove(NAME);
    ObjectNode evicted = created(replicas(3));
    put(evicted);

    assertThat(decide(replicas(5)))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.DeleteWorkload.class, it -> assertThat(it.workload()).isEqualTo(added));
    store.remove(added.id().name());
    assertThat(decide(replicas(5)))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.PatchWorkload.class,
            it -> assertThat(it.patch().at("/spec/podSets/0/count").asInt()).isEqualTo(5));
  }

  @Test
  void whatWasGivenBackIsForgottenBeforeAllIsRequestedAgain() {
    put(
        created(replicas(3)),
        with("/status", "{conditions: [], reclaimablePods: [{name: main, count: 1}]}"));

    assertThat(decide(replicas(2))).isEmpty();
    assertThat(decide(replicas(3)))
        .singleElement()
        .isInstanceOfSatisfying(
            JobAction.PatchStatus.class,
            it -> assertThat(it.status()).isEqualTo(yaml("{reclaimablePods: []}")));
  }
}

package dev.sluice.jobs.kinds.statefulset;

import static dev.sluice.jobs.kinds.statefulset.Given.pod;
import static dev.sluice.jobs.kinds.statefulset.Given.set;
import static dev.sluice.jobs.kinds.statefulset.Given.with;
import static dev.sluice.jobs.kinds.statefulset.Given.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.GroupMembership;
import dev.sluice.jobs.kinds.statefulset.StatefulSetController.StatefulSetPods;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StatefulSetPodsTest {

  private static final String TOLD =
      """
      metadata:
        labels: {kueue.x-k8s.io/managed: "true", kueue.x-k8s.io/queue-name: serving}
        annotations:
          kueue.x-k8s.io/prebuilt-workload-name: w
          kueue.x-k8s.io/pod-group-name: w
          kueue.x-k8s.io/pod-group-total-count: "3"
          kueue.x-k8s.io/pod-group-fast-admission: "true"
          kueue.x-k8s.io/pod-group-serving: "true"
          kueue.x-k8s.io/role-hash: main
          kueue.x-k8s.io/pod-group-pod-index-label: apps.kubernetes.io/pod-index
      """;

  private static final String OPEN = "{spec: {schedulingGates: [{name: example.com/other}]}}";
  private static final String FINALIZER = "kueue.x-k8s.io/managed";
  private static final Given.Edit ROLLOUT =
      with("/status", "{replicas: 3, currentRevision: web-1, updateRevision: web-2}");

  private static final Given.Edit MEMBER_LABELS =
      with(
          "/metadata/labels",
          "{controller-revision-hash: web-1, kueue.x-k8s.io/managed: \"true\","
              + " kueue.x-k8s.io/queue-name: serving}");

  private static final Given.Edit MEMBER =
      with(
          "/metadata/annotations",
          """
          kueue.x-k8s.io/pod-suspending-parent: statefulset
          kueue.x-k8s.io/prebuilt-workload-name: w
          kueue.x-k8s.io/pod-group-name: w
          kueue.x-k8s.io/pod-group-total-count: "3"
          kueue.x-k8s.io/pod-group-fast-admission: "true"
          kueue.x-k8s.io/pod-group-serving: "true"
          kueue.x-k8s.io/role-hash: main
          kueue.x-k8s.io/pod-group-pod-index-label: apps.kubernetes.io/pod-index
          """);

  private static Optional<JsonNode> needed(CachedStatefulSet set, boolean started, CachedPod pod) {
    return StatefulSetPods.needed(
            set, StatefulSetPods.membership("w", "main", 3, true), !started, pod)
        .map(JobPatch::body);
  }

  @Test
  void aPodThatWaitsJoinsTheGroup() {
    assertThat(needed(set(), false, pod())).contains(yaml(TOLD));
    assertThat(needed(set(), true, pod())).contains(yaml(TOLD));
    assertThat(needed(set(), false, pod(MEMBER_LABELS, MEMBER))).isEmpty();
  }

  @Test
  void aPodBeyondTheReplicasDoesNotJoin() {
    CachedPod fourth = pod(with("/metadata/name", "web-3"));
    CachedStatefulSet four = set(with("/spec/replicas", "4"));
    assertThat(needed(set(), true, fourth)).isEmpty();
    assertThat(needed(four, true, fourth)).contains(yaml(TOLD));
    assertThat(needed(set(with("/spec/ordinals", "{start: 1}")), true, fourth))
        .contains(yaml(TOLD));
  }

  @Test
  void aPodThatWaitsInTheGroupOfAnotherWorkloadIsRecognised() {
    assertThat(GroupMembership.isInAnotherGroup("w", pod())).isFalse();
    assertThat(GroupMembership.isInAnotherGroup("w", pod(MEMBER_LABELS, MEMBER))).isFalse();
    assertThat(GroupMembership.isInAnotherGroup("v", pod(MEMBER_LABELS, MEMBER))).isTrue();
    assertThat(
            GroupMembership.isInAnotherGroup(
                "v", pod(MEMBER_LABELS, MEMBER, with("/spec/schedulingGates", "null"))))
        .isFalse();
  }

  @Test
  void aPodJoinsThePodSetOfItsWorkloadWhateverThatIsCalled() {
    assertThat(
            StatefulSetPods.needed(
                    set(), StatefulSetPods.membership("w", "bf90803c", 3, true), false, pod())
                .orElseThrow()
                .body()
                .at("/metadata/annotations/kueue.x-k8s.io~1role-hash")
                .asText())
        .isEqualTo("bf90803c");
  }

  @Test
  void labelsNameTheGroupWhereTheGateAsksForThem() {
    JsonNode patch =
        StatefulSetPods.needed(
                set(), StatefulSetPods.membership("w", "main", 3, false), false, pod())
            .orElseThrow()
            .body();

    for (String key : List.of("prebuilt-workload-name", "pod-group-name")) {
      assertThat(patch.at("/metadata/labels/kueue.x-k8s.io~1" + key).asText()).isEqualTo("w");
      assertThat(patch.at("/metadata/annotations").has("kueue.x-k8s.io/" + key)).isFalse();
    }
    String longer = "w".repeat(64);
    assertThat(
            StatefulSetPods.needed(
                    set(), StatefulSetPods.membership(longer, "main", 3, false), false, pod())
                .orElseThrow()
                .body()
                .at("/metadata/annotations/kueue.x-k8s.io~1pod-group-name")
                .asText())
        .isEqualTo(longer);
  }

  @Test
  void itFollowsQueueAndPriorityClass() {
    CachedStatefulSet moved =
        set(
            with("/metadata/labels/kueue.x-k8s.io~1queue-name", "other"),
            with("/metadata/labels/kueue.x-k8s.io~1priority-class", "high"));

    assertThat(needed(moved, false, pod(MEMBER_LABELS, MEMBER)))
        .contains(
            yaml(
                "{metadata: {labels: {kueue.x-k8s.io/queue-name: other,"
                    + " kueue.x-k8s.io/priority-class: high}}}"));
  }

  @Test
  void thePodsOfASetThatAManagerSentSaySo() {
    CachedStatefulSet sent =
        set(with("/metadata/labels/kueue.x-k8s.io~1multikueue-origin", "manager"));

    assertThat(needed(sent, true, pod(MEMBER_LABELS, MEMBER)))
        .contains(
            yaml(
                "{metadata: {labels: {kueue.x-k8s.io/multikueue-origin: manager,"
                    + " kueue.x-k8s.io/multikueue-worker-workload-pod: \"true\"}}}"));
  }

  @Test
  void whatRunsLeavesHasEndedOrIsTooManyIsLeftAlone() {
    assertThat(needed(set(), true, pod(with("/spec/schedulingGates", "null")))).isEmpty();
    assertThat(
            needed(
                set(), true, pod(with("/metadata/deletionTimestamp", "\"2026-03-01T10:00:00Z\""))))
        .isEmpty();
    assertThat(needed(set(), true, pod(with("/status/phase", "Failed")))).isEmpty();
    assertThat(needed(set(with("/spec/replicas", "0")), true, pod())).isEmpty();
  }

  @Test
  void onlyPodsThatTheSetMadeAndHoldsBackAreItsOwn() {
    assertThat(StatefulSetPods.isOf(set(), pod())).isTrue();
    assertThat(StatefulSetPods.isOf(set(with("/metadata/uid", "other")), pod())).isFalse();
    assertThat(StatefulSetPods.isOf(set(), pod(with("/metadata/name", "other-0")))).isFalse();
    assertThat(StatefulSetPods.isOf(set(), pod(with("/metadata/name", "web-00")))).isFalse();
    assertThat(StatefulSetPods.isOf(set(), pod(with("/metadata/ownerReferences", "[]")))).isFalse();
    assertThat(StatefulSetPods.isOf(set(), pod(with("/metadata/annotations", "{}")))).isFalse();
  }

  /** What a member is told, without the gates of the operator. */
  private static ObjectNode released() {
    ObjectNode released = (ObjectNode) yaml(TOLD);
    released.setAll((ObjectNode) yaml(OPEN));
    return released;
  }

  /** The label of managed pods and the finalizer stay (changes of 0.20, section 2). */
  @Test
  void aPodOfTheOldRevisionLosesItsGatesAloneDuringARolloutThatNobodyAdmitted() {
    assertThat(needed(set(ROLLOUT), false, pod())).contains(released());
    assertThat(needed(set(ROLLOUT), false, pod(MEMBER_LABELS, MEMBER))).contains(yaml(OPEN));
    assertThat(
            needed(
                set(ROLLOUT),
                false,
                pod(MEMBER_LABELS, MEMBER, with("/metadata/finalizers", "[" + FINALIZER + "]"))))
        .contains(yaml(OPEN));
  }

  @Test
  void aPodBelowThePartitionKeepsItsRevisionAndWaitsForQuota() {
    CachedStatefulSet partitioned =
        set(ROLLOUT, with("/spec/updateStrategy", "{rollingUpdate: {partition: 1}}"));
    assertThat(needed(partitioned, false, pod())).contains(yaml(TOLD));
    assertThat(needed(partitioned, false, pod(with("/metadata/name", "web-1"))))
        .contains(released());
  }

  @Test
  void aRolloutReplacesThePodsOfTheSetThatHaveAnotherRevision() {
    assertThat(StatefulSetPods.isReplaced(set(ROLLOUT), pod())).isTrue();
    assertThat(StatefulSetPods.isReplaced(set(), pod())).isFalse();
    String revision = "/metadata/labels/controller-revision-hash";
    assertThat(StatefulSetPods.isReplaced(set(ROLLOUT), pod(with(revision, "web-2")))).isFalse();
    assertThat(StatefulSetPods.isReplaced(set(ROLLOUT), pod(with(revision, "null")))).isFalse();
    assertThat(
            StatefulSetPods.isReplaced(set(ROLLOUT), pod(with("/metadata/ownerReferences", "[]"))))
        .isFalse();
  }

  @Test
  void ofASetThatIsAdmittedOrRunsElsewhereAllPodsStayMembers() {
    assertThat(needed(set(ROLLOUT), true, pod())).contains(yaml(TOLD));
    assertThat(
            needed(
                set(ROLLOUT),
                false,
                pod(with("/metadata/labels/controller-revision-hash", "web-2"))))
        .contains(yaml(TOLD));
  }
}

package dev.sluice.jobs.kinds.leaderworkerset;

import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.yaml;
import static dev.sluice.jobs.kinds.leaderworkerset.GivenSet.object;
import static dev.sluice.jobs.kinds.leaderworkerset.GivenSet.pod;
import static dev.sluice.jobs.kinds.leaderworkerset.GivenSet.set;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.WebhookRules;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSetController.GroupPlace;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.SinglePod;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A LeaderWorkerSet as the integration sees it, and the places of its pods. */
class LeaderWorkerSetsTest {

  private final LeaderWorkerSets kind = new LeaderWorkerSets();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {} | leader=1 worker=2
          {spec: {leaderWorkerTemplate: {leaderTemplate: null}}} | main=3
          {spec: {leaderWorkerTemplate: {size: 1}}} | leader=1
          {spec: {leaderWorkerTemplate: {size: null, leaderTemplate: null}}} | main=1
          """)
  void thePodSetsAreThoseOfAGroup(String changes, String expected) {
    assertThat(String.join(" ", podSets(kind, object(changes)))).isEqualTo(expected);
  }

  @Test
  void whatTheOwnControllerWritesIntoTemplatesIsLeftOut() {
    ObjectNode worker = kind.podSets(object("{}")).getLast().template();

    assertThat(worker.at("/metadata/labels"))
        .isEqualTo(yaml("{leaderworkerset.sigs.k8s.io/name: lws}"));
    assertThat(worker.at("/spec/containers/0/name").asText()).isEqualTo("w");
    assertThat(kind.podSets(object("{}")).getLast().topologyRequest())
        .contains(
            yaml("{required: rack, podIndexLabel: leaderworkerset.sigs.k8s.io/worker-index}"));
    assertThat(kind.podSets(object("{}")).getFirst().topologyRequest()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {} | 2
          {status: {replicas: 5}} | 2
          {spec: {rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 1}}}, status: {replicas: 3}} | 3
          {spec: {rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 25%}}}, status: {replicas: 1}} | 2
          {spec: {rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 0}}}, status: {replicas: 3}} | 2
          {spec: {replicas: null}} | 1
          {spec: {replicas: -4}} | 0
          """)
  void groupsOfASurgingRolloutAreCounted(String changes, int groups) {
    assertThat(set(changes).groups()).isEqualTo(groups);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{spec: 7}",
        "{spec: {replicas: x, leaderWorkerTemplate: []}}",
        "{spec: {leaderWorkerTemplate: {size: x, leaderTemplate: 3, workerTemplate: [1]}}}",
        "{spec: {rolloutStrategy: 7, leaderWorkerTemplate: {workerTemplate: {metadata: 1}}}}"
      })
  void anythingCanBeRead(String object) {
    assertThat(kind.view(yaml(object)).gated()).isFalse();
    assertThat(kind.podSets(yaml(object))).isNotEmpty();
  }

  @Test
  void itsPodsAreGated() {
    assertThat(set("{}").gated()).isTrue();
    assertThat(
            set("{spec: {leaderWorkerTemplate: {workerTemplate: {metadata: {annotations: null}}}}}")
                .gated())
        .isFalse();
    assertThat(kind.webhooks())
        .isEqualTo(WebhookRules.atUpdatesToo(new WebhookRules.Review.GatedGroups()));
    assertThat(kind.watches()).containsExactly(SinglePod.KIND);
  }

  @Test
  void aPodHasThePlaceThatItsLabelsAndItsNameTell() {
    assertThat(GroupPlace.of(set("{}"), pod(1, 0, "{}"))).contains(new GroupPlace(1, 0));
    assertThat(GroupPlace.of(set("{}"), pod(1, 2, "{}"))).contains(new GroupPlace(1, 2));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{metadata: {name: other}}",
        "{metadata: {labels: {leaderworkerset.sigs.k8s.io/name: other}}}",
        "{metadata: {labels: {leaderworkerset.sigs.k8s.io/group-index: x}}}",
        "{metadata: {labels: {leaderworkerset.sigs.k8s.io/worker-index: '3'}}}",
        "{metadata: {labels: {leaderworkerset.sigs.k8s.io/worker-index: '-1'}}}",
        "{metadata: {annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset}}}"
      })
  void anyOtherPodIsNotOfTheSet(String changes) {
    assertThat(GroupPlace.of(set("{}"), pod(1, 2, changes))).isEmpty();
  }

  private static Optional<JobPatch> needed(CachedPod pod, String updateRevision) {
    return GroupPlace.of(set("{}"), pod)
        .orElseThrow()
        .needed(set("{}"), pod, "workload", updateRevision, true);
  }

  @Test
  void aPodJoinsTheGroupOfItsWorkload() {
    assertThat(needed(pod(1, 2, "{}"), "").orElseThrow().body())
        .isEqualTo(
            yaml(
                """
                metadata:
                  labels: {kueue.x-k8s.io/managed: "true", kueue.x-k8s.io/queue-name: serving}
                  annotations:
                    kueue.x-k8s.io/pod-group-total-count: "3"
                    kueue.x-k8s.io/pod-group-serving: "true"
                    kueue.x-k8s.io/role-hash: worker
                    kueue.x-k8s.io/prebuilt-workload-name: workload
                    kueue.x-k8s.io/pod-group-name: workload
                """));
    assertThat(needed(pod(1, 0, "{}"), "old").orElseThrow().body().toString())
        .contains("\"kueue.x-k8s.io/role-hash\":\"leader\"");
  }

  /** Changes of 0.20, section 2. */
  @Test
  void aPodOfAnOldRevisionIsLetGoWhereARolloutWaitsForIt() {
    assertThat(needed(pod(1, 2, "{}"), "new").orElseThrow().body())
        .isEqualTo(yaml("{spec: {schedulingGates: [{name: example.com/other}]}}"));
  }
}

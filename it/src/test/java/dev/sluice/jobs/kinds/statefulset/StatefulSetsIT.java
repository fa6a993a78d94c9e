package dev.sluice.jobs.kinds.statefulset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.SilentNode;
import dev.sluice.testing.TestCluster;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** StatefulSets in a queue, told through the API of a real control plane. */
@OperatorTest(configuration = "integrations: {frameworks: [statefulset]}")
@Tag(BuildBreadth.NIGHTLY)
class StatefulSetsIT {

  private static final String PARALLEL = "podManagementPolicy: Parallel";

  private ServingApi api;

  @BeforeEach
  void look(TestCluster own) {
    api = new ServingApi(own);
    own.createNodes(
        NodeGroup.plentiful(own.name("node"), 1).withLabel("pool", own.name("").substring(1)));
  }

  @Test
  void allPodsWaitForTheQuotaOfAllAndThenRun() {
    api.givenQueues(2);
    api.serve("StatefulSet", "web", 3, PARALLEL);

    api.awaitPods(Map.of("Gated", 3));
    JsonNode workload = api.workload();
    String name = workload.at("/metadata/name").asText();
    assertThat(name).startsWith("statefulset-web-");
    assertThat(workload.at("/metadata/ownerReferences")).hasSize(1);
    assertThat(workload.at("/metadata/ownerReferences/0/kind").asText()).isEqualTo("StatefulSet");
    assertThat(workload.at("/metadata/ownerReferences/0").has("controller")).isFalse();
    assertThat(workload.at("/metadata/annotations/kueue.x-k8s.io~1is-group-workload").asText())
        .isEqualTo("true");
    assertThat(workload.at("/spec/podSets")).hasSize(1);
    assertThat(workload.at("/spec/podSets/0/name").asText()).isEqualTo("main");
    assertThat(workload.at("/spec/podSets/0/count").asInt()).isEqualTo(3);
    ServingApi.soon("members of the group")
        .untilAsserted(
            () ->
                assertThat(api.all("Pod"))
                    .hasSize(3)
                    .allSatisfy(
                        pod -> {
                          assertThat(label(pod, "managed")).isEqualTo("true");
                          assertThat(label(pod, "queue-name")).isEqualTo("lq");
                          assertThat(annotation(pod, "pod-group-name")).isEqualTo(name);
                          assertThat(annotation(pod, "pod-group-total-count")).isEqualTo("3");
                          assertThat(annotation(pod, "role-hash")).isEqualTo("main");
                          assertThat(pod.at("/metadata/finalizers").isEmpty()).isTrue();
                        }));
    assertThat(ServingApi.condition(api.get("Workload", name), "Admitted"))
        .isNotEqualTo("True Admitted");

    api.setQuota(3);
    api.awaitPods(Map.of("Running", 3));
    api.awaitUsage("3");
    api.awaitCondition("Workload", name, "Admitted", "True Admitted");
    assertThat(api.all("Pod"))
        .allSatisfy(pod -> assertThat(pod.at("/spec/nodeSelector").has("pool")).isTrue());

    api.delete("StatefulSet", "web");
    api.awaitPods(Map.of());
    ServingApi.soon("no Workload").untilAsserted(() -> assertThat(api.all("Workload")).isEmpty());
    api.awaitUsage("0");
  }

  /** Workload lifecycle, section 10: nobody controls the Workload of a StatefulSet. */
  @Test
  void whatChecksSayIsToldAtTheStatefulSet(TestCluster cluster) {
    api.givenQueues(3);
    String check = cluster.name("capacity");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: "%s"}
        spec: {controllerName: example.test/checks}
        """
            .formatted(check));
    api.patchStatus(
        "AdmissionCheck",
        check,
        "{'status': {'conditions': [{'type': 'Active', 'status': 'True', 'reason': 'Active',"
            + " 'message': '', 'lastTransitionTime': '2026-03-01T10:00:00Z'}]}}");
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'spec': {'admissionChecksStrategy': {'admissionChecks': [{'name': '%s'}]}}}"
            .formatted(check));
    api.awaitCondition("ClusterQueue", cluster.name("cq"), "Active", "True Ready");
    api.serve("StatefulSet", "web", 3, PARALLEL);
    api.awaitPods(Map.of("Gated", 3));
    String name = api.workload().at("/metadata/name").asText();
    api.awaitCondition("Workload", name, "QuotaReserved", "True QuotaReserved");
    ServingApi.soon("the check")
        .untilAsserted(
            () ->
                assertThat(api.workload().at("/status/admissionChecks/0/state").asText())
                    .isEqualTo("Pending"));
    api.patchStatus(
        "Workload",
        name,
        ("{'status': {'admissionChecks': [{'name': '%s', 'state': 'Pending', 'message': 'nodes are"
                + " coming', 'lastTransitionTime': '2026-03-01T10:00:00Z'}]}}")
            .formatted(check));

    ServingApi.soon("what the check says")
        .untilAsserted(
            () ->
                assertThat(cluster.events())
                    .filteredOn(event -> event.getReason().equals("UpdatedAdmissionCheck"))
                    .extracting(event -> event.getRegarding().getName(), event -> event.getNote())
                    .containsExactly(tuple("web", check + ": nodes are coming")));
  }

  @Test
  void podsThatComeOneAfterTheOtherRunToo() {
    api.givenQueues(3);
    api.serve("StatefulSet", "web", 3, "");

    api.awaitPods(Map.of("Running", 3));
    api.awaitUsage("3");
  }

  @Test
  void scaledToZeroItGivesItsQuotaBackAndWaitsAnewWhenItIsScaledUp() {
    api.givenQueues(3);
    api.serve("StatefulSet", "web", 3, PARALLEL);
    api.awaitPods(Map.of("Running", 3));
    String name = api.workload().at("/metadata/name").asText();

    assertThatThrownBy(() -> api.patch("StatefulSet", "web", "{'spec':{'replicas':2}}"))
        .hasMessageContaining("spec.replicas");
    api.patch("StatefulSet", "web", "{'spec':{'replicas':0}}");
    api.awaitPods(Map.of());
    api.awaitCondition("Workload", name, "QuotaReserved", "False OnHold");
    api.awaitUsage("0");

    api.setQuota(1);
    api.patch("StatefulSet", "web", "{'spec':{'replicas':2}}");
    api.awaitPods(Map.of("Gated", 2));
    ServingApi.soon("the Workload of two pods")
        .untilAsserted(
            () ->
                assertThat(api.get("Workload", name).at("/spec/podSets/0/count").asInt())
                    .isEqualTo(2));
    api.setQuota(2);
    api.awaitPods(Map.of("Running", 2));
    api.awaitUsage("2");
    api.awaitCondition("Workload", name, "QuotaReserved", "True QuotaReserved");
  }

  @Test
  void moreReplicasByScaleStartWhereThereIsQuotaWhileTheOthersRunOn() {
    api.givenQueues(4);
    api.serve("StatefulSet", "web", 3, PARALLEL);
    api.awaitPods(Map.of("Running", 3));
    List<String> before = uids();

    api.scale("StatefulSet", "web", 4);

    api.awaitPods(Map.of("Running", 4));
    api.awaitUsage("4");
    assertThat(uids()).containsAll(before);
    assertThat(api.all("Workload")).hasSize(2);

    api.scale("StatefulSet", "web", 0);
    api.awaitPods(Map.of());
    api.awaitUsage("0");
    assertThat(api.all("Workload")).hasSize(1);
    api.scale("StatefulSet", "web", 3);
    api.awaitPods(Map.of("Running", 3));
  }

  @Test
  void moreReplicasByScaleWaitForQuotaWhileTheOthersRunOn() {
    api.givenQueues(3);
    api.serve("StatefulSet", "web", 3, PARALLEL);
    api.awaitPods(Map.of("Running", 3));
    String first = api.workload().at("/metadata/uid").asText();
    List<String> before = uids();

    api.scale("StatefulSet", "web", 5);

    api.awaitPods(Map.of("Running", 3, "Gated", 2));
    ServingApi.soon("a Workload of the added pods")
        .untilAsserted(
            () ->
                assertThat(api.all("Workload"))
                    .extracting(it -> it.at("/spec/podSets/0/count").asInt())
                    .containsExactlyInAnyOrder(3, 2));
    api.awaitUsage("3");

    api.scale("StatefulSet", "web", 4);
    api.awaitPods(Map.of("Running", 3, "Gated", 1));
    api.setQuota(4);
    api.awaitPods(Map.of("Running", 4));
    api.awaitUsage("4");
    assertThat(uids()).containsAll(before);
    assertThat(api.all("Workload"))
        .extracting(it -> it.at("/metadata/uid").asText())
        .contains(first);
  }

  @Test
  void fewerReplicasByScaleGiveQuotaBackWhileTheOthersRunOn() {
    api.givenQueues(4);
    api.serve("StatefulSet", "web", 4, PARALLEL);
    api.awaitPods(Map.of("Running", 4));
    String first = api.workload().at("/metadata/uid").asText();
    List<String> before = uids();

    api.scale("StatefulSet", "web", 2);

    api.awaitPods(Map.of("Running", 2));
    api.awaitUsage("2");
    assertThat(before).containsAll(uids());
    assertThat(api.workload().at("/metadata/uid").asText()).isEqualTo(first);

    api.setQuota(3);
    api.scale("StatefulSet", "web", 4);
    api.awaitPods(Map.of("Running", 2, "Gated", 2));
    api.setQuota(4);
    api.awaitPods(Map.of("Running", 4));
    api.awaitUsage("4");
  }

  private List<String> uids() {
    return api.all("Pod").stream().map(pod -> pod.at("/metadata/uid").asText()).toList();
  }

  @Test
  void aRolloutKeepsTheQuota() {
    api.givenQueues(2);
    api.serve("StatefulSet", "web", 2, PARALLEL);
    api.awaitPods(Map.of("Running", 2));
    String uid = api.workload().at("/metadata/uid").asText();

    api.patch(
        "StatefulSet", "web", "{'spec':{'template':{'metadata':{'annotations':{'version':'2'}}}}}");

    ServingApi.soon("the rollout")
        .untilAsserted(
            () -> {
              assertThat(api.pods()).isEqualTo(Map.of("Running", 2));
              assertThat(api.all("Pod"))
                  .allSatisfy(
                      pod ->
                          assertThat(pod.at("/metadata/annotations/version").asText())
                              .isEqualTo("2"));
            });
    assertThat(api.workload().at("/metadata/uid").asText()).isEqualTo(uid);
    api.awaitUsage("2");
  }

  @Test
  void aRolloutIsNotHeldUpByAPodThatWaits() {
    api.givenQueues(1);
    api.serve("StatefulSet", "web", 2, "");
    api.awaitPods(Map.of("Gated", 1));
    ServingApi.soon("the first revision is noted")
        .until(
            () -> !api.get("StatefulSet", "web").at("/status/currentRevision").asText().isEmpty());

    api.patch(
        "StatefulSet", "web", "{'spec':{'template':{'metadata':{'annotations':{'version':'2'}}}}}");

    ServingApi.soon("the new revision waits in place of the old one")
        .untilAsserted(
            () -> {
              assertThat(api.pods().getOrDefault("Gated", 0)).isPositive();
              assertThat(api.all("Pod"))
                  .filteredOn(ServingApi::isGated)
                  .allSatisfy(
                      pod ->
                          assertThat(pod.at("/metadata/annotations/version").asText())
                              .isEqualTo("2"));
            });
    api.setQuota(2);
    api.awaitPods(Map.of("Running", 2));
    api.awaitUsage("2");
  }

  /** The rollout waits for pods of the old revision, and nothing may run without quota. */
  @Test
  void podsOfTheOldRevisionLoseTheirGatesAloneAndAreStoppedWhileThoseOfTheNewOneWait(
      TestCluster cluster) {
    api.givenQueues(1);
    api.serve("StatefulSet", "web", 3, PARALLEL);
    api.awaitPods(Map.of("Gated", 3));
    String old = api.get("Pod", "web-0").at("/metadata/uid").asText();
    api.patch("Pod", "web-0", "{'metadata':{'finalizers':['kueue.x-k8s.io/managed']}}");
    ServingApi.soon("the first revision is noted")
        .until(
            () -> !api.get("StatefulSet", "web").at("/status/currentRevision").asText().isEmpty());
    List<JsonNode> released = new CopyOnWriteArrayList<>();
    try (WatchRecorder recorder =
        new WatchRecorder(
                cluster.client(),
                InstantSource.system(),
                change -> {
                  JsonNode pod = change.object();
                  if (pod.at("/metadata/uid").asText().equals(old)
                      && !ServingApi.isGated(pod)
                      && !pod.at("/metadata").has("deletionTimestamp")) {
                    released.add(pod);
                  }
                },
                Set.of(AuditedKind.POD))
            .start()) {

      api.patch(
          "StatefulSet",
          "web",
          "{'spec':{'template':{'metadata':{'annotations':{'version':'2'}}}}}");

      ServingApi.soon("the new ones wait, the old ones are gone")
          .untilAsserted(
              () -> {
                assertThat(api.pods()).isEqualTo(Map.of("Gated", 3));
                assertThat(api.all("Pod"))
                    .allSatisfy(
                        pod ->
                            assertThat(pod.at("/metadata/annotations/version").asText())
                                .isEqualTo("2"));
              });
      assertThat(released)
          .isNotEmpty()
          .allSatisfy(
              pod -> {
                assertThat(label(pod, "managed")).isEqualTo("true");
                assertThat(pod.at("/metadata/finalizers/0").asText())
                    .isEqualTo("kueue.x-k8s.io/managed");
              });
    }
    api.awaitUsage("0");

    api.setQuota(3);
    api.awaitPods(Map.of("Running", 3));
    api.awaitUsage("3");
  }

  /** No pod is ready, or the set could not be put into a queue. */
  @Test
  void podsOfASetThatIsPutIntoAQueueLaterDontRunWhileItWaits(TestCluster cluster) {
    api.givenQueues(1);
    try (SilentNode node = new SilentNode(cluster, "pool: none")) {
      cluster.applyText(
          """
          apiVersion: apps/v1
          kind: StatefulSet
          metadata: {name: web, namespace: "${namespace}"}
          spec:
            replicas: 2
            serviceName: web
            podManagementPolicy: Parallel
            selector: {matchLabels: {app: web}}
            template:
              metadata: {labels: {app: web}}
              spec:
                terminationGracePeriodSeconds: 1
                nodeSelector: {silent: %1$s}
                tolerations: [{key: silent, value: %1$s}]
                containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
          """
              .formatted(SilentNode.name(cluster)));
      ServingApi.soon("pods on the node")
          .untilAsserted(
              () ->
                  assertThat(api.all("Pod"))
                      .hasSize(2)
                      .allMatch(pod -> !pod.at("/spec/nodeName").asText().isEmpty()));
      List<String> before = uids();

      api.patch("StatefulSet", "web", "{'metadata':{'labels':{'kueue.x-k8s.io/queue-name':'lq'}}}");
      api.workload();

      ServingApi.soon("pods of before are stopped")
          .untilAsserted(() -> assertThat(running()).doesNotContainAnyElementsOf(before));
      node.endPods();
      ServingApi.soon("pods that wait")
          .untilAsserted(() -> assertThat(api.pods()).isEqualTo(Map.of("Gated", 2)));
    }
  }

  private List<String> running() {
    return api.all("Pod").stream()
        .filter(pod -> !pod.at("/metadata").has("deletionTimestamp"))
        .map(pod -> pod.at("/metadata/uid").asText())
        .toList();
  }

  @Test
  void whatIsSentBackStopsAndWaitsAnew() {
    api.givenQueues(2);
    api.serve("StatefulSet", "web", 2, PARALLEL);
    api.awaitPods(Map.of("Running", 2));
    String name = api.workload().at("/metadata/name").asText();

    api.patch("Workload", name, "{'spec':{'active':false}}");
    api.awaitPods(Map.of("Gated", 2));
    api.awaitUsage("0");

    api.patch("Workload", name, "{'spec':{'active':true}}");
    api.awaitPods(Map.of("Running", 2));
  }

  @Test
  void aWorkloadThatIsDeletedIsMadeAnew() {
    api.givenQueues(2);
    api.serve("StatefulSet", "web", 2, PARALLEL);
    api.awaitPods(Map.of("Running", 2));
    JsonNode first = api.workload();

    api.delete("Workload", first.at("/metadata/name").asText());

    ServingApi.soon("another Workload")
        .untilAsserted(
            () ->
                assertThat(api.workload().at("/metadata/uid").asText())
                    .isNotEqualTo(first.at("/metadata/uid").asText()));
    api.awaitPods(Map.of("Running", 2));
    api.awaitUsage("2");
  }

  @Test
  void whileItWaitsItMovesToAnotherQueue() {
    api.givenQueues(1);
    api.serve("StatefulSet", "web", 2, PARALLEL);
    api.awaitPods(Map.of("Gated", 2));
    String name = api.workload().at("/metadata/name").asText();

    api.patch(
        "StatefulSet", "web", "{'metadata':{'labels':{'kueue.x-k8s.io/queue-name':'other'}}}");

    ServingApi.soon("the other queue")
        .untilAsserted(
            () -> {
              assertThat(api.get("Workload", name).at("/spec/queueName").asText())
                  .isEqualTo("other");
              assertThat(api.all("Pod"))
                  .allSatisfy(pod -> assertThat(label(pod, "queue-name")).isEqualTo("other"));
            });
    api.setQuota(2);
    api.awaitPods(Map.of("Running", 2));
  }

  private static String label(JsonNode pod, String key) {
    return pod.at("/metadata/labels/kueue.x-k8s.io~1" + key).asText();
  }

  private static String annotation(JsonNode pod, String key) {
    return pod.at("/metadata/annotations/kueue.x-k8s.io~1" + key).asText();
  }
}

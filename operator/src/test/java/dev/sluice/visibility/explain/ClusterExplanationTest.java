package dev.sluice.visibility.explain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.visibility.explain.ExplainCommand.ClientApiReader;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@EnableKubernetesMockClient(crud = true)
class ClusterExplanationTest {

  private static final List<String> NOT_NAMESPACED = List.of("ClusterQueue", "MultiKueueCluster");

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void aWorkloadThatWaitsIsExplainedFromItsQueues() {
    queues();
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: first, namespace: team, uid: a, creationTimestamp: 2030-01-01T00:00:00Z}
        spec: {queueName: lq, priority: 5}
        """);
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: wl, namespace: team, uid: b, creationTimestamp: 2029-01-01T00:00:00Z}
        spec: {queueName: lq}
        status:
          conditions:
          - {type: QuotaReserved, status: "False", reason: WaitingForQuota, message: cpu is short,
             lastTransitionTime: 2029-01-01T00:00:05Z}
        """);

    assertThat(explanation().lines("team", "wl").orElseThrow())
        .startsWith(
            "Workload team/wl",
            "  LocalQueue lq of ClusterQueue cq",
            "  why: it waits for quota: cpu is short",
            "  QuotaReserved=False WaitingForQuota since 2029-01-01T00:00:05Z: cpu is short",
            "  position 2 of 2 in LocalQueue lq (1 is next), by priority and age",
            "  ClusterQueue Active=False Stopped since 2029-01-01T00:00:00Z: it is stopped",
            "  ClusterQueue cq has reserved 4 cpu of flavor spot, 1 of it borrowed");
  }

  @Test
  void whatHoldsTheQuotaIsNamed() {
    queues();
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: big, namespace: other, uid: c}
        spec: {queueName: lq2}
        status:
          admission:
            clusterQueue: cq
            podSetAssignments: [{name: main, resourceUsage: {cpu: 3500m, memory: 1Gi}}]
          conditions: [{type: QuotaReserved, status: "True", reason: QuotaReserved}]
        """);

    assertThat(explanation().lines("other", "big").orElseThrow())
        .containsExactly(
            "Workload other/big",
            "  LocalQueue lq2, holds quota of ClusterQueue cq",
            "  why: it holds quota of ClusterQueue cq and waits for admission checks: ",
            "  QuotaReserved=True QuotaReserved since an unknown time");
  }

  @ParameterizedTest
  @CsvSource({
    "False, False, WaitForStart, false",
    "True, False, WaitForStart, true",
    "True, True, Started, true",
    "True, False, WaitForRecovery, true",
  })
  void podsThatNobodyStartedAreNotToldOf(
      String admitted, String ready, String reason, boolean told) {
    queues();
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: some, namespace: other, uid: c}
        spec: {queueName: lq2}
        status:
          conditions:
          - {type: QuotaReserved, status: "%1$s"}
          - {type: Admitted, status: "%1$s"}
          - {type: PodsReady, status: "%2$s", reason: %3$s, message: about pods}
        """
            .formatted(admitted, ready, reason));

    assertThat(String.join("\n", explanation().lines("other", "some").orElseThrow()))
        .matches(text -> text.contains("PodsReady=" + ready + " " + reason) == told)
        .matches(text -> text.contains("about pods") == told);
  }

  @Test
  void whatHasToDoWithOtherClustersSaysWithWhich() {
    queues();
    String workload =
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: %s, namespace: other, uid: %s}
        spec: {queueName: lq2}
        status:
          admission: {clusterQueue: cq}
          %s
          admissionChecks: [{name: clusters, state: %s}]
          conditions: [{type: QuotaReserved, status: "True"}, {type: Admitted, status: "%s"}]
        """;
    apply(
        workload.formatted(
            "asked", "c", "nominatedClusterNames: [onsite, remote]", "Pending", "False"));
    apply(workload.formatted("sent", "d", "clusterName: remote", "Ready", "True"));

    assertThat(explanation().lines("other", "asked").orElseThrow())
        .contains(
            "  why: it holds quota of ClusterQueue cq and waits for admission checks: clusters is"
                + " Pending; it is offered to worker clusters onsite, remote, of which none has"
                + " admitted it yet");
    assertThat(explanation().lines("other", "sent").orElseThrow())
        .contains("  why: it is admitted by ClusterQueue cq, and runs in worker cluster remote");
  }

  @Test
  void whatEachWorkerClusterAnsweredHasALineOfItsOwn() {
    queues();
    for (String name : new String[] {"onsite", "remote"}) {
      apply(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: MultiKueueCluster
          metadata: {name: %s}
          spec: {clusterSource: {kubeConfig: {location: x}}}
          """
              .formatted(name));
    }
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: asked, namespace: other, uid: c}
        spec: {queueName: lq2}
        status:
          admission: {clusterQueue: cq}
          admissionChecks:
          - name: clusters
            state: Pending
            message: "onsite: waits for quota: cpu is short; memory, too; remote: not connected"
          conditions: [{type: QuotaReserved, status: "True"}]
        """);

    assertThat(explanation().lines("other", "asked").orElseThrow())
        .containsSequence(
            "  why: it holds quota of ClusterQueue cq and waits for admission checks: clusters is"
                + " Pending",
            "  worker cluster onsite: waits for quota: cpu is short; memory, too",
            "  worker cluster remote: not connected");
  }

  @Test
  void whoHoldsWhatItWantsIsNamedMostFirst() {
    queues();
    for (String holder : new String[] {"a: 1", "b: 3", "c: 2"}) {
      String[] parts = holder.split(": ");
      apply(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: Workload
          metadata: {name: %s, namespace: other, uid: %s}
          spec: {queueName: lq2}
          status:
            admission:
              clusterQueue: cq
              podSetAssignments: [{name: main, resourceUsage: {cpu: %s, memory: 1Gi}}]
            conditions: [{type: QuotaReserved, status: "True", reason: QuotaReserved}]
          """
              .formatted(parts[0], parts[0], parts[1]));
    }
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: wl, namespace: team, uid: w, creationTimestamp: 2029-01-01T00:00:00Z}
        spec: {queueName: lq}
        status:
          resourceRequests: [{name: main, resources: {cpu: "1"}}]
          conditions:
          - {type: QuotaReserved, status: "False", reason: WaitingForQuota, message: cpu is short}
        """);

    assertThat(explanation().lines("team", "wl").orElseThrow())
        .contains(
            "  why: it waits for quota: cpu is short; what it lacks is held by other/b (cpu 3),"
                + " other/c (cpu 2), other/a (cpu 1)",
            "  held by other/b in ClusterQueue cq: cpu 3");
  }

  @Test
  void missingQueuesAreNamed() {
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: lost, namespace: team, uid: d}
        spec: {queueName: nowhere}
        """);

    assertThat(explanation().lines("team", "lost").orElseThrow())
        .contains(
            "  LocalQueue nowhere does not exist in namespace team",
            "  no condition yet: it was not evaluated");
  }

  @Test
  void whoseLocalQueueUsedMoreIsToldSo() {
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: cq}
        spec: {admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}}
        """);
    localQueue("busy", "2", "6500m");
    localQueue("idle", "1", "1");
    localQueue("empty", "1", "0");
    waits("mine", "busy", 50);
    waits("first", "idle", 0);

    assertThat(explanation().lines("team", "mine").orElseThrow())
        .contains(
            "  why: it waits behind 1 other; the first is team/first, priority 0; LocalQueue"
                + " team/busy used more than LocalQueue team/idle, so that that one comes first",
            "  used over time, by weight: team/idle 1.000, team/busy 3.250");
    assertThat(explanation().lines("team", "first").orElseThrow())
        .contains("  why: it is next, and was not evaluated yet")
        .noneMatch(line -> line.contains("used over time"));
  }

  private void localQueue(String name, String weight, String cpu) {
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: %s, namespace: team}
        spec: {clusterQueue: cq, fairSharing: {weight: "%s"}}
        status: {fairSharing: {admissionFairSharingStatus: {consumedResources: {cpu: "%s"},
          lastUpdate: 2030-01-01T00:00:00Z}}}
        """
            .formatted(name, weight, cpu));
  }

  private void waits(String name, String queue, int priority) {
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: %s, namespace: team, uid: %s, creationTimestamp: 2030-01-01T00:00:00Z}
        spec: {queueName: %s, priority: %d}
        """
            .formatted(name, name, queue, priority));
  }

  @Test
  void aMissingWorkloadIsNone() {
    assertThat(explanation().lines("team", "none")).isEmpty();
  }

  @Test
  void whatHasFinishedHoldsNoQuota() {
    queues();
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: done, namespace: team, uid: e}
        spec: {queueName: lq}
        status:
          admission: {clusterQueue: cq}
          conditions:
          - {type: QuotaReserved, status: "True", reason: QuotaReserved}
          - {type: Finished, status: "True", reason: Succeeded, message: Job finished successfully}
        """);

    assertThat(explanation().lines("team", "done").orElseThrow())
        .startsWith(
            "Workload team/done",
            "  LocalQueue lq, had quota of ClusterQueue cq",
            "  why: it has finished: Succeeded, Job finished successfully");
  }

  private ClusterExplanation explanation() {
    return new ClusterExplanation(
        new ClientApiReader(client), () -> Instant.parse("2030-01-02T00:00:00Z"));
  }

  private void queues() {
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq, namespace: team}
        spec: {clusterQueue: cq}
        """);
    apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: cq}
        status:
          conditions:
          - {type: Active, status: "False", reason: Stopped, message: it is stopped,
             lastTransitionTime: 2029-01-01T00:00:00Z}
          flavorsReservation:
          - {name: spot, resources: [{name: cpu, total: "4", borrowed: "1"}]}
        """);
  }

  private void apply(String yaml) {
    GenericKubernetesResource object =
        Serialization.unmarshal(yaml, GenericKubernetesResource.class);
    String kind = object.getKind();
    String plural = kind.toLowerCase(Locale.ROOT) + "s";
    client
        .genericKubernetesResources(
            new ResourceDefinitionContext.Builder()
                .withGroup("kueue.x-k8s.io")
                .withVersion("v1beta2")
                .withKind(kind)
                .withPlural(plural)
                .withNamespaced(!NOT_NAMESPACED.contains(kind))
                .build())
        .resource(object)
        .create();
  }
}

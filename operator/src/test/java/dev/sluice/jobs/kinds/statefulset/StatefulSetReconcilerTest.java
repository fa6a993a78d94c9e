package dev.sluice.jobs.kinds.statefulset;

import static dev.sluice.jobs.kinds.statefulset.Given.pod;
import static dev.sluice.jobs.kinds.statefulset.Given.set;
import static dev.sluice.jobs.kinds.statefulset.Given.with;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.kinds.statefulset.StatefulSetController.StatefulSetReconciler;
import dev.sluice.jobs.kinds.statefulset.StatefulSetPolicy.ReplicaRanges;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is left to be done for a StatefulSet after a write of one of its Workloads. */
class StatefulSetReconcilerTest {

  private static final String NAME = "statefulset-web-0012b";
  private static final String RESERVED =
      """
      conditions:
      - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: "", lastTransitionTime: "2026-03-01T10:00:00Z"}
      admission:
        clusterQueue: pool
        podSetAssignments: [{name: main, flavors: {cpu: plain}, resourceUsage: {cpu: "3"}, count: 3}]
      """;

  private final ScriptedApi api = new ScriptedApi();
  private final KubernetesClient client =
      new KubernetesClientBuilder()
          .withConfig(new ConfigBuilder().withMasterUrl("http://127.0.0.1:1").build())
          .build();
  private final StatefulSetReconciler reconciler =
      new StatefulSetReconciler(
          api.context(
              client,
              new IntegrationRegistry(
                  BuiltInIntegrations.all(new PodIndex()), List.of("statefulset"), gate -> true)));

  @AfterEach
  void close() {
    client.close();
  }

  private static CachedStatefulSet replicas(int replicas) {
    return set(with("/spec/replicas", Integer.toString(replicas)));
  }

  /** The Workload of three replicas. */
  private static ObjectNode created() {
    GivenCluster cluster = GivenCluster.cluster();
    return new StatefulSetPolicy(JobOptions.defaults("kueue-system"))
            .decide(
                replicas(3),
                new ReconcileContext(
                    replicas(3).job(),
                    new ManagementStatus.Own(),
                    List.of(),
                    Optional.empty(),
                    cluster,
                    cluster,
                    GivenCluster.NOW),
                NAME,
                new ReplicaRanges(List.of(), List.of(), "", false, 0))
            .stream()
            .map(action -> ((CreateWorkload) action).workload())
            .findFirst()
            .orElseThrow();
  }

  @BeforeEach
  void givenAPodIsStored() {
    JobRef ref = pod().job().ref();
    api.objects.put(ref.kind().path(ref.namespace(), ref.name()), pod().job().object().deepCopy());
  }

  private Optional<Duration> reconcile(CachedStatefulSet set, CachedPod... pods)
      throws InterruptedException {
    return reconciler.reconcile(set, List.of(pods), () -> api.cached);
  }

  /** Such as by a quota of the namespace for the number of Workloads. */
  @Test
  void aReplacedPodJoinsItsGroupWhenAddedReplicasAreRefused() throws InterruptedException {
    api.cached.add(Given.workload(created(), with("/status", RESERVED)));
    api.workloadAnswers.add(new Outcome.Refused(403, "exceeded quota"));

    assertThat(reconcile(replicas(5), pod())).contains(Duration.ofSeconds(30));

    assertThat(api.calls)
        .satisfiesExactly(
            create -> assertThat(create).startsWith("create Workload statefulset-web-"),
            pod -> assertThat(pod).startsWith("patch Pod team/web-0 ").contains(NAME));
  }

  @Test
  void podsWaitUntilTheChangeOfTheirWorkloadIsSeen() throws InterruptedException {
    api.cached.add(Given.workload(created(), with("/status", RESERVED)));

    assertThat(reconcile(replicas(5), pod())).contains(Duration.ofSeconds(1));

    assertThat(api.calls).singleElement().asString().startsWith("create Workload ");
  }

  @Test
  void podsJoinNothingThatCouldNotBeMade() throws InterruptedException {
    api.workloadAnswers.add(new Outcome.Refused(403, "exceeded quota"));

    assertThat(reconcile(replicas(3), pod())).contains(Duration.ofSeconds(30));

    assertThat(api.calls).containsExactly("create Workload " + NAME);
  }

  @Test
  void podsDoNotJoinTheWorkloadOfSomebodyElse() throws InterruptedException {
    api.cached.add(
        Given.workload(
            created(), with("/metadata/annotations/kueue.x-k8s.io~1is-group-workload", "null")));

    assertThat(reconcile(replicas(3), pod())).contains(Duration.ofSeconds(5));

    assertThat(api.calls).isEmpty();
    assertThat(api.events).containsExactly("Warning WorkloadNameConflict");
  }

  @Test
  void anInvalidWorkloadIsToldOfOnce() throws InterruptedException {
    api.cached.add(Given.workload(created(), with("/status", RESERVED)));
    api.invalid = List.of("spec.podSets[0]: Invalid value: 1: rule");

    assertThat(reconcile(replicas(5), pod())).isEmpty();

    assertThat(api.calls).singleElement().asString().startsWith("patch Pod team/web-0 ");
    assertThat(api.events).containsExactly("Warning ErrWorkloadCompose");
  }

  /** It is told of a set without pods, and somebody has scaled it up since. */
  @Test
  void aPodOfSomebodyElseWithTheNameOfOneOfTheSetHoldsNoQuota() throws InterruptedException {
    api.cached.add(Given.workload(created(), with("/status", RESERVED)));
    api.objects
        .values()
        .forEach(pod -> ((ObjectNode) pod.path("metadata")).remove("ownerReferences"));
    CachedStatefulSet scaledDown =
        set(
            with("/spec/replicas", "0"),
            with("/status", "{replicas: 0, currentRevision: web-1, updateRevision: web-1}"));

    assertThat(reconcile(scaledDown)).contains(Duration.ofSeconds(1));
    assertThat(api.calls).containsExactly("patch status of Workload " + NAME);
  }

  @Test
  void theQuotaOfPodsThatAreThereIsNotGivenBack() throws InterruptedException {
    api.cached.add(Given.workload(created(), with("/status", RESERVED)));
    CachedStatefulSet scaledDown =
        set(
            with("/spec/replicas", "0"),
            with("/status", "{replicas: 0, currentRevision: web-1, updateRevision: web-1}"));

    assertThat(reconcile(scaledDown)).contains(Duration.ofSeconds(1));
    assertThat(api.calls).isEmpty();

    api.objects.clear();
    assertThat(reconcile(scaledDown)).contains(Duration.ofSeconds(1));
    assertThat(api.calls).containsExactly("patch status of Workload " + NAME);
  }
}

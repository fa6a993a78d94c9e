package dev.sluice.jobs.kinds.leaderworkerset;

import static dev.sluice.jobs.kinds.leaderworkerset.GivenSet.pod;
import static dev.sluice.jobs.kinds.leaderworkerset.GivenSet.set;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSetController.LeaderWorkerSetPolicy;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSetController.LeaderWorkerSetReconciler;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets.CachedLeaderWorkerSet;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.PodIndex;
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
import org.junit.jupiter.api.Test;

/** What is left to be done for a LeaderWorkerSet after a write of one of its Workloads. */
class LeaderWorkerSetReconcilerTest {

  private final ScriptedApi api = new ScriptedApi();
  private final KubernetesClient client =
      new KubernetesClientBuilder()
          .withConfig(new ConfigBuilder().withMasterUrl("http://127.0.0.1:1").build())
          .build();
  private final LeaderWorkerSetReconciler reconciler =
      new LeaderWorkerSetReconciler(
          api.context(
              client,
              new IntegrationRegistry(
                  BuiltInIntegrations.all(new PodIndex()),
                  List.of("leaderworkerset.x-k8s.io/leaderworkerset"),
                  gate -> true)));
  private final LeaderWorkerSetPolicy policy =
      new LeaderWorkerSetPolicy(JobOptions.defaults("kueue-system"));

  @AfterEach
  void close() {
    client.close();
  }

  private static CachedLeaderWorkerSet groups(int number) {
    return set("{spec: {replicas: %d}}".formatted(number));
  }

  /** The Workloads of this many groups exist. */
  private void givenWorkloads(int groups, String changes) {
    GivenCluster cluster = GivenCluster.cluster();
    CachedLeaderWorkerSet set = groups(groups);
    policy
        .decide(
            set,
            new ReconcileContext(
                set.job(),
                new ManagementStatus.Own(),
                List.of(),
                Optional.empty(),
                cluster,
                cluster,
                GivenCluster.NOW),
            List.of(),
            name -> Optional.empty())
        .forEach(
            action ->
                api.cached.add(GivenSet.workload(((CreateWorkload) action).workload(), changes)));
  }

  private Optional<Duration> reconcile(CachedLeaderWorkerSet set, CachedPod... pods)
      throws InterruptedException {
    for (CachedPod pod : pods) {
      JobRef ref = pod.job().ref();
      api.objects.put(ref.kind().path(ref.namespace(), ref.name()), pod.job().object().deepCopy());
    }
    return reconciler.reconcile(set, List.of(pods), () -> api.cached);
  }

  private String name(int group) {
    return policy.nameOf(groups(1), group);
  }

  /** Such as by a quota of the namespace for the number of Workloads. */
  @Test
  void podsOfTheOtherGroupsStartWhenTheWorkloadOfOneIsRefused() throws InterruptedException {
    givenWorkloads(2, "{}");
    api.workloadAnswers.add(new Outcome.Refused(403, "exceeded quota"));

    assertThat(reconcile(groups(4), pod(0, 0, "{}"), pod(1, 1, "{}"), pod(2, 0, "{}")))
        .contains(Duration.ofSeconds(30));

    assertThat(api.calls)
        .satisfiesExactly(
            create -> assertThat(create).isEqualTo("create Workload " + name(2)),
            first -> assertThat(first).startsWith("patch Pod team/lws-0 ").contains(name(0)),
            second -> assertThat(second).startsWith("patch Pod team/lws-1-1 ").contains(name(1)));
  }

  @Test
  void anInvalidWorkloadIsToldOfOnce() throws InterruptedException {
    givenWorkloads(1, "{}");
    api.invalid = List.of("spec.podSets[0]: Invalid value: 1: rule");

    assertThat(reconcile(groups(2), pod(0, 0, "{}"))).isEmpty();

    assertThat(api.calls).singleElement().asString().startsWith("patch Pod team/lws-0 ");
    assertThat(api.events).containsExactly("Warning ErrWorkloadCompose");
  }

  @Test
  void otherChangesGoOnAndPodsWaitUntilTheyAreSeen() throws InterruptedException {
    givenWorkloads(3, "{spec: {queueName: other}}");
    api.workloadAnswers.add(new Outcome.Refused(403, "protected"));

    assertThat(reconcile(groups(3), pod(0, 0, "{}"))).contains(Duration.ofSeconds(1));

    assertThat(api.calls)
        .containsExactly(
            "patch Workload " + name(0), "patch Workload " + name(1), "patch Workload " + name(2));
  }

  @Test
  void podsDoNotJoinTheWorkloadOfSomebodyElse() throws InterruptedException {
    givenWorkloads(1, "{metadata: {annotations: {kueue.x-k8s.io/is-group-workload: null}}}");

    assertThat(reconcile(groups(1), pod(0, 0, "{}"))).isEmpty();

    assertThat(api.calls).isEmpty();
    assertThat(api.events).containsExactly("Warning WorkloadNameConflict");
  }

  @Test
  void oneWarningIsEnoughForAllGroups() throws InterruptedException {
    CachedLeaderWorkerSet set =
        set(
            "{metadata: {labels: {kueue.x-k8s.io/priority-class: no-such},"
                + " creationTimestamp: \"2020-01-01T00:00:00Z\"}, spec: {replicas: 3}}");

    assertThat(reconcile(set)).contains(Duration.ofSeconds(5));

    assertThat(api.events).containsExactly("Warning WorkloadPriorityClassNotFound");
  }
}

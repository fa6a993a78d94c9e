package dev.sluice.jobs.kinds.pod;

import static dev.sluice.jobs.kinds.pod.GivenGroupWorkload.workload;
import static dev.sluice.jobs.kinds.pod.GivenPod.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.pod.PodController.PodGroupReconciler;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The watch of pods is silent: what it told is older than what the API server has. */
class PodGroupReconcilerTest {

  private final ScriptedApi api = new ScriptedApi();
  private final PodIndex index = new PodIndex();
  private final KubernetesClient client =
      new KubernetesClientBuilder()
          .withConfig(new ConfigBuilder().withMasterUrl("http://127.0.0.1:1").build())
          .build();
  private final PodGroupReconciler reconciler =
      new PodGroupReconciler(
          index,
          api.context(
              client,
              new IntegrationRegistry(
                  BuiltInIntegrations.all(index), List.of("pod"), gate -> true)));

  @AfterEach
  void close() {
    client.close();
  }

  /** Known in one state, and stored in another. */
  private void given(GivenPod known, GivenPod stored) {
    index.put(known.view());
    JobRef ref = stored.view().job().ref();
    api.objects.put(ref.kind().path(ref.namespace(), ref.name()), stored.object());
  }

  private void givenAnEvictedWorkload() {
    api.cached.add(
        workload("worker", 2)
            .ownedBy(member("a", 2), member("b", 2))
            .admitted("spot")
            .evicted("Preempted", "for another one")
            .get());
  }

  @Test
  void theQuotaOfPodsThatHaveStartedIsKept() throws InterruptedException {
    givenAnEvictedWorkload();
    given(member("a", 2), member("a", 2).running());
    given(member("b", 2), member("b", 2));

    assertThat(reconciler.reconcile("team", "sample")).contains(Duration.ofSeconds(1));

    assertThat(api.calls).as("until the watch tells of it, and it is stopped").isEmpty();
  }

  @Test
  void theQuotaOfPodsThatWaitOrAreGoneIsGivenBack() throws InterruptedException {
    givenAnEvictedWorkload();
    given(member("a", 2), member("a", 2));
    index.put(member("b", 2).view());

    reconciler.reconcile("team", "sample");

    assertThat(api.calls).containsExactly("patch status of Workload sample");
  }

  @Test
  void aWorkloadThatIsDeletedStaysUntilThePodsHaveStopped() throws InterruptedException {
    api.cached.add(workload("worker", 1).ownedBy(member("a", 1)).admitted("spot").deleting().get());
    given(member("a", 1), member("a", 1).running());

    assertThat(reconciler.reconcile("team", "sample")).contains(Duration.ofSeconds(1));

    assertThat(api.calls).isEmpty();
  }
}

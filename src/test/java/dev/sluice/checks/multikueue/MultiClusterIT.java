package dev.sluice.checks.multikueue;

import static dev.sluice.checks.multikueue.MultiClusterFixture.NAMESPACE;
import static dev.sluice.checks.multikueue.MultiClusterFixture.apply;
import static dev.sluice.checks.multikueue.MultiClusterFixture.eventually;
import static dev.sluice.checks.multikueue.MultiClusterFixture.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.Isolated;

/** Jobs of the scenario of many clusters: one manager, two workers, an operator in each. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Isolated("needs the processors for itself")
class MultiClusterIT {

  private static final List<String> WORKERS = List.of("onsite", "remote");

  private final Map<String, Seen> seen = new TreeMap<>();
  private final List<AutoCloseable> watches = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // made before all tests
  private MultiClusterFixture clusters;

  @SuppressWarnings("NullAway.Init") // made before all tests
  private KubernetesClient manager;

  /** The last status of each job that was seen in a cluster. */
  private static final class Seen implements ResourceEventHandler<Job> {
    private final Map<String, Job> jobs = new ConcurrentHashMap<>();
    private final Set<String> active = ConcurrentHashMap.newKeySet();

    @Override
    public void onAdd(Job job) {
      note(job);
    }

    @Override
    public void onUpdate(Job before, Job after) {
      note(after);
    }

    @Override
    public void onDelete(Job job, boolean unknown) {
      note(job);
    }

    private void note(Job job) {
      jobs.put(job.getMetadata().getName(), job);
      JobStatus status = job.getStatus();
      if (status != null && status.getActive() != null && status.getActive() > 0) {
        active.add(job.getMetadata().getName());
      }
    }
  }

  @BeforeAll
  void start(ControlPlane controlPlane, TestCluster cluster) throws Exception {
    manager = cluster.client();
    clusters = new MultiClusterFixture(manager);
    clusters.operator(
        "manager",
        cluster.kubeconfig(),
        controlPlane.logs(),
        "multiKueue: {workerLostTimeout: 10s, gcInterval: 5s}\n");
    for (String name : WORKERS) {
      KubernetesClient worker = clusters.joinAndOperate(name).client();
      apply(worker, text("/scenarios/multi-cluster/" + name + "/setup.yaml"));
      watch(name, worker);
    }
    FakeNodes.of(NodeGroup.plentiful("gpu", 1).withCapacity("nvidia.com/gpu", "8"))
        .forEach(node -> clusters.worker("remote").resource(node).create());
    apply(manager, text("/scenarios/multi-cluster/manager/setup.yaml"));
    watch("manager", manager);
    clusters.awaitConnected(2);
  }

  private void watch(String name, KubernetesClient client) {
    Seen jobs = new Seen();
    seen.put(name, jobs);
    watches.add(client.batch().v1().jobs().inNamespace(NAMESPACE).inform(jobs));
  }

  @AfterAll
  void stop() throws Exception {
    for (AutoCloseable each : watches) {
      each.close();
    }
    clusters.close();
  }

  private Seen seen(String name) {
    return Objects.requireNonNull(seen.get(name), name);
  }

  private void awaitComplete(String name) {
    eventually(
        () ->
            assertThat(clusters.job(name).getStatus().getConditions())
                .anySatisfy(
                    condition -> {
                      assertThat(condition.getType()).isEqualTo("Complete");
                      assertThat(condition.getStatus()).isEqualTo("True");
                    }));
  }

  /** The clusters in which the job ever had pods. */
  private List<String> ranIn(String name) {
    return WORKERS.stream().filter(each -> seen(each).active.contains(name)).toList();
  }

  private void awaitNothingLeft(String name) {
    eventually(
        () -> {
          for (KubernetesClient worker : WORKERS.stream().map(clusters::worker).toList()) {
            assertThat(worker.batch().v1().jobs().inNamespace(NAMESPACE).withName(name).get())
                .isNull();
            assertThat(worker.resources(Workload.class).inNamespace(NAMESPACE).list().getItems())
                .noneMatch(
                    it ->
                        it.getMetadata()
                            .getName()
                            .equals(clusters.workload(name).getMetadata().getName()));
            assertThat(
                    worker
                        .pods()
                        .inNamespace(NAMESPACE)
                        .withLabel("job-name", name)
                        .list()
                        .getItems())
                .isEmpty();
          }
        });
  }

  private void ranWhole(String name, int pods, List<String> allowed) {
    awaitComplete(name);
    assertThat(ranIn(name)).hasSize(1).isSubsetOf(allowed);
    assertThat(clusters.job(name).getStatus().getSucceeded()).isEqualTo(pods);
    assertThat(seen("manager").active).contains(name);
    eventually(
        () ->
            assertThat(clusters.job(name).getStatus())
                .isEqualTo(
                    Objects.requireNonNull(seen(ranIn(name).getFirst()).jobs.get(name))
                        .getStatus()));
    assertThat(manager.pods().inNamespace(NAMESPACE).list().getItems()).isEmpty();
    awaitNothingLeft(name);
  }

  @Test
  void jobsRunWholeWhereThereIsRoomAndNothingOfThemIsLeft() {
    apply(manager, text("/scenarios/multi-cluster/jobs/01-small.yaml"));
    ranWhole("small", 2, List.of("onsite", "remote"));

    apply(manager, text("/scenarios/multi-cluster/jobs/02-large.yaml"));
    ranWhole("too-big-for-site", 16, List.of("remote"));

    apply(manager, text("/scenarios/multi-cluster/jobs/03-gpu.yaml"));
    ranWhole("needs-gpus", 2, List.of("remote"));
  }

  private void submit(String name, String runFor) {
    apply(
        manager,
        text("/scenarios/multi-cluster/jobs/01-small.yaml")
            .replace("name: small", "name: " + name)
            .replace(
                "  template:\n",
                "  template:\n    metadata: {annotations: {sluice.dev/run-for: "
                    + runFor
                    + "}}\n"));
    eventually(() -> assertThat(clusters.job(name).getStatus().getActive()).isEqualTo(2));
  }

  private void activate(String job, boolean active) {
    manager
        .resource(clusters.workload(job))
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"active\":" + active + "}}");
  }

  @Test
  void aJobThatIsSentBackHereStopsThereAndRunsAgainWhenItMay() {
    submit("paused", "12s");

    activate("paused", false);

    eventually(
        () -> {
          assertThat(clusters.job("paused").getSpec().getSuspend()).isTrue();
          assertThat(clusters.job("paused").getStatus().getActive()).isNull();
          assertThat(clusters.workload("paused").getStatus().admission()).isNull();
        });
    awaitNothingLeft("paused");

    activate("paused", true);
    awaitComplete("paused");
    assertThat(clusters.job("paused").getStatus().getSucceeded()).isEqualTo(2);
    awaitNothingLeft("paused");
  }

  @Test
  void aJobOfALostWorkerRunsElsewhereAndOnlyThereOnceTheWorkerIsBack() {
    submit("survivor", "25s");
    String first = clusters.cluster("survivor");
    String other = first.equals("onsite") ? "remote" : "onsite";

    clusters.control(first).controlPlane().crash(Program.API_SERVER);

    eventually(() -> assertThat(clusters.cluster("survivor")).isEqualTo(other));
    eventually(() -> assertThat(ranIn("survivor")).contains(other));
    clusters.control(first).controlPlane().startAgain(Program.API_SERVER);
    clusters.awaitConnected(2);
    awaitComplete("survivor");
    assertThat(clusters.job("survivor").getStatus().getSucceeded()).isEqualTo(2);
    awaitNothingLeft("survivor");
  }
}

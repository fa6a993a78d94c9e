package dev.sluice.checks.multikueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.api.v1beta2.Workload;
import dev.sluice.cli.controlplane.ControlPlane;
import dev.sluice.cli.controlplane.NodeGroup;
import dev.sluice.cli.controlplane.PlayedNodes;
import dev.sluice.cli.controlplane.binaries.Program;
import dev.sluice.cli.process.OperatorProcess;
import dev.sluice.cli.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.FurtherControlPlane;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.core.ThrowingRunnable;
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

  private static final Duration LIMIT = Duration.ofSeconds(120);
  private static final String NAMESPACE = "physics";

  private final Map<String, FurtherControlPlane> workers = new TreeMap<>();
  private final Map<String, Seen> seen = new TreeMap<>();
  private final List<AutoCloseable> opened = new ArrayList<>();

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
    operator(
        "manager",
        cluster.kubeconfig(),
        controlPlane.logs(),
        "multiKueue: {workerLostTimeout: 10s, gcInterval: 5s}\n");
    for (String name : List.of("onsite", "remote")) {
      FurtherControlPlane worker = FurtherControlPlane.start(name);
      workers.put(name, worker);
      opened.add(worker);
      operator(name, worker.controlPlane().kubeconfig(), worker.controlPlane().logs(), "");
      apply(worker.client(), "/scenarios/multi-cluster/" + name + "/setup.yaml");
      manager
          .resource(
              new SecretBuilder()
                  .withNewMetadata()
                  .withName(name + "-kubeconfig")
                  .withNamespace("kueue-system")
                  .endMetadata()
                  .withStringData(Map.of("kubeconfig", worker.kubeconfig()))
                  .build())
          .create();
      watch(name, worker.client());
    }
    PlayedNodes.of(NodeGroup.plentiful("gpu", 1).withCapacity("nvidia.com/gpu", "8"))
        .forEach(node -> worker("remote").resource(node).create());
    apply(manager, "/scenarios/multi-cluster/manager/setup.yaml");
    watch("manager", manager);
    awaitConnected();
  }

  private void operator(String name, Path kubeconfig, Path logs, String settings) {
    opened.add(
        OperatorProcess.start(
                name,
                kubeconfig,
                OperatorSettings.onFreePorts(new SecureRandom()).with(settings),
                logs,
                List.of())
            .awaitReady());
  }

  private void watch(String name, KubernetesClient client) {
    Seen jobs = new Seen();
    seen.put(name, jobs);
    opened.add(client.batch().v1().jobs().inNamespace(NAMESPACE).inform(jobs));
  }

  private void awaitConnected() {
    eventually(
        () ->
            assertThat(manager.resources(MultiKueueCluster.class).list().getItems())
                .hasSize(2)
                .allSatisfy(
                    each -> {
                      assertThat(each.getStatus()).isNotNull();
                      assertThat(each.getStatus().conditions().getFirst().getStatus())
                          .isEqualTo("True");
                    }));
  }

  @AfterAll
  void stop() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  private FurtherControlPlane control(String name) {
    return Objects.requireNonNull(workers.get(name), name);
  }

  private Seen seen(String name) {
    return Objects.requireNonNull(seen.get(name), name);
  }

  private KubernetesClient worker(String name) {
    return control(name).client();
  }

  private static List<HasMetadata> apply(KubernetesClient client, String resource) {
    return applyText(client, text(resource));
  }

  private static List<HasMetadata> applyText(KubernetesClient client, String yaml) {
    return client
        .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
        .serverSideApply();
  }

  private static String text(String resource) {
    try (InputStream in = MultiClusterIT.class.getResourceAsStream(resource)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void eventually(ThrowingRunnable assertion) {
    await().atMost(LIMIT).pollInterval(Duration.ofMillis(250)).untilAsserted(assertion);
  }

  private Job local(String name) {
    return manager.batch().v1().jobs().inNamespace(NAMESPACE).withName(name).require();
  }

  private Workload workload(String job) {
    return manager.resources(Workload.class).inNamespace(NAMESPACE).list().getItems().stream()
        .filter(it -> it.getMetadata().getOwnerReferences().getFirst().getName().equals(job))
        .findFirst()
        .orElseThrow();
  }

  private String cluster(String job) {
    Workload workload = workload(job);
    String name = workload.getStatus() == null ? null : workload.getStatus().clusterName();
    return name == null ? "" : name;
  }

  private void awaitComplete(String name) {
    eventually(
        () ->
            assertThat(local(name).getStatus().getConditions())
                .anySatisfy(
                    condition -> {
                      assertThat(condition.getType()).isEqualTo("Complete");
                      assertThat(condition.getStatus()).isEqualTo("True");
                    }));
  }

  /** The clusters in which the job ever had pods. */
  private List<String> ranIn(String name) {
    return workers.keySet().stream().filter(each -> seen(each).active.contains(name)).toList();
  }

  private void awaitNothingLeft(String name) {
    eventually(
        () -> {
          for (KubernetesClient worker :
              workers.values().stream().map(it -> it.client()).toList()) {
            assertThat(worker.batch().v1().jobs().inNamespace(NAMESPACE).withName(name).get())
                .isNull();
            assertThat(worker.resources(Workload.class).inNamespace(NAMESPACE).list().getItems())
                .noneMatch(
                    it ->
                        it.getMetadata().getName().equals(workload(name).getMetadata().getName()));
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
    assertThat(local(name).getStatus().getSucceeded()).isEqualTo(pods);
    assertThat(seen("manager").active).contains(name);
    eventually(
        () ->
            assertThat(local(name).getStatus())
                .isEqualTo(
                    Objects.requireNonNull(seen(ranIn(name).getFirst()).jobs.get(name))
                        .getStatus()));
    assertThat(manager.pods().inNamespace(NAMESPACE).list().getItems()).isEmpty();
    awaitNothingLeft(name);
  }

  @Test
  void jobsRunWholeWhereThereIsRoomAndNothingOfThemIsLeft() {
    apply(manager, "/scenarios/multi-cluster/jobs/01-small.yaml");
    ranWhole("small", 2, List.of("onsite", "remote"));

    apply(manager, "/scenarios/multi-cluster/jobs/02-large.yaml");
    ranWhole("too-big-for-site", 16, List.of("remote"));

    apply(manager, "/scenarios/multi-cluster/jobs/03-gpu.yaml");
    ranWhole("needs-gpus", 2, List.of("remote"));
  }

  private void submit(String name, String runFor) {
    applyText(
        manager,
        text("/scenarios/multi-cluster/jobs/01-small.yaml")
            .replace("name: small", "name: " + name)
            .replace(
                "  template:\n",
                "  template:\n    metadata: {annotations: {sluice.dev/run-for: "
                    + runFor
                    + "}}\n"));
    eventually(() -> assertThat(local(name).getStatus().getActive()).isEqualTo(2));
  }

  private void activate(String job, boolean active) {
    manager
        .resource(workload(job))
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"active\":" + active + "}}");
  }

  @Test
  void aJobThatIsSentBackHereStopsThereAndRunsAgainWhenItMay() {
    submit("paused", "12s");

    activate("paused", false);

    eventually(
        () -> {
          assertThat(local("paused").getSpec().getSuspend()).isTrue();
          assertThat(local("paused").getStatus().getActive()).isNull();
          assertThat(workload("paused").getStatus().admission()).isNull();
        });
    awaitNothingLeft("paused");

    activate("paused", true);
    awaitComplete("paused");
    assertThat(local("paused").getStatus().getSucceeded()).isEqualTo(2);
    awaitNothingLeft("paused");
  }

  @Test
  void aJobOfALostWorkerRunsElsewhereAndOnlyThereOnceTheWorkerIsBack() {
    submit("survivor", "25s");
    String first = cluster("survivor");
    String other = first.equals("onsite") ? "remote" : "onsite";

    control(first).controlPlane().crash(Program.API_SERVER);

    eventually(() -> assertThat(cluster("survivor")).isEqualTo(other));
    eventually(() -> assertThat(ranIn("survivor")).contains(other));
    control(first).controlPlane().startAgain(Program.API_SERVER);
    awaitConnected();
    awaitComplete("survivor");
    assertThat(local("survivor").getStatus().getSucceeded()).isEqualTo(2);
    awaitNothingLeft("survivor");
  }
}

package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import dev.sluice.webhooks.registration.WebhookRegistration;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A cluster whose operator is exchanged (docs/switching.md): what another operator of the API left
 * in the store is taken over, nothing that runs is disturbed, and the way back is open. {@code
 * -Dsluice.switching=N} says how many Jobs run, and how many wait; profile nightly takes 1,000.
 */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {
      "--enable-aggregator-routing=true",
      StoreHistory.AS_JSON,
      StoreHistory.KEPT
    })
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class SwitchingIT {

  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final int JOBS = Integer.getInteger("sluice.switching", 40);
  private static final int AT_A_TIME = 8;

  private static final int IMPORTED = ImportedWork.COUNT;

  private static final int DEVICE_JOBS = Math.max(4, JOBS / 10);

  /** So many more CPUs the pool gets at a time. */
  private static final int STEP = 10;

  private static final int STEPS = 3;

  private static final PatchContext DRY_MERGE =
      new PatchContext.Builder()
          .withPatchType(PatchType.JSON_MERGE)
          .withDryRun(List.of("All"))
          .build();
  private static final List<String> CLASSES = List.of("low", "usual", "urgent");
  private static final Comparator<GenericKubernetesResource> QUEUE_ORDER =
      Comparator.<GenericKubernetesResource, Long>comparing(
              workload -> -Long.parseLong(workload.get("spec", "priority").toString()))
          .thenComparing(workload -> workload.getMetadata().getCreationTimestamp())
          .thenComparing(workload -> workload.getMetadata().getUid());

  @SuppressWarnings("NullAway.Init") // set before all tests
  private ShippedOperator operator;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private SwitchedCluster switched;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Map<String, String> podsBefore;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private List<String> queueBefore;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private DeviceJobs deviceJobs;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Map<String, JsonNode> devicesBefore;

  @BeforeAll
  void leaveAClusterBehind(@TempDir Path directory, TestCluster cluster) throws Exception {
    switched = new SwitchedCluster(cluster);
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name("node"), 1 + JOBS / 500).withLabel("pool", "spot"));
    EarlierOperator earlier = new EarlierOperator(cluster);
    earlier.definitionsAndQueues(JOBS + IMPORTED);
    List<Task> tasks = new ArrayList<>();
    for (int i = 0; i < JOBS; i++) {
      String name = "%04d".formatted(i);
      String priorityClass = CLASSES.get(i * 7 % CLASSES.size());
      tasks.add(() -> earlier.running("runs-" + name, priorityClass, "10h"));
      tasks.add(() -> earlier.pending("waits-" + name, priorityClass));
    }
    tasks.add(() -> earlier.deactivated("deactivated"));
    tasks.add(() -> earlier.backingOff("backs-off"));
    inParallel(tasks);
    deviceJobs = new DeviceJobs(cluster, DEVICE_JOBS);
    deviceJobs.run(earlier);
    ImportedWork work = new ImportedWork(cluster);
    work.run();
    int pods = JOBS + IMPORTED + 1 + deviceJobs.pods();
    await().atMost(LIMIT).until(() -> switched.runningPods().size() == pods);
    work.takeIn(directory);
    assertThat(switched.admitted("pod-bare-")).hasSize(1);
    podsBefore = switched.runningPods();
    devicesBefore = deviceJobs.admissions();
    queueBefore =
        earlier.workloads().stream()
            .filter(workload -> workload.getMetadata().getName().startsWith("job-waits-"))
            .sorted(QUEUE_ORDER)
            .map(workload -> workload.getMetadata().getName())
            .toList();
    assertThat(queueBefore).hasSize(JOBS);
    earlier.registrationsAndLease();
    operator = new ShippedOperator(cluster, directory);
    operator.start(DeviceJobs.CONFIGURATION);
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(operator.isAlive()).as(log()).isTrue();
              assertThat(log()).contains("operator leading=true");
            });
  }

  @AfterAll
  void end() {
    // the set-up may have failed before they were there
    Optional.ofNullable(operator).ifPresent(ShippedOperator::close);
  }

  private interface Task {
    void run() throws IOException;
  }

  private static void inParallel(List<Task> tasks) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME)) {
      List<Future<?>> ends = new ArrayList<>();
      for (Task task : tasks) {
        ends.add(
            threads.submit(
                () -> {
                  task.run();
                  return task;
                }));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    }
  }

  @Test
  @Order(1)
  void nothingIsRestartedAndTheQueueIsWhatItWas(ControlPlane controlPlane, TestCluster cluster) {
    await()
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .untilAsserted(
            () -> assertThat(switched.waiting()).as(log()).containsExactlyElementsOf(queueBefore));
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              JsonNode status = switched.pool().path("status");
              assertThat(status.path("admittedWorkloads").asInt())
                  .as(log())
                  .isEqualTo(JOBS + IMPORTED);
              assertThat(status.path("reservingWorkloads").asInt()).isEqualTo(JOBS + IMPORTED);
              // with or without the one that backs off
              assertThat(status.path("pendingWorkloads").asInt()).isBetween(JOBS, JOBS + 1);
              assertThat(status.at("/flavorsReservation/0/resources/0/total").asInt())
                  .isEqualTo(JOBS + IMPORTED);
            });
    assertThat(switched.admitted("job-waits-")).as("the pool is full").isEmpty();

    for (int step = 1; step <= STEPS; step++) {
      int more = step * STEP;
      switched.setQuota(Integer.toString(JOBS + IMPORTED + more));
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(switched.admitted("job-waits-"))
                      .as(log())
                      .containsExactlyInAnyOrderElementsOf(queueBefore.subList(0, more)));
    }
    // and the pod that no queue knows
    int pods = running() + 1 + deviceJobs.pods();
    await().atMost(LIMIT).until(() -> switched.runningPods().size() == pods);
    new SwitchingVerdict(switched, podsBefore, running())
        .judge(new StoreHistory(controlPlane.store()).changes());
  }

  @Test
  @Order(2)
  void devicesAreChargedAsBeforeAndGivenBack(ControlPlane controlPlane) {
    deviceJobs.areChargedAsBeforeAndGivenBack(devicesBefore);
    DeviceJobs.wereNeverEvicted(new StoreHistory(controlPlane.store()).changes());
  }

  @Test
  @Order(2)
  void leaseRegistrationsAndDefinitionsAreItsOwn(TestCluster cluster) {
    KubernetesClient client = cluster.client();
    assertThat(switched.holder()).isNotEqualTo(EarlierOperator.HOLDER).isNotEmpty();
    String trust =
        client
            .secrets()
            .inNamespace(InstallManifests.NAMESPACE)
            .withName("kueue-webhook-server-cert")
            .require()
            .getData()
            .get("ca.crt");
    assertThat(
            client
                .admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName("kueue-validating-webhook-configuration")
                .require()
                .getWebhooks())
        .allSatisfy(
            webhook -> assertThat(webhook.getClientConfig().getCaBundle()).isEqualTo(trust));
    assertThat(
            client
                .genericKubernetesResources("kueue.x-k8s.io/v1beta1", "LocalQueue")
                .inNamespace(cluster.namespace())
                .withName("main")
                .get())
        .as("converted by the new operator")
        .isNotNull();
    assertThat(
            client
                .genericKubernetesResources(AuditedKind.CLUSTER_QUEUE.context())
                .withName("pool")
                .require()
                .getFinalizers())
        .containsExactly("kueue.x-k8s.io/resource-in-use");
    Job created =
        (Job)
            cluster
                .applyText(
                    """
                    apiVersion: batch/v1
                    kind: Job
                    metadata: {name: new, labels: {kueue.x-k8s.io/queue-name: main}}
                    spec:
                      template:
                        spec:
                          restartPolicy: Never
                          containers:
                          - {name: main, image: none, resources: {requests: {cpu: "1"}}}
                    """)
                .getFirst();
    assertThat(created.getSpec().getSuspend()).as("by the webhook").isTrue();
  }

  @Test
  @Order(2)
  void theScriptAsksTheOperator(TestCluster cluster) throws Exception {
    KubectlPlugin plugin = new KubectlPlugin(cluster.kubeconfig());
    plugin.answers(cluster.namespace(), running(), queueBefore.get(STEPS * STEP), lastInQueue());
    plugin.isForTenants(cluster, queueBefore.getLast());
  }

  private static int running() {
    return JOBS + IMPORTED + STEPS * STEP;
  }

  @Test
  @Order(4)
  void theRequestsOfTheApisPluginDoWhatTheyShall(TestCluster cluster) {
    new KubectlCalls(cluster).replay();
  }

  /** The operator works on with them; what they refuse is tried when it is gone. */
  @Test
  @Order(3)
  void theOperatorStartsJobsUnderThePolicies(TestCluster cluster) throws IOException {
    new ServerSideApply(cluster.client())
        .apply(Files.readString(Path.of(InstallFiles.QUEUED_JOBS)));
    awaitRefusal(cluster);
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: hurries
          labels: {kueue.x-k8s.io/queue-name: main, kueue.x-k8s.io/priority-class: urgent}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 10h}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: 1m}}}]
        """);
    // room for one thousandth more
    switched.setQuota(running() + "001m");
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(switched.job("hurries").getSpec().getSuspend()).as(log()).isFalse());
  }

  private String lastInQueue() {
    return queueBefore.getLast().replaceFirst("^job-(.*)-[0-9a-f]{5}$", "$1");
  }

  /**
   * Nobody but the operator starts a Job that waits; a policy counts some moments after it was
   * made.
   */
  private void awaitRefusal(TestCluster cluster) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThatThrownBy(
                        () ->
                            cluster
                                .client()
                                .batch()
                                .v1()
                                .jobs()
                                .inNamespace(cluster.namespace())
                                .withName(lastInQueue())
                                .patch(DRY_MERGE, "{\"spec\": {\"suspend\": false}}"))
                    .isInstanceOf(KubernetesClientException.class)
                    .hasMessageContaining(
                        "spec.suspend must be true for a job that names a queue"));
  }

  @Test
  @Order(8)
  void theWayBackIsOpen(TestCluster cluster) {
    Map<String, String> running = switched.runningPods();

    assertThat(operator.stop()).isTrue();

    assertThat(switched.holder()).as("the lease is given up").isNullOrEmpty();
    assertThat(
            new EarlierOperator(cluster)
                .workloads().stream()
                    .flatMap(workload -> workload.getFinalizers().stream())
                    .collect(Collectors.toSet()))
        .containsExactly("kueue.x-k8s.io/resource-in-use");
    List<Job> jobs =
        cluster.client().batch().v1().jobs().inNamespace(cluster.namespace()).list().getItems();
    assertThat(jobs)
        .as("no field of a Job is only known to this operator")
        .allSatisfy(
            job -> {
              assertThat(job.getFinalizers()).allMatch(it -> !it.contains("sluice"));
              assertThat(SwitchedCluster.foreignKeys(job)).isEmpty();
            });
    assertThat(new EarlierOperator(cluster).workloads())
        .allSatisfy(workload -> assertThat(SwitchedCluster.foreignKeys(workload)).isEmpty());
    assertThat(switched.runningPods()).isEqualTo(running);

    // as if somebody had removed them too early
    InstallManifests.webhooks(
            WebhookRegistration.shipped(
                InstallManifests.NAMESPACE,
                InstallManifests.WEBHOOK_SERVICE,
                InstallManifests.user(InstallManifests.NAMESPACE)))
        .forEach(registration -> cluster.client().resource(registration).delete());
    awaitRefusal(cluster);
  }

  private String log() {
    try {
      return Files.readString(operator.log());
    } catch (IOException e) {
      return e.toString();
    }
  }
}

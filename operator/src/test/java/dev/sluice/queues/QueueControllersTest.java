package dev.sluice.queues;

import static dev.sluice.api.KueueConstants.MULTIKUEUE_ORIGIN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.Fakes.KeptNotices;
import dev.sluice.kube.Fakes.SetViews;
import dev.sluice.kube.Fakes.SetWorkloads;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ControllerRegistration.FinalizerEditor;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.CachedWorkload;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.Cloner;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@EnableKubernetesMockClient(crud = true)
class QueueControllersTest {

  private static final Cloner AS_IT_IS =
      new Cloner() {
        @Override
        public <R extends HasMetadata> R clone(R object) {
          return object;
        }
      };

  @SuppressWarnings("NullAway.Init") // set by the extension
  private KubernetesClient client;

  private final InformerCaches informerCaches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final SetViews views = new SetViews();
  private final SetWorkloads workloads = new SetWorkloads();
  private final KeptNotices notices = new KeptNotices();
  private volatile boolean leads = true;

  @SuppressWarnings("NullAway.Init") // set before each test
  private Operator operator;

  @SuppressWarnings("NullAway.Init") // set before each test
  private QueueControllers controllers;

  @BeforeEach
  void start() {
    Leadership leadership = () -> leads;
    ObjectMapper mapper = new ObjectMapper();
    controllers =
        new QueueControllers(
            new QueueControllers.Dependencies(
                leadership,
                informerCaches,
                views,
                workloads,
                workloads,
                new ApiClient(
                    client, ApiClient.Options.atATime(4).writingWhile(leadership::leading)),
                mapper,
                notices,
                InstantSource.system(),
                new QueueControllers.StatusRate(Duration.ofMillis(50), 100, () -> 1),
                WorkQueueSettings.of(
                    Thread::startVirtualThread,
                    (delay, task) ->
                        CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS)
                            .execute(task))),
            labels -> true);
    operator =
        new Operator(
            configuration ->
                configuration
                    .withKubernetesClient(client)
                    .withCloseClientOnStop(false)
                    .withResourceCloner(AS_IT_IS)
                    .withExecutorService(Executors.newVirtualThreadPerTaskExecutor()));
    controllers.register(operator);
    operator.start();
  }

  @AfterEach
  void stop() {
    operator.stop();
    controllers.close();
  }

  @Test
  void aClusterQueueGetsItsFinalizerAndItsStatus() {
    // given
    create(ClusterQueue.class, CLUSTER_QUEUE);

    // when
    view("pool", List.of(), 2, 1);

    // then
    await()
        .untilAsserted(
            () -> {
              ClusterQueue queue = get(ClusterQueue.class, "pool");
              assertThat(queue.getMetadata().getFinalizers())
                  .containsExactly(KueueConstants.RESOURCE_IN_USE);
              assertThat(queue.getStatus()).isNotNull();
              Condition active = queue.getStatus().conditions().getFirst();
              assertThat(active.getType()).isEqualTo("Active");
              assertThat(active.getStatus()).isEqualTo("True");
              assertThat(active.getReason()).isEqualTo("Ready");
              assertThat(active.getMessage()).isEqualTo("Can admit new workloads");
              assertThat(queue.getStatus().pendingWorkloads()).isEqualTo(2);
              assertThat(queue.getStatus().reservingWorkloads()).isEqualTo(1);
              assertThat(queue.getStatus().flavorsUsage().getFirst().name()).isEqualTo("default");
            });
  }

  @Test
  void aCounterThatChangesBackIsWrittenBack() {
    create(ClusterQueue.class, CLUSTER_QUEUE);
    for (int pending : new int[] {3, 4, 3}) {
      view("pool", List.of(), pending, 0);
      await()
          .untilAsserted(
              () -> {
                ClusterQueue queue = get(ClusterQueue.class, "pool");
                assertThat(queue.getStatus()).isNotNull();
                assertThat(queue.getStatus().pendingWorkloads()).isEqualTo(pending);
              });
    }
  }

  @Test
  void anInactiveClusterQueueSaysWhy() {
    create(ClusterQueue.class, CLUSTER_QUEUE);
    view(
        "pool",
        List.of(
            new InactiveReason("AdmissionCheckNotFound", "AdmissionCheck \"a\" doesn't exist"),
            new InactiveReason("Stopped", "Can't admit new workloads: it is stopped")),
        0,
        0);

    await()
        .untilAsserted(
            () -> {
              Condition active = active(get(ClusterQueue.class, "pool"));
              assertThat(active.getStatus()).isEqualTo("False");
              assertThat(active.getReason()).isEqualTo("Stopped");
              assertThat(active.getMessage())
                  .isEqualTo(
                      "Can't admit new workloads: it is stopped; AdmissionCheck \"a\" doesn't"
                          + " exist");
            });
  }

  @Test
  void aLocalQueueGetsItsStatusAndNoFinalizer() {
    create(LocalQueue.class, LOCAL_QUEUE);
    LocalQueueId id = new LocalQueueId("team", "main");
    views.localQueues.put(
        id,
        new LocalQueueView(
            id,
            "pool",
            List.of(
                new InactiveReason(
                    "ClusterQueueDoesNotExist",
                    "Can't submit new workloads to ClusterQueue pool: it doesn't exist")),
            0,
            5,
            0,
            0,
            List.of()));
    controllers.viewListener().changed(Set.of(), Set.of(id), Set.of());

    await()
        .untilAsserted(
            () -> {
              LocalQueue queue =
                  client.resources(LocalQueue.class).inNamespace("team").withName("main").get();
              assertThat(queue.getStatus()).isNotNull();
              assertThat(queue.getStatus().pendingWorkloads()).isEqualTo(5);
              Condition active = queue.getStatus().conditions().getFirst();
              assertThat(active.getReason()).isEqualTo("ClusterQueueDoesNotExist");
              assertThat(active.getMessage())
                  .isEqualTo("Can't submit new workloads to ClusterQueue pool: it doesn't exist");
              assertThat(queue.getMetadata().getFinalizers()).isEmpty();
            });
  }

  @Test
  void aFollowerWritesNothingUntilItLeads() {
    // given a follower
    leads = false;
    create(ClusterQueue.class, CLUSTER_QUEUE);
    view("pool", List.of(), 1, 0);
    await().until(() -> informerCaches.clusterQueues().find("pool").isPresent());
    await()
        .during(Duration.ofMillis(300))
        .until(
            () ->
                get(ClusterQueue.class, "pool").getStatus() == null
                    && !FinalizerEditor.present(get(ClusterQueue.class, "pool")));

    // when
    leads = true;
    controllers.leadershipStarted();

    // then
    await().until(() -> FinalizerEditor.present(get(ClusterQueue.class, "pool")));
    controllers.viewListener().changed(Set.of("pool"), Set.of(), Set.of());
    await().until(() -> get(ClusterQueue.class, "pool").getStatus() != null);
  }

  /** Changes of 0.20, section 2: not those that a manager sent. */
  @Test
  void aNewValueOfAPriorityClassReachesItsUnfinishedWorkloads() {
    // given
    workloads.workloads.put("waiting", workload("waiting", 1, false, "gold"));
    workloads.workloads.put("done", workload("done", 1, true, "gold"));
    workloads.workloads.put("right", workload("right", 7, false, "gold"));
    workloads.workloads.put("other", workload("other", 1, false, "silver"));
    workloads.workloads.put(
        "sent", workload("sent", 1, false, "gold", Map.of(MULTIKUEUE_ORIGIN, "manager")));

    // when
    create(WorkloadPriorityClass.class, PRIORITY_CLASS);

    // then
    await()
        .untilAsserted(
            () ->
                assertThat(workloads.patches)
                    .extracting(patch -> patch.name() + " " + patch.patch())
                    .containsExactly("waiting {\"spec\":{\"priority\":7}}"));
  }

  @Test
  void whatIsNotActedUponIsSaidOnce() {
    create(
        ClusterQueue.class,
        CLUSTER_QUEUE.replace(
            "spec:",
            "spec:\n  concurrentAdmissionPolicy: {migration: {mode: RetainFirstAdmission}}"));
    view("pool", List.of(), 0, 0);
    await().until(() -> get(ClusterQueue.class, "pool").getStatus() != null);
    view("pool", List.of(), 1, 0);

    await()
        .untilAsserted(
            () -> {
              assertThat(get(ClusterQueue.class, "pool").getStatus().pendingWorkloads())
                  .isEqualTo(1);
              assertThat(notices.notices)
                  .containsExactly(
                      new KeptNotices.Notice(
                          "ClusterQueue",
                          "pool",
                          "NotActedUpon",
                          "spec.concurrentAdmissionPolicy: without effect while the feature"
                              + " gate ConcurrentAdmission is off"));
            });
  }

  private void view(String name, List<InactiveReason> problems, int pending, int reserving) {
    views.clusterQueues.put(
        name,
        new ClusterQueueView(
            name,
            "",
            "",
            problems,
            pending,
            0,
            reserving,
            0,
            List.of(
                new FlavorUsage(
                    "default",
                    "cpu",
                    5000,
                    ResourceAmounts.UNLIMITED,
                    ResourceAmounts.UNLIMITED,
                    0,
                    0))));
    controllers.viewListener().changed(Set.of(name), Set.of(), Set.of());
  }

  private <T extends HasMetadata> void create(Class<T> type, String manifest) {
    client.resource(client.getKubernetesSerialization().unmarshal(manifest, type)).create();
  }

  private <T extends HasMetadata> T get(Class<T> type, String name) {
    T object = client.resources(type).withName(name).get();
    assertThat(object).as(name).isNotNull();
    return object;
  }

  private static Condition active(ClusterQueue queue) {
    assertThat(queue.getStatus()).isNotNull();
    return queue.getStatus().conditions().getFirst();
  }

  private static CachedWorkload workload(
      String name, int priority, boolean finished, String priorityClass) {
    return workload(name, priority, finished, priorityClass, Map.of());
  }

  private static CachedWorkload workload(
      String name,
      int priority,
      boolean finished,
      String priorityClass,
      Map<String, String> labels) {
    return new CachedWorkload(
        new WorkloadId("uid-" + name, "team", name),
        10,
        1,
        Instant.EPOCH,
        false,
        List.of(),
        false,
        Optional.empty(),
        labels,
        Map.of(),
        new CachedWorkload.Spec(
            "main",
            List.of(),
            priority,
            Optional.of(
                new CachedWorkload.PriorityClassRef(
                    "kueue.x-k8s.io", "WorkloadPriorityClass", priorityClass)),
            true,
            0),
        new CachedWorkload.Status(
            finished
                ? List.of(
                    new CachedWorkload.Condition(
                        "Finished", "True", "Succeeded", "", Instant.EPOCH, 1))
                : List.of(),
            Optional.empty(),
            List.of(),
            Map.of(),
            Optional.empty(),
            CachedWorkload.History.NONE,
            false));
  }

  private static final String CLUSTER_QUEUE =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: pool}
      spec:
        namespaceSelector: {}
        resourceGroups:
        - coveredResources: [cpu]
          flavors:
          - name: default
            resources: [{name: cpu, nominalQuota: 5}]
      """;

  private static final String LOCAL_QUEUE =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: LocalQueue
      metadata: {name: main, namespace: team}
      spec: {clusterQueue: pool}
      """;

  private static final String PRIORITY_CLASS =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: WorkloadPriorityClass
      metadata: {name: gold}
      value: 7
      """;
}

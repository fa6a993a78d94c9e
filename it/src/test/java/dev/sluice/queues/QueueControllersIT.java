package dev.sluice.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.SchedulerThread;
import dev.sluice.core.model.ClusterQueueSpec.FungibilityGates;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.Fakes.KeptNotices;
import dev.sluice.kube.Fakes.SetWorkloads;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ControllerRegistration.FinalizerEditor;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.leader.KubernetesLeaseStore;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.leader.LeaseElector;
import dev.sluice.kube.leader.LeaseElector.LeaseStore;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.queues.cache.AuxiliaryInformers;
import dev.sluice.queues.cache.CacheEventFeed;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.EffectiveQuotasMapper;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.Operator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** Queue kinds, the engine and a real API server. */
@ControlPlaneTest(exclusive = true, controllers = false)
@TestInstance(Lifecycle.PER_CLASS)
@Tag(BuildBreadth.NIGHTLY)
class QueueControllersIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final InformerCaches informerCaches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final SetWorkloads workloads = new SetWorkloads();
  private final SchedulerThread engine =
      new SchedulerThread(
          EngineOptions.DEFAULT,
          decision -> {},
          (nanos, admitted) -> {},
          InstantSource.system(),
          fault -> Assertions.fail("the engine failed", fault));
  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  void start(TestCluster cluster) throws IOException, InterruptedException, ExecutionException {
    KubernetesClient client = cluster.client();
    try (Stream<Path> files = Files.list(Path.of("crds"))) {
      for (Path file : files.sorted().toList()) {
        client.load(Files.newInputStream(file)).items().stream()
            .forEach(definition -> client.resource(definition).create());
      }
    }
    await()
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(() -> client.resources(ClusterQueue.class).list().getItems().isEmpty());
    Leadership leadership = Leadership.alone(() -> true);
    ObjectMapper mapper = new ObjectMapper();
    QueueControllers controllers =
        new QueueControllers(
            new QueueControllers.Dependencies(
                leadership,
                informerCaches,
                engine.views(),
                workloads,
                workloads,
                new ApiClient(
                    client, ApiClient.Options.atATime(4).writingWhile(leadership::leading)),
                mapper,
                new KeptNotices(),
                InstantSource.system(),
                QueueControllers.StatusRate.DEFAULT,
                WorkQueueSettings.of(
                    Thread::startVirtualThread,
                    (delay, task) ->
                        CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS)
                            .execute(task))),
            labels -> true);
    engine.listen(controllers.viewListener());
    CacheEventFeed feed =
        new CacheEventFeed(
            informerCaches,
            engine,
            false,
            FungibilityGates.DEFAULT,
            new EffectiveQuotasMapper(true),
            InstantSource.system());
    AuxiliaryInformers informers =
        new AuxiliaryInformers(client, informerCaches, new InformerSupervisor());
    Operator operator =
        new Operator(
            configuration ->
                configuration
                    .withKubernetesClient(client)
                    .withCloseClientOnStop(false)
                    .withExecutorService(Executors.newVirtualThreadPerTaskExecutor()));
    open.addAll(List.of(engine, controllers, informers, operator::stop));
    controllers.register(operator);
    engine.start();
    informers.start().get();
    operator.start();
    feed.open();
    engine.submit(new SchedulerEvent.DecidingEnabled(true));
  }

  @AfterAll
  void stop() throws Exception {
    for (AutoCloseable each : open.reversed()) {
      each.close();
    }
  }

  @Test
  void queuesBecomeActiveWithTheirFlavor(TestCluster cluster) {
    // given a queue whose flavor is missing
    cluster.applyText(queue("a", "flavor-a", ""));
    cluster.applyText(localQueue("a"));
    awaitActive(cluster, ClusterQueue.class, "a", "False", "FlavorNotFound");
    awaitActive(cluster, LocalQueue.class, "a", "False", "ClusterQueueIsInactive");

    // when it comes
    cluster.applyText(flavor("flavor-a", ""));

    // then
    Condition active = awaitActive(cluster, ClusterQueue.class, "a", "True", "Ready");
    assertThat(active.getMessage()).isEqualTo("Can admit new workloads");
    awaitActive(cluster, LocalQueue.class, "a", "True", "Ready");
    assertThat(get(cluster, ClusterQueue.class, "a").getMetadata().getFinalizers())
        .containsExactly(KueueConstants.RESOURCE_IN_USE);
    assertThat(get(cluster, ResourceFlavor.class, "flavor-a").getMetadata().getFinalizers())
        .containsExactly(KueueConstants.RESOURCE_IN_USE);
  }

  @Test
  void aQueueThatAsksForAdmissionChecksIsActiveWhenTheyAre(TestCluster cluster) {
    cluster.applyText(flavor("flavor-b", ""));
    cluster.applyText(
        queue("b", "flavor-b", "admissionChecksStrategy: {admissionChecks: [{name: check-b}]}"));
    awaitActive(cluster, ClusterQueue.class, "b", "False", "AdmissionCheckNotFound");

    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: check-b}
        spec: {controllerName: example.test/check}
        """);
    awaitActive(cluster, ClusterQueue.class, "b", "False", "AdmissionCheckInactive");

    AdmissionCheck check = get(cluster, AdmissionCheck.class, "check-b");
    cluster
        .client()
        .resource(check)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"conditions": [{"type": "Active", "status": "True", "reason": "Active",
              "message": "", "lastTransitionTime": "2026-03-01T10:00:00Z"}]}}
            """);
    awaitActive(cluster, ClusterQueue.class, "b", "True", "Ready");

    // and the check is held as long as the queue asks for it
    await().atMost(LIMIT).until(() -> held(cluster, AdmissionCheck.class, "check-b"));
    cluster.client().resources(AdmissionCheck.class).withName("check-b").delete();
    cluster.client().resources(ClusterQueue.class).withName("b").delete();
    awaitGone(cluster, ClusterQueue.class, "b");
    awaitGone(cluster, AdmissionCheck.class, "check-b");
  }

  @Test
  void whatIsInUseGoesInOrder(TestCluster cluster) {
    // given a queue with one Workload that holds quota
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Topology
        metadata: {name: racks-c}
        spec: {levels: [{nodeLabel: example.test/rack}]}
        """);
    cluster.applyText(flavor("flavor-c", "nodeLabels: {rack: c}\n  topologyName: racks-c"));
    cluster.applyText(queue("c", "flavor-c", ""));
    awaitActive(cluster, ClusterQueue.class, "c", "True", "Ready");
    await().atMost(LIMIT).until(() -> held(cluster, Topology.class, "racks-c"));
    await().atMost(LIMIT).until(() -> held(cluster, ResourceFlavor.class, "flavor-c"));
    WorkloadId id = new WorkloadId("uid-c", cluster.namespace(), "w");
    engine.submit(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                id,
                1,
                "main",
                "c",
                List.of(
                    new PodSetAssignment(
                        "main",
                        new TreeMap<>(Map.of("cpu", "flavor-c")),
                        new TreeMap<>(Map.of("cpu", 3000L)),
                        1)),
                0,
                Instant.EPOCH,
                false,
                true,
                true,
                Instant.EPOCH)));
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              var status = get(cluster, ClusterQueue.class, "c").getStatus();
              assertThat(status.admittedWorkloads()).isEqualTo(1);
              var cpu = status.flavorsUsage().getFirst().resources().getFirst();
              assertThat(cpu.total()).hasToString("3");
              assertThat(cpu.borrowed()).hasToString("0");
            });

    // when all are deleted, the widest first
    cluster.client().resources(Topology.class).withName("racks-c").delete();
    cluster.client().resources(ResourceFlavor.class).withName("flavor-c").delete();
    cluster.client().resources(ClusterQueue.class).withName("c").delete();

    // then all stay, and the queue says so
    awaitActive(cluster, ClusterQueue.class, "c", "False", "Terminating");
    assertThat(held(cluster, Topology.class, "racks-c")).isTrue();
    assertThat(held(cluster, ResourceFlavor.class, "flavor-c")).isTrue();

    // and all go with the Workload
    engine.submit(new SchedulerEvent.WorkloadReleased(id, 2));
    awaitGone(cluster, ClusterQueue.class, "c");
    awaitGone(cluster, ResourceFlavor.class, "flavor-c");
    awaitGone(cluster, Topology.class, "racks-c");
  }

  @Test
  void aFollowerTakesOverFromALeaderThatDies(TestCluster cluster) {
    List<String> told = Collections.synchronizedList(new ArrayList<>());
    AtomicBoolean reachable = new AtomicBoolean(true);
    KubernetesLeaseStore store =
        new KubernetesLeaseStore(
            cluster.client(), cluster.namespace(), "lease", Duration.ofSeconds(4));
    try (LeaseElector first = elector("first", new Interruptible(store, reachable), told);
        LeaseElector second = elector("second", store, told)) {
      first.start();
      await().atMost(LIMIT).until(first::leading);
      second.start();

      reachable.set(false);
      await().atMost(LIMIT).until(second::leading);

      assertThat(first.leading()).isFalse();
      assertThat(told).containsExactly("first started", "first lost", "second started");
      var lease =
          cluster.client().leases().inNamespace(cluster.namespace()).withName("lease").get();
      assertThat(lease.getSpec().getHolderIdentity()).isEqualTo("second");
      assertThat(lease.getSpec().getLeaseTransitions()).isEqualTo(1);
    }
    var lease = cluster.client().leases().inNamespace(cluster.namespace()).withName("lease").get();
    assertThat(lease.getSpec().getHolderIdentity()).isEmpty();
  }

  private static LeaseElector elector(String name, LeaseStore store, List<String> told) {
    return new LeaseElector(
        new LeaseElector.Settings(
            name, Duration.ofSeconds(12), Duration.ofSeconds(8), Duration.ofMillis(500)),
        store,
        InstantSource.system(),
        System::nanoTime,
        new Leadership.Listener() {
          @Override
          public void started() {
            told.add(name + " started");
          }

          @Override
          public void lost() {
            told.add(name + " lost");
          }
        });
  }

  /** A lease that can be cut off. */
  private record Interruptible(LeaseStore store, AtomicBoolean reachable) implements LeaseStore {

    @Override
    public Optional<Lease> read() {
      check();
      return store.read();
    }

    @Override
    public Optional<Lease> write(Lease lease) {
      check();
      return store.write(lease);
    }

    private void check() {
      if (!reachable.get()) {
        throw new IllegalStateException("cut off");
      }
    }
  }

  private static String flavor(String name, String spec) {
    return """
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ResourceFlavor
    metadata: {name: %s}
    spec:
      %s
    """
        .formatted(name, spec.isEmpty() ? "nodeLabels: {}" : spec);
  }

  private static String queue(String name, String flavor, String more) {
    return """
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ClusterQueue
    metadata: {name: %s}
    spec:
      namespaceSelector: {}
      resourceGroups:
      - coveredResources: [cpu]
        flavors:
        - name: %s
          resources: [{name: cpu, nominalQuota: 5}]
      %s
    """
        .formatted(name, flavor, more);
  }

  private static String localQueue(String name) {
    return """
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: LocalQueue
    metadata: {name: %s, namespace: "${namespace}"}
    spec: {clusterQueue: %s}
    """
        .formatted(name, name);
  }

  private static <T extends HasMetadata> T get(TestCluster cluster, Class<T> type, String name) {
    T object =
        LocalQueue.class.equals(type)
            ? cluster.client().resources(type).inNamespace(cluster.namespace()).withName(name).get()
            : cluster.client().resources(type).withName(name).get();
    assertThat(object).as(name).isNotNull();
    return object;
  }

  private static boolean held(TestCluster cluster, Class<? extends HasMetadata> type, String name) {
    return FinalizerEditor.present(get(cluster, type, name));
  }

  private static <T extends CustomResource<?, ?>> Condition awaitActive(
      TestCluster cluster, Class<T> type, String name, String status, String reason) {
    AtomicReference<Condition> active = new AtomicReference<>();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              T object = get(cluster, type, name);
              List<Condition> conditions =
                  switch (object) {
                    case ClusterQueue queue when queue.getStatus() != null ->
                        queue.getStatus().conditions();
                    case LocalQueue queue when queue.getStatus() != null ->
                        queue.getStatus().conditions();
                    default -> List.of();
                  };
              assertThat(conditions).hasSize(1);
              assertThat(conditions.getFirst().getReason()).isEqualTo(reason);
              assertThat(conditions.getFirst().getStatus()).isEqualTo(status);
              assertThat(conditions.getFirst().getObservedGeneration())
                  .isEqualTo(object.getMetadata().getGeneration());
              active.set(conditions.getFirst());
            });
    return Objects.requireNonNull(active.get());
  }

  private static void awaitGone(
      TestCluster cluster, Class<? extends HasMetadata> type, String name) {
    await()
        .atMost(LIMIT)
        .until(() -> cluster.client().resources(type).withName(name).get() == null);
  }
}

package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.app.module.MetricsModule.WorkloadMetricsFactory;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.kube.Fakes;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.CustomLabels;
import dev.sluice.metrics.FixedViews;
import dev.sluice.metrics.MetricsScrape;
import dev.sluice.metrics.MultiKueueMetrics;
import dev.sluice.metrics.PodGateMetrics;
import dev.sluice.metrics.WorkloadMetrics;
import dev.sluice.metrics.WorkloadMetrics.QueueRef;
import dev.sluice.metrics.Workloads;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.record.WorkloadReader;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What ends as soon as informers tell that a queue or cohort is gone; no view has changed yet. */
class RemovedQueuesTest {

  private static final QueueRef QUEUE = new QueueRef("cq", new LocalQueueId("team", "lq"), "high");
  private static final FlavorUsage CPU = new FlavorUsage("spot", "cpu", 1500, 500, 500, 2500, 500);
  private static final String COUNTED = "kueue_admitted_workloads_total{cluster_queue=\"cq\"";
  private static final String BELOW = "kueue_cohort_subtree_admitted_workloads_total{cohort=\"co\"";

  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final MetricsScrape scrape = new MetricsScrape();
  private final WorkloadMetrics metrics;
  private final PodGateMetrics gates;

  RemovedQueuesTest() throws Exception {
    FixedViews views =
        new FixedViews()
            .clusterQueue("cq", "co", List.of(), CPU)
            .localQueue("team", "lq", "cq", CPU)
            .cohort("co", "", CPU);
    gates =
        new PodGateMetrics(
            scrape.registry(),
            views,
            () -> ReplicaRole.LEADER,
            () -> Instant.EPOCH,
            CustomLabels.NONE);
    metrics =
        new WorkloadMetricsFactory(
                ConfigurationLoader.load(Optional.empty(), Optional.empty(), () -> "own"),
                scrape,
                views,
                () -> ReplicaRole.LEADER,
                gates)
            .of(new NoWorkloads(), caches, () -> Instant.EPOCH);
  }

  /** Reads nothing. */
  private static final class NoWorkloads implements WorkloadReader {
    @Override
    public void listen(WorkloadListener listener) {}

    @Override
    public void unlisten(WorkloadListener listener) {}

    @Override
    public CompletableFuture<Void> start() {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Void> caughtUp() {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Void> refresh(String namespace, String name) {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public WorkloadLister store() {
      return new Fakes.SetWorkloads();
    }

    @Override
    public void close() {}
  }

  @BeforeEach
  void queues() throws IOException {
    put("1");
    metrics.admitted(QUEUE, Duration.ZERO, Duration.ZERO);
    gates.removed(Workloads.admittedBy("cq"), "example.com/gate");
    assertThat(text())
        .contains("kueue_pod_scheduling_gate_removal_seconds_count{cluster_queue=\"cq\"")
        .contains(COUNTED, BELOW, "kueue_pending_workloads{cluster_queue=\"cq\"")
        .contains("kueue_cohort_subtree_quota{cohort=\"co\"")
        .contains("kueue_local_queue_admitted_workloads_total{name=\"lq\"")
        .contains("kueue_local_queue_pending_workloads{name=\"lq\"");
  }

  @AfterEach
  void close() {
    scrape.close();
  }

  private void put(String uid) throws IOException {
    put(
        caches.clusterQueues(),
        ClusterQueue.class,
        "{metadata: {name: cq, uid: q%s}, spec: {cohortName: co}}".formatted(uid));
    put(
        caches.localQueues(),
        LocalQueue.class,
        "{metadata: {name: lq, namespace: team, uid: l%s}, spec: {clusterQueue: cq}}"
            .formatted(uid));
    put(caches.cohorts(), Cohort.class, "{metadata: {name: co, uid: c%s}}".formatted(uid));
  }

  private static <R extends HasMetadata> void put(
      ObservableItemStore<R> store, Class<R> type, String yaml) throws IOException {
    R object = new YAMLMapper().readValue(yaml, type);
    store.put(store.getKey(object), object);
  }

  private String text() {
    return new String(scrape.scrape().body(), StandardCharsets.UTF_8);
  }

  @Test
  void nothingIsToldOfAClusterQueueThatIsGone() {
    caches.clusterQueues().remove("cq");
    assertThat(text()).doesNotContain("cluster_queue=\"cq\"");
  }

  @Test
  void nothingIsToldOfWhatAClusterQueueThatIsGoneSentToWorkers() {
    MultiKueueMetrics dispatch =
        new MultiKueueMetrics(scrape.registry(), () -> ReplicaRole.LEADER, Map::of, Map::of);
    RemovedQueueObserver.connect(caches, scrape, dispatch);
    dispatch(dispatch, "cq");
    dispatch(dispatch, "unknown");
    assertThat(text())
        .contains("multikueue_workloads_dispatched_total{cluster=\"w\",cluster_queue=\"cq\"")
        .contains("multikueue_workloads_admitted_total{cluster=\"w\",cluster_queue=\"cq\"")
        .contains("multikueue_workloads_requeued_total{cluster=\"w\",cluster_queue=\"cq\"")
        .doesNotContain("cluster_queue=\"unknown\"");

    caches.clusterQueues().remove("cq");
    assertThat(text()).doesNotContain("cluster_queue=\"cq\"");
  }

  private static void dispatch(MultiKueueMetrics dispatch, String clusterQueue) {
    dispatch.dispatched(clusterQueue, "w");
    dispatch.admitted(clusterQueue, "w", Duration.ZERO);
    dispatch.requeued(clusterQueue, "w");
  }

  @Test
  void countsOfDispatchBeginAtZeroWithAnotherQueueOfTheSameName() throws IOException {
    MultiKueueMetrics dispatch =
        new MultiKueueMetrics(scrape.registry(), () -> ReplicaRole.LEADER, Map::of, Map::of);
    RemovedQueueObserver.connect(caches, scrape, dispatch);
    dispatch(dispatch, "cq");

    put("2");

    assertThat(text()).doesNotContain("multikueue_workloads_dispatched_total{");
  }

  @Test
  void nothingIsToldOfALocalQueueThatIsGone() {
    caches.localQueues().remove("team/lq");
    assertThat(text()).doesNotContain("name=\"lq\"").contains(COUNTED);
  }

  @Test
  void nothingIsToldOfADeletedCohortThatQueuesStillNameUntilItExistsAgain() throws IOException {
    caches.cohorts().remove("co");
    assertThat(text()).doesNotContain("kueue_cohort_");

    put("2");
    assertThat(text()).doesNotContain(BELOW).contains("kueue_cohort_subtree_quota{cohort=\"co\"");

    caches.cohorts().remove("co");
    caches.clusterQueues().remove("cq");
    assertThat(text()).doesNotContain("cohort=\"co\"");
    put(
        caches.clusterQueues(),
        ClusterQueue.class,
        "{metadata: {name: cq, uid: q3}, spec: {cohortName: co}}");
    assertThat(text())
        .as("a cohort without an object, which nobody named in between")
        .contains("kueue_cohort_subtree_quota{cohort=\"co\"");
  }

  @Test
  void countsOfOthersOfTheSameNamesBeginAtZero() throws IOException {
    put("2");
    assertThat(text())
        .doesNotContain(COUNTED)
        .doesNotContain(BELOW)
        .doesNotContain("kueue_local_queue_admitted_workloads_total{")
        .contains("kueue_pending_workloads{cluster_queue=\"cq\"");

    metrics.admitted(QUEUE, Duration.ZERO, Duration.ZERO);
    assertThat(text().lines().filter(line -> line.startsWith(COUNTED)))
        .singleElement()
        .asString()
        .endsWith(" 1.0");
  }

  @Test
  void aChangeOfAnObjectEndsNothing() throws IOException {
    put(
        caches.clusterQueues(),
        ClusterQueue.class,
        "{metadata: {name: cq, uid: q1, resourceVersion: '7'}, spec: {cohortName: co}}");
    assertThat(text()).contains(COUNTED);
  }
}

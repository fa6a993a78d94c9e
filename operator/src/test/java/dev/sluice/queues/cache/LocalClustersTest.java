package dev.sluice.queues.cache;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.queues.cache.LocalClusters.QuotaLocation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Workloads of namespace team, queue training, whose check chooses from here and others. */
class LocalClustersTest {

  private final InformerCaches informerCaches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final LocalClusters workers = new LocalClusters(informerCaches);

  @BeforeEach
  void queues() throws JsonProcessingException {
    put(
        informerCaches.localQueues(),
        LocalQueue.class,
        "{metadata: {name: training, namespace: team}, spec: {clusterQueue: cq}}");
    put(
        informerCaches.clusterQueues(),
        ClusterQueue.class,
        """
        metadata: {name: cq}
        spec: {admissionChecksStrategy: {admissionChecks: [{name: clusters}]}}
        """);
    put(
        informerCaches.flavors(),
        ResourceFlavor.class,
        "metadata: {name: own, annotations: {sluice.dev/worker-cluster: here}}");
    put(informerCaches.flavors(), ResourceFlavor.class, "metadata: {name: other}");
    workers.declare(
        Map.of("here", Map.of("topology.kubernetes.io/region", "eu")), Set.of("clusters"));
  }

  private static <R extends HasMetadata> void put(
      ObservableItemStore<R> store, Class<R> type, String yaml) throws JsonProcessingException {
    R object = new YAMLMapper().readValue(yaml, type);
    store.put(store.getKey(object), object);
  }

  private static GivenWorkload marked() {
    return workloadOf(job()).annotation("sluice.dev/may-run-here", "true");
  }

  @Test
  void jobsOfTheQueueMayRunHere() {
    assertThat(workers.mayRunHere("team", "training")).isTrue();
    assertThat(workers.mayRunHere("team", "other")).isFalse();
    assertThat(workers.isHere("here")).isTrue();
    assertThat(workers.isHere("remote")).isFalse();
  }

  @Test
  void whatCannotRunHereAvoidsQuotaOfThisCluster() {
    assertThat(workers.avoidedBy(workloadOf(job()).get())).containsExactly("here");
    assertThat(workers.avoidedBy(marked().get())).isEmpty();
  }

  @Test
  void whatMayNotRunHereDoesSoToo() {
    assertThat(workers.avoidedBy(marked().annotation("sluice.dev/placement-region", "us").get()))
        .containsExactly("here");
    assertThat(workers.avoidedBy(marked().annotation("sluice.dev/placement-region", "eu").get()))
        .isEmpty();
  }

  @Test
  void jobsOfOtherQueuesAvoidNothing() {
    assertThat(workers.avoidedBy(workloadOf(job()).queue("plain").get())).isEmpty();
  }

  @Test
  void theFlavorTellsWhoseQuotaItIs() {
    assertThat(workers.quotaLocation(marked().reserved("own").get()))
        .isEqualTo(new QuotaLocation.Local("here"));
    assertThat(workers.quotaLocation(marked().reserved("other").get()))
        .isEqualTo(new QuotaLocation.Remote());
    assertThat(workers.quotaLocation(marked().get())).isEqualTo(new QuotaLocation.Remote());
  }

  @Test
  void aFlavorOfAClusterThatIsNotThisOneIsOfOthers() {
    workers.declare(Map.of(), Set.of());

    assertThat(workers.quotaLocation(marked().reserved("own").get()))
        .isEqualTo(new QuotaLocation.Remote());
    assertThat(workers.mayRunHere("team", "training")).isFalse();
  }

  @Test
  void whoObservesIsToldOfChangesOnly() {
    AtomicInteger told = new AtomicInteger();
    workers.observe(told::incrementAndGet);

    workers.declare(
        Map.of("here", Map.of("topology.kubernetes.io/region", "eu")), Set.of("clusters"));
    assertThat(told).hasValue(0);

    workers.declare(Map.of("here", Map.of()), Set.of("clusters"));
    assertThat(told).hasValue(1);
  }

  @Test
  void whoObservesIsToldWhenAQueueGetsOrLosesTheCheck() throws JsonProcessingException {
    AtomicInteger told = new AtomicInteger();
    workers.observe(told::incrementAndGet);
    String without = "{metadata: {name: cq}, spec: {queueingStrategy: StrictFIFO}}";

    put(informerCaches.clusterQueues(), ClusterQueue.class, without);
    assertThat(told).hasValue(1);
    assertThat(workers.mayRunHere("team", "training")).isFalse();
    put(informerCaches.clusterQueues(), ClusterQueue.class, without);
    assertThat(told).hasValue(1);

    put(
        informerCaches.clusterQueues(),
        ClusterQueue.class,
        """
        metadata: {name: cq}
        spec: {admissionChecksStrategy: {admissionChecks: [{name: other}, {name: clusters}]}}
        """);
    assertThat(told).hasValue(2);
    put(
        informerCaches.localQueues(),
        LocalQueue.class,
        "{metadata: {name: late, namespace: team}, spec: {clusterQueue: cq}}");
    assertThat(told).hasValue(3);
    assertThat(workers.mayRunHere("team", "late")).isTrue();
  }
}

package dev.sluice.queues.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.core.model.BudgetSpec.Scope;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.kube.controller.ObservableItemStore;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CachedRunTimeRulesTest {

  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final CachedRunTimeRules rules = new CachedRunTimeRules(caches);

  private static <R extends HasMetadata> void put(
      ObservableItemStore<R> store, Class<R> type, String yaml) throws JsonProcessingException {
    R object = new YAMLMapper().readValue(yaml, type);
    store.put(store.getKey(object), object);
  }

  private void queues(String local, String cluster) throws JsonProcessingException {
    put(
        caches.localQueues(),
        LocalQueue.class,
        "{metadata: {name: gpu, namespace: team, annotations: {%s}}, spec: {clusterQueue: cq}}"
            .formatted(local));
    put(
        caches.clusterQueues(),
        ClusterQueue.class,
        "{metadata: {name: cq, annotations: {%s}}, spec: {}}".formatted(cluster));
  }

  @Test
  void changesOfRunTimesAreTold() throws JsonProcessingException {
    AtomicInteger told = new AtomicInteger();
    rules.onChange(told::incrementAndGet);
    queues("other: x", "");
    assertThat(told).hasValue(0);
    queues("sluice.dev/default-run-time: 2h", "sluice.dev/max-run-time: 1h");
    assertThat(told).hasValue(2);
    queues("sluice.dev/default-run-time: 120m", "sluice.dev/max-run-time: 1h");
    assertThat(told).hasValue(2);
    queues("", "");
    assertThat(told).hasValue(4);
  }

  /** A webhook makes one for each review. */
  @Test
  void theCachesKeepNoLookupThatNobodyListensTo() {
    WeakReference<CachedRunTimeRules> forgotten =
        new WeakReference<>(new CachedRunTimeRules(caches));
    await()
        .until(
            () -> {
              System.gc();
              return forgotten.refersTo(null);
            });
  }

  @ParameterizedTest
  @CsvSource({
    "1h, 2h, 1h, LocalQueue team/gpu",
    "2h, 1h, 1h, ClusterQueue cq",
    "2h, 2h, 2h, LocalQueue team/gpu",
    "2h, wrong, 2h, LocalQueue team/gpu",
    "wrong, 2h, 2h, ClusterQueue cq"
  })
  void theSmallerMaximumCounts(String local, String cluster, String expected, String queue)
      throws JsonProcessingException {
    queues("sluice.dev/max-run-time: " + local, "sluice.dev/max-run-time: " + cluster);
    assertThat(rules.maxOf("team", "gpu"))
        .contains(
            new QueueRunTime(Duration.parse("PT" + expected.toUpperCase(Locale.ROOT)), queue));
  }

  @Test
  void theDefaultOfTheLocalQueueWins() throws JsonProcessingException {
    queues("sluice.dev/default-run-time: 2h", "sluice.dev/default-run-time: 1h");
    assertThat(rules.defaultOf("team", "gpu"))
        .contains(new QueueRunTime(Duration.ofHours(2), "LocalQueue team/gpu"));
    queues("", "sluice.dev/default-run-time: 1h");
    assertThat(rules.defaultOf("team", "gpu"))
        .contains(new QueueRunTime(Duration.ofHours(1), "ClusterQueue cq"));
  }

  @Test
  void queuesInTheScopeOfABudgetAreNamedThatSayNothing() throws JsonProcessingException {
    queues("", "");
    put(
        caches.clusterQueues(),
        ClusterQueue.class,
        "{metadata: {name: cq}, spec: {cohortName: lower}}");
    put(caches.cohorts(), Cohort.class, "{metadata: {name: lower}, spec: {parentName: upper}}");
    put(caches.cohorts(), Cohort.class, "{metadata: {name: upper}, spec: {parentName: lower}}");
    put(caches.namespaces(), Namespace.class, "{metadata: {name: team, labels: {tier: research}}}");
    LocalQueueId gpu = new LocalQueueId("team", "gpu");
    List<Scope> covers =
        List.of(
            new Scope.OfClusterQueue("cq"),
            new Scope.OfCohort("lower"),
            new Scope.OfCohort("upper"),
            new Scope.OfLocalQueue(gpu),
            new Scope.OfNamespaces(tier("research")));

    assertThat(covers).allSatisfy(scope -> assertThat(rules.unstated(scope)).containsExactly(gpu));
    assertThat(
            List.of(
                new Scope.OfClusterQueue("other"),
                new Scope.OfCohort("other"),
                new Scope.OfLocalQueue(new LocalQueueId("team", "other")),
                new Scope.OfNamespaces(tier("other"))))
        .allSatisfy(scope -> assertThat(rules.unstated(scope)).isEmpty());
    for (String said : List.of("sluice.dev/default-run-time: 2h", "sluice.dev/max-run-time: 2h")) {
      queues(said, "");
      assertThat(covers).allSatisfy(scope -> assertThat(rules.unstated(scope)).isEmpty());
      queues("", said);
      assertThat(rules.unstated(new Scope.OfClusterQueue("cq"))).isEmpty();
      put(
          caches.clusterQueues(),
          ClusterQueue.class,
          "{metadata: {name: cq}, spec: {cohortName: lower}}");
    }
  }

  private static LabelSelector tier(String value) {
    return new LabelSelector.Requirements(
        List.of(
            new LabelSelector.LabelRequirement(
                "tier", LabelSelector.LabelRequirement.Operator.IN, List.of(value))));
  }

  @Test
  void nothingIsSaidWithoutAnnotationsOrQueues() throws JsonProcessingException {
    assertThat(rules.maxOf("team", "gpu")).isEmpty();
    assertThat(rules.clusterQueue("team", "gpu")).isEmpty();
    queues("", "");
    assertThat(rules.maxOf("team", "gpu")).isEmpty();
    assertThat(rules.defaultOf("team", "gpu")).isEmpty();
    assertThat(rules.clusterQueue("team", "gpu")).isEqualTo("cq");
  }
}

package dev.sluice.app.module;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.app.module.JobModule.RunTimeLimitObserver;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.WorkloadCache;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RunTimeLimitObserverTest {

  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final WorkloadCache workloads = new WorkloadCache();
  private final List<String> told = new ArrayList<>();

  @BeforeEach
  void oneWaitsAndOneRuns() throws JsonProcessingException {
    queues("", "");
    workloads.seen(workloadOf(job()).named("waits").get());
    workloads.seen(workloadOf(job()).named("runs").admitted("spot").get());
    workloads.seen(workloadOf(job()).named("elsewhere").queue("other").get());
    RunTimeLimitObserver.connect(caches, workloads, workload -> told.add(workload.id().name()));
  }

  private static <R extends HasMetadata> void put(
      ObservableItemStore<R> store, Class<R> type, String yaml) throws JsonProcessingException {
    R object = new YAMLMapper().readValue(yaml, type);
    store.put(store.getKey(object), object);
  }

  private void queues(String local, String cluster) throws JsonProcessingException {
    put(
        caches.localQueues(),
        LocalQueue.class,
        "{metadata: {name: training, namespace: team, annotations: {%s}}, spec: {clusterQueue: cq}}"
            .formatted(local));
    put(
        caches.clusterQueues(),
        ClusterQueue.class,
        "{metadata: {name: cq, annotations: {%s}}, spec: {}}".formatted(cluster));
  }

  @Test
  void itTellsOfWhatWaitsInAQueueWhoseLimitChanges() throws JsonProcessingException {
    queues("sluice.dev/max-run-time: 1h", "");
    assertThat(told).containsExactly("waits");
    queues("sluice.dev/max-run-time: 60m", "sluice.dev/max-run-time: 2h");
    assertThat(told).containsExactly("waits", "waits");
    queues("", "sluice.dev/max-run-time: 2h");
    assertThat(told).containsExactly("waits", "waits", "waits");
  }

  @Test
  void otherChangesTellNothing() throws JsonProcessingException {
    queues("sluice.dev/default-run-time: 1h", "other: annotation");
    assertThat(told).isEmpty();
  }
}

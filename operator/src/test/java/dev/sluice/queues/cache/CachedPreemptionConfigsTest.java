package dev.sluice.queues.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidateSelector;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CachedPreemptionConfigsTest {

  private static final String CONFIGS =
      """
      {"metadata": {"resourceVersion": "7"}, "items": [
        {"metadata": {"name": "heroes", "uid": "u", "resourceVersion": "3"},
         "spec": {"rules": [{"name": "all", "candidateSelectors": [
           {"scope": "WithinCohortTree", "clusterQueueSelector": {}}]}]}}]}
      """;

  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());

  private ClusterQueue queue(String name, String metadata) throws JsonProcessingException {
    ClusterQueue queue =
        new YAMLMapper()
            .readValue("{metadata: {name: %s%s}}".formatted(name, metadata), ClusterQueue.class);
    caches.clusterQueues().put(name, queue);
    return queue;
  }

  private static Set<String> selected(CachedPreemptionConfigs configs, ClusterQueue queue) {
    return configs.of(queue).orElseThrow().rules().stream()
        .flatMap(rule -> rule.candidates().stream())
        .map(CandidateSelector::clusterQueues)
        .flatMap(Optional::stream)
        .findFirst()
        .orElse(Set.of());
  }

  @Test
  void selectedQueuesWithoutLabels() throws IOException {
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        CachedPreemptionConfigs configs =
            new CachedPreemptionConfigs(
                caches,
                new Reflectors(
                    client, InstantSource.system(), new Random(1), new ReadErrorLog()))) {
      api.play(
          asked ->
              asked.path().contains("preemptionconfigs")
                  ? new PlayedApi.Answer(200, CONFIGS)
                  : new PlayedApi.Answer(404, "{}"));
      configs.start();
      ClusterQueue naming =
          queue("research", ", annotations: {kueue.x-k8s.io/preemption-config-name: heroes}");
      await()
          .untilAsserted(() -> assertThat(selected(configs, naming)).containsExactly("research"));
      AtomicInteger told = new AtomicInteger();
      configs.onQueuesChange(told::incrementAndGet);

      queue("team-x", "");

      assertThat(selected(configs, naming)).containsExactlyInAnyOrder("research", "team-x");
      assertThat(told).hasValue(1);

      queue("team-x", ", annotations: {other: x}");

      assertThat(told).as("of what no selector sees").hasValue(1);

      caches.clusterQueues().remove("team-x");

      assertThat(selected(configs, naming)).containsExactly("research");
    }
  }
}

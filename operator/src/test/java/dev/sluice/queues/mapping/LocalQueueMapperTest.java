package dev.sluice.queues.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** LocalQueues as people write them, and the past that their status tells. */
class LocalQueueMapperTest {

  private static LocalQueue queue(String rest) {
    return Serialization.unmarshal(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: main, namespace: team}
        """
            + rest,
        LocalQueue.class);
  }

  @ParameterizedTest
  @CsvSource({
    "'', 1",
    "', fairSharing: {}', 1",
    "', fairSharing: {weight: 2}', 2",
    "', fairSharing: {weight: 500m}', 0.5",
    "', fairSharing: {weight: \"0\"}', 0",
    "', fairSharing: {weight: \"-1\"}', -1"
  })
  void theWeightMayBeAnything(String field, double weight) {
    assertThat(LocalQueueMapper.translate(queue("spec: {clusterQueue: pool" + field + "}")))
        .isEqualTo(
            new LocalQueueSpec(new LocalQueueId("team", "main"), "pool", StopPolicy.NONE, weight));
  }

  @Test
  void theStatusTellsThePast() {
    LocalQueue queue =
        queue(
            """
            status:
              fairSharing:
                weightedShare: 0
                admissionFairSharingStatus:
                  consumedResources: {cpu: 1500m, memory: 2Ki, gpu: "0.25"}
                  lastUpdate: "2026-01-01T10:00:00Z"
            """);

    assertThat(LocalQueueMapper.used(queue))
        .contains(
            new SchedulerEvent.LocalQueueUsed(
                new LocalQueueId("team", "main"),
                Map.of("cpu", 1.5, "memory", 2048.0, "gpu", 0.25),
                Instant.parse("2026-01-01T10:00:00Z")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "spec: {}",
        "status: {}",
        "status: {fairSharing: {weightedShare: 0}}",
        "status: {fairSharing: {weightedShare: 0, admissionFairSharingStatus: {consumedResources:"
            + " {}, lastUpdate: yesterday}}}",
        "status: {fairSharing: {weightedShare: 0, admissionFairSharingStatus: {consumedResources:"
            + " {cpu: 1}}}}",
        "status: {fairSharing: {weightedShare: 0, admissionFairSharingStatus: {consumedResources:"
            + " {cpu: many}, lastUpdate: \"2026-01-01T10:00:00Z\"}}}"
      })
  void whatDoesNotTellThePastIsLetBe(String rest) {
    assertThat(LocalQueueMapper.used(queue(rest))).isEmpty();
  }
}

package dev.sluice.queues.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueStatus;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.LocalQueueView.LocalQueueUsageView;
import dev.sluice.core.model.LocalQueueId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Statuses as the engine's views say they should be. */
class QueueStatusesTest {

  private static final Instant NOW = Instant.parse("2026-01-01T10:00:00Z");
  private static final ObjectMapper JSON = new ObjectMapper();

  private static LocalQueueView view(Optional<LocalQueueUsageView> past, FlavorUsage... covered) {
    return new LocalQueueView(
        new LocalQueueId("team", "main"), "pool", List.of(), 0, 0, 0, 0, List.of(covered), past);
  }

  private static String fairSharing(Optional<LocalQueueUsageView> past, FlavorUsage... covered) {
    return JSON.valueToTree(QueueStatuses.localQueue(view(past, covered), 1, null, NOW))
        .path("fairSharing")
        .toString();
  }

  private static Optional<LocalQueueUsageView> past(Map<String, Double> consumed) {
    return past(consumed, Instant.parse("2026-01-01T09:59:58.7Z"));
  }

  private static Optional<LocalQueueUsageView> past(
      Map<String, Double> consumed, Instant sampledAt) {
    return Optional.of(new LocalQueueUsageView(new TreeMap<>(consumed), sampledAt, 7));
  }

  /** The past use that a status tells first, and then after a later sample. */
  private static String lastUpdate(Map<String, Double> first, Map<String, Double> later) {
    FlavorUsage cpu = new FlavorUsage("f", "cpu", 1, 1, 1, 0, 0);
    LocalQueueStatus before = QueueStatuses.localQueue(view(past(first), cpu), 1, null, NOW);
    Instant nextSample = Instant.parse("2026-01-01T10:05:00Z");
    return JSON.valueToTree(
            QueueStatuses.localQueue(view(past(later, nextSample), cpu), 1, before, NOW))
        .at("/fairSharing/admissionFairSharingStatus/lastUpdate")
        .asText();
  }

  @Test
  void aLaterSampleOfNothingIsNoReasonToWrite() {
    assertThat(lastUpdate(Map.of(), Map.of())).isEqualTo("2026-01-01T09:59:58Z");
    assertThat(lastUpdate(Map.of(), Map.of("cpu", 0.5))).isEqualTo("2026-01-01T10:05:00Z");
    assertThat(lastUpdate(Map.of("cpu", 0.5), Map.of("cpu", 0.5)))
        .isEqualTo("2026-01-01T10:05:00Z");
    assertThat(lastUpdate(Map.of("cpu", 0.5), Map.of())).isEqualTo("2026-01-01T10:05:00Z");
  }

  @Test
  void aLocalQueueTellsItsPastUseAndNoShare() {
    assertThat(
            fairSharing(
                past(
                    Map.of(
                        "cpu", 1.23456, "memory", 3e9 + 0.4, "gpu", 0.5, "pods", 2.0, "tiny",
                        0.0004))))
        .isEqualTo(
            "{\"weightedShare\":0,\"admissionFairSharingStatus\":{\"consumedResources\":"
                + "{\"cpu\":\"1235m\",\"gpu\":\"500m\",\"memory\":\"3000000000\",\"pods\":\"2\"},"
                + "\"lastUpdate\":\"2026-01-01T09:59:58Z\"}}");
  }

  @Test
  void nothingConsumedIsSaidToo() {
    assertThat(fairSharing(past(Map.of())))
        .isEqualTo(
            "{\"weightedShare\":0,\"admissionFairSharingStatus\":{\"consumedResources\":{},"
                + "\"lastUpdate\":\"2026-01-01T09:59:58Z\"}}");
  }

  @Test
  void aCoveredResourceThatWasNotUsedIsZero() {
    assertThat(
            fairSharing(
                past(Map.of("cpu", 1.5)),
                new FlavorUsage("f", "cpu", 1, 1, 1, 0, 0),
                new FlavorUsage("f", "memory", 1, 1, 1, 0, 0),
                new FlavorUsage("g", "memory", 1, 1, 1, 0, 0)))
        .contains("\"consumedResources\":{\"cpu\":\"1500m\",\"memory\":\"0\"}");
  }

  @Test
  void wherePastUseDoesNotCountNothingIsSaid() {
    assertThat(fairSharing(Optional.empty())).isEmpty();
  }
}

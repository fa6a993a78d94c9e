package dev.sluice.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.FlavorUsage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The last hours of queues: in order, no longer than the ring, and bounded in number. */
class PastUseTest {

  private static final Instant BEGIN = Instant.parse("2026-03-01T00:00:00Z");

  private final PastUse history = new PastUse();
  private int taken;

  private static ClusterQueueView queue(String name, int pending, long used) {
    return new ClusterQueueView(
        name,
        "",
        "",
        List.of(),
        1,
        pending - 1,
        0,
        0,
        Optional.empty(),
        List.of(new FlavorUsage("spot", "cpu", 10, 0, 0, used, used)));
  }

  private void sample(ClusterQueueView... queues) {
    history.sample(BEGIN.plus(PastUse.INTERVAL.multipliedBy(taken++)), List.of(queues));
  }

  private static List<String> texts(JsonNode array) {
    return array.valueStream().map(JsonNode::asText).toList();
  }

  @Test
  void samplesAreToldInTheirOrder() {
    sample(queue("a", 3, 7), queue("b", 9, 9));
    sample(queue("a", 4, 8));
    JsonNode a = history.of("a");

    assertThat(a.at("/times/0").asLong()).isEqualTo(BEGIN.toEpochMilli());
    assertThat(a.path("times")).hasSize(2);
    assertThat(texts(a.path("pending"))).containsExactly("3", "4");
    assertThat(a.at("/usage/0/flavor").asText()).isEqualTo("spot");
    assertThat(a.at("/usage/0/resource").asText()).isEqualTo("cpu");
    assertThat(texts(a.at("/usage/0/used"))).containsExactly("7", "8");
    assertThat(texts(history.of("b").path("pending")))
        .as("it is gone since")
        .containsExactly("9", "null");
    assertThat(history.of("none").has("pending")).isFalse();
  }

  @Test
  void theOldestSampleIsForgotten() {
    for (int i = 1; i <= PastUse.SAMPLES + 3; i++) {
      sample(queue("a", i, i));
    }
    JsonNode a = history.of("a");

    assertThat(a.path("times")).hasSize(PastUse.SAMPLES);
    assertThat(texts(a.path("times"))).isSorted();
    assertThat(a.at("/pending/0").asInt()).isEqualTo(4);
    assertThat(a.path("pending").path(PastUse.SAMPLES - 1).asInt()).isEqualTo(PastUse.SAMPLES + 3);
  }

  @Test
  void aQueueThatIsGoneMakesRoom() {
    List<ClusterQueueView> many = new ArrayList<>();
    for (int i = 0; i < PastUse.MOST_SERIES; i++) {
      many.add(queue("q" + i, 1, 1));
    }
    sample(many.toArray(ClusterQueueView[]::new));
    sample(queue("late", 1, 1));
    assertThat(history.of("q0").path("pending")).hasSize(2);
    assertThat(history.of("late").has("pending")).as("no room").isFalse();

    for (int i = 0; i < 2 * PastUse.SAMPLES; i++) {
      sample(queue("late", 1, 1));
    }
    assertThat(history.of("q0").has("pending")).isFalse();
    assertThat(history.of("late").has("pending")).isTrue();
  }
}

package dev.sluice.api.queueing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.queueing.NodeCapacityAnnotations.Means;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeCapacityAnnotationsTest {

  @Test
  void readsWhatIsAllowed() {
    NodeCapacityAnnotations read =
        NodeCapacityAnnotations.of(
            Map.of(
                NodeCapacityAnnotations.MEANS,
                "Placeholders",
                NodeCapacityAnnotations.TIMEOUT,
                "90s",
                NodeCapacityAnnotations.RETRIES,
                "0",
                NodeCapacityAnnotations.IMAGE,
                "mirror.example:5000/pause@sha256:0a"));

    assertThat(read)
        .isEqualTo(
            new NodeCapacityAnnotations(
                Means.PLACEHOLDERS,
                Duration.ofSeconds(90),
                0,
                "mirror.example:5000/pause@sha256:0a",
                Map.of()));
    assertThat(NodeCapacityAnnotations.of(null))
        .isEqualTo(
            new NodeCapacityAnnotations(
                Means.AUTO, Duration.ofMinutes(10), 3, "registry.k8s.io/pause:3.10", Map.of()));
  }

  @ParameterizedTest
  @CsvSource({
    "sluice.dev/node-capacity-means, placeholders, 'Auto, CapacityBuffer or Placeholders'",
    "sluice.dev/node-capacity-timeout, 999ms, 'a duration of at least 1s and of at most 87600h, such as 8h'",
    "sluice.dev/node-capacity-timeout, soon, 'a duration of at least 1s and of at most 87600h, such as 8h'",
    "sluice.dev/node-capacity-retries, 1001, a whole number from 0 to 1000",
    "sluice.dev/node-capacity-retries, -1, a whole number from 0 to 1000",
    "sluice.dev/node-capacity-retries, 99999999999, a whole number from 0 to 1000",
    "sluice.dev/node-capacity-image, 'a b', the name of an image with at most 512 characters",
  })
  void aValueThatIsNotAllowedCountsAsAbsent(String annotation, String value, String allowed) {
    NodeCapacityAnnotations read = NodeCapacityAnnotations.of(Map.of(annotation, value));
    NodeCapacityAnnotations absent = NodeCapacityAnnotations.of(Map.of());

    assertThat(read.faults()).isEqualTo(Map.of(annotation, allowed));
    assertThat(List.of(read.means(), read.timeout(), read.retries(), read.image()))
        .isEqualTo(List.of(absent.means(), absent.timeout(), absent.retries(), absent.image()));
  }

  @Test
  void refusedFlavorsAreReadAsTheyAreWritten() {
    Instant until = Instant.parse("2026-03-01T10:01:00Z");
    RefusedFlavors refused =
        new RefusedFlavors(Map.of())
            .with(List.of("spot", "cheap"), until.plusMillis(900))
            .with(List.of("late"), until.plusSeconds(60));

    assertThat(refused.text())
        .isEqualTo(
            "cheap=2026-03-01T10:01:00Z,late=2026-03-01T10:02:00Z,spot=2026-03-01T10:01:00Z");
    assertThat(RefusedFlavors.of(Map.of(RefusedFlavors.ANNOTATION, refused.text())))
        .isEqualTo(refused);
    assertThat(refused.after(until).names()).containsExactly("late");
    assertThat(refused.earliest()).contains(until);
  }

  @Test
  void whatCannotBeReadOfRefusedFlavorsDoesNotCount() {
    assertThat(names("a,=,b=soon,c=2026-03-01T10:01:00Z, ,d=")).containsExactly("c");
    assertThat(names("c=2026-03-01T10:01:00Z," + "x".repeat(40_000))).isEmpty();
  }

  private static Iterable<String> names(String value) {
    return RefusedFlavors.of(Map.of(RefusedFlavors.ANNOTATION, value)).names();
  }
}

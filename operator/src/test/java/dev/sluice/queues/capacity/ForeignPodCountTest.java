package dev.sluice.queues.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.queues.capacity.CapacityControllers.ForeignPodCount;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ForeignPodCountTest {

  private Optional<Map<String, SortedMap<String, Long>>> present = Optional.empty();
  private int walks;

  private final ForeignPodCount count =
      new ForeignPodCount(
          () -> {
            walks++;
            return present;
          });

  private static Optional<Map<String, SortedMap<String, Long>>> pods(long number) {
    return Optional.of(Map.of("n1", new TreeMap<>(Map.of("pods", number))));
  }

  @Test
  void allProvidersShareACount() {
    present = pods(3);
    assertThat(count.requests()).isEqualTo(pods(3));
    present = pods(4);
    assertThat(count.requests()).isEqualTo(pods(3));
    assertThat(walks).isEqualTo(1);

    count.countAgain();
    assertThat(count.requests()).isEqualTo(pods(4));
    assertThat(walks).isEqualTo(2);
  }

  @Test
  void whatIsNotKnownYetIsAskedForAgain() {
    assertThat(count.requests()).isEmpty();
    present = pods(1);
    assertThat(count.requests()).isEqualTo(pods(1));
  }
}

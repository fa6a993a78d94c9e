package dev.sluice.api.queueing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The annotations of a CapacityProvider that counts nodes (docs/dynamic-quota.md). */
class CapacityAnnotationsTest {

  @Test
  void withoutAnnotationsTheAmountIsTold() {
    CapacityAnnotations none = CapacityAnnotations.of(null);

    assertThat(none.faults()).isEmpty();
    assertThat(none.told("cpu", null, 5)).isEqualTo(5);
    assertThat(none.told("cpu", 100L, 5)).isEqualTo(5);
  }

  @Test
  void whatIsSubtractedIsForeignPodsOrNothing() {
    assertThat(CapacityAnnotations.of(Map.of()).withoutForeignPods()).isFalse();
    assertThat(
            CapacityAnnotations.of(Map.of(CapacityAnnotations.SUBTRACT, "ForeignPods"))
                .withoutForeignPods())
        .isTrue();
    CapacityAnnotations other =
        CapacityAnnotations.of(Map.of(CapacityAnnotations.SUBTRACT, "pods"));
    assertThat(other.withoutForeignPods()).isFalse();
    assertThat(other.faults())
        .containsExactly(
            "metadata.annotations[sluice.dev/capacity-subtract]: \"pods\": must be ForeignPods");
  }

  /** Changes of 0.20, section 5. */
  @ParameterizedTest
  @CsvSource({
    // reserve, floor, ceiling, hysteresis, told before, counted, told
    "'', '', '', '', 0, 1000, 1000",
    "'cpu=1', '', '', '', 0, 10000, 9000",
    "'cpu=20', '', '', '', 0, 10000, 0",
    "'cpu=10%', '', '', '', 0, 10001, 9000",
    "'cpu=1', 'cpu=20', '', '', 0, 10000, 20000",
    "'', '', 'cpu=2', '', 0, 10000, 2000",
    "'', '', '', '10%', 10000, 10999, 10000",
    "'', '', '', '10%', 10000, 11000, 11000",
    "'', '', '', '10%', 10000, 9001, 10000",
    "'', '', '', '10%', 10000, 9000, 9000",
    "'', '', 'cpu=9', '100%', 10000, 9500, 9000",
    "'memory=1Gi', '', '', '', 0, 1000, 1000"
  })
  void amountsAreAdjusted(
      String reserve,
      String floor,
      String ceiling,
      String hysteresis,
      long before,
      long counted,
      long told) {
    CapacityAnnotations annotations =
        CapacityAnnotations.of(
            Map.of(
                    CapacityAnnotations.RESERVE, reserve,
                    CapacityAnnotations.FLOOR, floor,
                    CapacityAnnotations.CEILING, ceiling,
                    CapacityAnnotations.HYSTERESIS, hysteresis)
                .entrySet()
                .stream()
                .filter(each -> !each.getValue().isEmpty())
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));

    assertThat(annotations.faults()).isEmpty();
    assertThat(annotations.told("cpu", before, counted)).isEqualTo(told);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "floor | much",
        "floor | cpu",
        "floor | cpu=-1",
        "floor | cpu=1,cpu=2",
        "floor | cpu=1,",
        "ceiling | cpu=10%",
        "reserve | cpu=101%",
        "reserve | cpu=-1",
        "hysteresis | 5",
        "hysteresis | 101%",
        "hysteresis | -1%"
      })
  void whatCantBeReadIsNamed(String annotation, String value) {
    assertThat(CapacityAnnotations.of(Map.of("sluice.dev/capacity-" + annotation, value)).faults())
        .singleElement()
        .asString()
        .startsWith(
            "metadata.annotations[sluice.dev/capacity-%s]: \"%s\": must be "
                .formatted(annotation, value));
  }

  @Test
  void aFloorAboveTheCeilingIsNamed() {
    assertThat(
            CapacityAnnotations.of(
                    Map.of(
                        CapacityAnnotations.FLOOR, "cpu=2", CapacityAnnotations.CEILING, "cpu=1"))
                .faults())
        .containsExactly(
            "metadata.annotations[sluice.dev/capacity-floor]: \"cpu=2\": must be at most the"
                + " ceiling for \"cpu\"");
  }

  /** Long texts are refused with a short message, and anything is read without a throw. */
  @Test
  void readingIsBounded() {
    String many =
        IntStream.range(0, 65).mapToObj(i -> "r" + i + "=1").collect(Collectors.joining(","));
    for (String text : new String[] {many, "cpu=1,".repeat(100_000)}) {
      assertThat(CapacityAnnotations.of(Map.of(CapacityAnnotations.FLOOR, text)).faults())
          .singleElement()
          .asString()
          .hasSizeLessThan(400);
    }
    Random random = new Random(1);
    String alphabet = "cpu=,1%.eGi-+ \n9";
    for (int i = 0; i < 20_000; i++) {
      String text =
          random
              .ints(random.nextInt(14), 0, alphabet.length())
              .mapToObj(at -> alphabet.substring(at, at + 1))
              .collect(Collectors.joining());
      CapacityAnnotations read =
          CapacityAnnotations.of(
              Map.of(
                  CapacityAnnotations.FLOOR, text,
                  CapacityAnnotations.RESERVE, text,
                  CapacityAnnotations.HYSTERESIS, text));
      assertThat(read.told("cpu", random.nextLong(), random.nextInt(1_000))).isNotNegative();
    }
  }
}

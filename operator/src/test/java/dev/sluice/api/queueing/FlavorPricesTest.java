package dev.sluice.api.queueing;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The prices that a ResourceFlavor says (docs/prices.md). */
class FlavorPricesTest {

  private static FlavorPrices of(String text) {
    return FlavorPrices.of(Map.of(FlavorPrices.ANNOTATION, text));
  }

  @Test
  void aPriceIsOfAUnitOfQuota() {
    FlavorPrices prices = of("cpu=0.031/h, memory=0.004/Gi/h,nvidia.com/gpu=2.10/h,pods=0/h");
    assertThat(prices.fault()).isEmpty();
    assertThat(prices.perHour())
        .isEqualTo(
            Map.of(
                "cpu",
                new BigDecimal("0.000031"),
                "memory",
                new BigDecimal("0.004").divide(BigDecimal.valueOf(1L << 30)),
                "nvidia.com/gpu",
                new BigDecimal("2.1"),
                "pods",
                BigDecimal.ZERO));
  }

  @Test
  void noAnnotationIsNoPrice() {
    assertThat(FlavorPrices.of(null).perHour()).isEmpty();
    assertThat(FlavorPrices.of(Map.of()).fault()).isEmpty();
    assertThat(of(" ").perHour()).isEmpty();
  }

  /** Of an annotation with a fault nothing counts: half a bill is none. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "cpu",
        "cpu=1",
        "cpu=1/d",
        "cpu=-1/h",
        "cpu=1e9/h",
        "cpu=1/h,",
        "cpu=1/h,cpu=2/h",
        "=1/h",
        "memory=1/gi/h",
        "cpu=1234567890123/h",
        "cpu=0.1234567890123/h"
      })
  void whatIsWrongIsTold(String text) {
    FlavorPrices prices = of(text);
    assertThat(prices.perHour()).isEmpty();
    assertThat(prices.fault())
        .hasValueSatisfying(
            fault ->
                assertThat(fault).startsWith("must be prices by resource, such as cpu=0.031/h"));
  }

  @Test
  void aHostileTextIsReadInLinearTimeAndToldShortly() {
    for (String text :
        new String[] {
          "cpu=" + "9".repeat(16_000),
          ",".repeat(16_000),
          "a".repeat(300_000),
          IntStream.range(0, 100).mapToObj(i -> "r" + i + "=1/h").collect(Collectors.joining(","))
        }) {
      assertThat(of(text).perHour()).isEmpty();
      assertThat(of(text).fault().orElseThrow().length()).isLessThan(500);
    }
  }
}

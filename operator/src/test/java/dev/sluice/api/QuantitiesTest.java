package dev.sluice.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantitiesTest {

  @ParameterizedTest
  @CsvSource({
    "cpu, 1, 1000",
    "cpu, 500m, 500",
    "cpu, 0.5, 500",
    "cpu, .5, 500",
    "cpu, 1., 1000",
    "cpu, 0.0001, 1",
    "cpu, 1u, 1",
    "cpu, 1n, 1",
    "cpu, 1k, 1000000",
    "cpu, 1e3, 1000000",
    "cpu, 1E3, 1000000",
    "cpu, 1E, 9223372036854775807",
    "cpu, -1, -1000",
    "cpu, 0, 0",
    "memory, 1Gi, 1073741824",
    "memory, 1G, 1000000000",
    "memory, 1.5Gi, 1610612736",
    "memory, 100m, 1",
    "memory, 1Ei, 1152921504606846976",
    "memory, 8Ei, 9223372036854775807",
    "memory, -9Ei, -9223372036854775808",
    "memory, 1e999999999, 9223372036854775807",
    "memory, 1e-999999999, 1",
    "memory, +5Ki, 5120",
    "nvidia.com/gpu, 2, 2",
    "nvidia.com/gpu, 1.1, 2"
  })
  void aQuantityBecomesAnAmountRoundedUpAndHeldInRange(
      String resource, String quantity, long amount) {
    assertThat(Quantities.amount(resource, quantity)).isEqualTo(amount);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "abc", "1 Gi", "1gi", "1e", "1GiB", ".", "-", "1e3Gi", "0x10", "1,5", "NaN", "١"
      })
  void whatIsNoQuantityIsRefusedByName(String text) {
    assertThatThrownBy(() -> Quantities.amount("cpu", text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("\"" + text + "\" is not a quantity: a number, such as");
  }

  @Test
  void anEndlessTextIsRefusedWithoutBeingRepeatedWhole() {
    assertThatThrownBy(() -> Quantities.parse("1".repeat(10_000)))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .hasSizeLessThan(500);
  }

  @ParameterizedTest
  @CsvSource({
    "cpu, 0, 0",
    "cpu, 1, 1m",
    "cpu, 1500, 1500m",
    "cpu, 2000, 2",
    "cpu, 1000000, 1k",
    "cpu, 1500000, 1500",
    "memory, 0, 0",
    "memory, 1000, 1k",
    "memory, 1023, 1023",
    "memory, 1024, 1Ki",
    "memory, 1536, 1536",
    "memory, 1073741824, 1Gi",
    "memory, 1610612736, 1536Mi",
    "memory, 1000000000, 1000000000",
    "memory, 1152921504606846976, 1Ei",
    "ephemeral-storage, 2048, 2Ki",
    "hugepages-2Mi, 2097152, 2Mi",
    "nvidia.com/gpu, 8, 8",
    "nvidia.com/gpu, 2000, 2k",
    "pods, 110, 110",
    "pods, 9223372036854775807, 9223372036854775807"
  })
  void anAmountIsWrittenAsTheApiServerWould(String resource, long amount, String quantity) {
    assertThat(Quantities.format(resource, amount)).isEqualTo(quantity);
  }

  @ParameterizedTest
  @CsvSource({
    "cpu, 0, 0",
    "cpu, 1.5, 1500m",
    "cpu, 2.0004, 2",
    "cpu, 1234567.8, 1234567800m",
    "gpu, 0.25, 250m",
    "gpu, 3, 3",
    "memory, 1023.5, 1023500m",
    "memory, 1048576, 1Mi",
    "memory, 3000000.5, 3000001",
    "memory, 1e300, 9223372036854775807"
  })
  void averagesAreRounded(String resource, double units, String quantity) {
    assertThat(Quantities.rounded(resource, units)).isEqualTo(quantity);
  }

  @ParameterizedTest
  @ValueSource(
      longs = {0, 1, 999, 1000, 1001, 1024, 123_456_789, 5_000_000_000L, Long.MAX_VALUE - 1})
  void whatIsWrittenReadsBackAsTheSame(long amount) {
    for (String resource : new String[] {"cpu", "memory", "nvidia.com/gpu"}) {
      assertThat(Quantities.amount(resource, Quantities.format(resource, amount)))
          .isEqualTo(amount);
    }
  }
}

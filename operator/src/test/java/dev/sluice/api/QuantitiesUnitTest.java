package dev.sluice.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ResourceAmounts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuantitiesUnitTest {

  @Test
  void amountsThatAreComparedHaveOneUnit() {
    assertThat(Quantities.inOneUnit("pods", 3001, 1000)).containsExactly("3001", "1000");
    assertThat(Quantities.inOneUnit("pods", 3000, 1000, 0)).containsExactly("3k", "1k", "0");
    assertThat(Quantities.inOneUnit("cpu", 5000, 2500, 10000)).containsExactly("5", "2.5", "10");
    assertThat(Quantities.inOneUnit("memory", 8L << 30, 1500L << 20))
        .containsExactly("8192Mi", "1500Mi");
    assertThat(Quantities.inOneUnit("memory", 0, 0)).containsExactly("0", "0");
  }

  /**
   * Changes of 0.20, section 1: a quota beyond the range of amounts is never less than a request,
   * and a request beyond it never less than any limit.
   */
  @ParameterizedTest
  @CsvSource({
    "memory, 9223372036854775808",
    "memory, 8Ei",
    "memory, 1e40",
    "cpu, 10P",
    "pods, 10E"
  })
  void quotasBeyondTheRangeAreUnlimited(String resource, String quota) {
    assertThat(Quantities.amount(resource, quota)).isEqualTo(ResourceAmounts.UNLIMITED);
    assertThat(Quantities.amount(resource, "-" + quota)).isNegative();
  }

  @Test
  void quotasWithinTheRangeAreExact() {
    assertThat(Quantities.amount("memory", "9223372036854775806"))
        .isEqualTo(ResourceAmounts.UNLIMITED - 1);
    assertThat(Quantities.amount("cpu", "9223372036854775.806"))
        .isEqualTo(ResourceAmounts.UNLIMITED - 1);
  }
}

package dev.sluice.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

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
}

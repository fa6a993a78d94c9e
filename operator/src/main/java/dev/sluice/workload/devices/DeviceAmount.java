package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Optional;

/** A quantity of Kubernetes; equal amounts are equal however they are written. */
record DeviceAmount(BigDecimal value) implements Comparable<DeviceAmount> {

  private static final BigDecimal LARGEST = BigDecimal.valueOf(Long.MAX_VALUE);

  DeviceAmount {
    value = value.signum() == 0 ? BigDecimal.ZERO : value.stripTrailingZeros();
  }

  /**
   * Parses a quantity such as {@code 40Gi}.
   *
   * @throws IllegalArgumentException when the text is none
   */
  static DeviceAmount of(String text) {
    return new DeviceAmount(Quantities.parse(text));
  }

  /** Reads a quantity of an object; empty if it is none. */
  static Optional<DeviceAmount> read(JsonNode quantity) {
    try {
      return quantity.isTextual() || quantity.isNumber()
          ? Optional.of(of(quantity.asText()))
          : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** The sum of both. */
  DeviceAmount plus(DeviceAmount other) {
    return new DeviceAmount(value.add(other.value));
  }

  /** The amount in whole units, rounded up; not negative, and at most the largest number. */
  long units() {
    return value.max(BigDecimal.ZERO).min(LARGEST).setScale(0, RoundingMode.CEILING).longValue();
  }

  @Override
  public int compareTo(DeviceAmount other) {
    return value.compareTo(other.value);
  }
}

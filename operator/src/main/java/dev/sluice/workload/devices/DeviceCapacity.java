package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A capacity of a device, of which requests consume parts if the device may be allocated several
 * times, and all otherwise (docs/devices.md#shared-capacities).
 *
 * @param amount what the device has
 * @param shared whether the device may be allocated several times
 * @param defaultAmount what a request that asks for none consumes
 * @param validAmounts the amounts that can be consumed, in order; empty: any, within the range
 * @param range the amounts that can be consumed, if they are in a range
 */
record DeviceCapacity(
    DeviceAmount amount,
    boolean shared,
    DeviceAmount defaultAmount,
    List<DeviceAmount> validAmounts,
    Optional<Range> range) {

  private static final DeviceAmount NOTHING = new DeviceAmount(BigDecimal.ZERO);

  /**
   * Amounts that can be consumed.
   *
   * @param leastAmount the smallest
   * @param stepAmount what two of them differ by; 0: any
   * @param mostAmount the largest
   */
  record Range(DeviceAmount leastAmount, DeviceAmount stepAmount, DeviceAmount mostAmount) {

    /** The next amount; empty if it would be more than the largest. */
    Optional<DeviceAmount> rounded(DeviceAmount requestedAmount) {
      BigDecimal least = leastAmount.value();
      BigDecimal step = stepAmount.value();
      BigDecimal beyond = requestedAmount.value().subtract(least).max(BigDecimal.ZERO);
      if (step.signum() > 0) {
        beyond = beyond.divide(step, 0, RoundingMode.CEILING).multiply(step);
      }
      return Optional.of(new DeviceAmount(least.add(beyond)))
          .filter(rounded -> rounded.compareTo(mostAmount) <= 0);
    }
  }

  /**
   * Reads the capacities of a device, by their names with domains. Total: a capacity that can't be
   * read isn't there.
   */
  static Map<String, DeviceCapacity> of(String driver, JsonNode device) {
    boolean shared = device.path("allowMultipleAllocations").asBoolean(false);
    Map<String, DeviceCapacity> result = new HashMap<>();
    device
        .path("capacity")
        .properties()
        .forEach(
            capacity ->
                DeviceAmount.read(capacity.getValue().path("value"))
                    .map(amount -> of(amount, shared, capacity.getValue().path("requestPolicy")))
                    .ifPresent(read -> result.put(qualified(driver, capacity.getKey()), read)));
    return Map.copyOf(result);
  }

  private static DeviceCapacity of(DeviceAmount amount, boolean shared, JsonNode policy) {
    List<DeviceAmount> validAmounts = new ArrayList<>(0);
    for (JsonNode value : policy.path("validValues")) {
      DeviceAmount.read(value).ifPresent(validAmounts::add);
    }
    validAmounts.sort(null);
    JsonNode range = policy.path("validRange");
    return new DeviceCapacity(
        amount,
        shared,
        DeviceAmount.read(policy.path("default")).orElse(amount),
        List.copyOf(validAmounts),
        DeviceAmount.read(range.path("min"))
            .map(
                leastAmount ->
                    new Range(
                        leastAmount,
                        DeviceAmount.read(range.path("step")).orElse(NOTHING),
                        DeviceAmount.read(range.path("max")).orElse(amount))));
  }

  /** The name of a capacity with its domain, which is the driver if the name has none. */
  static String qualified(String driver, String name) {
    return name.indexOf('/') < 0 ? driver + "/" + name : name;
  }

  /**
   * What a request consumes; empty if the device can't satisfy it.
   *
   * @param requestedAmount what it asks for; empty: what is the default
   */
  Optional<DeviceAmount> consumed(Optional<DeviceAmount> requestedAmount) {
    if (!shared) {
      return Optional.of(amount).filter(all -> all.compareTo(requestedAmount.orElse(all)) >= 0);
    }
    return rounded(requestedAmount.orElse(defaultAmount))
        .filter(rounded -> rounded.compareTo(NOTHING) >= 0 && rounded.compareTo(amount) <= 0);
  }

  private Optional<DeviceAmount> rounded(DeviceAmount requestedAmount) {
    if (!validAmounts.isEmpty()) {
      return validAmounts.stream()
          .filter(valid -> valid.compareTo(requestedAmount) >= 0)
          .findFirst();
    }
    return range.isEmpty() ? Optional.of(requestedAmount) : range.get().rounded(requestedAmount);
  }

  /** How often the device has an amount: once if it can be allocated only once. */
  long times(DeviceAmount consumedAmount) {
    if (!shared) {
      return 1;
    }
    return consumedAmount.compareTo(NOTHING) <= 0
        ? Long.MAX_VALUE
        : amount
            .value()
            .divide(consumedAmount.value(), 0, RoundingMode.FLOOR)
            .min(BigDecimal.valueOf(Long.MAX_VALUE))
            .longValue();
  }
}

package dev.sluice.reference;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.reference.ReferenceDeviceCluster.Known;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What requests consume of the capacities of a device (docs/devices.md#shared-capacities). */
final class ReferenceCapacities {

  /** More often than anybody asks for. */
  private static final BigInteger ALWAYS = BigInteger.TWO.pow(80);

  private final Known known;
  private final DeviceFlaw flaw;

  ReferenceCapacities(Known known, DeviceFlaw flaw) {
    this.known = known;
    this.flaw = flaw;
  }

  private Map<String, JsonNode> capacities() {
    Map<String, JsonNode> result = new TreeMap<>();
    for (Map.Entry<String, JsonNode> each : known.device().path("capacity").properties()) {
      if (ReferenceDeviceCluster.quantity(each.getValue().path("value")).isPresent()) {
        result.put(whole(each.getKey()), each.getValue());
      }
    }
    return result;
  }

  private String whole(String name) {
    return name.contains("/") ? name : known.driver() + "/" + name;
  }

  private Map<String, BigDecimal> requested(JsonNode exactly) {
    Map<String, BigDecimal> result = new TreeMap<>();
    for (Map.Entry<String, JsonNode> each : exactly.at("/capacity/requests").properties()) {
      ReferenceDeviceCluster.quantity(each.getValue())
          .ifPresent(amount -> result.merge(whole(each.getKey()), amount, BigDecimal::max));
    }
    return result;
  }

  private static BigDecimal value(JsonNode capacity) {
    return ReferenceDeviceCluster.quantity(capacity.path("value")).orElseThrow();
  }

  /** How often a device can satisfy a request while nobody uses it. */
  BigInteger times(JsonNode exactly) {
    Map<String, JsonNode> capacities = capacities();
    Map<String, BigDecimal> requested = requested(exactly);
    if (!capacities.keySet().containsAll(requested.keySet())) {
      return BigInteger.ZERO;
    }
    BigInteger times =
        known.isShared() && flaw != DeviceFlaw.NOTHING_IS_SHARED ? ALWAYS : BigInteger.ONE;
    for (Map.Entry<String, JsonNode> each : capacities.entrySet()) {
      BigDecimal whole = value(each.getValue());
      Optional<BigDecimal> consumed =
          consumed(each.getValue(), Optional.ofNullable(requested.get(each.getKey())));
      if (flaw == DeviceFlaw.OTHER_CAPACITIES_ARE_FREE && !requested.containsKey(each.getKey())) {
        continue;
      }
      if (consumed.isEmpty()) {
        return BigInteger.ZERO;
      }
      if (known.isShared() && consumed.get().signum() > 0) {
        times = times.min(whole.divideToIntegralValue(consumed.get()).toBigInteger());
      }
    }
    return times;
  }

  /** What a request consumes of a capacity, in whole units. */
  BigInteger charged(String name, JsonNode exactly) {
    JsonNode capacity = capacities().get(name);
    return capacity == null
        ? BigInteger.ZERO
        : consumed(capacity, Optional.ofNullable(requested(exactly).get(name)))
            .map(ReferenceDeviceCluster::units)
            .orElse(BigInteger.ZERO);
  }

  /** What a claim consumes of a capacity of a device that it has. */
  BigInteger held(String name, JsonNode result) {
    JsonNode capacity = capacities().get(name);
    if (capacity == null) {
      return BigInteger.ZERO;
    }
    for (Map.Entry<String, JsonNode> each : result.path("consumedCapacity").properties()) {
      if (flaw != DeviceFlaw.CLAIMS_CONSUME_ALL
          && whole(each.getKey()).equals(name)
          && ReferenceDeviceCluster.quantity(each.getValue()).isPresent()) {
        return ReferenceDeviceCluster.units(ReferenceDeviceCluster.quantity(each.getValue()).get());
      }
    }
    return ReferenceDeviceCluster.units(value(capacity));
  }

  /** What a request consumes; empty if the capacity can't satisfy it. */
  private Optional<BigDecimal> consumed(JsonNode capacity, Optional<BigDecimal> requested) {
    BigDecimal whole = value(capacity);
    if (!known.isShared()) {
      return requested.filter(asked -> asked.compareTo(whole) > 0).isPresent()
          ? Optional.empty()
          : Optional.of(whole);
    }
    JsonNode policy = capacity.path("requestPolicy");
    Optional<BigDecimal> usual =
        flaw == DeviceFlaw.DEFAULTS_ARE_IGNORED
            ? Optional.empty()
            : ReferenceDeviceCluster.quantity(policy.path("default"));
    BigDecimal asked = requested.or(() -> usual).orElse(whole);
    return (flaw == DeviceFlaw.NOTHING_IS_ROUNDED
            ? Optional.of(asked)
            : rounded(asked, policy, whole))
        .filter(amount -> amount.signum() >= 0 && amount.compareTo(whole) <= 0);
  }

  private Optional<BigDecimal> rounded(BigDecimal asked, JsonNode policy, BigDecimal whole) {
    List<BigDecimal> valid = new ArrayList<>();
    policy
        .path("validValues")
        .forEach(each -> ReferenceDeviceCluster.quantity(each).ifPresent(valid::add));
    if (!valid.isEmpty()) {
      return valid.stream().filter(each -> each.compareTo(asked) >= 0).min(BigDecimal::compareTo);
    }
    JsonNode range = policy.path("validRange");
    Optional<BigDecimal> least = ReferenceDeviceCluster.quantity(range.path("min"));
    if (least.isEmpty()) {
      return Optional.of(asked);
    }
    BigDecimal most = ReferenceDeviceCluster.quantity(range.path("max")).orElse(whole);
    BigDecimal step = ReferenceDeviceCluster.quantity(range.path("step")).orElse(BigDecimal.ZERO);
    BigDecimal amount = asked.max(least.get());
    if (step.signum() > 0) {
      BigDecimal[] steps = amount.subtract(least.get()).divideAndRemainder(step);
      BigDecimal up = steps[1].signum() == 0 ? steps[0] : steps[0].add(BigDecimal.ONE);
      amount = least.get().add(up.multiply(step));
    }
    return amount.compareTo(most) > 0 ? Optional.empty() : Optional.of(amount);
  }
}

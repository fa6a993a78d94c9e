package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.Taint;
import java.math.BigInteger;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A device of a ResourceSlice.
 *
 * @param name its name within its pool
 * @param driver its driver
 * @param node the name of the node that it belongs to; empty if it doesn't belong to a single one
 * @param celValue what expressions see of it
 * @param counters what it consumes of counters, by the counter's name: of several sets together
 * @param capacities what several pods may share of it, by the capacity's name with its domain
 * @param taints its taints
 */
record Device(
    String name,
    String driver,
    String node,
    Map<String, Object> celValue,
    Map<String, DeviceAmount> counters,
    Map<String, DeviceCapacity> capacities,
    List<Taint> taints) {

  private static final String SHARED = "allowMultipleAllocations";

  /**
   * Reads a device of a driver. Total: what can't be read of it isn't there.
   *
   * @param nodeOfSlice the node that the devices of its slice belong to; empty without
   */
  static Device of(String driver, String nodeOfSlice, JsonNode device) {
    Map<String, Map<String, Object>> attributes = new HashMap<>();
    device
        .path("attributes")
        .properties()
        .forEach(
            attribute -> {
              Object value = value(attribute.getValue());
              if (value != null) {
                put(attributes, driver, attribute.getKey(), value);
              }
            });
    Map<String, Map<String, Object>> capacity = new HashMap<>();
    Map<String, DeviceCapacity> capacities = DeviceCapacity.of(driver, device);
    capacities.forEach((name, each) -> put(capacity, driver, name, each.amount()));
    Map<String, Object> celValue = new HashMap<>();
    celValue.put("driver", driver);
    celValue.put("attributes", new Domains(attributes));
    celValue.put("capacity", new Domains(capacity));
    celValue.put(SHARED, device.path(SHARED).asBoolean(false));
    return new Device(
        device.path("name").asText(""),
        driver,
        device.path("nodeName").asText(nodeOfSlice),
        Map.copyOf(celValue),
        counters(device),
        capacities,
        taints(device));
  }

  /** Whether several claims may have it at a time. */
  boolean isShared() {
    return Boolean.TRUE.equals(celValue.get(SHARED));
  }

  /**
   * How often it can satisfy a request while nobody uses it; 0: never. Of one that can be shared
   * each request consumes a part of every capacity.
   *
   * @param requests what the request consumes, by the capacity's name with its domain
   */
  long times(Map<String, DeviceAmount> requests) {
    if (!capacities.keySet().containsAll(requests.keySet())) {
      return 0;
    }
    long times = isShared() ? Long.MAX_VALUE : 1;
    for (Map.Entry<String, DeviceCapacity> each : capacities.entrySet()) {
      Optional<DeviceAmount> consumed =
          each.getValue().consumed(Optional.ofNullable(requests.get(each.getKey())));
      times = consumed.isEmpty() ? 0 : Math.min(times, each.getValue().times(consumed.get()));
    }
    return times;
  }

  /** The domain of a name that gives none is the driver. */
  private static void put(
      Map<String, Map<String, Object>> domains, String driver, String name, Object value) {
    int slash = name.indexOf('/');
    domains
        .computeIfAbsent(slash < 0 ? driver : name.substring(0, slash), any -> new HashMap<>())
        .put(name.substring(slash + 1), value);
  }

  private static @Nullable Object value(JsonNode attribute) {
    if (attribute.path("int").isIntegralNumber() && attribute.path("int").canConvertToLong()) {
      return attribute.path("int").longValue();
    }
    if (attribute.path("bool").isBoolean()) {
      return attribute.path("bool").booleanValue();
    }
    if (attribute.path("string").isTextual()) {
      return attribute.path("string").textValue();
    }
    try {
      return attribute.path("version").isTextual()
          ? DeviceVersion.of(attribute.path("version").textValue())
          : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static Map<String, DeviceAmount> counters(JsonNode device) {
    Map<String, DeviceAmount> result = new HashMap<>();
    for (JsonNode consumed : device.path("consumesCounters")) {
      consumed
          .path("counters")
          .properties()
          .forEach(
              counter -> {
                DeviceAmount.read(counter.getValue().path("value"))
                    .ifPresent(
                        amount -> result.merge(counter.getKey(), amount, DeviceAmount::plus));
              });
    }
    return Map.copyOf(result);
  }

  private static List<Taint> taints(JsonNode device) {
    List<Taint> result = new ArrayList<>(0);
    for (JsonNode taint : device.path("taints")) {
      result.add(
          new Taint(
              taint.path("key").asText(""),
              taint.path("value").asText(""),
              taint.path("effect").asText("")));
    }
    return List.copyOf(result);
  }

  /** Values by domain and name: a domain that is unknown has no names, as in the API server. */
  private static final class Domains extends AbstractMap<String, Map<String, Object>> {

    private final Map<String, Map<String, Object>> domains;

    Domains(Map<String, Map<String, Object>> domains) {
      this.domains = Map.copyOf(domains);
    }

    @Override
    public Map<String, Object> get(@Nullable Object domain) {
      Map<String, Object> found = domain == null ? null : domains.get(domain);
      return found == null ? Map.of() : found;
    }

    @Override
    public Set<Map.Entry<String, Map<String, Object>>> entrySet() {
      return domains.entrySet();
    }
  }

  /**
   * A version by semver.org 2.0.0; versions that differ only in build metadata are equal.
   *
   * @param numbers major, minor and patch
   * @param preRelease the identifiers of a version before the release; empty for a release
   */
  record DeviceVersion(List<BigInteger> numbers, List<String> preRelease)
      implements Comparable<DeviceVersion> {

    private static final int LONGEST = 256;
    private static final Pattern FORM =
        Pattern.compile(
            "(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-([0-9A-Za-z.-]+))?(?:\\+[0-9A-Za-z.-]+)?");
    private static final Pattern NUMBER = Pattern.compile("\\d+");

    /**
     * Parses a version.
     *
     * @throws IllegalArgumentException when the text is none
     */
    static DeviceVersion of(String text) {
      Matcher parts = FORM.matcher(text);
      if (text.length() > LONGEST || !parts.matches()) {
        throw new IllegalArgumentException("not a version such as 1.2.3");
      }
      String before = parts.group(4);
      return new DeviceVersion(
          List.of(
              new BigInteger(parts.group(1)),
              new BigInteger(parts.group(2)),
              new BigInteger(parts.group(3))),
          before == null ? List.of() : Arrays.asList(before.split("\\.", -1)));
    }

    @Override
    public int compareTo(DeviceVersion other) {
      for (int i = 0; i < numbers.size(); i++) {
        int order = numbers.get(i).compareTo(other.numbers.get(i));
        if (order != 0) {
          return order;
        }
      }
      if (preRelease.isEmpty() || other.preRelease.isEmpty()) {
        return Boolean.compare(preRelease.isEmpty(), other.preRelease.isEmpty());
      }
      for (int i = 0; i < Math.min(preRelease.size(), other.preRelease.size()); i++) {
        int order = compare(preRelease.get(i), other.preRelease.get(i));
        if (order != 0) {
          return order;
        }
      }
      return Integer.compare(preRelease.size(), other.preRelease.size());
    }

    private static int compare(String a, String b) {
      boolean number = NUMBER.matcher(a).matches();
      boolean otherNumber = NUMBER.matcher(b).matches();
      if (number && otherNumber) {
        return new BigInteger(a).compareTo(new BigInteger(b));
      }
      return number == otherNumber ? a.compareTo(b) : number ? -1 : 1;
    }
  }
}

package dev.sluice.reference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The objects of a cluster with devices as they are written, and the configuration. All of them are
 * gone through each time that somebody asks.
 */
final class ReferenceDeviceCluster {

  static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);

  private static final Pattern QUANTITY =
      Pattern.compile("([+-]?(?:\\d+[.]?\\d*|[.]\\d+))([numkMGTPE]|[KMGTPE]i|[eE][+-]?\\d+)?");

  /** The objects by kind and then by name, with the namespace before it. */
  private final Map<String, Map<String, JsonNode>> objects = new HashMap<>();

  final DeviceFlaw flaw;

  ReferenceDeviceSettings settings = ReferenceDeviceSettings.of(MissingNode.getInstance());

  /**
   * A cluster without objects.
   *
   * @param flaw a rule that is broken
   */
  ReferenceDeviceCluster(DeviceFlaw flaw) {
    this.flaw = flaw;
  }

  /** A device of a pool that is complete. */
  record Known(String driver, String pool, String sliceNode, JsonNode device) {

    String name() {
      return device.path("name").asText();
    }

    /** The one node that has it; empty: every node reaches it. */
    String node() {
      return device.path("nodeName").asText(sliceNode);
    }

    boolean isShared() {
      return device.path("allowMultipleAllocations").asBoolean(false);
    }
  }

  static String key(JsonNode object) {
    return object.at("/metadata/namespace").asText("") + "/" + object.at("/metadata/name").asText();
  }

  void put(String kind, JsonNode object) {
    objects.computeIfAbsent(kind, any -> new TreeMap<>()).put(key(object), object);
  }

  void remove(String kind, String key) {
    objects.computeIfAbsent(kind, any -> new TreeMap<>()).remove(key);
  }

  Map<String, JsonNode> all(String kind) {
    return objects.getOrDefault(kind, Map.of());
  }

  static Optional<BigDecimal> quantity(JsonNode quantity) {
    return quantity.isTextual() || quantity.isNumber()
        ? quantity(quantity.asText())
        : Optional.empty();
  }

  static Optional<BigDecimal> quantity(String text) {
    Matcher parts = QUANTITY.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    BigDecimal number = new BigDecimal(parts.group(1));
    String suffix = parts.group(2) == null ? "" : parts.group(2);
    if (suffix.isEmpty()) {
      return Optional.of(number);
    }
    if (suffix.endsWith("i")) {
      int power = 10 * (1 + "KMGTPE".indexOf(suffix.charAt(0)));
      return Optional.of(number.multiply(new BigDecimal(BigInteger.TWO.pow(power))));
    }
    int power =
        suffix.length() > 1
            ? Integer.parseInt(suffix.substring(1))
            : 3 * ("num.kMGTPE".indexOf(suffix) - 3);
    return Optional.of(number.scaleByPowerOfTen(power));
  }

  /** Whole units, rounded up, not negative, and at most the largest number. */
  static BigInteger units(BigDecimal amount) {
    return amount
        .max(BigDecimal.ZERO)
        .min(new BigDecimal(MOST))
        .setScale(0, RoundingMode.CEILING)
        .toBigInteger();
  }

  boolean isMissing(JsonNode exactly) {
    return !all("class").containsKey("/" + exactly.path("deviceClassName").asText(""));
  }

  /** The expressions that devices of a request have to meet. */
  List<String> expressions(JsonNode exactly) {
    List<String> result = new ArrayList<>();
    JsonNode deviceClass = all("class").get("/" + exactly.path("deviceClassName").asText(""));
    if (deviceClass != null && flaw != DeviceFlaw.SELECTORS_OF_CLASSES_ARE_IGNORED) {
      deviceClass.at("/spec/selectors").forEach(each -> result.add(expression(each)));
    }
    if (flaw != DeviceFlaw.SELECTORS_OF_REQUESTS_ARE_IGNORED) {
      exactly.path("selectors").forEach(each -> result.add(expression(each)));
    }
    return result;
  }

  private static String expression(JsonNode selector) {
    return selector.at("/cel/expression").asText("");
  }

  /** The devices of the cluster that meet the selectors of class and request. */
  List<Known> matching(JsonNode exactly) {
    return devices().stream()
        .filter(
            known ->
                !(settings.on(ReferenceDeviceSettings.TAINTS)
                        || flaw == DeviceFlaw.TAINTS_WITHOUT_GATE)
                    || isTolerated(known.device(), exactly.path("tolerations")))
        .filter(
            known ->
                expressions(exactly).stream()
                    .allMatch(
                        expression ->
                            ReferenceSelectors.matches(expression, known.driver(), known.device())))
        .toList();
  }

  private boolean isTolerated(JsonNode device, JsonNode tolerations) {
    for (JsonNode taint : device.path("taints")) {
      boolean repels = List.of("NoSchedule", "NoExecute").contains(taint.path("effect").asText());
      boolean tolerated = false;
      for (JsonNode each : tolerations) {
        boolean exists = each.path("operator").asText("Equal").equals("Exists");
        boolean equal =
            List.of("", "Equal").contains(each.path("operator").asText(""))
                && each.path("key").asText("").equals(taint.path("key").asText(""))
                && each.path("value").asText("").equals(taint.path("value").asText(""));
        String key = each.path("key").asText("");
        String effect = each.path("effect").asText("");
        tolerated |=
            (effect.isEmpty() || effect.equals(taint.path("effect").asText("")))
                && (equal && !key.isEmpty()
                    || exists && (key.isEmpty() || key.equals(taint.path("key").asText(""))));
      }
      if (repels && (!tolerated || flaw == DeviceFlaw.TOLERATIONS_ARE_IGNORED)) {
        return false;
      }
    }
    return true;
  }

  /** Devices of pools of which every slice of the newest generation is there. */
  List<Known> devices() {
    List<Known> result = new ArrayList<>();
    for (JsonNode slice : all("slice").values()) {
      JsonNode pool = slice.at("/spec/pool");
      long slices = 0;
      boolean complete = true;
      for (JsonNode other : all("slice").values()) {
        JsonNode otherPool = other.at("/spec/pool");
        if (other.at("/spec/driver").equals(slice.at("/spec/driver"))
            && otherPool.path("name").equals(pool.path("name"))) {
          long newer = otherPool.path("generation").asLong() - pool.path("generation").asLong();
          slices += newer == 0 ? 1 : 0;
          complete &=
              newer < 0
                  || newer == 0
                      && otherPool
                          .path("resourceSliceCount")
                          .equals(pool.path("resourceSliceCount"));
        }
      }
      complete |= flaw == DeviceFlaw.OLDER_GENERATIONS_COUNT;
      if (flaw == DeviceFlaw.INCOMPLETE_POOLS_COUNT
          || complete && slices == pool.path("resourceSliceCount").asLong()) {
        for (JsonNode device : slice.at("/spec/devices")) {
          result.add(
              new Known(
                  slice.at("/spec/driver").asText(),
                  pool.path("name").asText(),
                  slice.at("/spec/nodeName").asText(""),
                  device));
        }
      }
    }
    return result;
  }
}

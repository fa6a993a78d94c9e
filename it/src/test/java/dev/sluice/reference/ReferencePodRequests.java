package dev.sluice.reference;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.reference.ReferenceDeviceSettings.Mapping;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a pod requests otherwise than by claims (scheduling semantics, section 1), and what of it
 * devices stand behind (docs/devices.md#extended-resources).
 */
final class ReferencePodRequests {

  private static final String OF_CLASS = "deviceclass.resource.kubernetes.io/";

  private final ReferenceDeviceCluster cluster;
  private final ReferenceDeviceSettings settings;
  private final JsonNode spec;

  ReferencePodRequests(ReferenceDeviceCluster cluster, JsonNode spec) {
    this.cluster = cluster;
    this.spec = spec;
    settings = cluster.settings;
  }

  void count(ReferenceDevices.Pod pod) {
    for (String resource : resources()) {
      BigInteger amount = requested(resource);
      List<Mapping> mapped = mapped(resource);
      if (mapped.stream().anyMatch(mapping -> !mapping.sources().isEmpty())) {
        pod.misconfigured = true;
      } else if (!mapped.isEmpty()) {
        pod.addUnits(mapped.getFirst().resource(), amount);
      } else {
        pod.onNode.put(resource, amount);
      }
      if (mapped.isEmpty() || cluster.flaw == DeviceFlaw.TRANSFORMED_AS_WELL) {
        transformed(resource, amount, pod);
      }
    }
  }

  private Set<String> resources() {
    Set<String> result = new TreeSet<>();
    for (String list : List.of("containers", "initContainers")) {
      for (JsonNode container : spec.path(list)) {
        container.at("/resources/requests").fieldNames().forEachRemaining(result::add);
        container.at("/resources/limits").fieldNames().forEachRemaining(result::add);
      }
    }
    return result;
  }

  private static BigInteger of(JsonNode container, String resource) {
    JsonNode resources = container.path("resources");
    JsonNode quantity =
        resources.path("requests").path(resource).isMissingNode()
            ? resources.path("limits").path(resource)
            : resources.path("requests").path(resource);
    BigDecimal amount = ReferenceDeviceCluster.quantity(quantity).orElse(BigDecimal.ZERO);
    return (resource.equals("cpu") ? amount.scaleByPowerOfTen(3) : amount)
        .setScale(0, RoundingMode.CEILING)
        .toBigInteger();
  }

  /** The sum of containers and sidecars, or the largest sum while an init container runs. */
  private BigInteger requested(String resource) {
    BigInteger sidecars = BigInteger.ZERO;
    BigInteger largest = BigInteger.ZERO;
    for (JsonNode container : spec.path("initContainers")) {
      BigInteger now = sidecars.add(of(container, resource));
      largest = largest.max(now);
      if (container.path("restartPolicy").asText("").equals("Always")) {
        sidecars = now;
      }
    }
    BigInteger running = sidecars;
    for (JsonNode container : spec.path("containers")) {
      running = running.add(of(container, resource));
    }
    return cluster.flaw == DeviceFlaw.INIT_CONTAINERS_ARE_ADDED
        ? running.add(largest)
        : running.max(largest);
  }

  /** What the class behind a resource is mapped to. */
  private List<Mapping> mapped(String resource) {
    if (!settings.on(ReferenceDeviceSettings.EXTENDED)
        && cluster.flaw != DeviceFlaw.EXTENDED_WITHOUT_GATE) {
      return List.of();
    }
    if (resource.startsWith(OF_CLASS)) {
      return settings.of(resource.substring(OF_CLASS.length()));
    }
    Optional<JsonNode> behind = Optional.empty();
    for (JsonNode each : cluster.all("class").values()) {
      if (each.at("/spec/extendedResourceName").asText("").equals(resource)
          && behind.filter(other -> isBefore(other, each)).isEmpty()) {
        behind = Optional.of(each);
      }
    }
    return behind.map(each -> settings.of(each.at("/metadata/name").asText())).orElse(List.of());
  }

  /** Whether the first counts, and not the second, which comes later by name. */
  private boolean isBefore(JsonNode first, JsonNode second) {
    String at = "/metadata/creationTimestamp";
    int order = first.at(at).asText().compareTo(second.at(at).asText());
    return cluster.flaw == DeviceFlaw.OLDEST_CLASS ? order <= 0 : order >= 0;
  }

  private void transformed(String resource, BigInteger amount, ReferenceDevices.Pod pod) {
    boolean kept = settings.excluded().stream().noneMatch(resource::startsWith);
    Map<String, BigInteger> outputs = new TreeMap<>();
    for (JsonNode rule : settings.transformations()) {
      if (rule.path("input").asText().equals(resource)) {
        kept &= !rule.path("strategy").asText("Retain").equals("Replace");
        rule.path("outputs")
            .properties()
            .forEach(
                each ->
                    outputs.put(
                        each.getKey(), amount.multiply(new BigInteger(each.getValue().asText()))));
      }
    }
    outputs.forEach(pod::add);
    if (kept) {
      pod.add(resource, amount);
    }
  }
}

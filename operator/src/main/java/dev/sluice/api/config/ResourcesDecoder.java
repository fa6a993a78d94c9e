package dev.sluice.api.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.Quantities;
import dev.sluice.api.config.Resources.Transformation;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Reads the block {@code resources}. */
final class ResourcesDecoder {

  private static final String INJECTED = "injectedContainers";

  /** What the webhooks of some products request for the containers that they add, by default. */
  private static final JsonNode USUALLY_INJECTED =
      usual(
          Map.of(
              "istio-proxy", Map.of("cpu", "100m", "memory", "128Mi"),
              "istio-init", Map.of("cpu", "100m", "memory", "128Mi"),
              "istio-validation", Map.of("cpu", "100m", "memory", "128Mi"),
              "linkerd-proxy", Map.of("cpu", "100m", "memory", "20Mi"),
              "vault-agent", Map.of("cpu", "250m", "memory", "64Mi"),
              "vault-agent-init", Map.of("cpu", "250m", "memory", "64Mi"),
              "gke-gcsfuse-sidecar",
                  Map.of("cpu", "250m", "memory", "256Mi", "ephemeral-storage", "5Gi")));

  private final ConfigurationVersion version;
  private final ValidationErrors errors;
  private final FeatureGates gates;

  ResourcesDecoder(ConfigurationVersion version, ValidationErrors errors, FeatureGates gates) {
    this.gates = gates;
    this.version = version;
    this.errors = errors;
  }

  private static JsonNode usual(Map<String, Map<String, String>> containers) {
    ArrayNode list = JsonNodeFactory.instance.arrayNode();
    new TreeMap<>(containers)
        .forEach(
            (name, requests) -> {
              ObjectNode amounts = list.addObject().put("name", name).putObject("requests");
              new TreeMap<>(requests).forEach(amounts::put);
            });
    return list;
  }

  Resources decode(ObjectFieldReader fields) {
    if (version == ConfigurationVersion.V1BETA1) {
      fields.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), "quotaCheckStrategy");
    }
    boolean block =
        fields.word(
            "quotaCheckStrategy",
            Map.of("BlockUndeclared", true, "IgnoreUndeclared", false),
            "BlockUndeclared");
    List<String> prefixes = fields.texts("excludeResourcePrefixes");
    if (!block && !prefixes.isEmpty()) {
      fields.refuse(
          "quotaCheckStrategy",
          "IgnoreUndeclared can't be combined with excludeResourcePrefixes; give one");
    }
    return fields.done(
        new Resources(
            block,
            prefixes,
            transformations(fields),
            injectedContainers(fields),
            new DeviceMappingDecoder(version, gates).decode(fields)));
  }

  private Map<String, Map<String, Long>> injectedContainers(ObjectFieldReader resources) {
    resources.defaultTo(INJECTED, USUALLY_INJECTED);
    Map<String, Map<String, Long>> result = new LinkedHashMap<>();
    for (ObjectFieldReader fields : resources.objects(INJECTED)) {
      String name = fields.required("name", "the name of a container");
      Map<String, Long> amounts = new LinkedHashMap<>();
      fields
          .map("requests", this::quantity)
          .forEach(
              (resource, quantity) -> {
                String path = fields.path("requests");
                checkResource(path, resource);
                errors.check(
                    quantity.signum() >= 0, path, quantity.toString(), "quantities of at least 0");
                amounts.put(resource, Quantities.amount(resource, quantity.toPlainString()));
              });
      fields.nothingElse();
      if (result.put(name, Map.copyOf(amounts)) != null) {
        fields.refuse("name", "\"" + name + "\" is given twice");
      }
    }
    return result;
  }

  private List<Transformation> transformations(ObjectFieldReader resources) {
    List<Transformation> result = new ArrayList<>();
    Set<String> inputs = new HashSet<>();
    for (ObjectFieldReader fields : resources.objects("transformations")) {
      String input = fields.required("input", "the name of a resource");
      checkResource(fields.path("input"), input);
      if (!inputs.add(input)) {
        fields.refuse("input", "\"" + input + "\" is given twice");
      }
      boolean replace = fields.word("strategy", Map.of("Retain", false, "Replace", true), "Retain");
      String multiplyBy = fields.text("multiplyBy", "");
      checkResource(fields.path("multiplyBy"), multiplyBy);
      Map<String, BigDecimal> outputs = fields.map("outputs", this::quantity);
      outputs.keySet().forEach(output -> checkOutput(fields.path("outputs"), output));
      fields.nothingElse();
      result.add(new Transformation(input, replace, multiplyBy, outputs));
    }
    return List.copyOf(result);
  }

  private Optional<BigDecimal> quantity(JsonNode node, String path) {
    String allowed = "a quantity such as 2, 500m or 1.5Gi";
    if (node.isTextual() || node.isNumber()) {
      try {
        return Optional.of(Quantities.parse(node.asText()));
      } catch (IllegalArgumentException e) {
        errors.value(path, node.asText(), allowed);
        return Optional.empty();
      }
    }
    errors.value(path, node, allowed);
    return Optional.empty();
  }

  /** The number of pods is counted by the scheduler itself; nothing else may add to it. */
  private void checkOutput(String path, String name) {
    checkResource(path, name);
    errors.check(
        !name.equals("pods"),
        path,
        name,
        "the name of another resource than pods, which counts the pods themselves");
  }

  private void checkResource(String path, String name) {
    errors.check(
        name.isEmpty() || KubernetesNames.isLabelKey(name), path, name, "the name of a resource");
  }
}

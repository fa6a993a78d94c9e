package dev.sluice.api.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.Quantities;
import dev.sluice.api.config.Resources.Transformation;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads the block {@code resources}. */
final class ResourcesDecoder {

  private final ConfigurationVersion version;
  private final ValidationErrors errors;

  ResourcesDecoder(ConfigurationVersion version, ValidationErrors errors) {
    this.version = version;
    this.errors = errors;
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
    fields.accept("deviceClassMappings");
    return fields.done(new Resources(block, prefixes, transformations(fields)));
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

package dev.sluice.api.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.Resources.DeviceClassMapping;
import dev.sluice.api.config.Resources.DeviceSource;
import dev.sluice.api.config.Resources.Transformation;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads the block {@code resources}. */
final class ResourcesDecoder {

  private static final int MOST_MAPPINGS = 16;
  private static final int MOST_CLASSES = 8;
  private static final Pattern C_IDENTIFIER = Pattern.compile("([^/]+/)?[A-Za-z_][A-Za-z0-9_]*");

  private final ConfigurationVersion version;
  private final ValidationErrors errors;
  private final FeatureGates gates;

  ResourcesDecoder(ConfigurationVersion version, ValidationErrors errors, FeatureGates gates) {
    this.version = version;
    this.errors = errors;
    this.gates = gates;
  }

  Resources decode(ObjectFieldReader fields) {
    boolean block = true;
    if (version == ConfigurationVersion.V1BETA1) {
      fields.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), "quotaCheckStrategy");
    } else {
      block =
          fields
              .word(
                  "quotaCheckStrategy", Map.of("BlockUndeclared", true, "IgnoreUndeclared", false))
              .orElse(true);
    }
    List<String> prefixes = fields.texts("excludeResourcePrefixes");
    if (!block && !prefixes.isEmpty()) {
      fields.refuse(
          "quotaCheckStrategy",
          "IgnoreUndeclared can't be combined with excludeResourcePrefixes; give one");
    }
    return fields.done(new Resources(block, prefixes, transformations(fields), mappings(fields)));
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
      boolean replace =
          fields.word("strategy", Map.of("Retain", false, "Replace", true)).orElse(false);
      String multiplyBy = fields.text("multiplyBy", "");
      checkResource(fields.path("multiplyBy"), multiplyBy);
      Map<String, BigDecimal> outputs = fields.map("outputs", this::quantity);
      outputs.keySet().forEach(output -> checkResource(fields.path("outputs"), output));
      fields.nothingElse();
      result.add(new Transformation(input, replace, multiplyBy, outputs));
    }
    return List.copyOf(result);
  }

  private Optional<BigDecimal> quantity(JsonNode node, String path) {
    String allowed = "a quantity such as 2, 500m or 1.5Gi";
    if (node.isTextual() || node.isNumber()) {
      try {
        return Optional.of(Quantity.getAmountInBytes(Quantity.parse(node.asText())));
      } catch (IllegalArgumentException e) {
        errors.value(path, node.asText(), allowed);
        return Optional.empty();
      }
    }
    errors.value(path, node, allowed);
    return Optional.empty();
  }

  private void checkResource(String path, String name) {
    errors.check(
        name.isEmpty() || KubernetesNames.isLabelKey(name), path, name, "the name of a resource");
  }

  private List<DeviceClassMapping> mappings(ObjectFieldReader resources) {
    String path = resources.path("deviceClassMappings");
    List<DeviceClassMapping> result = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (ObjectFieldReader fields : resources.objects("deviceClassMappings")) {
      DeviceClassMapping mapping = mapping(fields);
      result.add(mapping);
      if (!names.add(mapping.name())) {
        fields.refuse("name", "\"" + mapping.name() + "\" is given twice");
      }
    }
    errors.check(result.size() <= MOST_MAPPINGS, path, result.size(), "at most 16 mappings");
    checkSharedClasses(path, result);
    return List.copyOf(result);
  }

  /** A class may count for two resources only where each counts something else of its devices. */
  private void checkSharedClasses(String path, List<DeviceClassMapping> mappings) {
    Map<String, Set<DeviceSource>> counted = new HashMap<>();
    for (DeviceClassMapping mapping : mappings) {
      for (String device : mapping.deviceClassNames()) {
        Set<DeviceSource> sources = counted.get(device);
        boolean told = mapping.sources().stream().allMatch(DeviceSource::counter);
        boolean apart =
            sources == null
                || (told
                    && !sources.isEmpty()
                    && !mapping.sources().isEmpty()
                    && mapping.sources().stream().noneMatch(sources::contains));
        if (!apart) {
          errors.add(
              path,
              "device class \""
                  + device
                  + "\" is in two mappings; allowed only with different counters in each");
        }
        counted.computeIfAbsent(device, any -> new HashSet<>()).addAll(mapping.sources());
      }
    }
  }

  private DeviceClassMapping mapping(ObjectFieldReader fields) {
    String name = fields.required("name", "the name of a resource");
    fields.check(
        "name",
        name.isEmpty() || (KubernetesNames.isLabelKey(name) && name.length() <= 253),
        name,
        KubernetesNames.LABEL_KEY_RULE);
    List<String> classes = fields.texts("deviceClassNames");
    String path = fields.path("deviceClassNames");
    errors.check(
        !classes.isEmpty() && classes.size() <= MOST_CLASSES,
        path,
        classes.size() + " names",
        "1 to 8 names");
    errors.check(new HashSet<>(classes).size() == classes.size(), path, classes, "each name once");
    classes.forEach(
        each ->
            errors.check(
                KubernetesNames.isLabelKey(each), path, each, KubernetesNames.LABEL_KEY_RULE));
    List<DeviceSource> sources = new ArrayList<>();
    if (version == ConfigurationVersion.V1BETA1) {
      fields.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), "sources");
    } else {
      fields.objects("sources").forEach(source -> source(source).ifPresent(sources::add));
    }
    fields.check(
        "sources",
        sources.stream().map(DeviceSource::counter).distinct().count() < 2,
        "counters and capacities",
        "only counters or only capacities in one mapping");
    return fields.done(new DeviceClassMapping(name, classes, List.copyOf(sources)));
  }

  private Optional<DeviceSource> source(ObjectFieldReader fields) {
    boolean counter = fields.has("counter");
    if (counter == fields.has("capacity")) {
      fields.accept("counter", "capacity");
      fields.refuse("counter", "exactly one of counter and capacity is needed");
      return fields.done(Optional.empty());
    }
    String kind = counter ? "counter" : "capacity";
    FeatureGate gate =
        counter
            ? FeatureGate.KUEUE_DRA_INTEGRATION_PARTITIONABLE_DEVICES
            : FeatureGate.KUEUE_DRA_INTEGRATION_CONSUMABLE_CAPACITY;
    if (!gates.enabled(gate)) {
      errors.add(fields.path(kind), "needs the feature gate " + gate.text() + ", which is off");
    }
    DeviceSource source = content(fields.object(kind), counter);
    return fields.done(Optional.of(source));
  }

  private DeviceSource content(ObjectFieldReader fields, boolean counter) {
    String rule =
        counter
            ? KubernetesNames.DNS_LABEL_RULE
            : "letters, digits and \"_\", not beginning with a digit, after an optional domain/";
    String name = fields.required("name", rule);
    boolean good =
        counter ? KubernetesNames.isDnsLabel(name) : C_IDENTIFIER.matcher(name).matches();
    fields.check("name", name.isEmpty() || good, name, rule);
    String driver = fields.required("driver", "the driver's DNS subdomain");
    fields.check(
        "driver",
        driver.isEmpty() || (KubernetesNames.isSubdomain(driver) && driver.length() <= 63),
        driver,
        "a DNS subdomain of at most 63 characters");
    ObjectFieldReader selector = fields.object("deviceSelector");
    ObjectFieldReader cel = selector.object("cel");
    String expression =
        counter || selector.has("cel")
            ? cel.required("expression", "a CEL expression")
            : cel.text("expression", "");
    cel.nothingElse();
    selector.nothingElse();
    return fields.done(new DeviceSource(counter, name, driver, expression));
  }
}

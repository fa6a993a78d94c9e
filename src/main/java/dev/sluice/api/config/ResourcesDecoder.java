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

  private final ConfigurationVersion configurationVersion;
  private final ValidationErrors validationErrors;
  private final FeatureGates gates;

  ResourcesDecoder(
      ConfigurationVersion configurationVersion,
      ValidationErrors validationErrors,
      FeatureGates gates) {
    this.configurationVersion = configurationVersion;
    this.validationErrors = validationErrors;
    this.gates = gates;
  }

  Resources decode(ObjectFieldReader objectFieldReader) {
    boolean block = true;
    if (configurationVersion == ConfigurationVersion.V1BETA1) {
      objectFieldReader.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), "quotaCheckStrategy");
    } else {
      block =
          objectFieldReader
              .word(
                  "quotaCheckStrategy", Map.of("BlockUndeclared", true, "IgnoreUndeclared", false))
              .orElse(true);
    }
    List<String> prefixes = objectFieldReader.texts("excludeResourcePrefixes");
    if (!block && !prefixes.isEmpty()) {
      validationErrors.add(
          objectFieldReader.path("quotaCheckStrategy"),
          "IgnoreUndeclared can't be combined with excludeResourcePrefixes; give one");
    }
    Resources resources =
        new Resources(
            block, prefixes, transformations(objectFieldReader), mappings(objectFieldReader));
    objectFieldReader.nothingElse();
    return resources;
  }

  private List<Transformation> transformations(ObjectFieldReader resources) {
    List<Transformation> result = new ArrayList<>();
    Set<String> inputs = new HashSet<>();
    for (ObjectFieldReader objectFieldReader : resources.objects("transformations")) {
      String input = objectFieldReader.required("input", "the name of a resource");
      checkResource(objectFieldReader.path("input"), input);
      if (!inputs.add(input)) {
        validationErrors.add(objectFieldReader.path("input"), "\"" + input + "\" is given twice");
      }
      boolean replace =
          objectFieldReader
              .word("strategy", Map.of("Retain", false, "Replace", true))
              .orElse(false);
      String multiplyBy = objectFieldReader.text("multiplyBy", "");
      checkResource(objectFieldReader.path("multiplyBy"), multiplyBy);
      Map<String, BigDecimal> outputs = objectFieldReader.map("outputs", this::quantity);
      outputs.keySet().forEach(output -> checkResource(objectFieldReader.path("outputs"), output));
      objectFieldReader.nothingElse();
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
        validationErrors.value(path, node.asText(), allowed);
        return Optional.empty();
      }
    }
    validationErrors.value(path, node, allowed);
    return Optional.empty();
  }

  private void checkResource(String path, String name) {
    validationErrors.check(
        name.isEmpty() || KubernetesNames.isLabelKey(name), path, name, "the name of a resource");
  }

  private List<DeviceClassMapping> mappings(ObjectFieldReader resources) {
    String path = resources.path("deviceClassMappings");
    List<DeviceClassMapping> result = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (ObjectFieldReader objectFieldReader : resources.objects("deviceClassMappings")) {
      DeviceClassMapping mapping = mapping(objectFieldReader);
      result.add(mapping);
      if (!names.add(mapping.name())) {
        validationErrors.add(
            objectFieldReader.path("name"), "\"" + mapping.name() + "\" is given twice");
      }
    }
    validationErrors.check(
        result.size() <= MOST_MAPPINGS, path, result.size(), "at most 16 mappings");
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
          validationErrors.add(
              path,
              "device class \""
                  + device
                  + "\" is in two mappings; allowed only with different counters in each");
        }
        counted.computeIfAbsent(device, any -> new HashSet<>()).addAll(mapping.sources());
      }
    }
  }

  private DeviceClassMapping mapping(ObjectFieldReader objectFieldReader) {
    String name = objectFieldReader.required("name", "the name of a resource");
    validationErrors.check(
        name.isEmpty() || (KubernetesNames.isLabelKey(name) && name.length() <= 253),
        objectFieldReader.path("name"),
        name,
        KubernetesNames.LABEL_KEY_RULE);
    List<String> classes = objectFieldReader.texts("deviceClassNames");
    String path = objectFieldReader.path("deviceClassNames");
    validationErrors.check(
        !classes.isEmpty() && classes.size() <= MOST_CLASSES,
        path,
        classes.size() + " names",
        "1 to 8 names");
    validationErrors.check(
        new HashSet<>(classes).size() == classes.size(), path, classes, "each name once");
    classes.forEach(
        each ->
            validationErrors.check(
                KubernetesNames.isLabelKey(each), path, each, KubernetesNames.LABEL_KEY_RULE));
    List<DeviceSource> sources = new ArrayList<>();
    if (configurationVersion == ConfigurationVersion.V1BETA1) {
      objectFieldReader.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), "sources");
    } else {
      objectFieldReader
          .objects("sources")
          .forEach(source -> source(source).ifPresent(sources::add));
    }
    validationErrors.check(
        sources.stream().map(DeviceSource::counter).distinct().count() < 2,
        objectFieldReader.path("sources"),
        "counters and capacities",
        "only counters or only capacities in one mapping");
    objectFieldReader.nothingElse();
    return new DeviceClassMapping(name, classes, List.copyOf(sources));
  }

  private Optional<DeviceSource> source(ObjectFieldReader objectFieldReader) {
    boolean counter = objectFieldReader.has("counter");
    if (counter == objectFieldReader.has("capacity")) {
      objectFieldReader.accept("counter", "capacity");
      validationErrors.add(
          objectFieldReader.path("counter"), "exactly one of counter and capacity is needed");
      objectFieldReader.nothingElse();
      return Optional.empty();
    }
    String kind = counter ? "counter" : "capacity";
    FeatureGate gate =
        counter
            ? FeatureGate.KUEUE_DRA_INTEGRATION_PARTITIONABLE_DEVICES
            : FeatureGate.KUEUE_DRA_INTEGRATION_CONSUMABLE_CAPACITY;
    if (!gates.enabled(gate)) {
      validationErrors.add(
          objectFieldReader.path(kind), "needs the feature gate " + gate.text() + ", which is off");
    }
    DeviceSource source = content(objectFieldReader.object(kind), counter);
    objectFieldReader.nothingElse();
    return Optional.of(source);
  }

  private DeviceSource content(ObjectFieldReader objectFieldReader, boolean counter) {
    String rule =
        counter
            ? KubernetesNames.DNS_LABEL_RULE
            : "letters, digits and \"_\", not beginning with a digit, after an optional domain/";
    String name = objectFieldReader.required("name", rule);
    boolean good =
        counter ? KubernetesNames.isDnsLabel(name) : C_IDENTIFIER.matcher(name).matches();
    validationErrors.check(name.isEmpty() || good, objectFieldReader.path("name"), name, rule);
    String driver = objectFieldReader.required("driver", "the driver's DNS subdomain");
    validationErrors.check(
        driver.isEmpty() || (KubernetesNames.isSubdomain(driver) && driver.length() <= 63),
        objectFieldReader.path("driver"),
        driver,
        "a DNS subdomain of at most 63 characters");
    ObjectFieldReader selector = objectFieldReader.object("deviceSelector");
    ObjectFieldReader cel = selector.object("cel");
    String expression =
        counter || selector.has("cel")
            ? cel.required("expression", "a CEL expression")
            : cel.text("expression", "");
    cel.nothingElse();
    selector.nothingElse();
    objectFieldReader.nothingElse();
    return new DeviceSource(counter, name, driver, expression);
  }
}

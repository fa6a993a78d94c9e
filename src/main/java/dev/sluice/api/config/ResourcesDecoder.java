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

  private final Version version;
  private final Problems problems;
  private final FeatureGates gates;

  ResourcesDecoder(Version version, Problems problems, FeatureGates gates) {
    this.version = version;
    this.problems = problems;
    this.gates = gates;
  }

  Resources decode(Fields fields) {
    boolean block = true;
    if (version == Version.V1BETA1) {
      fields.onlyIn(Version.V1BETA2.apiVersion(), "quotaCheckStrategy");
    } else {
      block =
          fields
              .word(
                  "quotaCheckStrategy", Map.of("BlockUndeclared", true, "IgnoreUndeclared", false))
              .orElse(true);
    }
    List<String> prefixes = fields.texts("excludeResourcePrefixes");
    if (!block && !prefixes.isEmpty()) {
      problems.add(
          fields.path("quotaCheckStrategy"),
          "IgnoreUndeclared can't be combined with excludeResourcePrefixes; give one");
    }
    Resources resources = new Resources(block, prefixes, transformations(fields), mappings(fields));
    fields.nothingElse();
    return resources;
  }

  private List<Transformation> transformations(Fields resources) {
    List<Transformation> result = new ArrayList<>();
    Set<String> inputs = new HashSet<>();
    for (Fields fields : resources.objects("transformations")) {
      String input = fields.required("input", "the name of a resource");
      checkResource(fields.path("input"), input);
      if (!inputs.add(input)) {
        problems.add(fields.path("input"), "\"" + input + "\" is given twice");
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
        problems.value(path, node.asText(), allowed);
        return Optional.empty();
      }
    }
    problems.value(path, node, allowed);
    return Optional.empty();
  }

  private void checkResource(String path, String name) {
    problems.check(name.isEmpty() || Names.isLabelKey(name), path, name, "the name of a resource");
  }

  private List<DeviceClassMapping> mappings(Fields resources) {
    String path = resources.path("deviceClassMappings");
    List<DeviceClassMapping> result = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (Fields fields : resources.objects("deviceClassMappings")) {
      DeviceClassMapping mapping = mapping(fields);
      result.add(mapping);
      if (!names.add(mapping.name())) {
        problems.add(fields.path("name"), "\"" + mapping.name() + "\" is given twice");
      }
    }
    problems.check(result.size() <= MOST_MAPPINGS, path, result.size(), "at most 16 mappings");
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
          problems.add(
              path,
              "device class \""
                  + device
                  + "\" is in two mappings; allowed only with different counters in each");
        }
        counted.computeIfAbsent(device, any -> new HashSet<>()).addAll(mapping.sources());
      }
    }
  }

  private DeviceClassMapping mapping(Fields fields) {
    String name = fields.required("name", "the name of a resource");
    problems.check(
        name.isEmpty() || (Names.isLabelKey(name) && name.length() <= 253),
        fields.path("name"),
        name,
        Names.LABEL_KEY_RULE);
    List<String> classes = fields.texts("deviceClassNames");
    String path = fields.path("deviceClassNames");
    problems.check(
        !classes.isEmpty() && classes.size() <= MOST_CLASSES,
        path,
        classes.size() + " names",
        "1 to 8 names");
    problems.check(
        new HashSet<>(classes).size() == classes.size(), path, classes, "each name once");
    classes.forEach(
        each -> problems.check(Names.isLabelKey(each), path, each, Names.LABEL_KEY_RULE));
    List<DeviceSource> sources = new ArrayList<>();
    if (version == Version.V1BETA1) {
      fields.onlyIn(Version.V1BETA2.apiVersion(), "sources");
    } else {
      fields.objects("sources").forEach(source -> source(source).ifPresent(sources::add));
    }
    problems.check(
        sources.stream().map(DeviceSource::counter).distinct().count() < 2,
        fields.path("sources"),
        "counters and capacities",
        "only counters or only capacities in one mapping");
    fields.nothingElse();
    return new DeviceClassMapping(name, classes, List.copyOf(sources));
  }

  private Optional<DeviceSource> source(Fields fields) {
    boolean counter = fields.has("counter");
    if (counter == fields.has("capacity")) {
      fields.accept("counter", "capacity");
      problems.add(fields.path("counter"), "exactly one of counter and capacity is needed");
      fields.nothingElse();
      return Optional.empty();
    }
    String kind = counter ? "counter" : "capacity";
    FeatureGate gate =
        counter
            ? FeatureGate.KUEUE_DRA_INTEGRATION_PARTITIONABLE_DEVICES
            : FeatureGate.KUEUE_DRA_INTEGRATION_CONSUMABLE_CAPACITY;
    if (!gates.enabled(gate)) {
      problems.add(fields.path(kind), "needs the feature gate " + gate.text() + ", which is off");
    }
    DeviceSource source = content(fields.object(kind), counter);
    fields.nothingElse();
    return Optional.of(source);
  }

  private DeviceSource content(Fields fields, boolean counter) {
    String rule =
        counter
            ? Names.DNS_LABEL_RULE
            : "letters, digits and \"_\", not beginning with a digit, after an optional domain/";
    String name = fields.required("name", rule);
    boolean good = counter ? Names.isDnsLabel(name) : C_IDENTIFIER.matcher(name).matches();
    problems.check(name.isEmpty() || good, fields.path("name"), name, rule);
    String driver = fields.required("driver", "the driver's DNS subdomain");
    problems.check(
        driver.isEmpty() || (Names.isSubdomain(driver) && driver.length() <= 63),
        fields.path("driver"),
        driver,
        "a DNS subdomain of at most 63 characters");
    Fields selector = fields.object("deviceSelector");
    Fields cel = selector.object("cel");
    String expression =
        counter || selector.has("cel")
            ? cel.required("expression", "a CEL expression")
            : cel.text("expression", "");
    cel.nothingElse();
    selector.nothingElse();
    fields.nothingElse();
    return new DeviceSource(counter, name, driver, expression);
  }
}

package dev.sluice.api.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.Quantities;
import dev.sluice.api.config.ConfigurationLoader.ConfigurationVersion;
import dev.sluice.api.config.Resources.DeviceClassMapping;
import dev.sluice.api.config.Resources.DeviceSource;
import dev.sluice.api.config.Resources.DeviceSource.Kind;
import dev.sluice.api.config.Resources.Transformation;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

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

  /** Reads the list {@code resources.deviceClassMappings}. */
  private static final class DeviceMappingDecoder {

    private static final int MOST_MAPPINGS = 16;
    private static final int MOST_CLASSES = 8;
    private static final int LONGEST_NAME = 253;
    private static final int LONGEST_DRIVER = 63;
    private static final String MAPPINGS = "deviceClassMappings";
    private static final String CLASSES = "deviceClassNames";
    private static final String SOURCES = "sources";
    private static final String COUNTER = "counter";
    private static final String CAPACITY = "capacity";
    private static final String SELECTOR = "deviceSelector";
    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,31}");

    private final ConfigurationVersion version;
    private final FeatureGates gates;

    /** What each class counts as so far: the sources; an empty text for the devices themselves. */
    private final Map<String, Set<String>> counted = new HashMap<>();

    DeviceMappingDecoder(ConfigurationVersion version, FeatureGates gates) {
      this.version = version;
      this.gates = gates;
    }

    List<DeviceClassMapping> decode(ObjectFieldReader resourceFields) {
      List<ObjectFieldReader> objects = resourceFields.objects(MAPPINGS);
      resourceFields.check(
          MAPPINGS,
          objects.size() <= MOST_MAPPINGS,
          objects.size() + " mappings",
          "at most " + MOST_MAPPINGS);
      List<DeviceClassMapping> result = new ArrayList<>();
      Set<String> names = new HashSet<>();
      for (ObjectFieldReader fields : objects) {
        if (version == ConfigurationVersion.V1BETA1) {
          fields.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), SOURCES);
        }
        String name = fields.required("name", "the name of a resource");
        fields.check(
            "name",
            name.isEmpty()
                || (KubernetesNames.isLabelKey(name)
                    && name.length() <= LONGEST_NAME
                    && !name.equals("pods")),
            name,
            "the name of a resource other than pods, of at most " + LONGEST_NAME + " characters");
        if (!names.add(name)) {
          fields.refuse("name", "\"" + name + "\" is given twice");
        }
        List<String> classes = fields.texts(CLASSES);
        checkClasses(fields, classes);
        List<DeviceSource> sources = sources(fields);
        classes.forEach(each -> checkCountedOnce(fields, each, sources));
        fields.nothingElse();
        result.add(new DeviceClassMapping(name, classes, sources));
      }
      return List.copyOf(result);
    }

    private static void checkClasses(ObjectFieldReader fields, List<String> classes) {
      fields.check(
          CLASSES,
          !classes.isEmpty() && classes.size() <= MOST_CLASSES,
          classes.size() + " names",
          "1 to " + MOST_CLASSES + " names of DeviceClasses");
      fields.check(
          CLASSES,
          new HashSet<>(classes).size() == classes.size(),
          String.join(", ", classes),
          "names that are all different");
      for (String name : classes) {
        fields.check(CLASSES, KubernetesNames.isLabelKey(name), name, "the name of a DeviceClass");
      }
    }

    /** A class may be in several mappings only if each counts something else of its devices. */
    private void checkCountedOnce(
        ObjectFieldReader fields, String deviceClass, List<DeviceSource> sources) {
      Set<String> known = counted.computeIfAbsent(deviceClass, any -> new HashSet<>());
      List<String> keys =
          sources.isEmpty()
              ? List.of("")
              : sources.stream()
                  .map(source -> source.kind() + " " + source.driver() + "/" + whole(source))
                  .distinct()
                  .toList();
      boolean plain = known.contains("") || (sources.isEmpty() && !known.isEmpty());
      if (plain || keys.stream().anyMatch(known::contains)) {
        fields.refuse(
            CLASSES,
            "\""
                + deviceClass
                + "\" is in another mapping; allowed only where each of them has other counters or"
                + " capacities");
      }
      known.addAll(keys);
    }

    /** A capacity's name without a domain has the driver as its domain. */
    private static String whole(DeviceSource source) {
      return source.kind() == Kind.COUNTER || source.name().indexOf('/') >= 0
          ? source.name()
          : source.driver() + "/" + source.name();
    }

    private List<DeviceSource> sources(ObjectFieldReader fields) {
      List<DeviceSource> result = new ArrayList<>();
      for (ObjectFieldReader source : fields.objects(SOURCES)) {
        boolean counter = source.has(COUNTER);
        boolean capacity = source.has(CAPACITY);
        if (counter == capacity) {
          source.refuse(
              COUNTER,
              counter
                  ? "stands beside capacity; allowed is one of them"
                  : "is missing; needed: a counter, or a capacity, of the devices of a driver");
        }
        source.accept(COUNTER);
        source.accept(CAPACITY);
        if (counter) {
          needs(fields, FeatureGate.KUEUE_DRA_INTEGRATION_PARTITIONABLE_DEVICES);
          result.add(counter(source.object(COUNTER)));
        }
        if (capacity) {
          needs(fields, FeatureGate.KUEUE_DRA_INTEGRATION_CONSUMABLE_CAPACITY);
          result.add(capacity(source.object(CAPACITY)));
        }
        source.nothingElse();
      }
      fields.check(
          SOURCES,
          result.stream().map(DeviceSource::kind).distinct().count() <= 1,
          "counters and capacities",
          "one kind in a mapping");
      return result;
    }

    private void needs(ObjectFieldReader fields, FeatureGate gate) {
      if (!gates.enabled(gate)) {
        fields.refuse(SOURCES, "needs the feature gate " + gate.text());
      }
    }

    private static DeviceSource counter(ObjectFieldReader fields) {
      String name = fields.required("name", "the name of a counter");
      fields.check(
          "name",
          name.isEmpty() || KubernetesNames.isDnsLabel(name),
          name,
          KubernetesNames.DNS_LABEL_RULE);
      String driver = driver(fields);
      return fields.done(new DeviceSource(Kind.COUNTER, name, driver, selector(fields)));
    }

    /** A capacity without a selector is one of all devices of the driver. */
    private static DeviceSource capacity(ObjectFieldReader fields) {
      String name = fields.required("name", "the name of a capacity");
      int slash = name.indexOf('/');
      fields.check(
          "name",
          name.isEmpty()
              || (IDENTIFIER.matcher(name.substring(slash + 1)).matches()
                  && (slash < 0 || isDriver(name.substring(0, slash)))),
          name,
          "an identifier of letters, digits and _ that begins with no digit, after a domain and /"
              + " if the driver isn't its domain");
      String driver = driver(fields);
      fields.accept(SELECTOR);
      String selector = fields.has(SELECTOR) ? selector(fields) : "true";
      return fields.done(new DeviceSource(Kind.CAPACITY, name, driver, selector));
    }

    private static String driver(ObjectFieldReader fields) {
      String driver = fields.required("driver", "the name of a driver");
      fields.check(
          "driver",
          driver.isEmpty() || isDriver(driver),
          driver,
          KubernetesNames.SUBDOMAIN_RULE + ", of at most " + LONGEST_DRIVER + " characters");
      return driver;
    }

    private static boolean isDriver(String name) {
      return KubernetesNames.isSubdomain(name) && name.length() <= LONGEST_DRIVER;
    }

    private static String selector(ObjectFieldReader fields) {
      ObjectFieldReader selector = fields.object(SELECTOR);
      ObjectFieldReader cel = selector.object("cel");
      String expression = cel.required("expression", "an expression in CEL");
      cel.nothingElse();
      selector.nothingElse();
      return expression;
    }
  }
}

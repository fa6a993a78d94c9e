package dev.sluice.api.config;

import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.Resources.DeviceClassMapping;
import dev.sluice.api.config.Resources.DeviceCounter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the list {@code resources.deviceClassMappings}. */
final class DeviceMappingDecoder {

  private static final int MOST_MAPPINGS = 16;
  private static final int MOST_CLASSES = 8;
  private static final int LONGEST_NAME = 253;
  private static final int LONGEST_DRIVER = 63;
  private static final String MAPPINGS = "deviceClassMappings";
  private static final String CLASSES = "deviceClassNames";
  private static final String SOURCES = "sources";

  private final ConfigurationVersion version;
  private final FeatureGates gates;

  /** What each class counts as so far: the counters; an empty text for the devices themselves. */
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
      List<DeviceCounter> counters = counters(fields);
      classes.forEach(each -> checkCountedOnce(fields, each, counters));
      fields.nothingElse();
      result.add(new DeviceClassMapping(name, classes, counters));
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

  /** A class may be in several mappings only if each counts another counter of its devices. */
  private void checkCountedOnce(
      ObjectFieldReader fields, String deviceClass, List<DeviceCounter> counters) {
    Set<String> known = counted.computeIfAbsent(deviceClass, any -> new HashSet<>());
    List<String> keys =
        counters.isEmpty()
            ? List.of("")
            : counters.stream().map(it -> it.driver() + "/" + it.name()).distinct().toList();
    boolean plain = known.contains("") || (counters.isEmpty() && !known.isEmpty());
    if (plain || keys.stream().anyMatch(known::contains)) {
      fields.refuse(
          CLASSES,
          "\""
              + deviceClass
              + "\" is in another mapping; allowed only where each of them has other counters");
    }
    known.addAll(keys);
  }

  private List<DeviceCounter> counters(ObjectFieldReader fields) {
    List<DeviceCounter> result = new ArrayList<>();
    for (ObjectFieldReader source : fields.objects(SOURCES)) {
      if (!gates.enabled(FeatureGate.KUEUE_DRA_INTEGRATION_PARTITIONABLE_DEVICES)) {
        fields.refuse(
            SOURCES,
            "needs the feature gate "
                + FeatureGate.KUEUE_DRA_INTEGRATION_PARTITIONABLE_DEVICES.text());
      }
      if (source.has("capacity")) {
        source.refuse(
            "capacity",
            "not supported yet: capacities of devices aren't counted (gate "
                + FeatureGate.KUEUE_DRA_INTEGRATION_CONSUMABLE_CAPACITY.text()
                + ")");
      } else if (!source.has("counter")) {
        source.refuse("counter", "is missing; needed: a counter of the devices of a driver");
      }
      source.accept("capacity");
      source.accept("counter");
      if (source.has("counter")) {
        result.add(counter(source.object("counter")));
      }
      source.nothingElse();
    }
    return result;
  }

  private static DeviceCounter counter(ObjectFieldReader fields) {
    String name = fields.required("name", "the name of a counter");
    fields.check(
        "name",
        name.isEmpty() || KubernetesNames.isDnsLabel(name),
        name,
        KubernetesNames.DNS_LABEL_RULE);
    String driver = fields.required("driver", "the name of a driver");
    fields.check(
        "driver",
        driver.isEmpty()
            || (KubernetesNames.isSubdomain(driver) && driver.length() <= LONGEST_DRIVER),
        driver,
        KubernetesNames.SUBDOMAIN_RULE + ", of at most " + LONGEST_DRIVER + " characters");
    ObjectFieldReader selector = fields.object("deviceSelector");
    ObjectFieldReader cel = selector.object("cel");
    String expression = cel.required("expression", "an expression in CEL");
    cel.nothingElse();
    selector.nothingElse();
    return fields.done(new DeviceCounter(name, driver, expression));
  }
}

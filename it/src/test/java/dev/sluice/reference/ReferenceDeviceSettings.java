package dev.sluice.reference;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a configuration says of devices (docs/configuration.md), and whether it may say so.
 *
 * @param gates the feature gates of devices that are on
 * @param mappings what classes count as
 * @param transformations what other resources count as
 * @param excluded prefixes of resources that don't count
 */
record ReferenceDeviceSettings(
    Set<String> gates, List<Mapping> mappings, JsonNode transformations, List<String> excluded) {

  static final String DEVICES = "KueueDRAIntegration";
  static final String EXTENDED = "KueueDRAIntegrationExtendedResource";
  static final String COUNTERS = "KueueDRAIntegrationPartitionableDevices";
  static final String CAPACITIES = "KueueDRAIntegrationConsumableCapacity";
  static final String TAINTS = "KueueDRADeviceTaints";
  static final String LISTS = "KueueDRAPrioritizedList";
  static final String NODES = "KueueDRADeviceFeasibility";
  static final String REFUSAL = "KueueDRARejectWorkloadsWhenDRADisabled";

  /** The gates, and whether each is on unless the configuration says something else. */
  static final Map<String, Boolean> GATES =
      Map.of(
          DEVICES,
          true,
          EXTENDED,
          true,
          COUNTERS,
          true,
          REFUSAL,
          true,
          CAPACITIES,
          false,
          TAINTS,
          false,
          LISTS,
          false,
          NODES,
          false);

  /** What devices of some classes count as. */
  record Mapping(String resource, List<String> classes, List<Source> sources) {}

  /** A counter or a capacity that counts. */
  record Source(boolean counter, String name, String driver, String selector) {

    /** Its name with its domain. */
    String whole() {
      return counter || name.contains("/") ? name : driver + "/" + name;
    }
  }

  static ReferenceDeviceSettings of(JsonNode file) {
    Set<String> on = new TreeSet<>();
    GATES.forEach(
        (gate, usual) -> {
          if (file.path("featureGates").path(gate).asBoolean(usual)) {
            on.add(gate);
          }
        });
    List<Mapping> mappings = new ArrayList<>();
    for (JsonNode mapping : file.at("/resources/deviceClassMappings")) {
      List<Source> sources = new ArrayList<>();
      for (JsonNode source : mapping.path("sources")) {
        boolean counter = source.has("counter");
        JsonNode fields = source.path(counter ? "counter" : "capacity");
        sources.add(
            new Source(
                counter,
                fields.path("name").asText(),
                fields.path("driver").asText(),
                fields.at("/deviceSelector/cel/expression").asText(counter ? "" : "true")));
      }
      List<String> classes = new ArrayList<>();
      mapping.path("deviceClassNames").forEach(name -> classes.add(name.asText()));
      mappings.add(new Mapping(mapping.path("name").asText(), classes, sources));
    }
    List<String> excluded = new ArrayList<>();
    file.at("/resources/excludeResourcePrefixes").forEach(each -> excluded.add(each.asText()));
    return new ReferenceDeviceSettings(
        on, mappings, file.at("/resources/transformations"), excluded);
  }

  boolean on(String gate) {
    return gates.contains(gate);
  }

  List<Mapping> of(String deviceClass) {
    return mappings.stream().filter(mapping -> mapping.classes.contains(deviceClass)).toList();
  }

  /** Whether an operator starts with it. */
  boolean isAllowed() {
    boolean gatesFit = on(DEVICES) || gates.stream().allMatch(gate -> gate.equals(REFUSAL));
    return gatesFit
        && mappings.size() <= 16
        && mappings.stream().map(Mapping::resource).distinct().count() == mappings.size()
        && mappings.stream().allMatch(this::isAllowed)
        && isEachCountedOnce();
  }

  private boolean isAllowed(Mapping mapping) {
    boolean counters = mapping.sources.stream().anyMatch(Source::counter);
    boolean capacities = mapping.sources.stream().anyMatch(source -> !source.counter);
    return isLabelKey(mapping.resource)
        && !mapping.resource.equals("pods")
        && !mapping.classes.isEmpty()
        && mapping.classes.size() <= 8
        && new HashSet<>(mapping.classes).size() == mapping.classes.size()
        && mapping.classes.stream().allMatch(ReferenceDeviceSettings::isLabelKey)
        && !(counters && capacities)
        && (!counters || on(COUNTERS))
        && (!capacities || on(CAPACITIES))
        && mapping.sources.stream().allMatch(ReferenceDeviceSettings::isAllowed);
  }

  private static boolean isAllowed(Source source) {
    String local = source.name.substring(source.name.indexOf('/') + 1);
    return source.driver.matches("[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
        && source.driver.length() <= 63
        && !source.selector.isEmpty()
        && (source.counter
            ? source.name.matches("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
            : local.matches("[A-Za-z_][A-Za-z0-9_]{0,31}"));
  }

  private static boolean isLabelKey(String text) {
    return text.length() <= 253
        && text.matches("([a-z0-9.-]+/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
  }

  /** A class may be in several mappings if each counts something else. */
  private boolean isEachCountedOnce() {
    Map<String, List<Mapping>> byClass = new HashMap<>();
    for (Mapping mapping : mappings) {
      mapping.classes.forEach(
          each -> byClass.computeIfAbsent(each, any -> new ArrayList<>()).add(mapping));
    }
    for (List<Mapping> several : byClass.values()) {
      Set<String> counted = new HashSet<>();
      for (Mapping mapping : several) {
        Set<String> own = new HashSet<>();
        mapping.sources.forEach(
            each -> own.add(each.counter + " " + each.driver + " " + each.whole()));
        if (several.size() > 1 && (own.isEmpty() || own.stream().anyMatch(counted::contains))) {
          return false;
        }
        counted.addAll(own);
      }
    }
    return true;
  }
}

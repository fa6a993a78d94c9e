package dev.sluice.api.config;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which feature gates are on: what was asked for, else the API's default as far as it works today.
 *
 * @param on the gates that are on
 */
public record FeatureGates(Set<FeatureGate> on) {

  /** The gates of a configuration that says nothing. */
  public static final FeatureGates DEFAULT =
      new FeatureGates(
          Arrays.stream(FeatureGate.values())
              .filter(FeatureGate::valueToday)
              .collect(Collectors.toSet()));

  /** Keeps a copy of the gates. */
  public FeatureGates {
    on = Set.copyOf(on);
  }

  /** Whether the gate is on. */
  public boolean enabled(FeatureGate gate) {
    return on.contains(gate);
  }

  /** The names of the gates that the API has on by default, and that are always off here. */
  public static List<String> missingDefaults() {
    return Arrays.stream(FeatureGate.values())
        .filter(gate -> gate.onByDefault() && !gate.works(true))
        .map(FeatureGate::text)
        .toList();
  }

  /** Whether preemption gates exist, and block preemption while they are closed. */
  public boolean preemptionGates() {
    return enabled(FeatureGate.MULTI_KUEUE_ORCHESTRATED_PREEMPTION)
        || enabled(FeatureGate.CONCURRENT_ADMISSION);
  }

  /** Every gate with its value, as a file says it. */
  ObjectNode tree() {
    ObjectNode tree = JsonNodeFactory.instance.objectNode();
    for (FeatureGate gate : FeatureGate.values()) {
      tree.put(gate.text(), enabled(gate));
    }
    return tree;
  }

  /** The same gates, but this one on or off as given. */
  public FeatureGates with(FeatureGate gate, boolean enabled) {
    Set<FeatureGate> changed = EnumSet.noneOf(FeatureGate.class);
    changed.addAll(on);
    if (enabled) {
      changed.add(gate);
    } else {
      changed.remove(gate);
    }
    return new FeatureGates(changed);
  }

  /**
   * Settles every gate.
   *
   * @param given gates by name, as they were asked for
   * @param where the path that a gate's problems are told at, a prefix of its name
   */
  static FeatureGates settle(Map<String, Boolean> given, String where, ValidationErrors errors) {
    Map<FeatureGate, Boolean> asked = new LinkedHashMap<>();
    given.forEach(
        (name, value) ->
            FeatureGate.named(name)
                .ifPresentOrElse(
                    gate -> asked.put(gate, value),
                    () -> errors.add(where + name, "unknown feature gate" + similar(name))));
    asked.forEach((gate, value) -> checkAsked(gate, value, where, errors));
    Set<FeatureGate> on = EnumSet.noneOf(FeatureGate.class);
    for (FeatureGate gate : FeatureGate.values()) {
      Boolean value = asked.get(gate);
      if (value != null && gate.works(value) ? value : gate.valueToday()) {
        on.add(gate);
      }
    }
    checkNeeds(on, where, errors);
    return new FeatureGates(on);
  }

  /**
   * The gates of a text such as {@code A=true,B=false}, in its order.
   *
   * @param where the path that problems are told at
   */
  static Map<String, Boolean> parse(String text, String where, ValidationErrors errors) {
    Map<String, Boolean> result = new LinkedHashMap<>();
    for (String part : text.split(",", -1)) {
      if (part.isBlank()) {
        continue;
      }
      String[] sides = part.split("=", 2);
      String name = sides[0].strip();
      Optional<Boolean> value = sides.length == 2 ? flag(sides[1].strip()) : Optional.empty();
      if (value.isEmpty()) {
        errors.value(where, part.strip(), "NAME=true or NAME=false, separated by commas");
      } else if (result.put(name, value.get()) != null) {
        errors.add(where + " " + name, "given twice; each gate may be given once");
      }
    }
    return result;
  }

  private static Optional<Boolean> flag(String text) {
    return switch (text) {
      case "1", "t", "T", "true", "True", "TRUE" -> Optional.of(true);
      case "0", "f", "F", "false", "False", "FALSE" -> Optional.of(false);
      default -> Optional.empty();
    };
  }

  private static void checkAsked(
      FeatureGate gate, boolean value, String where, ValidationErrors errors) {
    if (gate.locked() && value != gate.onByDefault()) {
      errors.value(where + gate.text(), value, gate.onByDefault() + " (the gate is locked)");
    } else if (!gate.accepts(value)) {
      errors.add(
          where + gate.text(),
          value
              + " is not supported yet: in this version of Sluice "
              + gate.text()
              + " is always "
              + (value ? "off" : "on")
              + "; allowed: "
              + !value
              + ", or leave it out");
    }
  }

  private static void checkNeeds(Set<FeatureGate> on, String where, ValidationErrors errors) {
    for (FeatureGate gate : on) {
      List<String> missing = new ArrayList<>();
      for (FeatureGate needed : gate.needs()) {
        if (!on.contains(needed)) {
          missing.add(needed.text());
        }
      }
      if (!missing.isEmpty()) {
        errors.add(
            where + gate.text(),
            "is on, but needs " + String.join(" and ", missing) + ", which is off");
      }
    }
  }

  private static String similar(String name) {
    return Arrays.stream(FeatureGate.values())
        .map(FeatureGate::text)
        .filter(known -> known.equalsIgnoreCase(name))
        .findFirst()
        .map(known -> "; did you mean " + known + "?")
        .orElse("; the known ones are listed in docs/configuration.md");
  }
}

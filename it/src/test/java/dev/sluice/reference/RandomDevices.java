package dev.sluice.reference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes up a cluster with devices: classes, slices of several drivers, templates and claims come,
 * change and go, configurations with all gates, and Workloads that ask for devices.
 */
final class RandomDevices {

  /** One thing that happens. */
  sealed interface DeviceStep {

    /** An object appears or changes. */
    record Put(String kind, JsonNode object) implements DeviceStep {}

    /** An object goes. */
    record Remove(String kind, String key) implements DeviceStep {}

    /** The operator starts with another configuration. */
    record Configure(JsonNode file) implements DeviceStep {}

    /** A Workload asks for quota. */
    record Ask(JsonNode workload) implements DeviceStep {}

    /** A claim that exists is counted. */
    record Claimed(String key) implements DeviceStep {}
  }

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private final Dice dice;
  private final RandomSelectors selectors;
  private final RandomDeviceObjects objects;

  RandomDevices(long seed) {
    dice = new Dice(seed);
    selectors = new RandomSelectors(dice);
    objects = new RandomDeviceObjects(dice);
  }

  List<DeviceStep> steps(int count) {
    List<DeviceStep> steps = new ArrayList<>();
    steps.add(new DeviceStep.Configure(allowed()));
    for (String name : RandomDeviceObjects.CLASSES) {
      if (dice.chance(95)) {
        steps.add(new DeviceStep.Put("class", objects.deviceClass(name)));
      }
    }
    for (int i = 0; i < 5; i++) {
      steps.add(new DeviceStep.Put("slice", objects.slice(i)));
      steps.add(new DeviceStep.Put("template", objects.template("t" + i)));
    }
    while (steps.size() < count) {
      steps.add(step());
    }
    return steps;
  }

  /** A configuration that an operator starts with. */
  private JsonNode allowed() {
    JsonNode file = configuration();
    while (!ReferenceDeviceSettings.of(file).isAllowed()) {
      file = configuration();
    }
    return file;
  }

  private DeviceStep step() {
    return switch (dice.below(40)) {
      case 0 -> new DeviceStep.Configure(configuration());
      case 1, 2, 3 ->
          new DeviceStep.Put("class", objects.deviceClass(dice.pick(RandomDeviceObjects.CLASSES)));
      case 4, 5, 6 -> new DeviceStep.Put("slice", objects.slice(dice.below(6)));
      case 7 ->
          dice.chanceOfHalf()
              ? new DeviceStep.Remove("slice", "/s" + dice.below(6))
              : new DeviceStep.Remove("class", "/" + dice.pick(RandomDeviceObjects.CLASSES));
      case 8, 9, 10, 11, 12 ->
          new DeviceStep.Put("template", objects.template("t" + dice.below(5)));
      case 13 ->
          new DeviceStep.Remove("template", RandomDeviceObjects.NAMESPACE + "/t" + dice.below(5));
      case 14, 15, 16 -> new DeviceStep.Put("claim", objects.claim());
      case 17, 18, 19, 20, 21 ->
          new DeviceStep.Claimed(RandomDeviceObjects.NAMESPACE + "/k" + dice.below(3));
      default -> new DeviceStep.Ask(workload());
    };
  }

  private JsonNode configuration() {
    ObjectNode file = JSON.objectNode();
    file.put("apiVersion", "config.kueue.x-k8s.io/v1beta2").put("kind", "Configuration");
    ObjectNode gates = file.putObject("featureGates");
    boolean on = dice.chance(94);
    for (String gate : ReferenceDeviceSettings.GATES.keySet().stream().sorted().toList()) {
      if (gate.equals(ReferenceDeviceSettings.DEVICES)) {
        gates.put(gate, on);
      } else if (!on && dice.chance(95) && !gate.equals(ReferenceDeviceSettings.REFUSAL)) {
        gates.put(gate, false);
      } else if (dice.chance(80)) {
        gates.put(gate, dice.chance(75));
      }
    }
    ObjectNode resources = file.putObject("resources");
    if (dice.chance(20)) {
      ObjectNode rule = resources.putArray("transformations").addObject();
      rule.put("input", dice.pick(RandomDeviceObjects.EXTENDED));
      rule.put("strategy", dice.chanceOfHalf() ? "Retain" : "Replace");
      rule.putObject("outputs").put("credits", "" + (1 + dice.below(3)));
    }
    if (dice.chance(20)) {
      resources.putArray("excludeResourcePrefixes").add("example.com/p");
    }
    ArrayNode mappings = resources.putArray("deviceClassMappings");
    int number = dice.chance(4) ? 0 : 3 + dice.below(dice.chance(1) ? 17 : 2);
    number += dice.chance(10) ? 1 : 0;
    for (int i = 0; i < number; i++) {
      mapping(mappings.addObject(), i, gates);
    }
    return file;
  }

  /** A mapping; one of two of the same class counts memory, and the other one cores. */
  private void mapping(ObjectNode mapping, int number, ObjectNode gates) {
    mapping.put("name", "example.com/r" + (dice.chance(99) ? number : dice.below(4)));
    if (dice.chance(3)) {
      mapping.put("name", dice.pick(new String[] {"cpu", "cpu", "pods", "a b", "", "x/y/z"}));
    }
    ArrayNode classes = mapping.putArray("deviceClassNames");
    classes.add(dice.chance(98) ? "c" + number % 4 : dice.pick(RandomDeviceObjects.CLASSES));
    if (number == 0 && dice.chanceOfHalf()) {
      classes.add("c4");
    }
    boolean counters = gates.path(ReferenceDeviceSettings.COUNTERS).asBoolean(true);
    boolean capacities = gates.path(ReferenceDeviceSettings.CAPACITIES).asBoolean(false);
    if (dice.chance(2)) {
      counters = true;
      capacities = true;
    }
    if (number < 2 && dice.chance(60) || !counters && !capacities || dice.chance(20)) {
      return;
    }
    boolean counter = counters && (!capacities || dice.chanceOfHalf());
    ArrayNode sources = mapping.putArray("sources");
    for (int i = 0; i <= dice.below(3); i++) {
      source(sources.addObject(), dice.chance(99) == counter, number);
    }
  }

  private void source(ObjectNode parent, boolean counter, int number) {
    ObjectNode source = parent.putObject(counter ? "counter" : "capacity");
    boolean memory = number < 4 && dice.chance(number < 2 ? 90 : 60);
    String domain =
        !counter && dice.chance(10) || dice.chance(1)
            ? dice.pick(RandomDeviceObjects.DRIVERS) + "/"
            : "";
    source.put("name", domain + (memory ? "memory" : "cores"));
    source.put("driver", dice.chance(99) ? dice.pick(RandomDeviceObjects.DRIVERS) : "-");
    if (dice.chance(counter ? 99 : 60)) {
      source
          .putObject("deviceSelector")
          .putObject("cel")
          .put("expression", dice.chance(60) ? "true" : selectors.expression());
    }
  }

  private JsonNode workload() {
    ObjectNode object = RandomDeviceObjects.named(RandomDeviceObjects.NAMESPACE, "w");
    ((ObjectNode) object.path("metadata"))
        .put("uid", "uid-w")
        .put("resourceVersion", "1")
        .put("creationTimestamp", "2026-03-01T10:00:00Z");
    ArrayNode podSets = object.putObject("spec").put("queueName", "q").putArray("podSets");
    for (int i = 0; i <= dice.below(dice.chance(80) ? 1 : 2); i++) {
      ObjectNode podSet =
          podSets.addObject().put("name", "set-" + i).put("count", 1 + dice.below(3));
      pod(podSet.putObject("template").putObject("spec"));
    }
    return object;
  }

  private void pod(ObjectNode spec) {
    int claims = dice.chance(10) ? 0 : 1 + dice.below(2);
    ArrayNode declared = spec.putArray("resourceClaims");
    for (int i = 0; i < claims; i++) {
      ObjectNode claim = declared.addObject().put("name", "claim-" + i);
      if (dice.chance(99)) {
        claim.put("resourceClaimTemplateName", "t" + dice.below(5));
      }
      if (dice.chance(1)) {
        claim.put("resourceClaimName", "k0");
      }
    }
    containers(spec.putArray("containers"), 1 + dice.below(2), claims);
    if (dice.chance(25)) {
      containers(spec.putArray("initContainers"), 1 + dice.below(2), claims);
    }
  }

  private void containers(ArrayNode containers, int number, int claims) {
    for (int i = 0; i < number; i++) {
      ObjectNode container = containers.addObject().put("name", "x" + i);
      if (dice.chance(40)) {
        container.put("restartPolicy", "Always");
      }
      ObjectNode resources = container.putObject("resources");
      ObjectNode requests = resources.putObject(dice.chance(70) ? "requests" : "limits");
      requests.put("cpu", dice.pick(new String[] {"1", "500m", "2"}));
      if (dice.chance(8)) {
        requests.put(
            dice.pick(RandomDeviceObjects.EXTENDED),
            dice.chance(97) ? "" + (1 + dice.below(4)) : "" + Long.MAX_VALUE);
      }
      if (claims > 0 && dice.chance(50)) {
        resources
            .putArray("claims")
            .addObject()
            .put("name", "claim-" + dice.below(claims + (dice.chance(1) ? 1 : 0)));
      }
    }
  }
}

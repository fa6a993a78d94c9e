package dev.sluice.reference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigInteger;

/** Makes up objects of resource.k8s.io, most of them as an API server would accept them. */
final class RandomDeviceObjects {

  static final String NAMESPACE = "team";
  static final String[] DRIVERS = {"d.com", "d.com", "d.com", "e.com"};
  static final String[] CLASSES = {"c0", "c1", "c2", "c3", "c4"};

  /** Resources that devices may stand behind. */
  static final String[] EXTENDED = {
    "example.com/gpu",
    "example.com/part",
    "example.com/r1",
    "deviceclass.resource.kubernetes.io/c0",
    "deviceclass.resource.kubernetes.io/c1",
    "deviceclass.resource.kubernetes.io/c9"
  };

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final String[] AMOUNTS = {
    "0", "1", "2", "10", "10", "20", "40", "80", "4Gi", "10Gi", "20Gi", "512Mi", "1500m", "300m"
  };
  private static final String[] STRANGE_AMOUNTS = {
    "-1",
    "lots",
    "",
    "9223372036854775807",
    "9223372036854775808",
    "8E",
    "1e30",
    "1e-30",
    "0.5n",
    "+7",
    "1.",
    ".5",
    "1 Gi",
    "1ki",
    "0x10",
    "1e"
  };

  private final Dice dice;
  private final RandomSelectors selectors;

  RandomDeviceObjects(Dice dice) {
    this.dice = dice;
    selectors = new RandomSelectors(dice);
  }

  static ObjectNode named(String namespace, String name) {
    ObjectNode object = JSON.objectNode();
    ObjectNode metadata = object.putObject("metadata").put("name", name);
    if (!namespace.isEmpty()) {
      metadata.put("namespace", namespace);
    }
    return object;
  }

  private void selectors(ObjectNode object, int percent) {
    if (!dice.chance(percent)) {
      return;
    }
    ArrayNode list = object.putArray("selectors");
    for (int i = 0; i <= dice.below(2); i++) {
      ObjectNode selector = list.addObject();
      if (dice.chance(99)) {
        selector.putObject("cel").put("expression", selectors.expression());
      }
    }
  }

  JsonNode deviceClass(String name) {
    ObjectNode object = named("", name);
    ((ObjectNode) object.path("metadata"))
        .put("creationTimestamp", "2026-01-0" + (1 + dice.below(3)) + "T00:00:00Z");
    ObjectNode spec = object.putObject("spec");
    if (dice.chance(40)) {
      spec.put("extendedResourceName", EXTENDED[dice.below(dice.chance(90) ? 2 : 3)]);
    }
    selectors(spec, 15);
    return object;
  }

  private JsonNode amount() {
    if (dice.chance(3)) {
      return dice.chance(90) ? JSON.textNode(dice.pick(STRANGE_AMOUNTS)) : JSON.booleanNode(true);
    }
    return dice.chance(90) ? JSON.textNode(dice.pick(AMOUNTS)) : JSON.numberNode(dice.below(50));
  }

  JsonNode slice(int number) {
    ObjectNode object = named("", "s" + number);
    ObjectNode spec = object.putObject("spec").put("driver", dice.pick(DRIVERS));
    spec.putObject("pool")
        .put("name", "p" + number % (dice.chance(80) ? 6 : 2))
        .put("generation", dice.chance(90) ? 1 : 2)
        .put("resourceSliceCount", dice.chance(85) ? 1 : 2);
    switch (dice.below(4)) {
      case 0 -> spec.put("allNodes", true);
      case 1 -> spec.put("perDeviceNodeSelection", true);
      default -> spec.put("nodeName", "n" + dice.below(3));
    }
    ArrayNode devices = spec.putArray("devices");
    for (int i = dice.chance(10) ? 0 : 1 + dice.below(5); i > 0; i--) {
      ObjectNode device = devices.addObject().put("name", "d" + number + "-" + i);
      if (spec.has("perDeviceNodeSelection") && dice.chance(70)) {
        device.put("nodeName", "n" + dice.below(3));
      }
      device(device);
    }
    return object;
  }

  private void device(ObjectNode device) {
    if (dice.chance(35)) {
      device.put("allowMultipleAllocations", dice.chance(90));
    }
    ObjectNode attributes = device.putObject("attributes");
    attribute(attributes, "size", "int", JSON.numberNode(dice.below(4)));
    attribute(attributes, "numa", "int", JSON.numberNode(dice.below(3) - 1));
    attribute(attributes, "model", "string", JSON.textNode(dice.pick(new String[] {"a", "b"})));
    attribute(attributes, "other.org/rack", "string", JSON.textNode("a"));
    attribute(attributes, "ok", "bool", JSON.booleanNode(dice.chance(70)));
    attribute(
        attributes,
        "firmware",
        "version",
        JSON.textNode(
            dice.pick(new String[] {"1.0.0", "1.2.3", "1.2.3-rc.2", "1.10.0", "x", "1.2"})));
    if (dice.chance(2)) {
      attribute(attributes, "size", "int", JSON.numberNode(Long.MAX_VALUE));
    }
    ObjectNode capacity = device.putObject("capacity");
    for (String name : new String[] {"memory", "cores"}) {
      if (dice.chance(60)) {
        capacity(capacity.putObject(dice.chance(95) ? name : "e.com/" + name));
      }
    }
    if (dice.chance(60)) {
      ArrayNode consumed = device.putArray("consumesCounters");
      for (int i = 0; i <= dice.below(2); i++) {
        ObjectNode counters = consumed.addObject().put("counterSet", "s" + i).putObject("counters");
        counters.putObject("memory").set("value", amount());
        if (dice.chanceOfHalf()) {
          counters.putObject("cores").set("value", amount());
        }
      }
    }
    if (dice.chance(15)) {
      ObjectNode taint = device.putArray("taints").addObject().put("key", "k" + dice.below(2));
      taint.put("effect", dice.pick(new String[] {"NoSchedule", "NoExecute", "None", "Never"}));
      if (dice.chanceOfHalf()) {
        taint.put("value", "v" + dice.below(2));
      }
    }
  }

  private void attribute(ObjectNode attributes, String name, String type, JsonNode value) {
    if (dice.chance(75)) {
      attributes.putObject(name).set(type, value);
    }
  }

  private void capacity(ObjectNode capacity) {
    capacity.set("value", amount());
    switch (dice.below(5)) {
      case 0 -> capacity.putObject("requestPolicy").set("default", amount());
      case 1 -> {
        ObjectNode policy = capacity.putObject("requestPolicy");
        policy.set("default", amount());
        ArrayNode valid = policy.putArray("validValues");
        for (int i = 0; i <= dice.below(3); i++) {
          valid.add(amount());
        }
      }
      case 2 -> {
        ObjectNode policy = capacity.putObject("requestPolicy");
        policy.set("default", amount());
        ObjectNode range = policy.putObject("validRange").put("min", "" + dice.below(8));
        if (dice.chanceOfHalf()) {
          range.put("max", "" + (8 + dice.below(60)));
        }
        if (dice.chanceOfHalf()) {
          range.put("step", dice.pick(new String[] {"0", "1", "3", "10", "1500m"}));
        }
      }
      default -> {
        // no policy
      }
    }
  }

  JsonNode template(String name) {
    ObjectNode object = named(NAMESPACE, name);
    requests(object.putObject("spec").putObject("spec").putObject("devices"));
    return object;
  }

  private void requests(ObjectNode devices) {
    ArrayNode requests = devices.putArray("requests");
    int number = dice.chance(2) ? 0 : 1 + dice.below(dice.chance(70) ? 2 : 4);
    for (int i = 0; i < number; i++) {
      ObjectNode request = requests.addObject().put("name", "r" + i);
      if (dice.chance(12)) {
        ArrayNode alternatives = request.putArray("firstAvailable");
        for (int k = 0; k <= dice.below(3); k++) {
          devices(alternatives.addObject().put("name", "a" + k), "c" + dice.below(2));
        }
      }
      if (!request.has("firstAvailable") || dice.chance(1)) {
        if (dice.chance(99)) {
          ObjectNode exactly = request.putObject("exactly");
          devices(
              exactly,
              dice.chance(99) ? CLASSES[dice.chance(85) ? dice.below(3) : dice.below(5)] : "c9");
          if (dice.chance(5)) {
            exactly.put("adminAccess", dice.chance(90));
          }
        }
      }
    }
  }

  private void devices(ObjectNode exactly, String deviceClass) {
    if (dice.chance(99)) {
      exactly.put("deviceClassName", deviceClass);
    }
    if (dice.chance(55)) {
      exactly.set("count", count());
    }
    if (dice.chance(20)) {
      exactly.put("allocationMode", dice.chance(95) ? "ExactCount" : "All");
    }
    selectors(exactly, 25);
    if (dice.chance(30)) {
      ObjectNode capacity = exactly.putObject("capacity").putObject("requests");
      capacity.set(dice.chance(80) ? "memory" : dice.pick(DRIVERS) + "/memory", amount());
      if (dice.chance(30)) {
        capacity.set("cores", amount());
      }
    }
    if (dice.chance(15)) {
      ObjectNode toleration = exactly.putArray("tolerations").addObject();
      toleration.put("operator", dice.pick(new String[] {"Exists", "Equal", "", "Never"}));
      if (dice.chance(80)) {
        toleration.put("key", "k" + dice.below(2)).put("value", "v" + dice.below(2));
      }
      if (dice.chance(40)) {
        toleration.put("effect", dice.pick(new String[] {"NoSchedule", "NoExecute"}));
      }
    }
  }

  private JsonNode count() {
    return switch (dice.chance(3) ? dice.below(7) : 9) {
      case 0 -> JSON.numberNode(Long.MAX_VALUE);
      case 1 -> JSON.numberNode(BigInteger.TWO.pow(64));
      case 2 -> JSON.numberNode(0);
      case 3 -> JSON.numberNode(-1);
      case 4 -> JSON.numberNode(1.5);
      case 5 -> JSON.textNode("2");
      case 6 -> JSON.nullNode();
      default -> JSON.numberNode(1 + dice.below(dice.chance(90) ? 2 : 8));
    };
  }

  JsonNode claim() {
    ObjectNode object = named(NAMESPACE, "k" + dice.below(3));
    requests(object.putObject("spec").putObject("devices"));
    ArrayNode results =
        object.putObject("status").putObject("allocation").putObject("devices").putArray("results");
    for (int i = dice.below(4); i > 0; i--) {
      int slice = dice.below(4);
      ObjectNode result = results.addObject().put("request", "r" + dice.below(2));
      result.put("driver", dice.pick(DRIVERS)).put("pool", "p" + slice);
      result.put("device", "d" + slice + "-" + (1 + dice.below(3)));
      if (dice.chance(30)) {
        result.putObject("consumedCapacity").set("memory", amount());
      }
    }
    return object;
  }
}

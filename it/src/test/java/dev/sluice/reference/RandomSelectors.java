package dev.sluice.reference;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Makes up selectors of devices: what people write, what is wrong, and what is meant to harm. */
final class RandomSelectors {

  /** What docs/devices.md#selectors says of an expression that costs too much. */
  enum Verdict {
    CANNOT_BE_COMPILED,
    NEVER_MET
  }

  private static final int USUAL = 300;
  private static final String ALL = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(%s, ";

  private static final Map<String, Verdict> HARMFUL =
      Map.of(
          "true" + " ".repeat(10_300),
          Verdict.CANNOT_BE_COMPILED,
          "(".repeat(3_000) + "true" + ")".repeat(3_000),
          Verdict.CANNOT_BE_COMPILED,
          "!(".repeat(3_000) + "true" + ")".repeat(3_000),
          Verdict.CANNOT_BE_COMPILED,
          "device.model == 'a'",
          Verdict.CANNOT_BE_COMPILED,
          "device.attributes['d.com'].?size.orValue(1) == 1",
          Verdict.CANNOT_BE_COMPILED,
          "cel.bind(x, 1, x == 1)",
          Verdict.CANNOT_BE_COMPILED,
          "ip('::1').isLoopback()",
          Verdict.CANNOT_BE_COMPILED,
          ALL.formatted("a")
              + ALL.formatted("b")
              + ALL.formatted("c")
              + ALL.formatted("d")
              + "true))))",
          Verdict.NEVER_MET,
          "'" + "a".repeat(4_000) + "'.matches('" + "b?".repeat(250) + "')",
          Verdict.NEVER_MET,
          "'" + "a".repeat(5_000) + "' != ''",
          Verdict.NEVER_MET);

  /** What people mistype, and what looks deep and isn't: any number of ! is one level. */
  private static final String[] STRANGE = {
    "",
    "true &&",
    "1",
    "device.driver",
    "device.driver == 1",
    "$(reboot)",
    "driver == 'd'",
    "!".repeat(1_001) + "false",
    "!".repeat(1_002) + "false"
  };

  private static final List<String> HARMFUL_ORDER = HARMFUL.keySet().stream().sorted().toList();

  private static final String[] DOMAINS = {"d.com", "d.com", "d.com", "e.com", "other.org"};
  private static final String[] NUMBERS = {"size", "numa"};
  private static final String[] TEXTS = {"model", "rack"};
  private static final String[] AMOUNTS = {"memory", "cores", "absent"};
  private static final String[] QUANTITIES = {"1", "4Gi", "10", "40", "500m", "1e3", "80Gi"};
  private static final String[] VERSIONS = {"1.0.0", "1.2.3", "1.2.3-rc.1", "2.0.0", "1.2"};
  private static final String[] ORDERS = {"==", "!=", "<", "<=", ">", ">="};

  private final Dice dice;

  RandomSelectors(Dice dice) {
    this.dice = dice;
  }

  /** All that aren't made up. */
  static Stream<String> known() {
    return Stream.concat(HARMFUL_ORDER.stream(), Stream.of(STRANGE));
  }

  /** What is known of an expression beyond the part of CEL that the reference reads. */
  static Optional<Verdict> verdict(String expression) {
    return Optional.ofNullable(HARMFUL.get(expression));
  }

  /** An expression: mostly one of few, because to compile one takes longer than to play a world. */
  String expression() {
    return dice.chance(98) ? new RandomSelectors(new Dice(dice.below(USUAL))).another() : another();
  }

  private String another() {
    if (dice.chance(1)) {
      return HARMFUL_ORDER.get(dice.below(HARMFUL_ORDER.size()));
    }
    if (dice.chance(1)) {
      return dice.pick(STRANGE);
    }
    return whole(2);
  }

  private String whole(int depth) {
    return switch (depth == 0 ? 9 : dice.below(8)) {
      case 0 -> "(" + whole(depth - 1) + ") && " + whole(depth - 1);
      case 1 -> "(" + whole(depth - 1) + " || " + whole(depth - 1) + ")";
      case 2 -> "!(" + whole(depth - 1) + ")";
      default -> single();
    };
  }

  private String attributes() {
    return "device.attributes['" + dice.pick(DOMAINS) + "']";
  }

  private String member(String name) {
    return dice.chance(80) ? "." + name : "[\"" + name + "\"]";
  }

  private String single() {
    return switch (dice.below(16)) {
      case 0 -> "device.driver == '" + dice.pick(DOMAINS) + "'";
      case 1 -> "device.driver." + onText();
      case 2, 3, 4 ->
          attributes() + member(dice.pick(NUMBERS)) + " " + dice.pick(ORDERS) + " " + dice.below(4);
      case 5 -> attributes() + member("size") + " + 1 > " + dice.below(4);
      case 6 -> attributes() + member(dice.pick(TEXTS)) + " in ['a', 'b', 'c']";
      case 7 -> attributes() + member(dice.pick(TEXTS)) + "." + onText();
      case 8 -> attributes() + member("ok");
      case 9 -> "has(" + attributes() + "." + dice.pick(new String[] {"size", "model", "ok"}) + ")";
      case 10 -> version();
      case 11, 12 -> amount();
      case 13 -> "device.allowMultipleAllocations";
      case 14 -> "has(device.capacity['d.com']." + dice.pick(AMOUNTS) + ")";
      default -> dice.pick(new String[] {"true", "true", "false"});
    };
  }

  private String onText() {
    return switch (dice.below(4)) {
      case 0 -> "startsWith('" + dice.pick(new String[] {"d", "a", ""}) + "')";
      case 1 -> "endsWith('.com')";
      case 2 -> "contains('" + dice.pick(new String[] {".", "b"}) + "')";
      default -> "matches('" + dice.pick(new String[] {"^d[.]", "a|e", "b$", ".*"}) + "')";
    };
  }

  private String version() {
    String version = attributes() + member("firmware");
    String other = "semver('" + dice.pick(VERSIONS) + "')";
    return compared(version, other);
  }

  private String amount() {
    return compared(
        "device.capacity['" + dice.pick(DOMAINS) + "']" + member(dice.pick(AMOUNTS)),
        "quantity('" + dice.pick(QUANTITIES) + "')");
  }

  private String compared(String value, String other) {
    return switch (dice.below(4)) {
      case 0 -> value + ".isGreaterThan(" + other + ")";
      case 1 -> value + ".isLessThan(" + other + ")";
      case 2 -> value + ".compareTo(" + other + ") >= 0";
      default -> value + " == " + other;
    };
  }
}

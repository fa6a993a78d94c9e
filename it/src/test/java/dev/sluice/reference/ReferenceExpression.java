package dev.sluice.reference;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A part of a selector of devices, with the rules of CEL for its operators and functions.
 *
 * @param type what is known of its value before there is a device
 * @param evaluation works the value out
 */
record ReferenceExpression(Type type, Evaluation evaluation) {

  /** What is known of a value before there is a device. */
  enum Type {
    ANY,
    BOOL,
    INT,
    TEXT,
    QUANTITY,
    VERSION,
    VALUES,
    QUANTITIES,
    ATTRIBUTES,
    CAPACITIES,
    DEVICE,
    LIST
  }

  /** A version without its build metadata, to be compared by semver.org. */
  record Version(List<String> numbers, List<String> before) {

    static final Pattern FORM =
        Pattern.compile(
            "(?:0|[1-9][0-9]*)(?:[.](?:0|[1-9][0-9]*)){2}(?:-[0-9A-Za-z.-]+)?(?:[+][0-9A-Za-z.-]+)?");

    static Version of(String text) {
      if (!FORM.matcher(text).matches()) {
        throw new Fails();
      }
      String known = text.replaceAll("[+].*", "");
      int dash = known.indexOf('-');
      return dash < 0
          ? new Version(List.of(known.split("[.]", -1)), List.of())
          : new Version(
              List.of(known.substring(0, dash).split("[.]", -1)),
              List.of(known.substring(dash + 1).split("[.]", -1)));
    }

    int order(Version other) {
      for (int i = 0; i < 3; i++) {
        int order = new BigDecimal(numbers.get(i)).compareTo(new BigDecimal(other.numbers.get(i)));
        if (order != 0) {
          return order;
        }
      }
      if (before.isEmpty() != other.before.isEmpty()) {
        return before.isEmpty() ? 1 : -1;
      }
      for (int i = 0; i < before.size() && i < other.before.size(); i++) {
        String a = before.get(i);
        String b = other.before.get(i);
        boolean aNumber = a.matches("[0-9]+");
        boolean bNumber = b.matches("[0-9]+");
        int order =
            aNumber && bNumber
                ? new BigDecimal(a).compareTo(new BigDecimal(b))
                : aNumber == bNumber ? a.compareTo(b) : aNumber ? -1 : 1;
        if (order != 0) {
          return order;
        }
      }
      return before.size() - other.before.size();
    }
  }

  /** An expression fails for a device. */
  static final class Fails extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Fails() {
      super("fails", null, false, false);
    }
  }

  /** An expression isn't one. */
  static final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** Works a value out. */
  interface Evaluation {

    /**
     * The value for a device.
     *
     * @throws Fails if there is none
     */
    Object of(Map<String, Object> device);
  }

  Object of(Map<String, Object> device) {
    return evaluation.of(device);
  }

  /**
   * This, if it may have such a value.
   *
   * @throws Broken if it can't
   */
  ReferenceExpression needs(Type needed) {
    if (type != needed && type != Type.ANY) {
      throw new Broken();
    }
    return this;
  }

  /** The contrary. */
  static ReferenceExpression not(ReferenceExpression inner) {
    inner.needs(Type.BOOL);
    return new ReferenceExpression(Type.BOOL, device -> !bool(inner.of(device)));
  }

  /** A sum of numbers. */
  static ReferenceExpression sum(ReferenceExpression one, ReferenceExpression other) {
    one.needs(Type.INT);
    other.needs(Type.INT);
    return new ReferenceExpression(
        Type.INT,
        device -> {
          try {
            return Math.addExact(number(one.of(device)), number(other.of(device)));
          } catch (ArithmeticException e) {
            throw new Fails();
          }
        });
  }

  /** Whether a name is there: the last member of what is asked may fail. */
  static ReferenceExpression has(ReferenceExpression asked) {
    if (asked.type != Type.ANY && asked.type != Type.QUANTITY) {
      throw new Broken();
    }
    return new ReferenceExpression(
        Type.BOOL,
        device -> {
          try {
            Object unused = asked.of(device);
            return true;
          } catch (Fails e) {
            return false;
          }
        });
  }

  /** A quantity or a version of a text. */
  static ReferenceExpression parsed(Type type, ReferenceExpression text) {
    return new ReferenceExpression(
        type,
        device -> {
          String written = text(text.of(device));
          return type == Type.VERSION
              ? Version.of(written)
              : ReferenceDeviceCluster.quantity(written).orElseThrow(Fails::new);
        });
  }

  /** One side that decides is enough, even if the other one fails. */
  static ReferenceExpression either(
      ReferenceExpression left, ReferenceExpression right, boolean decisive) {
    left.needs(Type.BOOL);
    right.needs(Type.BOOL);
    return new ReferenceExpression(
        Type.BOOL,
        device -> {
          boolean failed = false;
          for (ReferenceExpression side : List.of(left, right)) {
            try {
              if (bool(side.of(device)) == decisive) {
                return decisive;
              }
            } catch (Fails e) {
              failed = true;
            }
          }
          if (failed) {
            throw new Fails();
          }
          return !decisive;
        });
  }

  /** A comparison of two values. */
  static ReferenceExpression compared(
      String operator, ReferenceExpression left, ReferenceExpression right) {
    if (operator.equals("in")) {
      right.needs(Type.LIST);
      return new ReferenceExpression(
          Type.BOOL, device -> ((List<?>) right.of(device)).contains(left.of(device)));
    }
    if (left.type != right.type && left.type != Type.ANY && right.type != Type.ANY) {
      throw new Broken();
    }
    if (operator.equals("==") || operator.equals("!=")) {
      boolean wanted = operator.equals("==");
      return new ReferenceExpression(
          Type.BOOL, device -> same(left.of(device), right.of(device)) == wanted);
    }
    if (List.of(Type.QUANTITY, Type.VERSION).contains(left.type)
        || List.of(Type.QUANTITY, Type.VERSION).contains(right.type)) {
      throw new Broken();
    }
    return new ReferenceExpression(
        Type.BOOL,
        device -> {
          int order = order(left.of(device), right.of(device));
          return switch (operator) {
            case "<=" -> order <= 0;
            case ">=" -> order >= 0;
            case "<" -> order < 0;
            default -> order > 0;
          };
        });
  }

  private static boolean same(Object a, Object b) {
    if (a instanceof Version one && b instanceof Version other) {
      return one.order(other) == 0;
    }
    return a instanceof BigDecimal one && b instanceof BigDecimal other
        ? one.compareTo(other) == 0
        : a.equals(b);
  }

  private static int order(Object a, Object b) {
    if (a instanceof Long one && b instanceof Long other) {
      return one.compareTo(other);
    }
    if (a instanceof String one && b instanceof String other) {
      return one.compareTo(other);
    }
    if (a instanceof Boolean one && b instanceof Boolean other) {
      return one.compareTo(other);
    }
    throw new Fails();
  }

  /** A member of a map. */
  static ReferenceExpression member(ReferenceExpression of, ReferenceExpression key) {
    if (of.type == Type.DEVICE) {
      String name = (String) key.of(Map.of());
      Type type =
          switch (name) {
            case "driver" -> Type.TEXT;
            case "attributes" -> Type.ATTRIBUTES;
            case "capacity" -> Type.CAPACITIES;
            case "allowMultipleAllocations" -> Type.BOOL;
            default -> throw new Broken();
          };
      return new ReferenceExpression(type, device -> found(device, name));
    }
    Type type =
        switch (of.type) {
          case ATTRIBUTES -> Type.VALUES;
          case CAPACITIES -> Type.QUANTITIES;
          case VALUES -> Type.ANY;
          case QUANTITIES -> Type.QUANTITY;
          default -> throw new Broken();
        };
    boolean domain = type == Type.VALUES || type == Type.QUANTITIES;
    return new ReferenceExpression(
        type,
        device -> {
          Map<?, ?> map = (Map<?, ?>) of.of(device);
          Object name = key.of(device);
          // an unknown domain has no names
          return domain && !map.containsKey(name) ? Map.of() : found(map, name);
        });
  }

  private static Object found(Map<?, ?> map, Object name) {
    Object found = map.get(name);
    if (found == null) {
      throw new Fails();
    }
    return found;
  }

  /** What a function of a value says. */
  static ReferenceExpression call(
      ReferenceExpression on, String name, List<ReferenceExpression> arguments) {
    if (arguments.size() != 1) {
      throw new Broken();
    }
    ReferenceExpression argument = arguments.getFirst();
    switch (name) {
      case "startsWith", "endsWith", "contains", "matches" -> {
        on.needs(Type.TEXT);
        argument.needs(Type.TEXT);
        return new ReferenceExpression(
            Type.BOOL, device -> ofTexts(name, text(on.of(device)), text(argument.of(device))));
      }
      case "isGreaterThan", "isLessThan", "compareTo" -> {
        if (!List.of(Type.QUANTITY, Type.VERSION).contains(argument.type)) {
          throw new Broken();
        }
        on.needs(argument.type);
        return new ReferenceExpression(
            name.equals("compareTo") ? Type.INT : Type.BOOL,
            device -> {
              int order = orderOfOpaque(on.of(device), argument.of(device));
              return switch (name) {
                case "isGreaterThan" -> (Object) (order > 0);
                case "isLessThan" -> (Object) (order < 0);
                default -> (Object) (long) Integer.signum(order);
              };
            });
      }
      default -> throw new Broken();
    }
  }

  private static boolean ofTexts(String name, String text, String other) {
    return switch (name) {
      case "startsWith" -> text.startsWith(other);
      case "endsWith" -> text.endsWith(other);
      case "contains" -> text.contains(other);
      default -> Pattern.compile(other).matcher(text).find();
    };
  }

  private static int orderOfOpaque(Object a, Object b) {
    if (a instanceof BigDecimal one && b instanceof BigDecimal other) {
      return one.compareTo(other);
    }
    if (a instanceof Version one && b instanceof Version other) {
      return one.order(other);
    }
    throw new Fails();
  }

  private static boolean bool(Object value) {
    if (value instanceof Boolean known) {
      return known;
    }
    throw new Fails();
  }

  private static long number(Object value) {
    if (value instanceof Long known) {
      return known;
    }
    throw new Fails();
  }

  private static String text(Object value) {
    if (value instanceof String known) {
      return known;
    }
    throw new Fails();
  }
}

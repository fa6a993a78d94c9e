package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.regex.Pattern;

/** Arithmetic on quantities as they stand in JSON, as text or as number. */
final class JsonQuantities {

  /** Such exponents would fill the memory with zeros. */
  private static final Pattern TOO_LARGE = Pattern.compile("[eE][+-]?0*[1-9]\\d\\d|^.{100}");

  private static final BigDecimal LONGEST = BigDecimal.valueOf(Long.MAX_VALUE);

  private JsonQuantities() {}

  /** Throws a {@link ConversionException} when this is no quantity. */
  static void requireReadable(JsonNode quantity) {
    value(quantity);
  }

  /** Whether the first quantity is less than the second. */
  static boolean less(JsonNode a, JsonNode b) {
    return value(a).compareTo(value(b)) < 0;
  }

  /** The sum, in the unit that both are written in if there is one. */
  static JsonNode sum(JsonNode a, JsonNode b) {
    return written(value(a).add(value(b)), a, b);
  }

  /** The difference, in the unit that both are written in if there is one. */
  static JsonNode difference(JsonNode a, JsonNode b) {
    return written(value(a).subtract(value(b)), a, b);
  }

  private static BigDecimal value(JsonNode quantity) {
    if (TOO_LARGE.matcher(quantity.asText()).find()) {
      throw new ConversionException(
          "quantity: \"%s\" is out of range; it must be below 2^63".formatted(quantity.asText()));
    }
    try {
      return Quantity.parse(quantity.asText()).getNumericalAmount();
    } catch (IllegalArgumentException e) {
      throw new ConversionException(
          "quantity: \"%s\" can't be read; it must be a number with an optional unit such as m, k or Gi"
              .formatted(quantity.asText()));
    }
  }

  /**
   * In the unit of the operands if they have one in common, which is how a person would write it.
   */
  private static JsonNode written(BigDecimal value, JsonNode a, JsonNode b) {
    boolean fits = value.abs().compareTo(LONGEST) <= 0;
    if (a.isIntegralNumber() && b.isIntegralNumber() && fits) {
      long whole = value.longValueExact();
      return whole == (int) whole
          ? JsonNodeFactory.instance.numberNode((int) whole)
          : JsonNodeFactory.instance.numberNode(whole);
    }
    String unit = unit(a).isEmpty() ? unit(b) : unit(a);
    boolean common = unit(a).isEmpty() || unit(b).isEmpty() || unit(a).equals(unit(b));
    BigDecimal one = new Quantity("1", common ? unit : "").getNumericalAmount();
    BigDecimal scaled = value.divide(one, 12, RoundingMode.HALF_UP).stripTrailingZeros();
    boolean exact = common && scaled.scale() <= 0 && scaled.multiply(one).compareTo(value) == 0;
    String text =
        exact ? scaled.toPlainString() + unit : value.stripTrailingZeros().toPlainString();
    return JsonNodeFactory.instance.textNode(text);
  }

  private static String unit(JsonNode quantity) {
    String format = Quantity.parse(quantity.asText()).getFormat();
    return format == null ? "" : format;
  }
}

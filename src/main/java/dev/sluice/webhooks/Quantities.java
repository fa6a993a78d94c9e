package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Kubernetes quantities, read exactly. */
final class Quantities {

  /** The largest amount that the API can express: the largest signed 64-bit number. */
  static final BigDecimal MAX = BigDecimal.valueOf(Long.MAX_VALUE);

  private static final Pattern FORM =
      Pattern.compile(
          "([+-]?)([0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)"
              + "(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?[0-9]+))?");

  private static final int MAX_LENGTH = 128;

  /** Exponents beyond this are larger than any amount, or smaller than any. */
  private static final int MAX_EXPONENT = 100;

  private static final Map<String, Integer> DECIMAL =
      Map.of("n", -9, "u", -6, "m", -3, "k", 3, "M", 6, "G", 9, "T", 12, "P", 15, "E", 18);

  private static final String BINARY = "KMGTPE";
  private static final int BITS_PER_STEP = 10;

  private Quantities() {}

  /** The amount; empty when the value isn't a quantity. */
  static Optional<BigDecimal> parse(JsonNode value) {
    return value.isTextual() || value.isIntegralNumber() ? parse(value.asText()) : Optional.empty();
  }

  /** The amount; empty when the text isn't a quantity. */
  static Optional<BigDecimal> parse(String text) {
    if (text.length() > MAX_LENGTH) {
      return Optional.empty();
    }
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    BigDecimal number = new BigDecimal(plain(parts.group(2))).multiply(factor(parts));
    return Optional.of(parts.group(1).equals("-") ? number.negate() : number);
  }

  private static String plain(String digits) {
    return digits.endsWith(".") ? digits + "0" : digits;
  }

  private static BigDecimal factor(Matcher parts) {
    if (parts.group(3) != null) {
      int step = BINARY.indexOf(parts.group(3).charAt(0)) + 1;
      return new BigDecimal(BigInteger.TWO.pow(BITS_PER_STEP * step));
    }
    if (parts.group(4) != null) {
      return BigDecimal.ONE.scaleByPowerOfTen(DECIMAL.getOrDefault(parts.group(4), 0));
    }
    return parts.group(5) == null
        ? BigDecimal.ONE
        : BigDecimal.ONE.scaleByPowerOfTen(exponent(parts.group(5)));
  }

  private static int exponent(String text) {
    return new BigInteger(text)
        .max(BigInteger.valueOf(-MAX_EXPONENT))
        .min(BigInteger.valueOf(MAX_EXPONENT))
        .intValueExact();
  }

  /**
   * Complains unless the value is a quantity from 0 to the largest.
   *
   * @return the amount when there was nothing to complain about
   */
  static Optional<BigDecimal> checkNonNegative(FieldPath path, JsonNode value, Complaints bad) {
    Optional<BigDecimal> amount = parse(value);
    if (amount.isEmpty()) {
      bad.invalid(path, value, "must be a quantity, such as 10, 500m or 4Gi");
      return amount;
    }
    if (amount.get().signum() < 0) {
      bad.invalid(path, value, "must be greater than or equal to 0");
      return Optional.empty();
    }
    if (amount.get().compareTo(MAX) > 0) {
      bad.invalid(path, value, "must be less than or equal to " + MAX.toPlainString());
      return Optional.empty();
    }
    return amount;
  }
}

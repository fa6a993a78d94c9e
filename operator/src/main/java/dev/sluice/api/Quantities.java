package dev.sluice.api;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/**
 * Kubernetes quantities, exactly: from text to the amounts that quota is counted in (thousandths
 * for {@code cpu}, whole units for everything else), and back to the text that the API server would
 * write itself.
 */
public final class Quantities {

  /** The one resource that is counted in thousandths. */
  public static final String CPU = "cpu";

  private static final Pattern TEXT =
      Pattern.compile(
          "([+-]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+))"
              + "(?:([numkMGTPE])|([KMGTPE]i)|[eE]([+-]?[0-9]{1,9}))?");
  private static final String DECIMAL_UP = "kMGTPE";
  private static final String DECIMAL_DOWN = "mun";
  private static final String BINARY_UP = "KMGTPE";
  private static final int LONGEST = 256;
  private static final int FURTHEST_EXPONENT = 64;
  private static final BigInteger LARGEST = BigInteger.valueOf(Long.MAX_VALUE);
  private static final BigInteger SMALLEST = BigInteger.valueOf(Long.MIN_VALUE);

  private Quantities() {}

  /**
   * The number that a quantity stands for. Exponents beyond 64 in either direction count as 64: far
   * more, or far less, than any amount can hold.
   *
   * @throws IllegalArgumentException if {@code text} is not a quantity; the message names it and
   *     says what is allowed
   */
  public static BigDecimal parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (text.length() > LONGEST || !matcher.matches()) {
      throw new IllegalArgumentException(
          "\"%s\" is not a quantity: a number, such as 2 or 0.5, with an optional suffix of n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or a power of ten such as e3"
              .formatted(text.length() > LONGEST ? text.substring(0, LONGEST) + "…" : text));
    }
    BigDecimal number = new BigDecimal(matcher.group(1));
    String decimal = matcher.group(2);
    String binary = matcher.group(3);
    String exponent = matcher.group(4);
    if (decimal != null) {
      return number.scaleByPowerOfTen(powerOf(decimal.charAt(0)));
    }
    if (binary != null) {
      int power = BINARY_UP.indexOf(binary.charAt(0)) + 1;
      return number.multiply(new BigDecimal(BigInteger.ONE.shiftLeft(10 * power)));
    }
    if (exponent != null) {
      int power = Integer.parseInt(exponent);
      return number.scaleByPowerOfTen(Math.clamp(power, -FURTHEST_EXPONENT, FURTHEST_EXPONENT));
    }
    return number;
  }

  private static int powerOf(char suffix) {
    int up = DECIMAL_UP.indexOf(suffix);
    return up >= 0 ? 3 * (up + 1) : -3 * (DECIMAL_DOWN.indexOf(suffix) + 1);
  }

  /**
   * The amount of {@code resource} that {@code quantity} stands for: thousandths for cpu, whole
   * units otherwise, rounded away from zero, held within the range of {@code long}.
   *
   * @throws IllegalArgumentException if {@code quantity} is not one
   */
  public static long amount(String resource, String quantity) {
    BigDecimal number = parse(quantity);
    BigDecimal units = resource.equals(CPU) ? number.scaleByPowerOfTen(3) : number;
    BigInteger rounded = units.setScale(0, RoundingMode.UP).toBigInteger();
    return rounded.min(LARGEST).max(SMALLEST).longValue();
  }

  /**
   * The amount of so many whole units of {@code resource}, held within the range of {@code long}.
   */
  public static long ofUnits(String resource, long units) {
    long most = Long.MAX_VALUE / 1000;
    if (!resource.equals(CPU)) {
      return units;
    }
    return units > most ? Long.MAX_VALUE : Math.max(units, -most) * 1000;
  }

  /**
   * The canonical quantity of an amount of {@code resource}: binary suffixes for memory,
   * ephemeral-storage and huge pages of 1024 bytes and more, decimal ones for everything else.
   */
  public static String format(String resource, long amount) {
    if (resource.equals(CPU)) {
      return amount % 1000 == 0 ? decimal(amount / 1000) : amount + "m";
    }
    return countedInBytes(resource) && (amount >= 1024 || amount <= -1024)
        ? binary(amount)
        : decimal(amount);
  }

  /**
   * Amounts of {@code resource} as quantities with the same suffix, the largest that suits all: for
   * texts in which people compare them. Parts of a core are written as decimal fractions.
   */
  public static List<String> inOneUnit(String resource, long... amounts) {
    if (resource.equals(CPU)) {
      return LongStream.of(amounts)
          .mapToObj(amount -> BigDecimal.valueOf(amount, 3).stripTrailingZeros().toPlainString())
          .toList();
    }
    boolean bytes = countedInBytes(resource);
    int factor = bytes ? 1024 : 1000;
    String suffixes = bytes ? BINARY_UP : DECIMAL_UP;
    int power = 0;
    long unit = 1;
    while (power < suffixes.length() && divisible(amounts, unit * factor)) {
      unit *= factor;
      power++;
    }
    String suffix = power == 0 ? "" : suffixes.charAt(power - 1) + (bytes ? "i" : "");
    long divisor = unit;
    return LongStream.of(amounts)
        .mapToObj(amount -> amount == 0 ? "0" : amount / divisor + suffix)
        .toList();
  }

  private static boolean divisible(long[] amounts, long unit) {
    return LongStream.of(amounts).allMatch(amount -> amount % unit == 0)
        && LongStream.of(amounts).anyMatch(amount -> amount != 0);
  }

  /**
   * The canonical quantity of {@code units} of a resource (cores for cpu), rounded to thousandths,
   * or to whole units from a million on.
   */
  public static String rounded(String resource, double units) {
    long thousandths = Math.round(units * 1000);
    if (resource.equals(CPU)) {
      return format(CPU, thousandths);
    }
    return thousandths % 1000 == 0 || units >= 1_000_000
        ? format(resource, Math.round(units))
        : thousandths + "m";
  }

  private static boolean countedInBytes(String resource) {
    return resource.equals("memory")
        || resource.equals("ephemeral-storage")
        || resource.startsWith("hugepages-");
  }

  private static String decimal(long amount) {
    return withSuffix(amount, 1000, DECIMAL_UP, "");
  }

  private static String binary(long amount) {
    return withSuffix(amount, 1024, BINARY_UP, "i");
  }

  private static String withSuffix(long amount, int factor, String suffixes, String ending) {
    if (amount == 0) {
      return "0";
    }
    long rest = amount;
    int power = 0;
    while (rest % factor == 0 && power < suffixes.length()) {
      rest /= factor;
      power++;
    }
    return power == 0 ? Long.toString(rest) : rest + suffixes.substring(power - 1, power) + ending;
  }
}

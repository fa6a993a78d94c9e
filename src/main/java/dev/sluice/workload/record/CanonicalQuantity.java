package dev.sluice.workload.record;

import dev.sluice.api.Quantities;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;

/** Writes quantities in the form in which the API server returns them. */
final class CanonicalQuantity {

  private static final List<String> DECIMAL =
      List.of("n", "u", "m", "", "k", "M", "G", "T", "P", "E");
  private static final List<String> BINARY = List.of("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei");
  private static final BigInteger THOUSAND = BigInteger.valueOf(1000);
  private static final BigInteger KIBI = BigInteger.valueOf(1024);
  private static final int NANO = 9;

  private CanonicalQuantity() {}

  /**
   * The same number with the largest suffix of its family that needs no fraction: {@code 1} for
   * {@code 1000m}, {@code 1536Mi} for {@code 1.5Gi}. Powers of ten, and texts that are no
   * quantities, stay as they are.
   */
  static String of(String quantity) {
    try {
      BigDecimal number = Quantities.parse(quantity);
      if (quantity.endsWith("i") && number.abs().compareTo(new BigDecimal(KIBI)) >= 0) {
        return shortened(up(number), KIBI, BINARY);
      }
      return quantity.matches(".*[eE][+-]?[0-9]+")
          ? quantity
          : shortened(up(number.scaleByPowerOfTen(NANO)), THOUSAND, DECIMAL);
    } catch (IllegalArgumentException notAQuantity) {
      return quantity;
    }
  }

  private static BigInteger up(BigDecimal number) {
    return number.setScale(0, RoundingMode.UP).toBigInteger();
  }

  private static String shortened(BigInteger number, BigInteger factor, List<String> suffixes) {
    if (number.signum() == 0) {
      return "0";
    }
    BigInteger rest = number;
    int suffix = 0;
    while (suffix < suffixes.size() - 1 && rest.mod(factor).signum() == 0) {
      rest = rest.divide(factor);
      suffix++;
    }
    return rest + suffixes.get(suffix);
  }
}

package dev.sluice.core.budget;

import dev.sluice.core.model.BudgetSpec.Limit;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Amounts × milliseconds as people read them. Of money, which is spent by the hour, the amount is
 * the price of what is used: its hours are the money.
 */
public final class Hours {

  private static final String CPU = "cpu";
  private static final BigDecimal MILLIS = BigDecimal.valueOf(3_600_000);
  private static final BigDecimal CPU_MILLIS = BigDecimal.valueOf(3_600_000_000L);

  private Hours() {}

  /** Hours of a resource, in its own unit (cores for cpu), rounded down to a thousandth. */
  public static String text(String resource, BigDecimal amount) {
    BigDecimal hours =
        amount
            .divide(resource.equals(CPU) ? CPU_MILLIS : MILLIS, MathContext.DECIMAL128)
            .setScale(3, RoundingMode.DOWN);
    return hours.signum() == 0 ? "0" : hours.stripTrailingZeros().toPlainString();
  }

  /** Hours of a resource, in its own unit (cores for cpu), as far as a double holds them. */
  public static double number(String resource, BigDecimal amount) {
    return amount
        .divide(resource.equals(CPU) ? CPU_MILLIS : MILLIS, MathContext.DECIMAL64)
        .doubleValue();
  }

  /** The amount × milliseconds of so many hours of a resource, in its own unit. */
  public static BigDecimal of(String resource, BigDecimal hours) {
    return hours.multiply(resource.equals(CPU) ? CPU_MILLIS : MILLIS).stripTrailingZeros();
  }

  /** What the hours of a resource are called. */
  public static String unit(String resource) {
    return resource.equals(Limit.COST) ? "of money" : resource + "-hours";
  }
}

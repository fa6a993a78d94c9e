package dev.sluice.core.model;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * Arithmetic on amounts of a resource: {@code long}s, in thousandths for {@code cpu} and in whole
 * units for every other resource. Results saturate instead of overflowing; {@link #UNLIMITED}
 * absorbs.
 */
public final class ResourceAmounts {

  /** No limit: larger than any amount, and unchanged by addition and subtraction. */
  public static final long UNLIMITED = Long.MAX_VALUE;

  private ResourceAmounts() {}

  /** {@code a + b}, clamped to the range of {@code long}; unlimited if either is. */
  public static long add(long a, long b) {
    if (a == UNLIMITED || b == UNLIMITED) {
      return UNLIMITED;
    }
    long sum = a + b;
    if (((a ^ sum) & (b ^ sum)) < 0) {
      return a < 0 ? Long.MIN_VALUE : UNLIMITED;
    }
    return sum;
  }

  /**
   * {@code a + b} of quotas: unlimited only if either is. Sums beyond the range of {@code long} are
   * the largest limit there is, so that what overflows is less quota, and never none at all.
   */
  public static long addQuota(long a, long b) {
    return a == UNLIMITED || b == UNLIMITED ? UNLIMITED : Math.min(add(a, b), UNLIMITED - 1);
  }

  /** {@code a - b}, clamped to the range of {@code long}; unlimited if {@code a} is. */
  public static long subtract(long a, long b) {
    if (a == UNLIMITED) {
      return UNLIMITED;
    }
    long difference = a - b;
    if (((a ^ b) & (a ^ difference)) < 0) {
      return a < 0 ? Long.MIN_VALUE : UNLIMITED;
    }
    return difference;
  }

  /**
   * A quota times a rate, rounded down; unlimited only if the quota is. A product that is too large
   * is the largest limit.
   */
  public static long scale(long a, BigDecimal rate) {
    if (a == UNLIMITED || rate.compareTo(BigDecimal.ONE) == 0) {
      return a;
    }
    BigDecimal product = BigDecimal.valueOf(a).multiply(rate).setScale(0, RoundingMode.FLOOR);
    return product.min(BigDecimal.valueOf(UNLIMITED - 1)).longValue();
  }

  /** {@code a * b}, clamped to the range of {@code long}; unlimited if {@code a} is and b > 0. */
  public static long multiply(long a, long b) {
    if (b == 0 || a == 0) {
      return 0;
    }
    if (a == UNLIMITED) {
      return b > 0 ? UNLIMITED : Long.MIN_VALUE;
    }
    long high = Math.multiplyHigh(a, b);
    long low = a * b;
    if ((high == 0 && low >= 0) || (high == -1 && low < 0)) {
      return low;
    }
    return (a < 0) == (b < 0) ? UNLIMITED : Long.MIN_VALUE;
  }
}

package dev.sluice.core.quota;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * What a queue or cohort has of what its cohort can lend (dominant resource share;
 * docs/scheduling-semantics.md#fair-sharing): of the resource of which it has most, {@code borrowed
 * / lendable / weight}. Comparison is exact.
 *
 * @param borrowed what it uses beyond its own, of that resource
 * @param lendable what its cohort could ever lend of it; positive
 * @param weight its weight; 0 makes its share infinite as soon as it has one
 * @param borrowing whether it uses more than its own of anything
 */
public record DominantResourceShare(
    long borrowed, long lendable, BigDecimal weight, boolean borrowing)
    implements Comparable<DominantResourceShare> {

  /** The share of one that borrows nothing. */
  public static final DominantResourceShare NONE =
      new DominantResourceShare(0, 1, BigDecimal.ONE, false);

  private static final BigDecimal THOUSAND = BigDecimal.valueOf(1000);

  /** Doubles that differ by less, relatively, may stand for the same share. */
  private static final double CLOSE = 1e-9;

  /** Whether it is infinite: it has something, and no weight. */
  public boolean isInfinite() {
    return borrowed > 0 && weight.signum() == 0;
  }

  /** In thousandths, divided by the weight. */
  public double value() {
    if (borrowed == 0) {
      return 0;
    }
    return ratio() / weight.doubleValue();
  }

  private double ratio() {
    return borrowed * 1000.0 / lendable;
  }

  /** The value rounded up; the largest number if it is infinite or larger than that. */
  public long rounded() {
    if (borrowed == 0) {
      return 0;
    }
    if (isInfinite()) {
      return Long.MAX_VALUE;
    }
    return THOUSAND
        .multiply(BigDecimal.valueOf(borrowed))
        .divide(BigDecimal.valueOf(lendable).multiply(weight), 0, RoundingMode.CEILING)
        .min(BigDecimal.valueOf(Long.MAX_VALUE))
        .longValueExact();
  }

  /** By size; an infinite one is larger than any other, and among such the weight is left out. */
  @Override
  public int compareTo(DominantResourceShare other) {
    if (isInfinite() != other.isInfinite()) {
      return isInfinite() ? 1 : -1;
    }
    boolean infinite = isInfinite();
    double one = infinite ? ratio() : value();
    double two = infinite ? other.ratio() : other.value();
    if (Math.abs(one - two) > CLOSE * Math.max(one, two)) {
      return Double.compare(one, two);
    }
    if (borrowed == other.borrowed
        && lendable == other.lendable
        && (infinite || borrowed == 0 || weight.equals(other.weight))) {
      return 0;
    }
    return exact(other, infinite).compareTo(other.exact(this, infinite));
  }

  /** Its part of the comparison, both brought to the same denominator. */
  private BigDecimal exact(DominantResourceShare other, boolean unweighted) {
    BigDecimal part = BigDecimal.valueOf(borrowed).multiply(BigDecimal.valueOf(other.lendable));
    return unweighted || borrowed == 0 ? part : part.multiply(other.weightOrOne());
  }

  private BigDecimal weightOrOne() {
    return borrowed == 0 ? BigDecimal.ONE : weight;
  }
}

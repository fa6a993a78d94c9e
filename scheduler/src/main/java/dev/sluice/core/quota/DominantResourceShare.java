package dev.sluice.core.quota;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Dominant resource share of a queue or cohort (docs/scheduling-semantics.md#fair-sharing): the
 * maximum over all resources of {@code borrowed / lendable}, divided by the weight. Comparison is
 * exact.
 */
public final class DominantResourceShare implements Comparable<DominantResourceShare> {

  /** The share of a node that borrows nothing. */
  public static final DominantResourceShare NONE =
      new DominantResourceShare(0, 1, BigDecimal.ONE, false);

  private static final BigDecimal THOUSAND = BigDecimal.valueOf(1000);

  /**
   * Doubles with a smaller relative difference may represent the same share and are compared
   * exactly.
   */
  private static final double CLOSE = 1e-9;

  private final long borrowed;
  private final long lendable;
  private final BigDecimal weight;
  private final boolean borrowing;

  /** What is compared unless it is too close: computed once, compared often. */
  private final double value;

  /**
   * Creates a share.
   *
   * @param borrowed usage beyond the own quota, of the dominant resource
   * @param lendable the most that the parent cohort can lend of that resource; positive
   * @param weight the weight; with weight 0 a positive share is infinite
   * @param borrowing whether the usage of any resource exceeds the own quota
   */
  public DominantResourceShare(long borrowed, long lendable, BigDecimal weight, boolean borrowing) {
    this.borrowed = borrowed;
    this.lendable = lendable;
    this.weight = weight;
    this.borrowing = borrowing;
    this.value = borrowed == 0 ? 0 : ratio() / weight.doubleValue();
  }

  /** The weight. */
  public BigDecimal weight() {
    return weight;
  }

  /** Whether the usage of any resource exceeds the own quota. */
  public boolean borrowing() {
    return borrowing;
  }

  /** Whether the share is infinite: usage is borrowed, and the weight is 0. */
  public boolean isInfinite() {
    return borrowed > 0 && weight.signum() == 0;
  }

  /** The share in thousandths, divided by the weight. */
  public double value() {
    return value;
  }

  private double ratio() {
    return borrowed * 1000.0 / lendable;
  }

  /** The value rounded up; {@link Long#MAX_VALUE} if it is infinite or larger. */
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

  /**
   * Compares by value; an infinite share is larger than any finite share, and two infinite shares
   * are compared without their weights.
   */
  @Override
  public int compareTo(DominantResourceShare other) {
    if (borrowed == other.borrowed && lendable == other.lendable && weight == other.weight) {
      return 0;
    }
    if (isInfinite() != other.isInfinite()) {
      return isInfinite() ? 1 : -1;
    }
    boolean infinite = isInfinite();
    double one = infinite ? ratio() : value;
    double two = infinite ? other.ratio() : other.value;
    if (Math.abs(one - two) > CLOSE * Math.max(one, two)) {
      return Double.compare(one, two);
    }
    if (borrowed == other.borrowed
        && lendable == other.lendable
        && (infinite || borrowed == 0 || weight.equals(other.weight))) {
      return 0;
    }
    return infinite
        ? compareRatios(borrowed, lendable, other.borrowed, other.lendable)
        : exact(other).compareTo(other.exact(this));
  }

  /**
   * Compares {@code part / of} with {@code other / ofOther} exactly: ratios of large amounts may
   * differ by less than a double tells. No amount is negative.
   */
  static int compareRatios(long part, long of, long other, long ofOther) {
    long high = Math.multiplyHigh(part, ofOther);
    long highOfOther = Math.multiplyHigh(other, of);
    return high == highOfOther
        ? Long.compareUnsigned(part * ofOther, other * of)
        : Long.compare(high, highOfOther);
  }

  /** This share's side of the comparison, with a common denominator. */
  private BigDecimal exact(DominantResourceShare other) {
    BigDecimal part = BigDecimal.valueOf(borrowed).multiply(BigDecimal.valueOf(other.lendable));
    return borrowed == 0 ? part : part.multiply(other.weightOrOne());
  }

  private BigDecimal weightOrOne() {
    return borrowed == 0 ? BigDecimal.ONE : weight;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof DominantResourceShare share
        && borrowed == share.borrowed
        && lendable == share.lendable
        && weight.equals(share.weight)
        && borrowing == share.borrowing;
  }

  @Override
  public int hashCode() {
    return Objects.hash(borrowed, lendable, weight, borrowing);
  }

  @Override
  public String toString() {
    return borrowed + "/" + lendable + "/" + weight + (borrowing ? " borrowing" : "");
  }
}

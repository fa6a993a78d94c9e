package dev.sluice.reference;

import java.math.BigInteger;

/**
 * A dominant resource share: {@code parts / of} in thousandths, to be divided by the weight (both
 * scaled to whole numbers). No weight makes anything of it infinite.
 */
record ReferenceShare(BigInteger parts, BigInteger of, BigInteger weight, BigInteger weightScale)
    implements Comparable<ReferenceShare> {

  static final ReferenceShare NONE =
      new ReferenceShare(BigInteger.ZERO, BigInteger.ONE, BigInteger.ONE, BigInteger.ONE);

  boolean isInfinite() {
    return weight.signum() == 0 && parts.signum() > 0;
  }

  @Override
  public int compareTo(ReferenceShare other) {
    if (isInfinite() != other.isInfinite()) {
      return isInfinite() ? 1 : -1;
    }
    if (isInfinite()) {
      return parts.multiply(other.of).compareTo(other.parts.multiply(of));
    }
    return numerator()
        .multiply(other.denominator())
        .compareTo(other.numerator().multiply(denominator()));
  }

  private BigInteger numerator() {
    return parts.multiply(weightScale);
  }

  private BigInteger denominator() {
    return parts.signum() == 0 ? BigInteger.ONE : of.multiply(weight);
  }

  /** What the status tells: rounded up, the largest number if it is infinite. */
  long weightedShare() {
    if (isInfinite()) {
      return Long.MAX_VALUE;
    }
    BigInteger[] whole = numerator().divideAndRemainder(denominator());
    return whole[0]
        .add(BigInteger.valueOf(whole[1].signum()))
        .min(BigInteger.valueOf(Long.MAX_VALUE))
        .longValueExact();
  }
}

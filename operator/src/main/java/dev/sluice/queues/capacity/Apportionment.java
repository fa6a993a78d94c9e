package dev.sluice.queues.capacity;

import java.math.BigInteger;
import java.util.PriorityQueue;

/** Divides an amount in proportion to weights, in whole units. */
final class Apportionment {

  private Apportionment() {}

  /**
   * The shares of {@code amount}, in the order of the weights. Each share has the whole part of its
   * proportion; the units that are left over go one by one to where the weight for each unit is
   * largest, and the first of equals. So the sum is the amount exactly, unless all weights are 0,
   * and no share falls when the amount rises (the method of d'Hondt).
   *
   * @param amount not negative
   * @param weights not negative; 0 gets nothing
   */
  static long[] of(long amount, long[] weights) {
    long[] shares = new long[weights.length];
    BigInteger sum = BigInteger.ZERO;
    for (long weight : weights) {
      sum = sum.add(BigInteger.valueOf(weight));
    }
    if (sum.signum() == 0) {
      return shares;
    }
    long left = amount;
    PriorityQueue<Claim> claims = new PriorityQueue<>();
    for (int i = 0; i < weights.length; i++) {
      if (weights[i] > 0) {
        shares[i] =
            BigInteger.valueOf(amount)
                .multiply(BigInteger.valueOf(weights[i]))
                .divide(sum)
                .longValueExact();
        left -= shares[i];
        claims.add(new Claim(weights[i], shares[i], i));
      }
    }
    for (; left > 0; left--) {
      Claim first = claims.remove();
      shares[first.place]++;
      claims.add(new Claim(first.weight, shares[first.place], first.place));
    }
    return shares;
  }

  /** The claim of a weight to one more unit than it has. */
  private record Claim(long weight, long share, int place) implements Comparable<Claim> {

    @Override
    public int compareTo(Claim other) {
      int byWeight = other.forAll(share).compareTo(forAll(other.share));
      return byWeight != 0 ? byWeight : Integer.compare(place, other.place);
    }

    /** The weight for each unit, times the units that both would have. */
    private BigInteger forAll(long share) {
      return BigInteger.valueOf(weight).multiply(BigInteger.valueOf(share).add(BigInteger.ONE));
    }
  }
}

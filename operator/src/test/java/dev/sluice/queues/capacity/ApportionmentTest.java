package dev.sluice.queues.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.queues.capacity.NominalQuotaTree.Apportionment;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Shares of random amounts by random weights (docs/dynamic-quota.md#shares). */
class ApportionmentTest {

  private static final int WORLDS = 5_000;

  @Test
  void sharesAreProportionalAndAddUp() {
    assertThat(Apportionment.of(8_000, new long[] {10, 30})).containsExactly(2_000, 6_000);
    assertThat(Apportionment.of(7, new long[] {4, 4})).containsExactly(4, 3);
    assertThat(Apportionment.of(7, new long[] {0, 0})).containsExactly(0, 0);
    assertThat(Apportionment.of(0, new long[] {4, 0})).containsExactly(0, 0);
    assertThat(Apportionment.of(5, new long[] {})).isEmpty();
    assertThat(Apportionment.of(Long.MAX_VALUE, new long[] {Long.MAX_VALUE, Long.MAX_VALUE}))
        .containsExactly(Long.MAX_VALUE / 2 + 1, Long.MAX_VALUE / 2);
  }

  @Test
  void propertiesHoldInRandomWorlds() {
    for (int seed = 0; seed < WORLDS; seed++) {
      Random random = new Random(seed);
      long[] weights =
          random
              .longs(1 + random.nextInt(12), 0, random.nextBoolean() ? 8 : Long.MAX_VALUE)
              .map(weight -> random.nextInt(4) == 0 ? 0 : weight)
              .toArray();
      long amount = random.nextLong(0, random.nextBoolean() ? 50 : Long.MAX_VALUE - 1);
      long[] shares = Apportionment.of(amount, weights);
      long[] ofMore = Apportionment.of(amount + 1, weights);
      BigInteger sum = sum(weights);
      if (sum.signum() == 0) {
        assertThat(shares).as("seed %d", seed).containsOnly(0);
        continue;
      }
      assertThat(sum(shares)).as("seed %d", seed).isEqualTo(BigInteger.valueOf(amount));
      for (int i = 0; i < weights.length; i++) {
        long whole =
            BigInteger.valueOf(amount)
                .multiply(BigInteger.valueOf(weights[i]))
                .divide(sum)
                .longValueExact();
        assertThat(shares[i])
            .as("proportional, seed %d", seed)
            .isBetween(whole, Math.addExact(whole, weights[i] == 0 ? 0 : weights.length));
        assertThat(ofMore[i]).as("monotone, seed %d", seed).isGreaterThanOrEqualTo(shares[i]);
      }
    }
  }

  private static BigInteger sum(long[] numbers) {
    return Arrays.stream(numbers)
        .mapToObj(BigInteger::valueOf)
        .reduce(BigInteger.ZERO, BigInteger::add);
  }
}

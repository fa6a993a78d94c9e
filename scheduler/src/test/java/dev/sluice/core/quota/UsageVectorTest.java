package dev.sluice.core.quota;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ResourceAmounts;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class UsageVectorTest {

  private final UsageVector sums = new UsageVector();

  @Test
  void isNothingWhereNothingWasAdded() {
    assertThat(sums.get(7)).isZero();
    sums.add(3, 5);
    assertThat(sums.get(3)).isEqualTo(5);
    assertThat(sums.get(2)).isZero();
    assertThat(sums.get(4)).isZero();
  }

  @Test
  void forgetsNothingOfWhatIsTooLargeToShow() {
    sums.add(0, ResourceAmounts.UNLIMITED);
    sums.add(0, ResourceAmounts.UNLIMITED);
    sums.add(0, 5);
    assertThat(sums.get(0)).isEqualTo(ResourceAmounts.UNLIMITED);
    sums.subtract(0, ResourceAmounts.UNLIMITED);
    sums.subtract(0, ResourceAmounts.UNLIMITED);
    assertThat(sums.get(0)).isEqualTo(5);
  }

  @Test
  void sumsAreExactHeldWithinTheRangeOfANumber() {
    Random random = new Random(3);
    List<Long> in = new ArrayList<>();
    BigInteger exact = BigInteger.ZERO;
    for (int i = 0; i < 5_000; i++) {
      if (!in.isEmpty() && random.nextBoolean()) {
        long amount = in.remove(random.nextInt(in.size()));
        sums.subtract(1, amount);
        exact = exact.subtract(BigInteger.valueOf(amount));
      } else {
        long amount = random.nextLong() >> random.nextInt(60);
        in.add(amount);
        sums.add(1, amount);
        exact = exact.add(BigInteger.valueOf(amount));
      }
      BigInteger shown =
          exact.min(BigInteger.valueOf(Long.MAX_VALUE)).max(BigInteger.valueOf(Long.MIN_VALUE));
      assertThat(sums.get(1)).isEqualTo(shown.longValueExact());
    }
  }
}

package dev.sluice.engine;

import dev.sluice.model.Amounts;
import java.util.Arrays;

/** Amounts by the number of their pair; 0 where nothing was added. */
final class AmountTable {

  private static final long[] NONE = {};

  private long[] amounts = NONE;

  long get(int pair) {
    return pair < amounts.length ? amounts[pair] : 0;
  }

  void add(int pair, long amount) {
    if (pair >= amounts.length) {
      amounts = Arrays.copyOf(amounts, pair + 1);
    }
    amounts[pair] = Amounts.add(amounts[pair], amount);
  }

  void subtract(int pair, long amount) {
    add(pair, amount == Amounts.UNLIMITED ? Long.MIN_VALUE : -amount);
  }
}

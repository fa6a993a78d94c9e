package dev.sluice.cli.audit;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;

/** Who holds how much of what, the sums, and the most each sum ever was. */
final class Ledger {

  /** Told of a sum that grew. */
  interface Growth {
    void grew(Pair pair, BigDecimal sum);
  }

  private final Map<String, Map<Pair, BigDecimal>> byHolder = new HashMap<>();
  private final Map<Pair, BigDecimal> sums = new HashMap<>();
  private final Map<Pair, BigDecimal> peaks = new HashMap<>();

  /** From now on the holder holds this; nothing, when empty. */
  void set(String holder, Map<Pair, BigDecimal> held, Growth growth) {
    Map<Pair, BigDecimal> before =
        held.isEmpty() ? byHolder.remove(holder) : byHolder.put(holder, held);
    Map<Pair, BigDecimal> change = new HashMap<>(held);
    if (before != null) {
      before.forEach((pair, amount) -> change.merge(pair, amount.negate(), BigDecimal::add));
    }
    change.forEach(
        (pair, amount) -> {
          BigDecimal sum = sums.merge(pair, amount, BigDecimal::add);
          if (amount.signum() > 0) {
            peaks.merge(pair, sum, BigDecimal::max);
            growth.grew(pair, sum);
          }
        });
  }

  boolean holds(String holder) {
    return byHolder.containsKey(holder);
  }

  Map<Pair, BigDecimal> peaks() {
    return Map.copyOf(peaks);
  }
}

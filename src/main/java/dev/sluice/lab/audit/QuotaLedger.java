package dev.sluice.lab.audit;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;

/** Who holds how much of what, the sums, and the most each sum ever was. */
final class QuotaLedger {

  /** Told of a sum that grew. */
  interface Growth {
    void grew(FlavorResourcePair flavorResourcePair, BigDecimal sum);
  }

  private final Map<String, Map<FlavorResourcePair, BigDecimal>> byHolder = new HashMap<>();
  private final Map<FlavorResourcePair, BigDecimal> sums = new HashMap<>();
  private final Map<FlavorResourcePair, BigDecimal> peaks = new HashMap<>();

  /** From now on the holder holds this; nothing, when empty. */
  void set(String holder, Map<FlavorResourcePair, BigDecimal> held, Growth growth) {
    Map<FlavorResourcePair, BigDecimal> before =
        held.isEmpty() ? byHolder.remove(holder) : byHolder.put(holder, held);
    Map<FlavorResourcePair, BigDecimal> change = new HashMap<>(held);
    if (before != null) {
      before.forEach(
          (flavorResourcePair, amount) ->
              change.merge(flavorResourcePair, amount.negate(), BigDecimal::add));
    }
    change.forEach(
        (flavorResourcePair, amount) -> {
          BigDecimal sum = sums.merge(flavorResourcePair, amount, BigDecimal::add);
          if (amount.signum() > 0) {
            peaks.merge(flavorResourcePair, sum, BigDecimal::max);
            growth.grew(flavorResourcePair, sum);
          }
        });
  }

  boolean holds(String holder) {
    return byHolder.containsKey(holder);
  }

  Map<FlavorResourcePair, BigDecimal> peaks() {
    return Map.copyOf(peaks);
  }
}

package dev.sluice.lab.audit;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;

/** Amounts held by each holder, their sums, and the peak of each sum. */
final class QuotaLedger {

  /** Callback for a sum that increased. */
  interface Growth {
    void grew(FlavorResourcePair flavorResourcePair, BigDecimal sum);
  }

  private final Map<String, Map<FlavorResourcePair, BigDecimal>> byHolder = new HashMap<>();
  private final Map<FlavorResourcePair, BigDecimal> sums = new HashMap<>();
  private final Map<FlavorResourcePair, BigDecimal> peaks = new HashMap<>();

  /** Sets the amounts of a holder; an empty map releases them. */
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

  Map<FlavorResourcePair, BigDecimal> sums() {
    return Map.copyOf(sums);
  }

  boolean holds(String holder) {
    return byHolder.containsKey(holder);
  }

  Map<FlavorResourcePair, BigDecimal> peaks() {
    return Map.copyOf(peaks);
  }
}

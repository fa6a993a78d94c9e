package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;

/**
 * What the slices of one elastic job hold, by their names: a slice and the one that it replaces
 * hold what the larger one needs, in each pair (docs/elastic-jobs.md#what-the-engine-charges).
 */
final class SliceLedger {

  private record Slice(String replaces, Map<FlavorResourcePair, BigDecimal> held) {}

  private final Map<String, Slice> slices = new HashMap<>();

  /** Sets what a slice holds; an empty map releases it. */
  void set(JsonNode workload, Map<FlavorResourcePair, BigDecimal> held) {
    String name = ObjectReader.name(workload);
    if (held.isEmpty()) {
      slices.remove(name);
    } else {
      slices.put(name, new Slice(ObjectReader.replacedSlice(workload), held));
    }
  }

  /** What all slices of the job hold together. */
  Map<FlavorResourcePair, BigDecimal> held() {
    Map<FlavorResourcePair, BigDecimal> sum = new HashMap<>();
    for (Slice slice : slices.values()) {
      Slice replaced = slices.get(slice.replaces());
      slice
          .held()
          .forEach(
              (pair, amount) -> {
                BigDecimal shared =
                    replaced == null
                        ? BigDecimal.ZERO
                        : replaced.held().getOrDefault(pair, BigDecimal.ZERO);
                sum.merge(pair, amount.subtract(shared).max(BigDecimal.ZERO), BigDecimal::add);
              });
    }
    return sum;
  }
}

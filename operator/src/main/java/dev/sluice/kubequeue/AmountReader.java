package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.Quantities;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads lists of resources that people wrote. Never throws for what it reads. */
final class AmountReader {

  private final List<String> faults;

  /** Notes what is wrong in {@code faults}. */
  AmountReader(List<String> faults) {
    this.faults = faults;
  }

  /**
   * Amounts by resource, in the scheduler's units.
   *
   * @param where for messages
   */
  Map<String, Long> amounts(JsonNode list, String where) {
    Map<String, Long> result = new TreeMap<>();
    if (!list.isMissingNode() && !list.isNull() && !list.isObject()) {
      faults.add(where + " is no list of resources");
    }
    list.properties()
        .forEach(
            entry -> {
              String text = entry.getValue().asText();
              try {
                long amount = Quantities.amount(entry.getKey(), text);
                if (amount < 0 || !entry.getValue().isValueNode()) {
                  faults.add("%s.%s: \"%s\" is less than 0".formatted(where, entry.getKey(), text));
                } else if (KubernetesNames.isLabelKey(entry.getKey())) {
                  result.put(entry.getKey(), Math.min(amount, QuotaArithmetic.UNLIMITED));
                } else {
                  faults.add("%s: \"%s\" is no resource".formatted(where, entry.getKey()));
                }
              } catch (IllegalArgumentException e) {
                faults.add("%s.%s: \"%s\" is no quantity".formatted(where, entry.getKey(), text));
              }
            });
    return result;
  }
}

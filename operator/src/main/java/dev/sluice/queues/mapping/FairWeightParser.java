package dev.sluice.queues.mapping;

import dev.sluice.api.Quantities;
import dev.sluice.api.v1beta2.FairSharing;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parses fair-sharing weights of queues and cohorts. */
final class FairWeightParser {

  private FairWeightParser() {}

  /** The weight; 1 if it is absent, or if it is invalid, which is reported as a fault. */
  static MappingResult<BigDecimal> translate(@Nullable FairSharing sharing) {
    if (sharing == null) {
      return new MappingResult<>(BigDecimal.ONE, List.of());
    }
    String given = sharing.weight().toString();
    try {
      BigDecimal weight = Quantities.parse(given);
      if (weight.signum() >= 0) {
        return new MappingResult<>(weight, List.of());
      }
    } catch (IllegalArgumentException e) {
      return fault(given);
    }
    return fault(given);
  }

  /** The weight of a LocalQueue, of any sign; 1 if it is absent or not a quantity. */
  static double ofLocalQueue(@Nullable FairSharing sharing) {
    if (sharing == null) {
      return 1;
    }
    try {
      return Quantities.parse(sharing.weight().toString()).doubleValue();
    } catch (IllegalArgumentException e) {
      return 1;
    }
  }

  private static MappingResult<BigDecimal> fault(String given) {
    return new MappingResult<>(
        BigDecimal.ONE,
        List.of(
            "spec.fairSharing.weight: \"%s\" is not a quantity of at least 0".formatted(given)));
  }
}

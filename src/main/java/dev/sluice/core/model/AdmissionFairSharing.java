package dev.sluice.core.model;

import java.time.Duration;
import java.util.Map;

/**
 * How LocalQueues of one ClusterQueue take turns by what they used over time
 * (docs/scheduling-semantics.md#admission-fair-sharing).
 *
 * @param halfLife the time in which past use comes to count half; zero: use isn't remembered
 * @param samplingInterval how often use is sampled; more than zero
 * @param resourceWeights how much a unit of a resource counts; 1 where none is given
 */
public record AdmissionFairSharing(
    Duration halfLife, Duration samplingInterval, Map<String, Double> resourceWeights) {

  public AdmissionFairSharing {
    resourceWeights = Map.copyOf(resourceWeights);
    if (halfLife.isNegative() || samplingInterval.isNegative() || samplingInterval.isZero()) {
      throw new IllegalArgumentException(
          "a half-life of %s and an interval of %s are not allowed: at least 0, more than 0"
              .formatted(halfLife, samplingInterval));
    }
  }

  /** Whether use is remembered at all. */
  public boolean remembers() {
    return !halfLife.isZero();
  }

  /**
   * What part of the average is new after this time: 0 at once, one half after the half-life, and
   * towards 1 from then on; always 1 when use isn't remembered.
   */
  public double renewed(Duration elapsed) {
    return remembers() ? 1 - StrictMath.pow(0.5, seconds(elapsed) / seconds(halfLife)) : 1;
  }

  /** How much a unit of a resource counts. */
  public double weight(String resource) {
    return resourceWeights.getOrDefault(resource, 1.0);
  }

  private static double seconds(Duration duration) {
    return duration.getSeconds() + duration.getNano() / 1e9;
  }
}

package dev.sluice.core.model;

import java.time.Duration;
import java.util.Map;

/**
 * Parameters of admission fair sharing: LocalQueues of one ClusterQueue are ordered by their usage
 * over time (docs/scheduling-semantics.md#admission-fair-sharing).
 *
 * @param halfLife the time after which past usage counts half; zero: past usage is ignored
 * @param samplingInterval the interval between two samples of the usage; more than zero
 * @param resourceWeights the factor of one unit of a resource; 1 for a resource without an entry
 * @param anchor from when on the use of a Workload counts
 */
public record AdmissionFairSharing(
    Duration halfLife,
    Duration samplingInterval,
    Map<String, Double> resourceWeights,
    Anchor anchor) {

  /** From when on the use of a Workload counts, besides its entry penalty. */
  public enum Anchor {
    /** From its admission on. */
    ADMISSION,
    /** From the reservation of quota on, also while admission checks are awaited. */
    QUOTA_RESERVATION
  }

  public AdmissionFairSharing {
    resourceWeights = Map.copyOf(resourceWeights);
    if (halfLife.isNegative() || samplingInterval.isNegative() || samplingInterval.isZero()) {
      throw new IllegalArgumentException(
          "a half-life of %s and an interval of %s are not allowed: at least 0, more than 0"
              .formatted(halfLife, samplingInterval));
    }
  }

  /** Whether past usage counts at all. */
  public boolean countsPastUsage() {
    return !halfLife.isZero();
  }

  /**
   * The fraction of the average that a new sample contributes after this time: 0 for no time, one
   * half after the half-life, and towards 1 from then on; always 1 when past usage is ignored.
   */
  public double sampleFraction(Duration elapsed) {
    return countsPastUsage() ? 1 - StrictMath.pow(0.5, seconds(elapsed) / seconds(halfLife)) : 1;
  }

  /** The factor of one unit of a resource. */
  public double weight(String resource) {
    return resourceWeights.getOrDefault(resource, 1.0);
  }

  private static double seconds(Duration duration) {
    return duration.getSeconds() + duration.getNano() / 1e9;
  }
}

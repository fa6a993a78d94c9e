package dev.sluice.core.model;

import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * One flavor that was tried for a pod set, and the reasons for its rejection.
 *
 * @param podSet name of the pod set
 * @param flavor name of the flavor; empty where no flavor covers the resource
 * @param mode how the request fits the flavor, with preemption considered
 * @param borrowLevel the level of the cohort tree from which quota would be borrowed; 0 without
 *     borrowing
 * @param flavorRejections why the flavor was rejected; empty if the request fits
 * @param cost what the pod set would cost there; empty if nothing asks, or the flavor has no price
 */
public record FlavorAttempt(
    String podSet,
    String flavor,
    AssignmentMode mode,
    int borrowLevel,
    List<FlavorRejection> flavorRejections,
    Optional<Cost> cost) {

  /**
   * What a pod set costs in a flavor, in the currency of the prices.
   *
   * @param perHour for an hour
   * @param toFinish expected until it is finished, with what interruptions cost; empty if nobody
   *     knows how long it runs, or it is beyond all numbers
   */
  public record Cost(BigDecimal perHour, Optional<BigDecimal> toFinish) {}

  /** An attempt of which nobody asks what it costs. */
  public FlavorAttempt(
      String podSet,
      String flavor,
      AssignmentMode mode,
      int borrowLevel,
      List<FlavorRejection> flavorRejections) {
    this(podSet, flavor, mode, borrowLevel, flavorRejections, Optional.empty());
  }

  public FlavorAttempt {
    flavorRejections = List.copyOf(flavorRejections);
  }

  /** An attempt without preemption: the request fits if there are no rejections. */
  public FlavorAttempt(
      String podSet, String flavor, int borrowLevel, List<FlavorRejection> flavorRejections) {
    this(
        podSet,
        flavor,
        flavorRejections.isEmpty() ? AssignmentMode.FIT : AssignmentMode.NO_FIT,
        borrowLevel,
        flavorRejections);
  }

  boolean hasSameContentAs(FlavorAttempt other) {
    if (!podSet.equals(other.podSet)
        || !flavor.equals(other.flavor)
        || mode != other.mode
        || flavorRejections.size() != other.flavorRejections.size()) {
      return false;
    }
    for (int i = 0; i < flavorRejections.size(); i++) {
      if (!flavorRejections.get(i).lasting().equals(other.flavorRejections.get(i).lasting())) {
        return false;
      }
    }
    return true;
  }
}

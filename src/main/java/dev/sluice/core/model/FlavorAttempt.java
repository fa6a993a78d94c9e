package dev.sluice.core.model;

import java.util.List;

/**
 * One flavor that was looked at for a pod set, and what stood in the way.
 *
 * @param podSet the pod set
 * @param flavor the flavor; empty where no flavor could be looked at
 * @param mode how it fits, preemption considered
 * @param borrowLevel how high in the cohort tree quota would be borrowed; 0 for its own
 * @param obstacles what stood in the way; none if it fits
 */
public record FlavorAttempt(
    String podSet,
    String flavor,
    AssignmentMode mode,
    int borrowLevel,
    List<FlavorRejection> flavorRejections) {

  public FlavorAttempt {
    flavorRejections = List.copyOf(flavorRejections);
  }

  /** An attempt where preemption was not considered: it fits if nothing stands in the way. */
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

package dev.sluice.core.model;

import java.util.List;

/**
 * One flavor that was tried for a pod set, and the reasons for its rejection.
 *
 * @param podSet name of the pod set
 * @param flavor name of the flavor; empty where no flavor covers the resource
 * @param mode how the request fits the flavor, with preemption considered
 * @param borrowLevel the level of the cohort tree from which quota would be borrowed; 0 without
 *     borrowing
 * @param flavorRejections why the flavor was rejected; empty if the request fits
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

package dev.sluice.model;

import java.util.List;

/**
 * One flavor that was looked at for a pod set, and what stood in the way.
 *
 * @param podSet the pod set
 * @param flavor the flavor; empty where no flavor could be looked at
 * @param borrowLevel how high in the cohort tree quota would be borrowed; 0 for its own
 * @param obstacles what stood in the way; none if it fits
 */
public record FlavorAttempt(
    String podSet, String flavor, int borrowLevel, List<Obstacle> obstacles) {

  public FlavorAttempt {
    obstacles = List.copyOf(obstacles);
  }

  boolean tellsTheSameAs(FlavorAttempt other) {
    if (!podSet.equals(other.podSet)
        || !flavor.equals(other.flavor)
        || obstacles.size() != other.obstacles.size()) {
      return false;
    }
    for (int i = 0; i < obstacles.size(); i++) {
      if (!obstacles.get(i).lasting().equals(other.obstacles.get(i).lasting())) {
        return false;
      }
    }
    return true;
  }
}

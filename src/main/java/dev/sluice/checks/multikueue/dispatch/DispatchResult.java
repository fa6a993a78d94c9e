package dev.sluice.checks.multikueue.dispatch;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What a dispatcher says.
 *
 * @param clusters the clusters that the Workload is offered to from now on
 * @param newRound whether clusters were added, so that a round begins now
 * @param lookAgain when to ask again, if nothing else changes before
 */
public record DispatchResult(List<String> clusters, boolean newRound, Optional<Instant> lookAgain) {

  /** With a copy of the list. */
  public DispatchResult {
    clusters = List.copyOf(clusters);
  }
}

package dev.sluice.checks.multikueue.dispatch;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Decision of a dispatcher.
 *
 * @param clusters the nominated clusters
 * @param newRound whether clusters were added, so that a new round begins now
 * @param requeueAt when to dispatch again if nothing changes before
 */
public record DispatchResult(List<String> clusters, boolean newRound, Optional<Instant> requeueAt) {

  /** Copies the list. */
  public DispatchResult {
    clusters = List.copyOf(clusters);
  }
}

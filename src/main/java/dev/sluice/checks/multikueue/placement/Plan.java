package dev.sluice.checks.multikueue.placement;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What to do about one Workload.
 *
 * @param actions in this order; when one fails, the rest is left for the next look
 * @param lookAgain when to look again, if nothing else changes before
 */
public record Plan(List<Action> actions, Optional<Instant> lookAgain) {

  /** With a copy of the list. */
  public Plan {
    actions = List.copyOf(actions);
  }

  static Plan nothing() {
    return new Plan(List.of(), Optional.empty());
  }

  static Plan of(Action action) {
    return new Plan(List.of(action), Optional.empty());
  }
}

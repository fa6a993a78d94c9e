package dev.sluice.checks.multikueue.placement;

import dev.sluice.checks.multikueue.placement.Remote.Copy;
import dev.sluice.checks.multikueue.placement.Remote.Gate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who may preempt for a Workload that several workers are asked to run: the one that first said
 * that it would have to, and when that led to nothing for a while, the next (contract: scheduling,
 * section 16).
 */
final class Gates {

  /** From one opening to the next. */
  static final Duration BETWEEN = Duration.ofMinutes(5);

  private Gates() {}

  /** The plan, and the gate that is to be opened now or later, if any. */
  static Plan with(Plan plan, Map<String, Remote> remotes, Instant now) {
    Optional<String> next =
        remotes.keySet().stream()
            .filter(cluster -> blockedAt(remotes.get(cluster)).isPresent())
            .min(
                Comparator.comparing(
                        (String cluster) -> blockedAt(remotes.get(cluster)).orElse(Instant.MAX))
                    .thenComparing(Comparator.naturalOrder()));
    if (next.isEmpty()) {
      return plan;
    }
    Optional<Instant> due = lastOpened(remotes).map(opened -> opened.plus(BETWEEN));
    if (due.isPresent() && now.isBefore(due.get())) {
      return new Plan(plan.actions(), soonest(plan.lookAgain(), due.get()));
    }
    List<Action> actions = new ArrayList<>(plan.actions());
    actions.add(new Action.OpenGate(next.get()));
    return new Plan(actions, soonest(plan.lookAgain(), now.plus(BETWEEN)));
  }

  private static Optional<Instant> soonest(Optional<Instant> one, Instant other) {
    return Optional.of(one.filter(instant -> instant.isBefore(other)).orElse(other));
  }

  /** Since when a worker that can be asked waits for its gate to be opened. */
  private static Optional<Instant> blockedAt(@Nullable Remote remote) {
    return Optional.ofNullable(remote)
        .filter(Remote::connected)
        .flatMap(Remote::copy)
        .flatMap(Copy::gate)
        .filter(gate -> gate.openedAt().isEmpty())
        .flatMap(Gate::blockedAt);
  }

  /** When the last gate was opened, be it in a worker that is lost since. */
  private static Optional<Instant> lastOpened(Map<String, Remote> remotes) {
    return remotes.values().stream()
        .flatMap(remote -> remote.copy().stream())
        .flatMap(copy -> copy.gate().stream())
        .flatMap(gate -> gate.openedAt().stream())
        .max(Comparator.naturalOrder());
  }
}

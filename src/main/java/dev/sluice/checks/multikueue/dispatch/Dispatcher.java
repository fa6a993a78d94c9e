package dev.sluice.checks.multikueue.dispatch;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Chooses the worker clusters that a Workload is offered to. The same situation, the same choice.
 */
public sealed interface Dispatcher {

  /** How long the clusters of a round of the incremental dispatcher have before more are asked. */
  Duration ROUND = Duration.ofMinutes(5);

  /** Who is nominated now. Nobody new is, before the other admission checks are Ready. */
  DispatchResult nominate(DispatchContext dispatchContext);

  /**
   * Offers to all clusters that are connected, at once, in the order of their names. Who was
   * nominated stays so while it isn't connected: it may have the copy, and can't be asked.
   */
  record AllAtOnce() implements Dispatcher {
    @Override
    public DispatchResult nominate(DispatchContext dispatchContext) {
      List<String> standing = dispatchContext.standing();
      if (!dispatchContext.othersReady()) {
        return new DispatchResult(standing, false, Optional.empty());
      }
      List<String> all =
          dispatchContext.configured().stream()
              .filter(name -> dispatchContext.connected().contains(name) || standing.contains(name))
              .distinct()
              .sorted()
              .toList();
      return new DispatchResult(all, all.size() > standing.size(), Optional.empty());
    }
  }

  /**
   * Offers to a few clusters, and to a few more each five minutes until all are asked. Clusters
   * that aren't connected don't take a place in a round.
   *
   * @param stepSize how many are added at a time, at least 1
   * @param configOrder whether they are asked in the order of the config; otherwise by name
   */
  record Incremental(int stepSize, boolean configOrder) implements Dispatcher {
    @Override
    public DispatchResult nominate(DispatchContext dispatchContext) {
      List<String> standing = dispatchContext.standing();
      if (!dispatchContext.othersReady()) {
        return new DispatchResult(standing, false, Optional.empty());
      }
      List<String> left =
          inOrder(dispatchContext)
              .filter(
                  name -> dispatchContext.connected().contains(name) && !standing.contains(name))
              .toList();
      Optional<Instant> due = dispatchContext.lastRound().map(last -> last.plus(ROUND));
      boolean waits =
          !standing.isEmpty() && due.filter(dispatchContext.now()::isBefore).isPresent();
      if (waits || left.isEmpty()) {
        return new DispatchResult(standing, false, left.isEmpty() ? Optional.empty() : due);
      }
      List<String> added = left.subList(0, Math.min(stepSize, left.size()));
      List<String> all = new ArrayList<>(standing);
      all.addAll(added);
      return new DispatchResult(
          all,
          true,
          added.size() == left.size()
              ? Optional.empty()
              : Optional.of(dispatchContext.now().plus(ROUND)));
    }

    private Stream<String> inOrder(DispatchContext dispatchContext) {
      Stream<String> names = dispatchContext.configured().stream().distinct();
      return configOrder ? names : names.sorted();
    }
  }

  /**
   * Offers to the first cluster in the order of the config, which is the order of preference, in
   * which it would be admitted at once. When there is none, when the chosen one is lost, or when it
   * didn't admit it soon, all are asked.
   */
  record BestFit() implements Dispatcher {

    /** How long the chosen cluster has, before all others are asked too. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    @Override
    public DispatchResult nominate(DispatchContext dispatchContext) {
      List<String> standing = dispatchContext.standing();
      if (!dispatchContext.othersReady()) {
        return new DispatchResult(standing, false, Optional.empty());
      }
      if (standing.isEmpty()) {
        return dispatchContext.configured().stream()
            .filter(dispatchContext.connected()::contains)
            .filter(dispatchContext.fitting()::contains)
            .findFirst()
            .map(
                best ->
                    new DispatchResult(
                        List.of(best), true, Optional.of(dispatchContext.now().plus(PATIENCE))))
            .orElseGet(() -> new AllAtOnce().nominate(dispatchContext));
      }
      Optional<Instant> due =
          dispatchContext
              .lastRound()
              .map(last -> last.plus(PATIENCE))
              .filter(dispatchContext.now()::isBefore);
      boolean waits =
          standing.size() == 1 && dispatchContext.connected().contains(standing.getFirst());
      return waits && due.isPresent()
          ? new DispatchResult(standing, false, due)
          : new AllAtOnce().nominate(dispatchContext);
    }
  }

  /** Leaves the choice to somebody else, who writes {@code status.nominatedClusterNames}. */
  record External() implements Dispatcher {
    @Override
    public DispatchResult nominate(DispatchContext dispatchContext) {
      return new DispatchResult(dispatchContext.standing(), false, Optional.empty());
    }
  }
}

package dev.sluice.checks.multikueue.placement;

import dev.sluice.checks.multikueue.placement.ManagerState.Check;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * One text with the answers of all workers for a Workload that no worker has admitted yet. The text
 * contains no counts and no ages, so it changes only when an answer changes.
 */
public final class PendingSummary {

  /** Separator between the answers of two workers. */
  public static final String BETWEEN = "; ";

  private static final int LONGEST = 1000;

  private PendingSummary() {}

  /** The text; empty while no worker is nominated, and when nothing is pending any more. */
  public static String of(
      ManagerState managerState,
      ClusterCandidates clusterCandidates,
      Map<String, WorkerState> workerStates) {
    boolean waits =
        !managerState.over()
            && managerState.reserving()
            && !managerState.evicted()
            && managerState.othersReady()
            && managerState.check() == Check.PENDING
            && managerState.job() instanceof ManagerState.Sendable.Yes
            && workerStates.values().stream().noneMatch(PendingSummary::runs);
    if (!waits) {
      return "";
    }
    if (clusterCandidates.configured().isEmpty()) {
      return "No worker cluster is configured";
    }
    String each =
        clusterCandidates.configured().stream()
            .map(name -> name + ": " + answer(name, managerState, clusterCandidates, workerStates))
            .collect(Collectors.joining(BETWEEN));
    return clusterCandidates.allowed().isEmpty()
        ? "No worker cluster is allowed" + BETWEEN + each
        : each;
  }

  /** Whether a worker is about to be chosen: then the manager's Workload has changed already. */
  private static boolean runs(WorkerState workerState) {
    return workerState.connected()
        && workerState
            .copy()
            .filter(copy -> copy.admittedAt().isPresent() && copy.finished().isEmpty())
            .isPresent();
  }

  private static String answer(
      String name,
      ManagerState managerState,
      ClusterCandidates clusterCandidates,
      Map<String, WorkerState> workerStates) {
    Optional<String> excluded = Optional.ofNullable(clusterCandidates.excluded().get(name));
    if (excluded.isPresent()) {
      return excluded.get();
    }
    Optional<WorkerState> workerState = Optional.ofNullable(workerStates.get(name));
    if (workerState.filter(WorkerState::connected).isEmpty()) {
      return workerState
          .flatMap(WorkerState::lostSince)
          .map(since -> "not connected since " + since.truncatedTo(ChronoUnit.SECONDS))
          .orElse("not connected");
    }
    return workerState
        .flatMap(WorkerState::copy)
        .map(copy -> shortened(copy.tells()))
        .orElse(managerState.nominated().contains(name) ? "is being asked" : "not asked yet");
  }

  private static String shortened(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
  }
}

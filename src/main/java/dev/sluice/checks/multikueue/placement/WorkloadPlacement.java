package dev.sluice.checks.multikueue.placement;

import dev.sluice.checks.multikueue.dispatch.DispatchContext;
import dev.sluice.checks.multikueue.dispatch.DispatchResult;
import dev.sluice.checks.multikueue.dispatch.Dispatcher;
import dev.sluice.checks.multikueue.placement.ManagerState.Check;
import dev.sluice.checks.multikueue.placement.WorkerState.Copy;
import dev.sluice.checks.multikueue.placement.WorkerState.Difference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Decides what becomes of a Workload between manager and workers
 * (docs/scheduling-semantics.md#multikueue). The first step that has something to do decides; the
 * rest is for the next look.
 *
 * @param dispatcher says who is asked
 * @param workerLostTimeout how long a worker that is lost keeps what runs there
 */
public record WorkloadPlacement(Dispatcher dispatcher, Duration workerLostTimeout) {

  /**
   * The plan for one Workload.
   *
   * @param configured the workers it may go to, in the order of the MultiKueueConfig
   * @param remotes how it stands in each worker, by name; also in those that it may not go to
   */
  public PlacementPlan decide(
      ManagerState managerState,
      List<String> configured,
      Map<String, WorkerState> workerStates,
      Instant now) {
    return new Step(managerState, configured, new TreeMap<>(workerStates), now).plan();
  }

  /**
   * The plan for one Workload that holds quota of the manager's own nodes: it runs there once all
   * its other checks are Ready, and what is left of it elsewhere is withdrawn.
   *
   * @param cluster the name of the manager as a worker
   */
  public PlacementPlan decideHere(
      ManagerState managerState,
      String cluster,
      Map<String, WorkerState> workerStates,
      Instant now) {
    Step step = new Step(managerState, List.of(), new TreeMap<>(workerStates), now);
    boolean ordinary =
        managerState.over()
            || !managerState.reserving()
            || managerState.job() instanceof ManagerState.Sendable.No
            || managerState.cluster().isPresent();
    if (ordinary) {
      return step.plan();
    }
    PlacementPlan withdrawn = step.withdrawn(workerStates.keySet());
    boolean runs =
        managerState.check() == Check.PENDING
            && managerState.othersReady()
            && !managerState.evicted();
    if (!runs) {
      return withdrawn;
    }
    List<PlacementAction> placementActions = new ArrayList<>(withdrawn.placementActions());
    placementActions.add(new PlacementAction.RunHere(cluster));
    return new PlacementPlan(placementActions, withdrawn.lookAgain());
  }

  /** One look at one Workload. */
  private final class Step {

    private final ManagerState managerState;
    private final List<String> configured;
    private final SortedMap<String, WorkerState> workerStates;
    private final Instant now;

    Step(
        ManagerState managerState,
        List<String> configured,
        SortedMap<String, WorkerState> workerStates,
        Instant now) {
      this.managerState = managerState;
      this.configured = configured;
      this.workerStates = workerStates;
      this.now = now;
    }

    PlacementPlan plan() {
      if (managerState.over()) {
        return withdrawn(workerStates.keySet());
      }
      if (managerState.job() instanceof ManagerState.Sendable.No(String why)
          && managerState.check() != Check.REJECTED) {
        return PlacementPlan.of(new PlacementAction.Reject(why));
      }
      if (!managerState.reserving()) {
        return withdrawn(workerStates.keySet());
      }
      if (managerState.check() == Check.RETRY || managerState.check() == Check.REJECTED) {
        return PlacementPlan.nothing();
      }
      return finished()
          .or(this::evicted)
          .or(this::different)
          .or(this::running)
          .or(this::lost)
          .orElseGet(() -> managerState.evicted() ? sentBack() : dispatched());
    }

    /** Ends what is elsewhere; who can't be asked now is asked again later. */
    private PlacementPlan withdrawn(Set<String> clusters) {
      List<PlacementAction> placementActions = new ArrayList<>();
      boolean unreachable = false;
      for (String cluster : clusters) {
        WorkerState workerState = workerStates.get(cluster);
        if (workerState != null && workerState.copy().isPresent()) {
          if (workerState.connected()) {
            placementActions.add(new PlacementAction.Withdraw(cluster));
          } else {
            unreachable = true;
          }
        }
      }
      return new PlacementPlan(
          placementActions,
          unreachable ? Optional.of(now.plus(workerLostTimeout)) : Optional.empty());
    }

    private Optional<PlacementPlan> finished() {
      return choose(copy -> copy.finished().map(any -> Instant.MIN))
          .flatMap(
              cluster -> seen(cluster).flatMap(Copy::finished).map(end -> ended(cluster, end)));
    }

    private PlacementPlan ended(String cluster, WorkerState.Ending ending) {
      if (!ending.outOfSync()) {
        return PlacementPlan.of(
            new PlacementAction.Finish(cluster, ending.reason(), ending.message()));
      }
      return managerState.check() == Check.READY
          ? PlacementPlan.of(
              new PlacementAction.Retry(says(cluster, "is out of step: " + ending.message())))
          : PlacementPlan.nothing();
    }

    /** Where it runs counts, if it runs anywhere: what others stopped is only to be withdrawn. */
    private Optional<PlacementPlan> evicted() {
      return managerState
          .cluster()
          .map(
              name -> Optional.of(name).filter(it -> seen(it).flatMap(Copy::evictedAt).isPresent()))
          .orElseGet(() -> earliest(Copy::evictedAt))
          .flatMap(
              cluster -> {
                if (managerState.evicted()) {
                  return Optional.of(PlacementPlan.of(new PlacementAction.SyncStatus(cluster)));
                }
                return managerState.check() == Check.READY
                    ? Optional.of(
                        PlacementPlan.of(new PlacementAction.Retry(says(cluster, "sent it back"))))
                    : Optional.empty();
              });
    }

    private Optional<PlacementPlan> different() {
      List<PlacementAction> placementActions = new ArrayList<>();
      for (String cluster : workerStates.keySet()) {
        switch (seen(cluster).map(Copy::difference).orElse(Difference.NONE)) {
          case NONE -> {}
          case PATCHABLE -> placementActions.add(new PlacementAction.SyncSpec(cluster));
          case OTHER -> placementActions.add(new PlacementAction.Withdraw(cluster));
        }
      }
      return placementActions.isEmpty()
          ? Optional.empty()
          : Optional.of(new PlacementPlan(placementActions, Optional.empty()));
    }

    /** Once it is decided where it runs, an admission elsewhere doesn't count any more. */
    private Optional<PlacementPlan> running() {
      Optional<String> decided =
          managerState.cluster().filter(any -> managerState.check() == Check.READY);
      return decided
          .map(
              name ->
                  Optional.of(name).filter(it -> seen(it).flatMap(Copy::admittedAt).isPresent()))
          .orElseGet(() -> choose(Copy::admittedAt))
          .map(
              cluster -> {
                PlacementAction here =
                    managerState.evicted()
                        ? new PlacementAction.EvictRemote(cluster)
                        : new PlacementAction.Run(cluster);
                List<PlacementAction> placementActions =
                    new ArrayList<>(withdrawn(others(cluster)).placementActions());
                placementActions.add(here);
                return new PlacementPlan(
                    placementActions, Optional.of(now.plus(workerLostTimeout)));
              });
    }

    private Set<String> others(String cluster) {
      Set<String> others = new TreeSet<>(workerStates.keySet());
      others.remove(cluster);
      return others;
    }

    /** It ran in a worker, and isn't seen to do so any more. */
    private Optional<PlacementPlan> lost() {
      if (managerState.check() != Check.READY) {
        return Optional.empty();
      }
      String cluster = managerState.cluster().orElse("");
      WorkerState workerState = workerStates.get(cluster);
      if (workerState != null && !workerState.connected()) {
        Instant end = workerState.lostSince().orElse(now).plus(workerLostTimeout);
        return Optional.of(
            now.isBefore(end)
                ? new PlacementPlan(withdrawn(others(cluster)).placementActions(), Optional.of(end))
                : PlacementPlan.of(new PlacementAction.Retry(says(cluster, "is lost"))));
      }
      boolean gone = workerState == null || workerState.copy().isEmpty();
      return Optional.of(
          gone
              ? PlacementPlan.of(new PlacementAction.Retry(says(cluster, "has it no more")))
              : PlacementPlan.nothing());
    }

    /** Nobody is asked while it is sent back: its quota is given away. */
    private PlacementPlan sentBack() {
      PlacementPlan withdrawn = withdrawn(workerStates.keySet());
      List<PlacementAction> placementActions = new ArrayList<>(withdrawn.placementActions());
      placementActions.add(new PlacementAction.ClearPodStatus());
      return new PlacementPlan(placementActions, withdrawn.lookAgain());
    }

    private PlacementPlan dispatched() {
      Set<String> connected =
          workerStates.entrySet().stream()
              .filter(entry -> entry.getValue().connected())
              .map(Map.Entry::getKey)
              .collect(Collectors.toSet());
      DispatchResult said =
          dispatcher.nominate(
              new DispatchContext(
                  configured,
                  connected,
                  managerState.nominated(),
                  managerState.lastRound(),
                  managerState.othersReady(),
                  managerState.fitting(),
                  now));
      List<PlacementAction> placementActions = new ArrayList<>();
      if (!said.clusters().equals(managerState.nominated())) {
        placementActions.add(new PlacementAction.Nominate(said.clusters()));
      }
      workerStates.forEach(
          (cluster, workerState) -> {
            if (workerState.connected()) {
              boolean wanted = said.clusters().contains(cluster);
              if (wanted && workerState.copy().isEmpty()) {
                placementActions.add(new PlacementAction.Offer(cluster));
              } else if (!wanted && workerState.copy().isPresent()) {
                placementActions.add(new PlacementAction.Withdraw(cluster));
              }
            }
          });
      return PreemptionGateCoordinator.with(
          new PlacementPlan(placementActions, said.lookAgain()), asked(said), now);
    }

    private Map<String, WorkerState> asked(DispatchResult said) {
      SortedMap<String, WorkerState> asked = new TreeMap<>(workerStates);
      asked.keySet().retainAll(said.clusters());
      return asked;
    }

    /** The worker that it runs in, if this is true of its copy there; otherwise the earliest. */
    private Optional<String> choose(Function<Copy, Optional<Instant>> since) {
      return managerState
          .cluster()
          .filter(name -> seen(name).flatMap(since).isPresent())
          .or(() -> earliest(since));
    }

    private Optional<String> earliest(Function<Copy, Optional<Instant>> since) {
      return workerStates.keySet().stream()
          .filter(name -> seen(name).flatMap(since).isPresent())
          .min(Comparator.comparing(name -> seen(name).flatMap(since).orElse(Instant.MAX)));
    }

    /** What is known of a copy for sure: what was last seen of a lost worker isn't. */
    private Optional<Copy> seen(String cluster) {
      return Optional.ofNullable(workerStates.get(cluster))
          .filter(WorkerState::connected)
          .flatMap(WorkerState::copy);
    }

    private String says(String cluster, String what) {
      return "Worker cluster \"" + cluster + "\" " + what;
    }
  }
}

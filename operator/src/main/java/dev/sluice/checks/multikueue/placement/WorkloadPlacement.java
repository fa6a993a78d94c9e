package dev.sluice.checks.multikueue.placement;

import dev.sluice.checks.multikueue.dispatch.Dispatcher;
import dev.sluice.checks.multikueue.dispatch.Dispatcher.DispatchContext;
import dev.sluice.checks.multikueue.dispatch.Dispatcher.DispatchResult;
import dev.sluice.checks.multikueue.placement.ManagerState.Check;
import dev.sluice.checks.multikueue.placement.WorkerState.Copy;
import dev.sluice.checks.multikueue.placement.WorkerState.Difference;
import dev.sluice.checks.multikueue.placement.WorkerState.Gate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides the placement of a Workload between manager and workers
 * (docs/scheduling-semantics.md#multikueue). The first step that requires an action determines the
 * plan; later steps are left for the next reconciliation.
 *
 * @param dispatcher nominates the clusters
 * @param workerLostTimeout how long a lost worker keeps the Workload that runs there
 */
public record WorkloadPlacement(Dispatcher dispatcher, Duration workerLostTimeout) {

  /**
   * The shortest time between two looks while nothing happens: each of them asks for the job of a
   * Workload that runs in a worker.
   */
  static final Duration SHORTEST_PAUSE = Duration.ofSeconds(10);

  /**
   * The plan for one Workload.
   *
   * @param configured the workers that the Workload may use, in the order of the MultiKueueConfig
   * @param workerStates its state in each worker, by name; also in workers that it may not use
   */
  public PlacementPlan decide(
      ManagerState managerState,
      List<String> configured,
      Map<String, WorkerState> workerStates,
      Instant now) {
    return new Evaluation(managerState, configured, new TreeMap<>(workerStates), now).plan();
  }

  /**
   * The plan for one Workload that holds quota of the manager's own nodes: the Workload runs in the
   * manager once all its other checks are Ready; remote copies are withdrawn.
   *
   * @param cluster the name of the manager as a worker
   */
  public PlacementPlan decideHere(
      ManagerState managerState,
      String cluster,
      Map<String, WorkerState> workerStates,
      Instant now) {
    Evaluation step = new Evaluation(managerState, List.of(), new TreeMap<>(workerStates), now);
    boolean ordinary =
        managerState.over()
            || !managerState.reserving()
            || managerState.job() instanceof ManagerState.Sendable.No
            || managerState.cluster().isPresent();
    if (ordinary) {
      return step.plan();
    }
    Optional<PlacementPlan> unsure = step.unsure();
    if (unsure.isPresent()) {
      return unsure.get();
    }
    PlacementPlan withdrawal = step.withdraw(workerStates.keySet());
    boolean runs =
        managerState.check() == Check.PENDING
            && managerState.othersReady()
            && !managerState.evicted();
    if (!runs) {
      return withdrawal;
    }
    List<PlacementAction> placementActions = new ArrayList<>(withdrawal.placementActions());
    placementActions.add(new PlacementAction.RunHere(cluster));
    return new PlacementPlan(placementActions, withdrawal.requeueAt());
  }

  /** One evaluation of one Workload. */
  private final class Evaluation {

    private final ManagerState managerState;
    private final List<String> configured;
    private final SortedMap<String, WorkerState> workerStates;
    private final Instant now;

    Evaluation(
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
        return withdraw(workerStates.keySet());
      }
      if (!managerState.reserving()) {
        return withdraw(workerStates.keySet());
      }
      if (managerState.job() instanceof ManagerState.Sendable.No(String why)
          && managerState.check() != Check.REJECTED) {
        return managerState.evicted()
            ? withdraw(workerStates.keySet())
            : PlacementPlan.of(new PlacementAction.Reject(why));
      }
      if (managerState.check() == Check.RETRY || managerState.check() == Check.REJECTED) {
        return PlacementPlan.nothing();
      }
      return withoutStale(
          unsure()
              .or(this::finished)
              .or(this::evicted)
              .or(this::different)
              .or(this::running)
              .or(this::lost)
              .orElseGet(() -> managerState.evicted() ? evicting() : dispatched()));
    }

    /** The plan, which also withdraws the copies that tell nothing of this Workload. */
    private PlacementPlan withoutStale(PlacementPlan placementPlan) {
      Set<PlacementAction> placementActions = new LinkedHashSet<>();
      workerStates.forEach(
          (cluster, workerState) -> {
            if (workerState.connected()
                && workerState.copy().filter(it -> isStale(cluster, it)).isPresent()) {
              placementActions.add(new PlacementAction.Withdraw(cluster));
            }
          });
      placementActions.addAll(placementPlan.placementActions());
      return new PlacementPlan(List.copyOf(placementActions), placementPlan.requeueAt());
    }

    /**
     * Whether a copy was made for an earlier Workload of this name, or is a failed sync in a worker
     * that the Workload doesn't run in: it is made anew, and keeps nobody else from being asked.
     */
    private boolean isStale(String cluster, Copy copy) {
      if (copy.difference() == Difference.OTHER_WORKLOAD) {
        return true;
      }
      boolean runsThere =
          managerState.check() == Check.READY
              && managerState.cluster().filter(other -> !other.equals(cluster)).isEmpty();
      boolean evictedBoth = managerState.evicted() && copy.evictedAt().isPresent();
      return !runsThere
          && !evictedBoth
          && copy.finished().filter(WorkerState.Ending::failedSync).isPresent();
    }

    /** Withdraws the copies in these workers; unreachable workers are asked again later. */
    private PlacementPlan withdraw(Set<String> clusters) {
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
          placementActions, unreachable ? Optional.of(later()) : Optional.empty());
    }

    /** When to look again though nothing happens; a lost worker may be given up at once. */
    private Instant later() {
      return now.plus(
          workerLostTimeout.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : workerLostTimeout);
    }

    /**
     * It was sent back while a lost worker ran it, which may not know that yet: until the timeout
     * nobody else is asked, and its pods don't count as gone. Of a worker that this process hasn't
     * seen the time counts from when the Workload was sent back; while it is connected for the
     * first time, nobody is withdrawn for it.
     */
    private Optional<PlacementPlan> unsure() {
      if (managerState.check() == Check.READY) {
        return Optional.empty();
      }
      Set<String> others = new TreeSet<>(workerStates.keySet());
      Optional<Instant> end = Optional.empty();
      boolean connecting = false;
      for (Map.Entry<String, WorkerState> entry : workerStates.entrySet()) {
        WorkerState workerState = entry.getValue();
        Instant over = unsureUntil(workerState);
        if (!workerState.connected() && now.isBefore(over)) {
          others.remove(entry.getKey());
          connecting |= workerState.lostSince().isEmpty();
          end = end.filter(over::isAfter).or(() -> Optional.of(over));
        }
      }
      List<PlacementAction> withdrawals =
          connecting ? List.of() : withdraw(others).placementActions();
      return end.map(until -> new PlacementPlan(withdrawals, Optional.of(until)));
    }

    private Instant unsureUntil(WorkerState workerState) {
      return workerState
          .sentBackAt()
          .map(
              sentBackAt ->
                  workerState.copy().isPresent()
                      ? lostUntil(workerState)
                      : sentBackAt.plus(workerLostTimeout))
          .orElse(Instant.MIN);
    }

    private Instant lostUntil(WorkerState workerState) {
      return workerState.lostSince().orElse(now).plus(workerLostTimeout);
    }

    private Optional<PlacementPlan> finished() {
      return select(Evaluation::finishedAt)
          .flatMap(
              cluster -> seen(cluster).flatMap(Copy::finished).map(end -> ended(cluster, end)));
    }

    /**
     * A remote Workload that was evicted, and whose job was deleted for that, or is another one
     * since, counts as evicted, not as finished.
     */
    private static Optional<Instant> finishedAt(Copy copy) {
      return copy.finished()
          .filter(end -> !(end.failedSync() && copy.evictedAt().isPresent()))
          .map(any -> Instant.MIN);
    }

    private PlacementPlan ended(String cluster, WorkerState.Ending ending) {
      if (!ending.failedSync()) {
        return PlacementPlan.of(
            new PlacementAction.Finish(cluster, ending.reason(), ending.message()));
      }
      return PlacementPlan.of(
          new PlacementAction.Retry(
              clusterMessage(
                  cluster,
                  ending.outOfSync()
                      ? "has another job than this cluster: " + ending.message()
                      : "lost the job of the workload: " + ending.message())));
    }

    /**
     * If the Workload runs in a worker, only that worker's eviction counts; copies that other
     * workers evicted are withdrawn.
     */
    private Optional<PlacementPlan> evicted() {
      return managerState
          .cluster()
          .map(
              name -> Optional.of(name).filter(it -> seen(it).flatMap(Copy::evictedAt).isPresent()))
          .orElseGet(() -> earliest(Copy::evictedAt, any -> true))
          .flatMap(
              cluster -> {
                if (managerState.evicted()) {
                  return Optional.of(PlacementPlan.of(new PlacementAction.SyncStatus(cluster)));
                }
                return managerState.check() == Check.READY
                    ? Optional.of(
                        PlacementPlan.of(
                            new PlacementAction.Retry(
                                clusterMessage(cluster, "evicted the workload"))))
                    : Optional.empty();
              });
    }

    private Optional<PlacementPlan> different() {
      List<PlacementAction> placementActions = new ArrayList<>();
      for (String cluster : workerStates.keySet()) {
        switch (seen(cluster).map(Copy::difference).orElse(Difference.NONE)) {
          case NONE, OTHER_WORKLOAD -> {} // the latter isn't seen, and withdrawn in any case
          case PATCHABLE -> placementActions.add(new PlacementAction.SyncSpec(cluster));
          case OTHER -> placementActions.add(new PlacementAction.Withdraw(cluster));
        }
      }
      return placementActions.isEmpty()
          ? Optional.empty()
          : Optional.of(new PlacementPlan(placementActions, Optional.empty()));
    }

    /**
     * Once a worker was chosen, an admission in another worker is ignored. Before that nothing runs
     * anywhere while another check may still refuse the Workload, and only a nominated worker can
     * be chosen: the API allows no other. A nomination may be older than the configuration.
     */
    private Optional<PlacementPlan> running() {
      boolean mayRun =
          managerState.check() == Check.READY
              || managerState.othersReady()
              || managerState.evicted();
      if (!mayRun) {
        return Optional.empty();
      }
      return managerState
          .cluster()
          .map(
              name ->
                  Optional.of(name).filter(it -> seen(it).flatMap(Copy::admittedAt).isPresent()))
          .orElseGet(() -> earliest(Copy::admittedAt, this::mayBeChosen))
          .map(
              cluster -> {
                PlacementAction here =
                    managerState.evicted()
                        ? new PlacementAction.EvictRemote(cluster)
                        : new PlacementAction.Run(cluster);
                List<PlacementAction> placementActions =
                    new ArrayList<>(withdraw(others(cluster)).placementActions());
                placementActions.add(here);
                return new PlacementPlan(placementActions, Optional.of(later()));
              });
    }

    private boolean mayBeChosen(String cluster) {
      return managerState.evicted()
          || managerState.nominated().contains(cluster) && configured.contains(cluster);
    }

    private Set<String> others(String cluster) {
      Set<String> others = new TreeSet<>(workerStates.keySet());
      others.remove(cluster);
      return others;
    }

    /** The Workload ran in a worker that is lost or no longer holds it. */
    private Optional<PlacementPlan> lost() {
      if (managerState.check() != Check.READY) {
        return Optional.empty();
      }
      String cluster = managerState.cluster().orElse("");
      WorkerState workerState = workerStates.get(cluster);
      if (workerState != null && !workerState.connected()) {
        Instant end = lostUntil(workerState);
        return Optional.of(
            now.isBefore(end)
                ? new PlacementPlan(withdraw(others(cluster)).placementActions(), Optional.of(end))
                : PlacementPlan.of(new PlacementAction.Retry(clusterMessage(cluster, "is lost"))));
      }
      boolean gone = seen(cluster).isEmpty();
      return Optional.of(
          gone
              ? PlacementPlan.of(
                  new PlacementAction.Retry(clusterMessage(cluster, "has the workload no more")))
              : PlacementPlan.nothing());
    }

    /** No worker is nominated during an eviction: the quota is being released. */
    private PlacementPlan evicting() {
      PlacementPlan withdrawal = withdraw(workerStates.keySet());
      List<PlacementAction> placementActions = new ArrayList<>(withdrawal.placementActions());
      placementActions.add(new PlacementAction.ClearPodStatus());
      return new PlacementPlan(placementActions, withdrawal.requeueAt());
    }

    /**
     * A Workload that is bound to a worker before any has admitted it, as the replacement of a
     * slice is, is offered to that worker only; the API allows no nomination beside it.
     */
    private PlacementPlan bound(String cluster) {
      List<PlacementAction> placementActions =
          new ArrayList<>(withdraw(others(cluster)).placementActions());
      WorkerState workerState = workerStates.get(cluster);
      if (workerState != null
          && workerState.connected()
          && workerState.copy().isEmpty()
          && configured.contains(cluster)
          && managerState.othersReady()) {
        placementActions.add(new PlacementAction.Offer(cluster));
      }
      return withGate(new PlacementPlan(placementActions, Optional.of(later())), List.of(cluster));
    }

    private PlacementPlan dispatched() {
      if (managerState.cluster().isPresent()) {
        return bound(managerState.cluster().get());
      }
      Set<String> connected =
          workerStates.entrySet().stream()
              .filter(entry -> entry.getValue().connected())
              .map(Map.Entry::getKey)
              .collect(Collectors.toSet());
      DispatchResult dispatchResult =
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
      boolean nominates = !(dispatcher instanceof Dispatcher.External);
      if (nominates && !dispatchResult.clusters().equals(managerState.nominated())) {
        placementActions.add(new PlacementAction.Nominate(dispatchResult.clusters()));
      }
      workerStates.forEach(
          (cluster, workerState) -> {
            if (workerState.connected()) {
              boolean wanted = dispatchResult.clusters().contains(cluster);
              if (wanted && workerState.copy().isEmpty() && managerState.othersReady()) {
                placementActions.add(new PlacementAction.Offer(cluster));
              } else if (!wanted && workerState.copy().isPresent()) {
                placementActions.add(new PlacementAction.Withdraw(cluster));
              }
            }
          });
      return withGate(
          new PlacementPlan(placementActions, dispatchResult.requeueAt()),
          dispatchResult.clusters());
    }

    /** No worker preempts for what another check may still refuse. */
    private PlacementPlan withGate(PlacementPlan placementPlan, List<String> offeredTo) {
      if (!managerState.othersReady()) {
        return placementPlan;
      }
      SortedMap<String, WorkerState> askedStates = new TreeMap<>(workerStates);
      askedStates.keySet().retainAll(offeredTo);
      return PreemptionGateCoordinator.with(placementPlan, askedStates, now);
    }

    /**
     * The worker that the Workload runs in if the function has a value for the copy there;
     * otherwise the worker with the earliest value.
     */
    private Optional<String> select(Function<Copy, Optional<Instant>> since) {
      return managerState
          .cluster()
          .filter(name -> seen(name).flatMap(since).isPresent())
          .or(() -> earliest(since, any -> true));
    }

    private Optional<String> earliest(
        Function<Copy, Optional<Instant>> since, Predicate<String> cluster) {
      return workerStates.keySet().stream()
          .filter(cluster)
          .filter(name -> seen(name).flatMap(since).isPresent())
          .min(Comparator.comparing(name -> seen(name).flatMap(since).orElse(Instant.MAX)));
    }

    /**
     * The copy in a connected worker; the last known copy in a lost worker, and stale ones, are
     * ignored.
     */
    private Optional<Copy> seen(String cluster) {
      return Optional.ofNullable(workerStates.get(cluster))
          .filter(WorkerState::connected)
          .flatMap(WorkerState::copy)
          .filter(copy -> !isStale(cluster, copy));
    }

    private String clusterMessage(String cluster, String what) {
      return "Worker cluster \"" + cluster + "\" " + what;
    }
  }

  /**
   * Decides which of several nominated workers may preempt for a Workload: first the worker that
   * reported first that it would have to preempt; if that led to no admission for a while, the next
   * one (docs/scheduling-semantics.md#multikueue).
   */
  static final class PreemptionGateCoordinator {

    /** The time between two openings of gates. */
    static final Duration OPENING_INTERVAL = Duration.ofMinutes(5);

    private PreemptionGateCoordinator() {}

    /** The plan, extended by the gate that must be opened now or later, if any. */
    static PlacementPlan with(
        PlacementPlan placementPlan, Map<String, WorkerState> workerStates, Instant now) {
      Optional<String> next =
          workerStates.keySet().stream()
              .filter(cluster -> blockedAt(workerStates.get(cluster)).isPresent())
              .min(
                  Comparator.comparing(
                          (String cluster) ->
                              blockedAt(workerStates.get(cluster)).orElse(Instant.MAX))
                      .thenComparing(Comparator.naturalOrder()));
      if (next.isEmpty()) {
        return placementPlan;
      }
      Optional<Instant> due = lastOpened(workerStates).map(opened -> opened.plus(OPENING_INTERVAL));
      if (due.isPresent() && now.isBefore(due.get())) {
        return new PlacementPlan(
            placementPlan.placementActions(), soonest(placementPlan.requeueAt(), due.get()));
      }
      List<PlacementAction> placementActions = new ArrayList<>(placementPlan.placementActions());
      placementActions.add(new PlacementAction.OpenGate(next.get()));
      return new PlacementPlan(
          placementActions, soonest(placementPlan.requeueAt(), now.plus(OPENING_INTERVAL)));
    }

    private static Optional<Instant> soonest(Optional<Instant> one, Instant other) {
      return Optional.of(one.filter(instant -> instant.isBefore(other)).orElse(other));
    }

    /** Since when a reachable worker waits for its gate to open. */
    private static Optional<Instant> blockedAt(@Nullable WorkerState workerState) {
      return Optional.ofNullable(workerState)
          .filter(WorkerState::connected)
          .flatMap(WorkerState::copy)
          .flatMap(Copy::gate)
          .filter(gate -> gate.openedAt().isEmpty())
          .flatMap(Gate::blockedAt);
    }

    /** When the last gate was opened, including gates of workers that were lost since. */
    private static Optional<Instant> lastOpened(Map<String, WorkerState> workerStates) {
      return workerStates.values().stream()
          .flatMap(workerState -> workerState.copy().stream())
          .flatMap(copy -> copy.gate().stream())
          .flatMap(gate -> gate.openedAt().stream())
          .max(Comparator.naturalOrder());
    }
  }

  /**
   * The actions for one Workload.
   *
   * @param placementActions the actions, in order; when one fails, the rest is left for the next
   *     reconciliation
   * @param requeueAt when to reconcile again if nothing changes before
   */
  public record PlacementPlan(List<PlacementAction> placementActions, Optional<Instant> requeueAt) {

    /** Copies the list. */
    public PlacementPlan {
      placementActions = List.copyOf(placementActions);
    }

    /** The workers that it offers the Workload to. */
    public List<String> offeredTo() {
      return placementActions.stream()
          .flatMap(
              each ->
                  each instanceof PlacementAction.Offer(String cluster)
                      ? Stream.of(cluster)
                      : Stream.empty())
          .toList();
    }

    static PlacementPlan nothing() {
      return new PlacementPlan(List.of(), Optional.empty());
    }

    static PlacementPlan of(PlacementAction placementAction) {
      return new PlacementPlan(List.of(placementAction), Optional.empty());
    }
  }
}

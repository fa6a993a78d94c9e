package dev.sluice.checks.multikueue.dispatch;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Nominates worker clusters for a Workload. The result depends only on the context. */
public sealed interface Dispatcher {

  /** How long the incremental dispatcher waits between two rounds. */
  Duration ROUND = Duration.ofMinutes(5);

  /** Nominates clusters. Adds no cluster before the other admission checks are Ready. */
  DispatchResult nominate(DispatchContext dispatchContext);

  /**
   * Nominates all connected clusters at once, in the order of their names. A nominated cluster
   * stays nominated while it is disconnected: it may hold the remote Workload and cannot be asked.
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
   * Nominates a few clusters, and a few more every five minutes until all are nominated.
   * Disconnected clusters do not take a place in a round.
   *
   * @param stepSize how many clusters each round adds, at least 1
   * @param configOrder whether clusters are nominated in the order of the config; otherwise by name
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
   * Nominates the first cluster that would admit the Workload at once, in the order of the config,
   * which is the order of preference. Nominates all clusters if there is no such cluster, or if the
   * chosen cluster is lost or did not admit the Workload in time.
   */
  record BestFit() implements Dispatcher {

    /**
     * How long the chosen cluster has to admit the Workload before all other clusters are nominated
     * too.
     */
    static final Duration ADMISSION_TIMEOUT = Duration.ofSeconds(5);

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
                        List.of(best),
                        true,
                        Optional.of(dispatchContext.now().plus(ADMISSION_TIMEOUT))))
            .orElseGet(() -> new AllAtOnce().nominate(dispatchContext));
      }
      Optional<Instant> due =
          dispatchContext
              .lastRound()
              .map(last -> last.plus(ADMISSION_TIMEOUT))
              .filter(dispatchContext.now()::isBefore);
      boolean waits =
          standing.size() == 1 && dispatchContext.connected().contains(standing.getFirst());
      return waits && due.isPresent()
          ? new DispatchResult(standing, false, due)
          : new AllAtOnce().nominate(dispatchContext);
    }
  }

  /**
   * Leaves the choice to an external controller, which writes {@code status.nominatedClusterNames}.
   */
  record External() implements Dispatcher {
    @Override
    public DispatchResult nominate(DispatchContext dispatchContext) {
      return new DispatchResult(dispatchContext.standing(), false, Optional.empty());
    }
  }

  /**
   * Decision of a dispatcher.
   *
   * @param clusters the nominated clusters
   * @param newRound whether clusters were added, so that a new round begins now
   * @param requeueAt when to dispatch again if nothing changes before
   */
  record DispatchResult(List<String> clusters, boolean newRound, Optional<Instant> requeueAt) {

    /** Copies the list. */
    public DispatchResult {
      clusters = List.copyOf(clusters);
    }
  }

  /**
   * Input of a dispatcher: one Workload that holds quota and runs in no cluster yet.
   *
   * @param configured the clusters that the Workload may use, in the order of the MultiKueueConfig
   * @param connected the clusters that are connected now
   * @param nominated the clusters nominated so far, in the order of nomination
   * @param lastRound when clusters were last added to {@code nominated}
   * @param othersReady whether all other admission checks of the Workload are Ready
   * @param fitting the clusters that would admit the Workload at once, as far as is known
   * @param now the current time
   */
  record DispatchContext(
      List<String> configured,
      Set<String> connected,
      List<String> nominated,
      Optional<Instant> lastRound,
      boolean othersReady,
      Set<String> fitting,
      Instant now) {

    /** Creates a context without capacity information. */
    public DispatchContext(
        List<String> configured,
        Set<String> connected,
        List<String> nominated,
        Optional<Instant> lastRound,
        boolean othersReady,
        Instant now) {
      this(configured, connected, nominated, lastRound, othersReady, Set.of(), now);
    }

    /** Copies the collections. */
    public DispatchContext {
      configured = List.copyOf(configured);
      connected = Set.copyOf(connected);
      nominated = List.copyOf(nominated);
      fitting = Set.copyOf(fitting);
    }

    /**
     * Earlier nominations that are still valid; a cluster that was removed from the config is not.
     */
    List<String> standing() {
      return nominated.stream().filter(configured::contains).distinct().toList();
    }
  }
}

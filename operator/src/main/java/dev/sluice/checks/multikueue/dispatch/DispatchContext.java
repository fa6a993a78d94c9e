package dev.sluice.checks.multikueue.dispatch;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

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
public record DispatchContext(
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

package dev.sluice.checks.multikueue.dispatch;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a dispatcher knows of one Workload that holds quota and runs nowhere yet.
 *
 * @param configured the clusters that it may go to, in the order of the MultiKueueConfig
 * @param connected the clusters that are connected now
 * @param nominated the clusters that it is offered to so far, in the order in which they came
 * @param lastRound when clusters were last added to those
 * @param othersReady whether all its other admission checks are Ready
 * @param fitting the clusters in which it would be admitted at once, as far as is known
 * @param now the time
 */
public record DispatchContext(
    List<String> configured,
    Set<String> connected,
    List<String> nominated,
    Optional<Instant> lastRound,
    boolean othersReady,
    Set<String> fitting,
    Instant now) {

  /** Where nobody knows of room. */
  public DispatchContext(
      List<String> configured,
      Set<String> connected,
      List<String> nominated,
      Optional<Instant> lastRound,
      boolean othersReady,
      Instant now) {
    this(configured, connected, nominated, lastRound, othersReady, Set.of(), now);
  }

  /** With copies of the collections. */
  public DispatchContext {
    configured = List.copyOf(configured);
    connected = Set.copyOf(connected);
    nominated = List.copyOf(nominated);
    fitting = Set.copyOf(fitting);
  }

  /** Earlier nominations that still stand: clusters that were taken out of the config don't. */
  List<String> standing() {
    return nominated.stream().filter(configured::contains).distinct().toList();
  }
}

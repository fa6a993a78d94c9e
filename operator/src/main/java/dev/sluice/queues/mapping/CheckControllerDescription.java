package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.AdmissionCheck;
import java.util.Map;
import java.util.Optional;

/**
 * What queues, jobs and webhooks have to know of a controller of AdmissionChecks.
 *
 * @param name the controller, as {@code spec.controllerName} names it
 * @param dispatchesRemotely whether Workloads with such a check run in other clusters
 * @param combinations which checks one ClusterQueue may have beside each other
 */
public record CheckControllerDescription(
    String name, boolean dispatchesRemotely, Combinations combinations) {

  /**
   * Which checks one ClusterQueue may have beside each other. Each rule has a reason, by which a
   * queue that breaks the rule is inactive.
   *
   * @param atMostOne the reason if a queue may have only one check of the controller; empty: any
   *     number
   * @param forAllFlavors the reason if a check of the controller must apply to all flavors; empty:
   *     it need not
   * @param excluded controllers whose checks can't be in the same queue, each with the reason
   */
  public record Combinations(
      Optional<String> atMostOne, Optional<String> forAllFlavors, Map<String, String> excluded) {

    /** Anything is allowed. */
    public static final Combinations ANY =
        new Combinations(Optional.empty(), Optional.empty(), Map.of());

    /** Copies the map. */
    public Combinations {
      excluded = Map.copyOf(excluded);
    }
  }

  /** Whether the controller handles this check. */
  public boolean isOf(AdmissionCheck check) {
    return name.equals(CheckControllers.controllerOf(check));
  }

  /** A controller that handles Workloads of this cluster, in any combination with others. */
  public static CheckControllerDescription local(String name) {
    return new CheckControllerDescription(name, false, Combinations.ANY);
  }
}

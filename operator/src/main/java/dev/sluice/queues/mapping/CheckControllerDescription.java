package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.AdmissionCheck;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

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

  /**
   * The controllers of AdmissionChecks that this program has. Checks of any other controller are
   * left to that controller, wherever it runs.
   *
   * @param all one description per controller
   */
  public record CheckControllers(List<CheckControllerDescription> all) {

    /** Copies the list. */
    public CheckControllers {
      all = List.copyOf(all);
    }

    /** No controllers: every check belongs to a controller that runs elsewhere. */
    public static CheckControllers none() {
      return new CheckControllers(List.of());
    }

    /** The controller of a check; empty if another process has to run it. */
    public Optional<CheckControllerDescription> of(AdmissionCheck check) {
      return all.stream().filter(it -> it.isOf(check)).findFirst();
    }

    /** Whether Workloads with this check run in other clusters. */
    public boolean dispatchesRemotely(AdmissionCheck check) {
      return of(check).filter(CheckControllerDescription::dispatchesRemotely).isPresent();
    }

    /** The names of the controllers, for messages. */
    String names() {
      return all.isEmpty()
          ? "none"
          : all.stream().map(CheckControllerDescription::name).collect(Collectors.joining(", "));
    }

    /** The name of the controller of a check; empty if the check has none. */
    public static String controllerOf(AdmissionCheck check) {
      return check.getSpec() == null ? "" : check.getSpec().controllerName();
    }
  }
}

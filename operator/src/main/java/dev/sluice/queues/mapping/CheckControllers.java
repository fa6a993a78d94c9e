package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.AdmissionCheck;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The controllers of AdmissionChecks that this program has. Checks of any other controller are left
 * to that controller, wherever it runs.
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

package dev.sluice.checks.multikueue;

import dev.sluice.checks.controller.ActiveCondition;
import dev.sluice.checks.multikueue.access.ClusterReason;
import dev.sluice.checks.multikueue.access.WorkerAccess;
import dev.sluice.checks.multikueue.remote.ConnectionState;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * Computes the condition of a MultiKueueCluster from its credentials and the state of its
 * connection.
 */
final class ClusterConditions {

  private ClusterConditions() {}

  /**
   * The condition to write; empty when the cluster's state is not known yet and the present
   * condition stays.
   */
  static Optional<ActiveCondition> of(
      WorkerAccess workerAccess, Optional<ConnectionState> connectionState) {
    return switch (workerAccess) {
      case WorkerAccess.Unknown() -> Optional.empty();
      case WorkerAccess.Here() ->
          Optional.of(new ActiveCondition(true, ClusterReason.ACTIVE.text(), "It is this cluster"));
      case WorkerAccess.Refused(ClusterReason reason, String message) -> inactive(reason, message);
      case WorkerAccess.Usable usable -> connectionState.flatMap(ClusterConditions::of);
    };
  }

  private static Optional<ActiveCondition> of(ConnectionState connectionState) {
    return switch (connectionState) {
      case ConnectionState.Connecting connecting -> Optional.empty();
      case ConnectionState.Denied denied -> Optional.empty();
      case ConnectionState.Connected connected ->
          Optional.of(new ActiveCondition(true, ClusterReason.ACTIVE.text(), "Connected"));
      case ConnectionState.Unbuildable broken ->
          inactive(ClusterReason.BAD_REST_CONFIG, "no client can be made: " + broken.cause());
      case ConnectionState.Failing failing ->
          inactive(ClusterReason.CLIENT_CONNECTION_FAILED, message(failing));
    };
  }

  private static String message(ConnectionState.Failing failing) {
    return failing.cause()
        + "; failed attempts: "
        + failing.attempts()
        + ", next attempt at "
        + failing.next().truncatedTo(ChronoUnit.SECONDS);
  }

  private static Optional<ActiveCondition> inactive(ClusterReason reason, String message) {
    return Optional.of(new ActiveCondition(false, reason.text(), message));
  }
}

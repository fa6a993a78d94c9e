package dev.sluice.checks.multikueue;

import dev.sluice.checks.multikueue.access.ClusterReason;
import dev.sluice.checks.multikueue.access.WorkerAccess;
import dev.sluice.checks.multikueue.remote.ConnectionState;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** What the condition of a MultiKueueCluster says, from what is known of its access and link. */
final class ClusterConditions {

  private ClusterConditions() {}

  /** Empty while nothing is known that would change what stands. */
  static Optional<ActiveCondition> of(WorkerAccess workerAccess, Optional<ConnectionState> link) {
    return switch (workerAccess) {
      case WorkerAccess.Unknown() -> Optional.empty();
      case WorkerAccess.Here() ->
          Optional.of(new ActiveCondition(true, ClusterReason.ACTIVE.text(), "It is this cluster"));
      case WorkerAccess.Refused(ClusterReason reason, String message) -> inactive(reason, message);
      case WorkerAccess.Usable usable -> link.flatMap(ClusterConditions::of);
    };
  }

  private static Optional<ActiveCondition> of(ConnectionState link) {
    return switch (link) {
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

package dev.sluice.checks.multikueue;

import dev.sluice.checks.multikueue.access.Access;
import dev.sluice.checks.multikueue.access.ClusterReason;
import dev.sluice.checks.multikueue.link.LinkState;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** What the condition of a MultiKueueCluster says, from what is known of its access and link. */
final class ClusterConditions {

  private ClusterConditions() {}

  /** Empty while nothing is known that would change what stands. */
  static Optional<ActiveCondition> of(Access access, Optional<LinkState> link) {
    return switch (access) {
      case Access.Unknown() -> Optional.empty();
      case Access.Here() ->
          Optional.of(new ActiveCondition(true, ClusterReason.ACTIVE.text(), "It is this cluster"));
      case Access.Refused(ClusterReason reason, String message) -> inactive(reason, message);
      case Access.Usable usable -> link.flatMap(ClusterConditions::of);
    };
  }

  private static Optional<ActiveCondition> of(LinkState link) {
    return switch (link) {
      case LinkState.Connecting connecting -> Optional.empty();
      case LinkState.Barred barred -> Optional.empty();
      case LinkState.Connected connected ->
          Optional.of(new ActiveCondition(true, ClusterReason.ACTIVE.text(), "Connected"));
      case LinkState.Unbuildable broken ->
          inactive(ClusterReason.BAD_REST_CONFIG, "no client can be made: " + broken.cause());
      case LinkState.Failing failing ->
          inactive(ClusterReason.CLIENT_CONNECTION_FAILED, message(failing));
    };
  }

  private static String message(LinkState.Failing failing) {
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

package dev.sluice.checks.multikueue.remote;

import java.time.Instant;
import java.util.Optional;

/** How the connection to a worker cluster stands. */
public sealed interface ConnectionState {

  /** Since when the cluster is lost, if it was connected before; empty while it is connected. */
  Optional<Instant> lostSince();

  /** The first try is under way: nothing is known yet. */
  record Connecting(Optional<Instant> lostSince) implements ConnectionState {}

  /** The watch of Workloads stands. */
  record Connected(Instant since) implements ConnectionState {
    @Override
    public Optional<Instant> lostSince() {
      return Optional.empty();
    }
  }

  /**
   * The last try failed, or the watch broke.
   *
   * @param attempts tries in a row that failed
   * @param next when it is tried again
   * @param cause what happened, without secrets
   */
  record Failing(int attempts, Instant next, String cause, Optional<Instant> lostSince)
      implements ConnectionState {}

  /**
   * No client can be made of the credentials: others are waited for.
   *
   * @param cause what is wrong with them, without secrets
   */
  record Unbuildable(String cause, Optional<Instant> lostSince) implements ConnectionState {}

  /** There are no credentials: others are waited for. */
  record Denied(Optional<Instant> lostSince) implements ConnectionState {}
}

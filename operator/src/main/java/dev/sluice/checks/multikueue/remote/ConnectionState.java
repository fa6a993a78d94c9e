package dev.sluice.checks.multikueue.remote;

import java.time.Instant;
import java.util.Optional;

/** State of the connection to a worker cluster. */
public sealed interface ConnectionState {

  /** Since when the cluster is lost, if it was connected before; empty while it is connected. */
  Optional<Instant> lostSince();

  /** The first attempt is in progress. */
  record Connecting(Optional<Instant> lostSince) implements ConnectionState {}

  /** The watch of Workloads is established. */
  record Connected(Instant since) implements ConnectionState {
    @Override
    public Optional<Instant> lostSince() {
      return Optional.empty();
    }
  }

  /**
   * The last attempt failed, or the watch broke.
   *
   * @param attempts number of failed attempts in a row
   * @param next time of the next attempt
   * @param cause the failure, without secrets
   */
  record Failing(int attempts, Instant next, String cause, Optional<Instant> lostSince)
      implements ConnectionState {}

  /**
   * No client can be built from the credentials; that is tried again after the longest pause.
   *
   * @param cause the problem, without secrets
   */
  record Unbuildable(String cause, Optional<Instant> lostSince) implements ConnectionState {}

  /** There are no valid credentials; the connection waits for credentials. */
  record Denied(Optional<Instant> lostSince) implements ConnectionState {}
}

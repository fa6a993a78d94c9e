package dev.sluice.checks.multikueue.remote;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Executor;

/**
 * What connections stand on.
 *
 * @param connector makes sessions
 * @param io runs sessions, each of which blocks its thread as long as it lasts
 * @param delays runs what is due later
 * @param clock the time
 */
public record ConnectionContext(
    RemoteSession.Connector connector, Executor io, Delays delays, InstantSource clock) {

  /** Runs something later. */
  @FunctionalInterface
  public interface Delays {

    /** Runs the task once, never earlier than after the delay; the task is short. */
    void after(Duration delay, Runnable task);
  }
}

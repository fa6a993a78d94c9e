package dev.sluice.checks.multikueue.remote;

import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Dependencies of connections.
 *
 * @param connector opens sessions
 * @param io runs sessions; each blocks its thread for its whole lifetime
 * @param delays runs delayed tasks
 * @param clock the current time
 * @param writes decides whether a write to a worker may be sent
 * @param limiter the rate of requests about single objects, of all workers together
 * @param limits how much is read from each worker
 */
public record ConnectionContext(
    RemoteSession.Connector connector,
    Executor io,
    Delays delays,
    InstantSource clock,
    WriteGate writes,
    RequestLimiter limiter,
    RemoteLimits limits) {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionContext.class);

  /** With the limits that suit this process's memory. */
  public ConnectionContext(
      RemoteSession.Connector connector,
      Executor io,
      Delays delays,
      InstantSource clock,
      WriteGate writes,
      RequestLimiter limiter) {
    this(
        connector,
        io,
        delays,
        clock,
        writes,
        limiter,
        RemoteLimits.ofHeap(Runtime.getRuntime().maxMemory()));
  }

  /** With the limits that suit this process's memory, and requests at any rate. */
  public ConnectionContext(
      RemoteSession.Connector connector,
      Executor io,
      Delays delays,
      InstantSource clock,
      WriteGate writes) {
    this(connector, io, delays, clock, writes, RequestLimiter.unlimited());
  }

  /** Runs a task later. */
  @FunctionalInterface
  public interface Delays {

    /** Runs the task once, not earlier than after the delay; the task must be short. */
    void after(Duration delay, Runnable task);

    /**
     * Runs the task after each pause while it is wanted, whatever becomes of it: a look that fails
     * must not be the last one.
     */
    default void repeat(Duration pause, BooleanSupplier wanted, Runnable task) {
      after(
          pause,
          () -> {
            if (wanted.getAsBoolean()) {
              try {
                task.run();
              } catch (RuntimeException e) {
                LOG.error("task=failed again={}ms", pause.toMillis(), e);
              } finally {
                repeat(pause, wanted, task);
              }
            }
          });
    }
  }
}

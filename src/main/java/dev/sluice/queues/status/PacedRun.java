package dev.sluice.queues.status;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs a task after it was requested, and again when it asks for it. Requests that arrive while a
 * run is waiting are one, and two runs have a pause between their beginnings, so that a task that
 * many events request costs little. At most one run is waiting, whatever is requested. Thread-safe;
 * the task runs on one thread.
 */
public final class PacedRun implements AutoCloseable {

  private final ScheduledExecutorService executor;
  private final InstantSource clock;
  private final Duration pause;
  private final Function<Instant, Optional<Instant>> task;
  private @Nullable ScheduledFuture<?> waiting;
  private Instant waitingUntil = Instant.MAX;
  private Instant lastRun = Instant.MIN;

  /**
   * Creates a run that nobody has requested yet.
   *
   * @param executor runs the task on one thread; closed with this object
   * @param clock tells the time of a run
   * @param pause least time between the beginnings of two runs
   * @param task gets the time, and returns when it wants to run again; empty if it waits for a
   *     request
   */
  public PacedRun(
      ScheduledExecutorService executor,
      InstantSource clock,
      Duration pause,
      Function<Instant, Optional<Instant>> task) {
    this.executor = executor;
    this.clock = clock;
    this.pause = pause;
    this.task = task;
  }

  /** Requests a run as soon as the pause allows it. */
  public synchronized void request() {
    plan(clock.instant());
  }

  /** Plans a run, unless an earlier one, or one at the same time, is waiting. */
  private synchronized void plan(Instant wanted) {
    Instant allowed = lastRun.equals(Instant.MIN) ? lastRun : lastRun.plus(pause);
    Instant at = wanted.isBefore(allowed) ? allowed : wanted;
    if (executor.isShutdown() || (waiting != null && !at.isBefore(waitingUntil))) {
      return;
    }
    if (waiting != null) {
      waiting.cancel(false);
    }
    waitingUntil = at;
    long millis = Math.max(0, Duration.between(clock.instant(), at).toMillis());
    waiting = executor.schedule(this::run, millis, TimeUnit.MILLISECONDS);
  }

  private void run() {
    Instant now = clock.instant();
    synchronized (this) {
      waiting = null;
      waitingUntil = Instant.MAX;
      lastRun = now;
    }
    task.apply(now).ifPresent(this::plan);
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}

package dev.sluice.jobs.pod;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has units looked at: each by one thread at a time, different ones side by side. Who is woken
 * while being looked at is looked at once more. What fails is tried again, later each time.
 *
 * @param <U> what tells units apart; its text names them in the log
 */
public final class PodWorkQueue<U> {

  private static final Logger LOG = LoggerFactory.getLogger(PodWorkQueue.class);
  private static final Duration FIRST_RETRY = Duration.ofMillis(500);
  private static final int MOST_DOUBLINGS = 7;

  /** Looks at a unit. */
  @FunctionalInterface
  public interface Processor<U> {

    /** Does what is needed; answers after what time to look again even if nothing happens. */
    Optional<Duration> at(U unit) throws InterruptedException;
  }

  /** Runs something later. */
  @FunctionalInterface
  public interface Delays {

    /** Runs {@code task} after {@code delay}, on any thread. */
    void after(Duration delay, Runnable task);
  }

  private enum State {
    WAITING,
    LOOKED_AT,
    WOKEN_AGAIN
  }

  private final Processor<U> processor;
  private final Executor executor;
  private final Delays delays;
  private final Map<U, State> states = new ConcurrentHashMap<>();
  private final Map<U, Integer> failures = new ConcurrentHashMap<>();
  private final Map<U, Long> alarms = new ConcurrentHashMap<>();
  private final AtomicLong alarm = new AtomicLong();

  /**
   * Of units that are looked at by {@code look}.
   *
   * @param executor runs the looks
   */
  public PodWorkQueue(Processor<U> processor, Executor executor, Delays delays) {
    this.processor = processor;
    this.executor = executor;
    this.delays = delays;
  }

  /** Has a unit looked at soon. */
  public void enqueue(U unit) {
    boolean[] asleep = {false};
    states.compute(
        unit,
        (same, state) -> {
          asleep[0] = state == null;
          return state == null || state == State.WAITING ? State.WAITING : State.WOKEN_AGAIN;
        });
    if (asleep[0]) {
      executor.execute(() -> run(unit));
    }
  }

  private void run(U unit) {
    states.put(unit, State.LOOKED_AT);
    alarms.remove(unit);
    Optional<Duration> again = process(unit);
    boolean more =
        states.computeIfPresent(
                unit, (same, state) -> state == State.WOKEN_AGAIN ? State.WAITING : null)
            != null;
    if (more) {
      executor.execute(() -> run(unit));
    }
    again.ifPresent(delay -> enqueueAfter(unit, delay));
  }

  private Optional<Duration> process(U unit) {
    try {
      Optional<Duration> again = processor.at(unit);
      failures.remove(unit);
      return again;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (RuntimeException e) {
      int failed = failures.merge(unit, 1, Integer::sum);
      LOG.warn("unit=\"{}\" failed={} tried again, reason=\"{}\"", unit, failed, signalled(e));
      return Optional.of(FIRST_RETRY.multipliedBy(1L << Math.min(failed - 1, MOST_DOUBLINGS)));
    }
  }

  private static String signalled(Throwable e) {
    return e.getCause() == null ? e.toString() : e + ": " + e.getCause();
  }

  /** The newest alarm of a unit is the one that rings. */
  private void enqueueAfter(U unit, Duration delay) {
    long mine = alarm.incrementAndGet();
    alarms.put(unit, mine);
    delays.after(
        delay,
        () -> {
          if (alarms.remove(unit, mine)) {
            enqueue(unit);
          }
        });
  }
}

package dev.sluice.kube.controller;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue of keys with the semantics of client-go's rate limiting work queue.
 *
 * <ul>
 *   <li>A key that is enqueued several times before a worker takes it is handled once.
 *   <li>One key is handled by one worker at a time. A key that is enqueued while a worker handles
 *       it is handled once more afterwards.
 *   <li>Keys are taken in the order in which they were enqueued.
 *   <li>Of several delays for one key the earliest wins.
 *   <li>A key whose handler throws is retried after an exponentially growing delay; one success, or
 *       {@link #forget}, resets that delay.
 * </ul>
 *
 * <p>Usable from any thread.
 *
 * @param <K> the key; its text names the key in logs
 */
public final class WorkQueue<K> implements AutoCloseable {

  /** No delay is longer: what made it may be a date that somebody wrote. */
  private static final Duration LONGEST = Duration.ofDays(365);

  private static final Logger LOG = LoggerFactory.getLogger(WorkQueue.class);
  private static final int MOST_DOUBLINGS = 30;

  /** How long closing waits for keys that are being handled. */
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final KeyHandler<K> handler;
  private final WorkQueueSettings settings;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition idle = lock.newCondition();

  // All of these are guarded by the lock.
  private final Queue<K> waiting = new ArrayDeque<>();
  private final Set<K> dirty = new HashSet<>();
  private final Map<K, Long> processing = new HashMap<>();
  private final Map<K, Alarm> alarms = new HashMap<>();
  private final Map<K, Integer> failures = new HashMap<>();
  private int workers;
  private boolean closed;

  /** One pending delay of a key; compared by identity. */
  private static final class Alarm {
    private final long due;

    Alarm(long due) {
      this.due = due;
    }
  }

  /** A queue whose keys are handled by {@code handler}. */
  public WorkQueue(KeyHandler<K> handler, WorkQueueSettings settings) {
    this.handler = handler;
    this.settings = settings;
  }

  /** Has a key handled as soon as a worker is free; does nothing after {@link #close}. */
  public void enqueue(K key) {
    lock.lock();
    try {
      if (closed || !dirty.add(key) || processing.containsKey(key)) {
        return;
      }
      waiting.add(key);
      startWorker();
    } finally {
      lock.unlock();
    }
  }

  /** Enqueues a key after a delay, unless an earlier delay is already pending for that key. */
  public void enqueueAfter(K key, Duration delay) {
    if (delay.isNegative() || delay.isZero()) {
      enqueue(key);
      return;
    }
    Duration bounded = delay.compareTo(LONGEST) > 0 ? LONGEST : delay;
    Alarm alarm = new Alarm(settings.nanoTime().getAsLong() + bounded.toNanos());
    lock.lock();
    try {
      Alarm pending = alarms.get(key);
      if (closed || (pending != null && pending.due - alarm.due <= 0)) {
        return;
      }
      alarms.put(key, alarm);
    } finally {
      lock.unlock();
    }
    settings.timer().accept(bounded, () -> onTimer(key, alarm));
  }

  /** The shorter of two delays after which a key is looked at again. */
  public static Optional<Duration> earliest(Optional<Duration> one, Optional<Duration> other) {
    return Stream.concat(one.stream(), other.stream()).min(Comparator.naturalOrder());
  }

  /** Resets the retry delay of a key. A retry that is already pending stays pending. */
  public void forget(K key) {
    lock.lock();
    try {
      failures.remove(key);
    } finally {
      lock.unlock();
    }
  }

  /** Since when the key that is handled longest is being handled; zero if none is. */
  public Duration longestHandling() {
    long now = settings.nanoTime().getAsLong();
    lock.lock();
    try {
      return Duration.ofNanos(
          processing.values().stream().mapToLong(since -> now - since).max().orElse(0));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Drops all waiting keys and delays. Keys that are being handled run to their end; returns when
   * they have, or after five seconds.
   */
  @Override
  public void close() {
    if (!close(CLOSE_LIMIT)) {
      LOG.warn("queue closed=true reason=\"keys are still being handled after {}\"", CLOSE_LIMIT);
    }
  }

  /**
   * The same with another limit.
   *
   * @return whether no key is being handled any more
   */
  public boolean close(Duration limit) {
    long left = limit.toNanos();
    lock.lock();
    try {
      closed = true;
      waiting.clear();
      dirty.clear();
      alarms.clear();
      failures.clear();
      while (!processing.isEmpty() && left > 0) {
        left = idle.awaitNanos(left);
      }
      return processing.isEmpty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private void onTimer(K key, Alarm alarm) {
    lock.lock();
    try {
      if (!alarms.remove(key, alarm)) {
        return;
      }
    } finally {
      lock.unlock();
    }
    enqueue(key);
  }

  /** Called with the lock held. */
  private void startWorker() {
    if (workers >= settings.workers() || waiting.isEmpty()) {
      return;
    }
    workers++;
    try {
      settings.executor().execute(this::work);
    } catch (RejectedExecutionException e) {
      workers--;
      LOG.debug("queue worker=refused reason=\"the executor is shut down\"");
    }
  }

  private void work() {
    boolean ended = false;
    try {
      for (Optional<K> key = take(); key.isPresent(); key = take()) {
        process(key.get());
      }
      ended = true;
    } finally {
      if (!ended) {
        workerFailed();
      }
    }
  }

  /** A worker that ended by an error gives its place to another one. */
  private void workerFailed() {
    lock.lock();
    try {
      workers--;
      startWorker();
    } finally {
      lock.unlock();
    }
  }

  /** The next key; empty ends the worker. */
  private Optional<K> take() {
    lock.lock();
    try {
      K key = Thread.currentThread().isInterrupted() ? null : waiting.poll();
      if (key == null) {
        workers--;
        return Optional.empty();
      }
      dirty.remove(key);
      processing.put(key, settings.nanoTime().getAsLong());
      return Optional.of(key);
    } finally {
      lock.unlock();
    }
  }

  private void process(K key) {
    Optional<Duration> again = Optional.empty();
    try {
      again = handler.handle(key);
      forget(key);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Throwable e) {
      again = Optional.of(retryDelay(key, e));
    } finally {
      finish(key);
    }
    again.ifPresent(delay -> enqueueAfter(key, delay));
  }

  private void finish(K key) {
    lock.lock();
    try {
      processing.remove(key);
      if (processing.isEmpty()) {
        idle.signalAll();
      }
      if (dirty.contains(key)) {
        waiting.add(key);
        startWorker();
      }
    } finally {
      lock.unlock();
    }
  }

  private Duration retryDelay(K key, Throwable failure) {
    int failed;
    lock.lock();
    try {
      failed = closed ? 1 : failures.merge(key, 1, Integer::sum);
    } finally {
      lock.unlock();
    }
    LOG.warn("key=\"{}\" failures={} retried=true reason=\"{}\"", key, failed, reason(failure));
    if (failure instanceof Error) {
      LOG.error("key=\"{}\" failed with an error", key, failure);
    }
    Duration delay = settings.firstRetry().multipliedBy(1L << Math.min(failed - 1, MOST_DOUBLINGS));
    return delay.compareTo(settings.longestRetry()) < 0 ? delay : settings.longestRetry();
  }

  private static String reason(Throwable e) {
    return e.getCause() == null ? e.toString() : e + ": " + e.getCause();
  }

  /**
   * Handles one key of a {@link WorkQueue}.
   *
   * @param <K> the key
   */
  @FunctionalInterface
  public interface KeyHandler<K> {

    /**
     * Brings the object of a key to its desired state. The queue calls this method for one key on
     * one thread at a time. A runtime exception makes the queue retry the key with back-off.
     *
     * @return the delay after which the key is handled again even if nothing enqueues it; empty if
     *     only an event should bring it back
     * @throws InterruptedException if the worker is asked to stop
     */
    Optional<Duration> handle(K key) throws InterruptedException;
  }
}

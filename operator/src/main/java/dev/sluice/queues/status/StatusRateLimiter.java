package dev.sluice.queues.status;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoubleSupplier;

/**
 * Limits the rate of status updates: each key at most once per interval, all keys together at most
 * so many times per second, and the last change is never lost, so that counters do not take API
 * server capacity from decisions; when decisions take long, fewer still. Urgent changes (a
 * condition, not a counter) are limited by the interval only.
 *
 * @param <K> the type of the keys
 */
public final class StatusRateLimiter<K> {

  private final Duration interval;
  private final Duration perTurn;
  private final int burst;
  private final DoubleSupplier share;
  private final Map<K, Boolean> waiting = new LinkedHashMap<>();
  private final Map<K, Instant> last = new HashMap<>();
  private Instant budgetEmptyAt = Instant.MIN;

  /**
   * Creates a limiter.
   *
   * @param interval minimum time between two updates of the same key
   * @param perSecond maximum updates of all keys per second, not counting urgent ones
   * @param share the part of it that may be used at the moment, greater than 0 and at most 1
   */
  public StatusRateLimiter(Duration interval, int perSecond, DoubleSupplier share) {
    this.interval = interval;
    this.share = share;
    this.perTurn = Duration.ofSeconds(1).dividedBy(perSecond);
    this.burst = perSecond;
  }

  /** Records a change of the key. */
  public synchronized void touch(K key, boolean urgent) {
    waiting.merge(key, urgent, Boolean::logicalOr);
  }

  /** Removes and returns the keys whose update is due, in the order of their first change. */
  public synchronized List<K> due(Instant now) {
    last.values().removeIf(turn -> !turn.plus(interval).isAfter(now));
    refill(now);
    List<K> due = new ArrayList<>();
    Iterator<Map.Entry<K, Boolean>> entries = waiting.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<K, Boolean> entry = entries.next();
      boolean free = !last.containsKey(entry.getKey());
      if (free && (entry.getValue() || spend(now))) {
        entries.remove();
        last.put(entry.getKey(), now);
        due.add(entry.getKey());
      }
    }
    return due;
  }

  /** When the next update is due, seen from {@code now}; empty if none is pending. */
  public synchronized Optional<Instant> next(Instant now) {
    Optional<Instant> next = Optional.empty();
    for (Map.Entry<K, Boolean> entry : waiting.entrySet()) {
      Instant turn =
          last.containsKey(entry.getKey()) ? last.get(entry.getKey()).plus(interval) : now;
      if (!entry.getValue() && budgetAt(now).isAfter(turn)) {
        turn = budgetAt(now);
      }
      if (next.isEmpty() || turn.isBefore(next.get())) {
        next = Optional.of(turn);
      }
    }
    return next;
  }

  private void refill(Instant now) {
    Instant full = now.minus(perTurn.multipliedBy(burst));
    if (budgetEmptyAt.isBefore(full)) {
      budgetEmptyAt = full;
    }
  }

  private boolean spend(Instant now) {
    Instant after = budgetEmptyAt.plus(turn());
    if (after.isAfter(now)) {
      return false;
    }
    budgetEmptyAt = after;
    return true;
  }

  private Duration turn() {
    return Duration.ofNanos((long) (perTurn.toNanos() / share.getAsDouble()));
  }

  private Instant budgetAt(Instant now) {
    return budgetEmptyAt.equals(Instant.MIN) ? now : budgetEmptyAt.plus(turn());
  }
}

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

/**
 * Decides when the status of what changed is looked at: each at most once per interval, the last
 * change never lost, and all together no more than so many per second, so that counters leave the
 * API server to decisions. What is urgent (a condition, not a counter) waits for its interval only.
 *
 * @param <K> what is paced
 */
public final class StatusRateLimiter<K> {

  private final Duration interval;
  private final Duration perTurn;
  private final int burst;
  private final Map<K, Boolean> waiting = new LinkedHashMap<>();
  private final Map<K, Instant> last = new HashMap<>();
  private Instant budgetEmptyAt = Instant.MIN;

  /**
   * A pacer.
   *
   * @param interval between two turns of the same key
   * @param perSecond turns of all keys per second, urgent ones not counted
   */
  public StatusRateLimiter(Duration interval, int perSecond) {
    this.interval = interval;
    this.perTurn = Duration.ofSeconds(1).dividedBy(perSecond);
    this.burst = perSecond;
  }

  /** Something about the key changed. */
  public synchronized void touch(K key, boolean urgent) {
    waiting.merge(key, urgent, Boolean::logicalOr);
  }

  /** The keys whose turn it is, in the order in which they came; they no longer wait. */
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

  /** When the next turn is, seen from {@code now}; empty when nothing waits. */
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
    Instant after = budgetEmptyAt.plus(perTurn);
    if (after.isAfter(now)) {
      return false;
    }
    budgetEmptyAt = after;
    return true;
  }

  private Instant budgetAt(Instant now) {
    return budgetEmptyAt.equals(Instant.MIN) ? now : budgetEmptyAt.plus(perTurn);
  }
}

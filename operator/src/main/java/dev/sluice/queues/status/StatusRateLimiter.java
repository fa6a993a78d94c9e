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
 * server capacity from decisions; when decisions take long, fewer still. A change waits a quarter
 * of the interval for others, because a workload that is created is mostly admitted at once. Urgent
 * changes (a condition, not a counter) don't wait, and are limited by the interval only.
 *
 * @param <K> the type of the keys
 */
public final class StatusRateLimiter<K> {

  private static final int WAITS_FOR_OTHERS = 4;

  private final Duration interval;
  private final Duration perTurn;
  private final int burst;
  private final DoubleSupplier share;
  private final Map<K, Change> waiting = new LinkedHashMap<>();
  private final Map<K, Instant> last = new HashMap<>();
  private Instant budgetEmptyAt = Instant.MIN;

  /** A change that isn't written yet, and the time of the first one. */
  private record Change(boolean urgent, Instant since) {}

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
  public synchronized void touch(K key, boolean urgent, Instant now) {
    waiting.merge(
        key,
        new Change(urgent, now),
        (before, more) -> new Change(before.urgent() || more.urgent(), before.since()));
  }

  /** Removes and returns the keys whose update is due, in the order of their first change. */
  public synchronized List<K> due(Instant now) {
    last.values().removeIf(turn -> !turn.plus(interval).isAfter(now));
    refill(now);
    List<K> due = new ArrayList<>();
    boolean mayHaveBudget = true;
    Iterator<Map.Entry<K, Change>> entries = waiting.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<K, Change> entry = entries.next();
      boolean urgent = entry.getValue().urgent();
      if ((!urgent && !mayHaveBudget) || turn(entry.getKey(), entry.getValue(), now).isAfter(now)) {
        continue;
      }
      mayHaveBudget = urgent ? mayHaveBudget : spend(now);
      if (urgent || mayHaveBudget) {
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
    Instant budget = budgetAt(now);
    for (Map.Entry<K, Change> entry : waiting.entrySet()) {
      boolean urgent = entry.getValue().urgent();
      if (!urgent && next.isPresent() && !budget.isBefore(next.get())) {
        continue;
      }
      Instant turn = turn(entry.getKey(), entry.getValue(), now);
      if (!urgent && budget.isAfter(turn)) {
        turn = budget;
      }
      if (next.isEmpty() || turn.isBefore(next.get())) {
        next = Optional.of(turn);
      }
    }
    return next;
  }

  /** From when on a change may be written, if the budget allows it. */
  private Instant turn(K key, Change change, Instant now) {
    Instant together =
        change.urgent() ? now : change.since().plus(interval.dividedBy(WAITS_FOR_OTHERS));
    Instant rested = last.containsKey(key) ? last.get(key).plus(interval) : now;
    return together.isAfter(rested) ? together : rested;
  }

  private void refill(Instant now) {
    // A turn that takes longer than all that can be saved up would never come.
    Duration most = perTurn.multipliedBy(burst);
    Duration one = stretchedTurn();
    Instant full = now.minus(one.compareTo(most) > 0 ? one : most);
    if (budgetEmptyAt.isBefore(full)) {
      budgetEmptyAt = full;
    }
  }

  private boolean spend(Instant now) {
    Instant after = budgetEmptyAt.plus(stretchedTurn());
    if (after.isAfter(now)) {
      return false;
    }
    budgetEmptyAt = after;
    return true;
  }

  /** How long a turn takes with the share of the budget that there is now. */
  private Duration stretchedTurn() {
    return Duration.ofNanos((long) (perTurn.toNanos() / share.getAsDouble()));
  }

  private Instant budgetAt(Instant now) {
    return budgetEmptyAt.equals(Instant.MIN) ? now : budgetEmptyAt.plus(stretchedTurn());
  }
}

package dev.sluice.queue;

import dev.sluice.model.Amounts;
import dev.sluice.quota.AmountSums;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * How much those who hold quota of one queue hold, by priority: what a bound on preemption needs
 * without a look at each of them. Confined to the engine's thread.
 */
final class HeldByPriority {

  /** Those of one priority. */
  private static final class Level {
    private final AmountSums amounts = new AmountSums();
    private int holders;
    private long newestMicros = Long.MIN_VALUE;
    private boolean newestLeft;
  }

  private final NavigableMap<Long, Level> levels = new TreeMap<>();

  void add(Holder holder) {
    Level level = levels.computeIfAbsent(holder.priority(), priority -> new Level());
    level.holders++;
    for (int i = 0; i < holder.size(); i++) {
      level.amounts.add(holder.pair(i), holder.amount(i));
    }
    if (!level.newestLeft) {
      level.newestMicros = Math.max(level.newestMicros, holder.queuedAtMicros());
    }
  }

  void remove(Holder holder) {
    Level level = levels.get(holder.priority());
    if (level == null) {
      return;
    }
    if (--level.holders == 0) {
      levels.remove(holder.priority());
      return;
    }
    for (int i = 0; i < holder.size(); i++) {
      level.amounts.subtract(holder.pair(i), holder.amount(i));
    }
    level.newestLeft |= holder.queuedAtMicros() >= level.newestMicros;
  }

  /** How much of a pair is held by those of a lower priority. */
  long below(long priority, int pair) {
    long sum = 0;
    for (Map.Entry<Long, Level> level : levels.entrySet()) {
      if (level.getKey() >= priority) {
        break;
      }
      sum = Amounts.add(sum, level.getValue().amounts.get(pair));
    }
    return sum;
  }

  /**
   * How much of a pair is held by those of a priority, if one of them queued after an instant;
   * otherwise 0.
   *
   * @param everybody calls its argument with each holder of the queue
   */
  long newerEquals(
      long priority, int pair, long queuedAtMicros, Consumer<Consumer<Holder>> everybody) {
    Level level = levels.get(priority);
    if (level == null) {
      return 0;
    }
    if (level.newestLeft) {
      level.newestMicros = Long.MIN_VALUE;
      level.newestLeft = false;
      everybody.accept(
          holder -> {
            if (holder.priority() == priority) {
              level.newestMicros = Math.max(level.newestMicros, holder.queuedAtMicros());
            }
          });
    }
    return level.newestMicros > queuedAtMicros ? level.amounts.get(pair) : 0;
  }

  void clear() {
    levels.clear();
  }

  /** The lowest priority of any; {@link Long#MAX_VALUE} if there is nobody. */
  long lowest() {
    return levels.isEmpty() ? Long.MAX_VALUE : levels.firstKey();
  }
}

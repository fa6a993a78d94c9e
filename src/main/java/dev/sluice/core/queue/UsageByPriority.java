package dev.sluice.core.queue;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.quota.UsageVector;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reserved amounts of the candidates of one queue by priority, so that an upper bound on preemption
 * needs no iteration over all holders. There are few priorities. Confined to the scheduler thread.
 */
final class UsageByPriority {

  /** The holders of one priority. */
  private static final class Level {
    private final long priority;
    private final UsageVector amounts = new UsageVector();
    private int holders;
    private long newestMicros = Long.MIN_VALUE;
    private boolean newestLeft;

    Level(long priority) {
      this.priority = priority;
    }
  }

  /** Levels in order of increasing priority. */
  private final List<Level> levels = new ArrayList<>(2);

  private long lowest = Long.MAX_VALUE;

  void add(QuotaHolder quotaHolder) {
    Level level = levelOf(quotaHolder.priority());
    level.holders++;
    for (int i = 0; i < quotaHolder.size(); i++) {
      level.amounts.add(quotaHolder.pair(i), quotaHolder.amount(i));
    }
    if (!level.newestLeft) {
      level.newestMicros = Math.max(level.newestMicros, quotaHolder.queuedAtMicros());
    }
  }

  void remove(QuotaHolder quotaHolder) {
    Level level = find(quotaHolder.priority());
    if (level == null) {
      return;
    }
    if (--level.holders == 0) {
      levels.remove(level);
      lowest = levels.isEmpty() ? Long.MAX_VALUE : levels.getFirst().priority;
      return;
    }
    for (int i = 0; i < quotaHolder.size(); i++) {
      level.amounts.subtract(quotaHolder.pair(i), quotaHolder.amount(i));
    }
    level.newestLeft |= quotaHolder.queuedAtMicros() >= level.newestMicros;
  }

  private Level levelOf(long priority) {
    int at = 0;
    while (at < levels.size() && levels.get(at).priority < priority) {
      at++;
    }
    if (at == levels.size() || levels.get(at).priority != priority) {
      levels.add(at, new Level(priority));
      lowest = levels.getFirst().priority;
    }
    return levels.get(at);
  }

  private @Nullable Level find(long priority) {
    for (int i = 0; i < levels.size(); i++) {
      if (levels.get(i).priority == priority) {
        return levels.get(i);
      }
    }
    return null;
  }

  /** The amount of a pair that holders of a lower priority reserve. */
  long below(long priority, int pair) {
    long sum = 0;
    if (lowest < priority) {
      for (int i = 0; i < levels.size() && levels.get(i).priority < priority; i++) {
        sum = ResourceAmounts.add(sum, levels.get(i).amounts.get(pair));
      }
    }
    return sum;
  }

  /**
   * The amount of a pair that holders of a priority reserve, if one of them was queued after a
   * time; otherwise 0.
   *
   * @param forEachHolder calls its argument with each holder of the queue
   */
  long newerEquals(
      long priority, int pair, long queuedAtMicros, Consumer<Consumer<QuotaHolder>> forEachHolder) {
    Level level = find(priority);
    if (level == null) {
      return 0;
    }
    if (level.newestLeft) {
      level.newestMicros = Long.MIN_VALUE;
      level.newestLeft = false;
      forEachHolder.accept(
          quotaHolder -> {
            if (quotaHolder.evictable() && quotaHolder.priority() == priority) {
              level.newestMicros = Math.max(level.newestMicros, quotaHolder.queuedAtMicros());
            }
          });
    }
    return level.newestMicros > queuedAtMicros ? level.amounts.get(pair) : 0;
  }

  void clear() {
    levels.clear();
    lowest = Long.MAX_VALUE;
  }

  /** The lowest priority of all holders; {@link Long#MAX_VALUE} if there are none. */
  long lowest() {
    return lowest;
  }
}

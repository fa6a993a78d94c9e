package dev.sluice.core.backfill;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.ToLongFunction;

/**
 * How much of each pair a queue has for itself over time: of its nominal quota, which nobody can
 * reclaim, what is left by its own holders and by those of other queues to which it lends, each
 * until the bound of its run. What is planned is taken out of it.
 */
public final class QuotaProfile {

  /** A time without an end. */
  public static final long NEVER = Long.MAX_VALUE;

  /** From one time until that of the next step. */
  private static final class Step {
    private final long from;
    private final long[] free;
    private final long[] planned;

    Step(long from, long[] free, long[] planned) {
      this.from = from;
      this.free = free;
      this.planned = planned;
    }
  }

  private record End(long at, QuotaHolder quotaHolder, ClusterQueueCache queue) {}

  private final int[] pairs;
  private final List<Step> steps = new ArrayList<>();
  private boolean lent;
  private long firstEnd = NEVER;

  private QuotaProfile(int[] pairs) {
    this.pairs = pairs;
  }

  /**
   * The profile of a queue. The quota tree is the same afterwards.
   *
   * @param queues all queues of its tree
   * @param ends until when a holder has its quota at most, in microseconds since the epoch and
   *     later than {@code now}; {@link #NEVER} if nobody knows
   * @param now the time at which the profile begins
   */
  public static QuotaProfile of(
      ClusterQueueCache queue,
      List<ClusterQueueCache> queues,
      ToLongFunction<QuotaHolder> ends,
      long now) {
    QuotaProfile profile = new QuotaProfile(pairsOf(queue));
    List<End> endings = new ArrayList<>();
    for (ClusterQueueCache each : queues) {
      each.holders()
          .forEach(
              quotaHolder -> {
                long at = ends.applyAsLong(quotaHolder);
                if (at != NEVER && quotaHolder.usesAny(profile.pairs)) {
                  endings.add(new End(at, quotaHolder, each));
                }
              });
    }
    endings.sort(
        Comparator.comparingLong(End::at).thenComparing(end -> end.quotaHolder().id().uid()));
    profile.steps.add(profile.step(queue, now));
    int next = 0;
    while (next < endings.size()) {
      long at = endings.get(next).at();
      while (next < endings.size() && endings.get(next).at() == at) {
        change(endings.get(next), false);
        next++;
      }
      profile.steps.add(profile.step(queue, at));
    }
    endings.reversed().forEach(end -> change(end, true));
    if (!endings.isEmpty()) {
      profile.firstEnd = endings.getFirst().at();
    }
    return profile;
  }

  private static int[] pairsOf(ClusterQueueCache queue) {
    TreeSet<Integer> all = new TreeSet<>();
    for (ClusterQueueCache.Group group : queue.groups()) {
      for (int[] ofFlavor : group.pairs()) {
        Arrays.stream(ofFlavor).forEach(all::add);
      }
    }
    return all.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Nodes keep their places: only quota is planned. */
  private static void change(End end, boolean add) {
    for (int i = 0; i < end.quotaHolder().size(); i++) {
      int pair = end.quotaHolder().pair(i);
      long amount = end.quotaHolder().amount(i);
      if (add) {
        end.queue().node().add(pair, amount);
      } else {
        end.queue().node().remove(pair, amount);
      }
    }
  }

  private Step step(ClusterQueueCache queue, long from) {
    long[] free = new long[pairs.length];
    for (int i = 0; i < pairs.length; i++) {
      long own =
          ResourceAmounts.subtract(queue.node().nominal(pairs[i]), queue.node().usage(pairs[i]));
      long inTree = queue.node().available(pairs[i]);
      lent |= inTree < own;
      free[i] = Math.min(own, inTree);
    }
    return new Step(from, free, new long[pairs.length]);
  }

  /** Whether others hold quota of the queue at any time. */
  public boolean lent() {
    return lent;
  }

  /** When the first run ends at the latest; {@link #NEVER} if nobody knows it of any. */
  public long firstEnd() {
    return firstEnd;
  }

  /**
   * The first time at which amounts of pairs are free, in microseconds since the epoch; {@link
   * #NEVER} if there is none. What is planned doesn't count.
   */
  public long firstTime(int[] wanted, long[] amounts) {
    for (Step step : steps) {
      boolean fits = true;
      for (int i = 0; fits && i < wanted.length; i++) {
        int column = Arrays.binarySearch(pairs, wanted[i]);
        fits = column >= 0 && step.free[column] >= amounts[i];
      }
      if (fits) {
        return step.from;
      }
    }
    return NEVER;
  }

  /** The times at which more may be free, those before {@code from} left out. */
  long[] times(long from) {
    return steps.stream().mapToLong(step -> step.from).filter(at -> at > from).toArray();
  }

  /**
   * The least that is free of a pair, and not planned, in a time.
   *
   * @param until the end of the time, which doesn't belong to it
   */
  long free(int pair, long from, long until) {
    int column = Arrays.binarySearch(pairs, pair);
    if (column < 0) {
      return 0;
    }
    long least = ResourceAmounts.UNLIMITED;
    for (int i = at(from); i < steps.size() && steps.get(i).from < until; i++) {
      Step step = steps.get(i);
      least = Math.min(least, ResourceAmounts.subtract(step.free[column], step.planned[column]));
    }
    return least;
  }

  /**
   * What is free of a pair in a time, and not planned.
   *
   * @param from the begin of the time
   * @param until its end, which doesn't belong to it
   */
  record Stretch(int pair, long from, long until, long free) {}

  /** What is free of a pair, and not planned, one after the other in a time. */
  List<Stretch> stretches(int pair, long from, long until) {
    int column = Arrays.binarySearch(pairs, pair);
    List<Stretch> stretches = new ArrayList<>();
    for (int i = at(from); i < steps.size() && steps.get(i).from < until; i++) {
      Step step = steps.get(i);
      long end = i + 1 < steps.size() ? Math.min(until, steps.get(i + 1).from) : until;
      stretches.add(
          new Stretch(
              pair,
              Math.max(from, step.from),
              end,
              column < 0 ? 0 : ResourceAmounts.subtract(step.free[column], step.planned[column])));
    }
    return stretches;
  }

  /** Plans an amount of a pair for a time. */
  void plan(int pair, long amount, long from, long until) {
    int column = Arrays.binarySearch(pairs, pair);
    split(from);
    split(until);
    for (int i = at(from); column >= 0 && i < steps.size() && steps.get(i).from < until; i++) {
      steps.get(i).planned[column] = ResourceAmounts.add(steps.get(i).planned[column], amount);
    }
  }

  /** The index of the step that a time belongs to. */
  private int at(long time) {
    int low = 0;
    int high = steps.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (steps.get(middle).from <= time) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  private void split(long time) {
    if (time == NEVER || time <= steps.getFirst().from) {
      return;
    }
    int index = at(time);
    Step before = steps.get(index);
    if (before.from < time) {
      steps.add(index + 1, new Step(time, before.free.clone(), before.planned.clone()));
    }
  }
}

package dev.sluice.core.queue;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.quota.QuotaNode;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.ToLongFunction;

/**
 * When the runs that have quota end at the latest, in order, at each node of a quota tree: what a
 * node uses at a time to come is found by a binary search. A tree is read once, when it is asked
 * for first; from then on it is told who gets and who loses quota. Confined to the scheduler
 * thread.
 */
public final class RunEnds {

  /** A time without an end. */
  public static final long NEVER = Long.MAX_VALUE;

  private record Run(QuotaNode queueNode, QuotaHolder holder, long end) {}

  /** The runs at a node and below, the first that ends first. */
  private static final class Ends {
    private Run[] runs = new Run[8];

    /** The end of each, beside each other: a search reads nothing else. */
    private long[] times = new long[8];

    private int size;

    /** By pair: the amounts of a run and of all after it, as of the change with this number. */
    private long[][] sums = {};

    private int[] asOf = {};
    private int changes;

    /** The index of the first run that ends after a time. */
    int after(long time) {
      int low = 0;
      int high = size;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (times[middle] <= time) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    }

    void add(Run run) {
      if (size == runs.length) {
        runs = Arrays.copyOf(runs, 2 * size);
        times = Arrays.copyOf(times, 2 * size);
      }
      int index = after(run.end);
      System.arraycopy(runs, index, runs, index + 1, size - index);
      System.arraycopy(times, index, times, index + 1, size - index);
      runs[index] = run;
      times[index] = run.end;
      size++;
      changes++;
      for (int pair = 0; pair < sums.length; pair++) {
        if (asOf[pair] == changes - 1) {
          add(pair, index, run.holder.amountOf(pair));
        }
      }
    }

    /** Brings sums up to date after a run was inserted. */
    private void add(int pair, int index, long amount) {
      long[] known = sums[pair];
      if (known == null || known.length <= size) {
        return;
      }
      System.arraycopy(known, index, known, index + 1, size - index);
      // The first sum is the largest: if that can be counted, all can.
      if (ResourceAmounts.add(known[0], amount) != Long.MAX_VALUE) {
        for (int i = 0; i <= index; i++) {
          known[i] += amount;
        }
        asOf[pair] = changes;
      }
    }

    /** Brings sums up to date after a run was taken out. */
    private void subtract(int pair, int index, long amount) {
      long[] known = sums[pair];
      // A sum of more than can be counted isn't the sum any more once something is subtracted.
      if (known != null && known[0] != Long.MAX_VALUE) {
        for (int i = 0; i < index; i++) {
          known[i] -= amount;
        }
        System.arraycopy(known, index + 1, known, index, size + 1 - index);
        asOf[pair] = changes;
      }
    }

    void remove(Run run) {
      for (int i = after(run.end - 1); i < size && times[i] == run.end; i++) {
        if (runs[i] == run) {
          System.arraycopy(runs, i + 1, runs, i, --size - i);
          System.arraycopy(times, i + 1, times, i, size - i);
          changes++;
          for (int pair = 0; pair < sums.length; pair++) {
            if (asOf[pair] == changes - 1) {
              subtract(pair, i, run.holder.amountOf(pair));
            }
          }
          return;
        }
      }
    }

    /** What the runs from an index on have of a pair. */
    long sumFrom(int index, int pair) {
      if (pair >= sums.length) {
        sums = Arrays.copyOf(sums, pair + 1);
        asOf = Arrays.copyOf(asOf, pair + 1);
      }
      long[] known = sums[pair];
      if (known == null || asOf[pair] != changes) {
        if (known == null || known.length <= size) {
          known = new long[runs.length + 1];
          sums[pair] = known;
        }
        known[size] = 0;
        for (int i = size - 1; i >= 0; i--) {
          known[i] = ResourceAmounts.add(known[i + 1], runs[i].holder.amountOf(pair));
        }
        asOf[pair] = changes;
      }
      return known[index];
    }
  }

  private final ToLongFunction<QuotaHolder> bounds;
  private final Map<String, Run> byUid = new HashMap<>();
  private final Map<QuotaNode, Ends> byNode = new HashMap<>();
  private final Set<QuotaNode> roots = new HashSet<>();

  /**
   * No tree is known so far.
   *
   * @param bounds until when a holder has its quota at most, in microseconds since the epoch;
   *     {@link #NEVER} if nobody knows
   */
  public RunEnds(ToLongFunction<QuotaHolder> bounds) {
    this.bounds = bounds;
  }

  /** Whether a tree was read. */
  public boolean knows(QuotaNode rootNode) {
    return roots.contains(rootNode);
  }

  /** Reads a tree with these queues. */
  public void read(QuotaNode rootNode, Collection<ClusterQueueCache> queues) {
    roots.add(rootNode);
    for (ClusterQueueCache queue : queues) {
      for (QuotaNode node = queue.node(); node != null; node = node.parent()) {
        byNode.computeIfAbsent(node, any -> new Ends());
      }
      queue.holders().forEach(holder -> add(queue.node(), holder));
    }
  }

  /** Forgets all trees: their shapes may be others from now on. */
  public void clear() {
    byUid.clear();
    byNode.clear();
    roots.clear();
  }

  /** Records that a Workload has quota of a queue. */
  public void add(QuotaNode queueNode, QuotaHolder holder) {
    if (!byNode.containsKey(queueNode)) {
      return;
    }
    Run run = new Run(queueNode, holder, bounds.applyAsLong(holder));
    byUid.put(holder.id().uid(), run);
    for (QuotaNode node = queueNode; node != null; node = node.parent()) {
      ends(node).add(run);
    }
  }

  /** Records that a Workload has its quota no longer. */
  public void remove(QuotaHolder holder) {
    Run run = byUid.remove(holder.id().uid());
    if (run != null) {
      for (QuotaNode node = run.queueNode; node != null; node = node.parent()) {
        ends(node).remove(run);
      }
    }
  }

  /** Records that the bound of a Workload is another one. */
  public void boundChanged(String uid) {
    Run run = byUid.get(uid);
    if (run != null) {
      remove(run.holder);
      add(run.queueNode, run.holder);
    }
  }

  private Ends ends(QuotaNode node) {
    return byNode.computeIfAbsent(node, any -> new Ends());
  }

  /** Whether a Workload has quota in a tree. */
  public boolean isIn(QuotaNode rootNode, String uid) {
    Run run = byUid.get(uid);
    return run != null && run.queueNode.root() == rootNode;
  }

  /** Until when a Workload has its quota at most; 0 if it has none in any known tree. */
  public long endOf(String uid) {
    Run run = byUid.get(uid);
    return run == null ? 0 : run.end;
  }

  /** Whether a run has gone on beyond its bound in a tree. */
  public boolean anyEnded(QuotaNode rootNode, long now) {
    return ends(rootNode).after(now) > 0;
  }

  /** The end of the first run that ends after a time; {@link #NEVER} if none does. */
  public long firstAfter(QuotaNode rootNode, long time) {
    Ends ends = ends(rootNode);
    int index = ends.after(time);
    return index < ends.size ? ends.times[index] : NEVER;
  }

  /**
   * The end of the first run that ends after a time and has any of these pairs; {@link #NEVER} if
   * there is none.
   */
  public long firstAfter(QuotaNode rootNode, long time, int[] pairs) {
    Ends ends = ends(rootNode);
    for (int i = ends.after(time); i < ends.size && ends.times[i] != NEVER; i++) {
      if (ends.runs[i].holder.usesAny(pairs)) {
        return ends.times[i];
      }
    }
    return NEVER;
  }

  /** Whether a run with any of these pairs has gone on beyond its bound in a tree. */
  public boolean anyEnded(QuotaNode rootNode, long now, int[] pairs) {
    Ends ends = ends(rootNode);
    int ended = ends.after(now);
    for (int i = 0; i < ended; i++) {
      if (ends.runs[i].holder.usesAny(pairs)) {
        return true;
      }
    }
    return false;
  }

  /**
   * The first end after a time at which a condition holds that holds from then on; {@link #NEVER}
   * if there is none.
   *
   * @param guess the end that it is likely to be
   */
  public long first(QuotaNode rootNode, long time, long guess, LongPredicate condition) {
    Ends ends = ends(rootNode);
    int low = ends.after(time);
    int high = ends.after(NEVER - 1);
    int guessed = ends.after(guess - 1);
    if (guessed >= low && guessed < high) {
      if (condition.test(ends.times[guessed])) {
        high = guessed;
        if (guessed > low && condition.test(ends.times[guessed - 1])) {
          high = guessed - 1;
        } else {
          low = guessed;
        }
      } else {
        low = ends.after(ends.times[guessed]);
      }
    }
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (condition.test(ends.times[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low < ends.size ? ends.times[low] : NEVER;
  }

  /** U of a node at a time ({@link QuotaNode#usage}), if nobody gets quota meanwhile. */
  public long usage(QuotaNode node, int pair, Moment moment) {
    if (!node.isQueue() && !node.isLentWhole(pair)) {
      long used = 0;
      List<QuotaNode> children = node.children();
      for (int i = 0; i < children.size(); i++) {
        QuotaNode child = children.get(i);
        long beyond = ResourceAmounts.subtract(usage(child, pair, moment), child.local(pair));
        used = ResourceAmounts.add(used, Math.max(0, beyond));
      }
      return used;
    }
    Ends ends = byNode.get(node);
    if (ends == null) {
      return 0;
    }
    long used = ends.sumFrom(ends.after(moment.at), pair);
    if (moment.at < moment.beyondUntil) {
      int ended = ends.after(moment.now);
      for (int i = 0; i < ended; i++) {
        used = ResourceAmounts.add(used, ends.runs[i].holder.amountOf(pair));
      }
    }
    return used;
  }

  /**
   * A time to come, in microseconds since the epoch.
   *
   * @param now the present time
   * @param at the time that is meant, which isn't before
   * @param beyondUntil until when those have their quota that have gone on beyond their bounds
   */
  public record Moment(long now, long at, long beyondUntil) {}
}

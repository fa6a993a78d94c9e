package dev.sluice.core.backfill;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.queue.RunEnds;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.function.LongPredicate;

/**
 * How much of each pair a queue has for itself over time: of quota that nobody can reclaim, its
 * nominal quota or {@linkplain #ofAlone all that it alone can use}, what is left by its own holders
 * and by those of other queues to which it lends, each until the bound of its run. What is planned
 * is taken out of it. Valid until a reservation changes.
 */
public final class QuotaProfile {

  /** A time without an end. */
  public static final long NEVER = RunEnds.NEVER;

  private record Planned(int pair, long amount, long until) {}

  private final ClusterQueueCache queue;
  private final QuotaNode rootNode;
  private final RunEnds runEnds;
  private final long now;

  /** Until when those have their quota that have gone on beyond their bounds. */
  private final long beyondUntil;

  /** The quota that counts of each of the queue's pairs, in their order. */
  private final long[] quota;

  private final List<Planned> planned = new ArrayList<>();

  /**
   * The profile of a queue.
   *
   * @param quota the quota that counts of each of the queue's pairs, in their order: it must be one
   *     that nobody can reclaim; not to be changed
   * @param runEnds when the runs of its tree end
   * @param now the time at which the profile begins, in microseconds since the epoch
   */
  public QuotaProfile(ClusterQueueCache queue, long[] quota, RunEnds runEnds, long now) {
    this.queue = queue;
    this.rootNode = queue.node().root();
    this.runEnds = runEnds;
    this.now = now;
    this.beyondUntil = now + PlannedStarts.OVERHEAD.toSeconds() * 1_000_000;
    this.quota = quota;
  }

  /** An amount of each of the queue's pairs, in their order. */
  public static long[] ofPairs(ClusterQueueCache queue, IntToLongFunction amount) {
    return Arrays.stream(queue.pairs()).mapToLong(amount).toArray();
  }

  /**
   * How much of a pair a queue can use that no other one can take: its nominal quota, and what the
   * Cohorts above it have themselves, if no other queue of the tree may use more than its own
   * nominal quota.
   */
  public static long ofAlone(ClusterQueueCache queue, int pair) {
    long ofCohorts = ofCohortsAbove(queue.node(), pair);
    return ResourceAmounts.add(
        queue.node().nominal(pair),
        ofCohorts > 0 && !mayAnotherBorrow(queue.node().root(), queue, pair) ? ofCohorts : 0);
  }

  private static long ofCohortsAbove(QuotaNode node, int pair) {
    QuotaNode parent = node.parent();
    return parent == null
        ? 0
        : Math.min(
            node.borrowingLimit(pair),
            ResourceAmounts.add(parent.nominal(pair), ofCohortsAbove(parent, pair)));
  }

  private static boolean mayAnotherBorrow(QuotaNode node, ClusterQueueCache queue, int pair) {
    if (node.isQueue()) {
      return node.owner() instanceof ClusterQueueCache other
          && other != queue
          && other.hasPair(pair)
          && node.borrowingLimit(pair) > 0;
    }
    for (QuotaNode child : node.children()) {
      if (mayAnotherBorrow(child, queue, pair)) {
        return true;
      }
    }
    return false;
  }

  /** The time at which the profile begins, in microseconds since the epoch. */
  long now() {
    return now;
  }

  /** Whether others hold quota of the queue at any time. */
  public boolean lent() {
    for (long time = now; time != NEVER; time = next(time)) {
      for (int pair : queue.pairs()) {
        if (inTree(pair, time) < own(pair, time)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Until when a Workload of the tree has its quota; 0 if it has none. */
  long endOf(String uid) {
    long end = runEnds.endOf(uid);
    return end > 0 && end <= now ? beyondUntil : end;
  }

  /** Whether a run of the tree has gone on beyond its bound. */
  public boolean beyondBound() {
    return runEnds.anyEnded(rootNode, now);
  }

  /** When the first run ends at the latest; {@link #NEVER} if nobody knows it of any. */
  public long firstEnd() {
    long first = runEnds.firstAfter(rootNode, now, queue.pairs());
    return first > beyondUntil && runEnds.anyEnded(rootNode, now, queue.pairs())
        ? beyondUntil
        : first;
  }

  /**
   * The first time at which amounts of pairs are free, in microseconds since the epoch; {@link
   * #NEVER} if there is none. What is planned doesn't count.
   */
  public long firstTime(int[] wanted, long[] amounts) {
    LongPredicate fits =
        time -> {
          for (int i = 0; i < wanted.length; i++) {
            if (!queue.hasPair(wanted[i]) || atMost(wanted[i], time) < amounts[i]) {
              return false;
            }
          }
          return true;
        };
    return fits.test(now) ? now : first(now, now, fits);
  }

  /**
   * The first time after another one at which more may be free; {@link #NEVER} if there is none.
   */
  long next(long time) {
    long next = runEnds.firstAfter(rootNode, Math.max(now, time));
    if (beyondUntil > time && beyondUntil < next && beyondBound()) {
      next = beyondUntil;
    }
    for (Planned each : planned) {
      if (each.until > time && each.until < next) {
        next = each.until;
      }
    }
    return next;
  }

  /**
   * The first time after another one at which a condition holds that holds at all later times, too;
   * {@link #NEVER} if there is none.
   *
   * @param guess the time that it is likely to be
   */
  long first(long time, long guess, LongPredicate condition) {
    long first = runEnds.first(rootNode, Math.max(now, time), guess, condition);
    if (beyondUntil > time && beyondUntil < first && beyondBound() && condition.test(beyondUntil)) {
      first = beyondUntil;
    }
    for (Planned each : planned) {
      if (each.until > time && each.until < first && condition.test(each.until)) {
        first = each.until;
      }
    }
    return first;
  }

  /**
   * How much is free of a pair, and not planned, at a time at which all have begun that are
   * planned. It doesn't become less from then on, because runs only end.
   */
  long free(int pair, long time) {
    return queue.hasPair(pair)
        ? ResourceAmounts.subtract(atMost(pair, time), taken(pair, time))
        : 0;
  }

  /**
   * The first time at which all amounts of a request are {@link #free}, in microseconds since the
   * epoch; {@link #NEVER} if there is none. Not valid where anything is planned.
   *
   * @param guess the time that it is likely to be; {@link #NEVER} if nobody knows
   */
  public long firstTime(ResourceDemand.Fixed fixedRequest, long guess) {
    if (isFree(fixedRequest, now)) {
      return now;
    }
    // Few runs are of the queue itself: it is likely to be the time at which enough of them end.
    long likely =
        guess == NEVER
            ? runEnds.first(queue.node(), now, NEVER, time -> isOwn(fixedRequest, time))
            : guess;
    return first(now, likely, time -> isFree(fixedRequest, time));
  }

  private boolean isOwn(ResourceDemand.Fixed fixedRequest, long time) {
    for (int i = 0; i < fixedRequest.pairs().length; i++) {
      if (!queue.hasPair(fixedRequest.pairs()[i])
          || own(fixedRequest.pairs()[i], time) < fixedRequest.amounts()[i]) {
        return false;
      }
    }
    return true;
  }

  /** Whether all amounts of a request are {@link #free}. */
  boolean isFree(ResourceDemand.Fixed fixedRequest, long time) {
    for (int i = 0; i < fixedRequest.pairs().length; i++) {
      if (!isFree(fixedRequest.pairs()[i], fixedRequest.amounts()[i], time)) {
        return false;
      }
    }
    return true;
  }

  /** Whether an amount is {@link #free}; nothing is, also where more is planned than there is. */
  boolean isFree(int pair, long amount, long time) {
    if (amount == 0) {
      return true;
    }
    long taken = taken(pair, time);
    return queue.hasPair(pair)
        && ResourceAmounts.subtract(own(pair, time), taken) >= amount
        && ResourceAmounts.subtract(inTree(pair, time), taken) >= amount;
  }

  private long taken(int pair, long time) {
    long taken = 0;
    for (int i = 0; i < planned.size(); i++) {
      if (planned.get(i).pair == pair && planned.get(i).until > time) {
        taken = ResourceAmounts.add(taken, planned.get(i).amount);
      }
    }
    return taken;
  }

  /** How much more is free of a pair, by runs that end between two times. */
  long released(int pair, long from, long to) {
    return from == to || !queue.hasPair(pair)
        ? 0
        : ResourceAmounts.subtract(atMost(pair, to), atMost(pair, from));
  }

  private long atMost(int pair, long time) {
    return Math.min(own(pair, time), inTree(pair, time));
  }

  private long own(int pair, long time) {
    return ResourceAmounts.subtract(
        quota[Arrays.binarySearch(queue.pairs(), pair)],
        runEnds.usage(queue.node(), pair, moment(time)));
  }

  private long inTree(int pair, long time) {
    RunEnds.Moment moment = moment(time);
    return queue.node().available(pair, (node, of) -> runEnds.usage(node, of, moment));
  }

  private RunEnds.Moment moment(long time) {
    return new RunEnds.Moment(now, time, beyondUntil);
  }

  /**
   * Plans an amount of a pair until a time; nothing is asked any more of times before its begin.
   */
  void plan(int pair, long amount, long until) {
    planned.add(new Planned(pair, amount, until));
  }
}

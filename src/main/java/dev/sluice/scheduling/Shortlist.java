package dev.sluice.scheduling;

import dev.sluice.queue.Demand;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.QuotaNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Of those who wait for quota of one tree, and whom a release can help: those who will get some in
 * the next cycle. It can be foretold where what is to be decided about each is plain, since none
 * has a choice of flavors and none would have to preempt: they are put in the order of the cycle
 * (scheduling semantics, section 4), and each takes what it asks for if it is still free.
 */
final class Shortlist {

  /**
   * One whom the next cycle may look at.
   *
   * @param sleeper itself, if it is asleep; null if it is in line
   */
  private record Entry(
      Sleepers.@Nullable Sleeper sleeper, Head head, Demand.Fixed asks, int level) {

    long priority() {
      return head.item().equivalenceClass().priority();
    }
  }

  private static final Comparator<Entry> ORDER =
      (one, two) -> {
        if (one.level != two.level) {
          return Integer.compare(one.level, two.level);
        }
        int byPriority = Long.compare(two.priority(), one.priority());
        if (byPriority != 0) {
          return byPriority;
        }
        PendingItem first = one.head.item();
        PendingItem second = two.head.item();
        int byAge = Long.compare(first.queuedAtMicros(), second.queuedAtMicros());
        return byAge != 0 ? byAge : first.id().uid().compareTo(second.id().uid());
      };

  private final Predicate<Head> barred;
  private final List<Entry> entries = new ArrayList<>();

  private Shortlist(Predicate<Head> barred) {
    this.barred = barred;
  }

  /**
   * Who of those asleep will get quota, in the order of decision; null if it can't be foretold.
   *
   * @param helped those asleep; one of each queue at most
   * @param inLine those in line of other queues
   * @param barred who can't be considered whatever the quota
   */
  static @Nullable List<Sleepers.Sleeper> of(
      List<Sleepers.Sleeper> helped, List<Head> inLine, Predicate<Head> barred) {
    Shortlist list = new Shortlist(barred);
    for (Sleepers.Sleeper sleeper : helped) {
      if (!list.enter(sleeper, new Head(sleeper.queue(), sleeper.equals().eldest()))) {
        return null;
      }
    }
    for (Head head : inLine) {
      if (!list.enter(null, head)) {
        return null;
      }
    }
    return list.winners();
  }

  private boolean enter(Sleepers.@Nullable Sleeper sleeper, Head head) {
    QueueState queue = head.queue();
    Demand.Fixed asks = head.item().equivalenceClass().demand(queue).fixed();
    if (asks == null
        || head.item().flavorProgress() != null
        || !fits(queue.node(), asks)
        || barred.test(head)) {
      return false;
    }
    int level = 0;
    for (int i = 0; i < asks.pairs().length; i++) {
      level = Math.max(level, queue.node().borrowLevel(asks.pairs()[i], asks.amounts()[i]));
    }
    entries.add(new Entry(sleeper, head, asks, level));
    return true;
  }

  private List<Sleepers.Sleeper> winners() {
    entries.sort(ORDER);
    List<Sleepers.Sleeper> winners = new ArrayList<>();
    List<Entry> taken = new ArrayList<>();
    for (Entry entry : entries) {
      QuotaNode node = entry.head.queue().node();
      if (fits(node, entry.asks)) {
        taken.add(entry);
        for (int i = 0; i < entry.asks.pairs().length; i++) {
          node.add(entry.asks.pairs()[i], entry.asks.amounts()[i]);
        }
        if (entry.sleeper != null) {
          winners.add(entry.sleeper);
        }
      }
    }
    for (Entry entry : taken.reversed()) {
      QuotaNode node = entry.head.queue().node();
      for (int i = 0; i < entry.asks.pairs().length; i++) {
        node.remove(entry.asks.pairs()[i], entry.asks.amounts()[i]);
      }
    }
    return winners;
  }

  private static boolean fits(QuotaNode node, Demand.Fixed asks) {
    for (int i = 0; i < asks.pairs().length; i++) {
      if (asks.amounts()[i] > node.available(asks.pairs()[i])) {
        return false;
      }
    }
    return true;
  }
}

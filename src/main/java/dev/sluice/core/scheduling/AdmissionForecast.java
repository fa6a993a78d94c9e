package dev.sluice.core.scheduling;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.ResourceDemand;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Of those who wait for quota of one tree, and whom a release can help: those who will get some in
 * the next cycle. It can be foretold where what is to be decided about each is plain, since none
 * has a choice of flavors and none would have to preempt: they are put in the order of the cycle
 * (docs/scheduling-semantics.md#the-cycle), and each takes what it asks for if it is still free.
 */
final class AdmissionForecast {

  /**
   * One whom the next cycle may look at.
   *
   * @param sleeper itself, if it is asleep; null if it is in line
   */
  private record Entry(
      InadmissibleIndex.@Nullable InadmissibleQueue inadmissibleQueue,
      QueueHead queueHead,
      ResourceDemand.Fixed asks,
      int level) {

    long priority() {
      return queueHead.item().equivalenceClass().priority();
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
        QueuedWorkload first = one.queueHead.item();
        QueuedWorkload second = two.queueHead.item();
        int byAge = Long.compare(first.queuedAtMicros(), second.queuedAtMicros());
        return byAge != 0 ? byAge : first.id().uid().compareTo(second.id().uid());
      };

  private final Predicate<QueueHead> barred;
  private final List<Entry> entries = new ArrayList<>();

  private AdmissionForecast(Predicate<QueueHead> barred) {
    this.barred = barred;
  }

  /**
   * Who of those asleep will get quota, in the order of decision; null if it can't be foretold.
   *
   * @param helped those asleep; one of each queue at most
   * @param inLine those in line of other queues
   * @param barred who can't be considered whatever the quota
   */
  static @Nullable List<InadmissibleIndex.InadmissibleQueue> of(
      List<InadmissibleIndex.InadmissibleQueue> helped,
      List<QueueHead> inLine,
      Predicate<QueueHead> barred) {
    AdmissionForecast list = new AdmissionForecast(barred);
    for (InadmissibleIndex.InadmissibleQueue inadmissibleQueue : helped) {
      if (!list.enter(
          inadmissibleQueue,
          new QueueHead(inadmissibleQueue.queue(), inadmissibleQueue.equivalenceClass().head()))) {
        return null;
      }
    }
    for (QueueHead queueHead : inLine) {
      if (!list.enter(null, queueHead)) {
        return null;
      }
    }
    return list.winners();
  }

  private boolean enter(
      InadmissibleIndex.@Nullable InadmissibleQueue inadmissibleQueue, QueueHead queueHead) {
    ClusterQueueCache queue = queueHead.queue();
    ResourceDemand.Fixed asks = queueHead.item().equivalenceClass().demand(queue).fixed();
    if (asks == null
        || queueHead.item().flavorProgress() != null
        || !fits(queue.node(), asks)
        || barred.test(queueHead)) {
      return false;
    }
    int level = 0;
    for (int i = 0; i < asks.pairs().length; i++) {
      level = Math.max(level, queue.node().borrowLevel(asks.pairs()[i], asks.amounts()[i]));
    }
    entries.add(new Entry(inadmissibleQueue, queueHead, asks, level));
    return true;
  }

  private List<InadmissibleIndex.InadmissibleQueue> winners() {
    entries.sort(ORDER);
    List<InadmissibleIndex.InadmissibleQueue> winners = new ArrayList<>();
    List<Entry> taken = new ArrayList<>();
    for (Entry entry : entries) {
      QuotaNode node = entry.queueHead.queue().node();
      if (fits(node, entry.asks)) {
        taken.add(entry);
        for (int i = 0; i < entry.asks.pairs().length; i++) {
          node.add(entry.asks.pairs()[i], entry.asks.amounts()[i]);
        }
        if (entry.inadmissibleQueue != null) {
          winners.add(entry.inadmissibleQueue);
        }
      }
    }
    for (Entry entry : taken.reversed()) {
      QuotaNode node = entry.queueHead.queue().node();
      for (int i = 0; i < entry.asks.pairs().length; i++) {
        node.remove(entry.asks.pairs()[i], entry.asks.amounts()[i]);
      }
    }
    return winners;
  }

  private static boolean fits(QuotaNode node, ResourceDemand.Fixed asks) {
    for (int i = 0; i < asks.pairs().length; i++) {
      if (asks.amounts()[i] > node.available(asks.pairs()[i])) {
        return false;
      }
    }
    return true;
  }
}

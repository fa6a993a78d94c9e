package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy.Found;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The order of preemption by the work that would be lost (docs/preemption.md#checkpoints): low
 * priority first, then the least work, then {@link QuotaHolder#PREEMPTION_ORDER}. The work is the
 * part of what the tree has that the Workload uses, of the pair of which that is most, times the
 * time since its last checkpoint or its reservation.
 *
 * <p>The order changes as time passes. So it never says whether there are targets, nor in which
 * flavor: a head that finds none need not be looked at again because of time alone.
 *
 * @param rootNode the root of the preemptor's tree
 * @param nowMicros the time, in microseconds since the epoch
 */
record LostWork(QuotaNode rootNode, long nowMicros) implements Comparator<QuotaHolder> {

  /**
   * The targets of which less work is lost in all: those of a search, or others of a search by
   * work. Without any Workload in the tree that saved its work nothing is searched.
   *
   * @param found the targets of the search by time
   */
  static Found least(PreemptionStrategy strategy, PreemptionRequest request, Found found) {
    QuotaNode rootNode = request.queue().node().root();
    if (!rootNode.anyHolder().savesWork()) {
      return found;
    }
    LostWork lostWork = new LostWork(rootNode, request.preemptor().nowMicros());
    double work = lostWork.of(found);
    if (work == 0) {
      return found;
    }
    Optional<Found> byWork = strategy.find(request.by(lostWork));
    return byWork.isPresent() && lostWork.of(byWork.get()) < work ? byWork.get() : found;
  }

  @Override
  public int compare(QuotaHolder quotaHolder, QuotaHolder otherHolder) {
    int byPriority = Long.compare(quotaHolder.priority(), otherHolder.priority());
    if (byPriority != 0) {
      return byPriority;
    }
    int byWork = Double.compare(of(quotaHolder), of(otherHolder));
    return byWork != 0 ? byWork : QuotaHolder.PREEMPTION_ORDER.compare(quotaHolder, otherHolder);
  }

  /** The work that is lost if these are evicted; those that are being evicted lose it anyway. */
  private double of(Found found) {
    double sum = 0;
    for (PreemptionTarget each : found.preemptionTargets()) {
      sum += each.quotaHolder().evicted() ? 0 : of(each.quotaHolder());
    }
    return sum;
  }

  private double of(QuotaHolder quotaHolder) {
    double part = 0;
    for (int i = 0; i < quotaHolder.size(); i++) {
      long quota = rootNode.subtreeQuota(quotaHolder.pair(i));
      if (quota > 0) {
        part = Math.max(part, (double) quotaHolder.amount(i) / quota);
      }
    }
    return part * Math.max(0, nowMicros - quotaHolder.lossSinceMicros());
  }

  /** Groups whose members are in the order of priority, with the members in this order. */
  Iterator<Iterator<QuotaHolder>> sorted(Iterator<Iterator<QuotaHolder>> groups) {
    List<Iterator<QuotaHolder>> all = new ArrayList<>();
    groups.forEachRemaining(group -> all.add(new Sorted(group)));
    return all.iterator();
  }

  /** Sorts those of one priority when it is their turn. */
  private final class Sorted implements Iterator<QuotaHolder> {
    private final Iterator<QuotaHolder> group;
    private Iterator<QuotaHolder> level = List.<QuotaHolder>of().iterator();
    private @Nullable QuotaHolder next;

    Sorted(Iterator<QuotaHolder> group) {
      this.group = group;
      this.next = group.hasNext() ? group.next() : null;
    }

    @Override
    public boolean hasNext() {
      return level.hasNext() || next != null;
    }

    @Override
    public QuotaHolder next() {
      QuotaHolder first = next;
      if (!level.hasNext() && first != null) {
        List<QuotaHolder> equals = new ArrayList<>();
        while (next != null && next.priority() == first.priority()) {
          equals.add(next);
          next = group.hasNext() ? group.next() : null;
        }
        equals.sort(LostWork.this);
        level = equals.iterator();
      }
      return level.next();
    }
  }
}

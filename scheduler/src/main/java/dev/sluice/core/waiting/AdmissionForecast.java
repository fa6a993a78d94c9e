package dev.sluice.core.waiting;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ActiveInOrder.HeapIterator;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.CycleHeads.QueueHead;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Predicts which inadmissible Workloads of one tree the next cycle will admit after a release of
 * quota. The prediction is possible when no Workload has a choice of flavors and none needs
 * preemption: then the Workloads are taken in the order that the policy gives the cycle
 * (docs/scheduling-semantics.md#the-cycle), and each gets its request if the quota is still free.
 */
public final class AdmissionForecast {

  /** The order of the heads in a cycle, by borrow level and by the Workloads themselves. */
  @FunctionalInterface
  public interface Order {

    /** Compares two heads as a comparator does; levels as in {@link QuotaNode#borrowLevel}. */
    int compare(QueuedWorkload one, int oneBorrowLevel, QueuedWorkload two, int twoBorrowLevel);
  }

  /**
   * A Workload that the next cycle may evaluate.
   *
   * @param inadmissibleQueue the inadmissible class of the Workload; null if the Workload is active
   */
  private record Entry(
      InadmissibleIndex.@Nullable InadmissibleQueue inadmissibleQueue,
      QueueHead queueHead,
      ResourceDemand.Fixed request,
      int level) {}

  private final Order order;
  private final Predicate<QueueHead> isIneligible;

  private final HeapIterator<Entry> entries = new HeapIterator<>(this::compare);

  private final LeastRequests leastRequests = new LeastRequests();

  private AdmissionForecast(Order order, Predicate<QueueHead> isIneligible) {
    this.order = order;
    this.isIneligible = isIneligible;
  }

  /**
   * The inadmissible Workloads that will get quota, in the order of decision; null if no prediction
   * is possible.
   *
   * @param order the order of the cycle
   * @param requeueable inadmissible classes that may fit; at most one of each queue
   * @param activeHeads the active heads of other queues
   * @param isIneligible whether a Workload can't get quota, however much is free
   */
  static @Nullable List<InadmissibleIndex.InadmissibleQueue> of(
      Order order,
      List<InadmissibleIndex.InadmissibleQueue> requeueable,
      List<QueueHead> activeHeads,
      Predicate<QueueHead> isIneligible) {
    AdmissionForecast forecast = new AdmissionForecast(order, isIneligible);
    for (InadmissibleIndex.InadmissibleQueue inadmissibleQueue : requeueable) {
      if (!forecast.add(
          inadmissibleQueue,
          new QueueHead(inadmissibleQueue.queue(), inadmissibleQueue.equivalenceClass().head()))) {
        return null;
      }
    }
    for (QueueHead queueHead : activeHeads) {
      if (!forecast.add(null, queueHead)) {
        return null;
      }
    }
    return forecast.admittedClasses();
  }

  private boolean add(
      InadmissibleIndex.@Nullable InadmissibleQueue inadmissibleQueue, QueueHead queueHead) {
    ClusterQueueCache queue = queueHead.queue();
    ResourceDemand.Fixed request = queueHead.plainRequest();
    if (request == null || !fits(queue.node(), request) || isIneligible.test(queueHead)) {
      return false;
    }
    int level = 0;
    for (int i = 0; i < request.pairs().length; i++) {
      level = Math.max(level, queue.node().borrowLevel(request.pairs()[i], request.amounts()[i]));
    }
    entries.add(new Entry(inadmissibleQueue, queueHead, request, level));
    leastRequests.add(queue.node(), request);
    return true;
  }

  private List<InadmissibleIndex.InadmissibleQueue> admittedClasses() {
    List<InadmissibleIndex.InadmissibleQueue> admittedClasses = new ArrayList<>();
    List<Entry> admitted = new ArrayList<>();
    while (entries.hasNext()) {
      Entry entry = entries.next();
      QuotaNode node = entry.queueHead.queue().node();
      if (fits(node, entry.request)) {
        admitted.add(entry);
        for (int i = 0; i < entry.request.pairs().length; i++) {
          node.add(entry.request.pairs()[i], entry.request.amounts()[i]);
        }
        if (entry.inadmissibleQueue != null) {
          admittedClasses.add(entry.inadmissibleQueue);
        }
      } else if (leastRequests.exceed(node.root())) {
        break;
      }
    }
    for (Entry entry : admitted.reversed()) {
      QuotaNode node = entry.queueHead.queue().node();
      for (int i = 0; i < entry.request.pairs().length; i++) {
        node.remove(entry.request.pairs()[i], entry.request.amounts()[i]);
      }
    }
    return admittedClasses;
  }

  private int compare(Entry one, Entry two) {
    int byQueue =
        Integer.compare(two.queueHead.queue().priority(), one.queueHead.queue().priority());
    return byQueue != 0
        ? byQueue
        : order.compare(one.queueHead.item(), one.level, two.queueHead.item(), two.level);
  }

  private static boolean fits(QuotaNode node, ResourceDemand.Fixed request) {
    for (int i = 0; i < request.pairs().length; i++) {
      if (request.amounts()[i] > node.available(request.pairs()[i])) {
        return false;
      }
    }
    return true;
  }

  /**
   * The least amount of each pair that any of some requests in one tree asks for. When the root has
   * less of a pair that all of them ask for, none of them fits, and none needs to be looked at.
   */
  static final class LeastRequests {

    private int requests;
    private int[] askedBy = {};
    private long[] least = {};

    /** The greatest amount that any of the queues may still get without the root's quota. */
    private long[] local = {};

    /** Adds a request of a queue; the usage of the queue only grows afterwards. */
    void add(QuotaNode queue, ResourceDemand.Fixed request) {
      requests++;
      for (int i = 0; i < request.pairs().length; i++) {
        int pair = request.pairs()[i];
        if (pair >= askedBy.length) {
          askedBy = Arrays.copyOf(askedBy, pair + 1);
          least = Arrays.copyOf(least, pair + 1);
          local = Arrays.copyOf(local, pair + 1);
        }
        least[pair] =
            askedBy[pair] == 0 ? request.amounts()[i] : Math.min(least[pair], request.amounts()[i]);
        local[pair] = Math.max(local[pair], localAvailable(queue, pair));
        askedBy[pair]++;
      }
    }

    private static long localAvailable(QuotaNode queue, int pair) {
      long sum = 0;
      QuotaNode node = queue;
      for (QuotaNode above = node.parent(); above != null; above = node.parent()) {
        sum = ResourceAmounts.add(sum, node.localAvailable(pair));
        node = above;
      }
      return sum;
    }

    /**
     * Whether none of the requests fits: what is available to a queue is at most what it and its
     * cohorts below the root have for themselves, and what the root has.
     */
    boolean exceed(QuotaNode root) {
      for (int pair = 0; pair < least.length; pair++) {
        if (askedBy[pair] == requests
            && least[pair] > ResourceAmounts.add(local[pair], Math.max(0, root.available(pair)))) {
          return true;
        }
      }
      return false;
    }
  }
}

package dev.sluice.core.scheduling;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.preemption.PreemptionUpperBound;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Classes that wait for quota, by tree and queue, so that what is released leads to a look at those
 * only whom it can help. A class can be helped when at least one of its lacks is over, or when
 * those whom it may preempt hold enough: until then it can't fit, whatever else happens. Confined
 * to the engine's thread.
 */
public final class InadmissibleIndex {

  /** A class that doesn't fit, and its queue. */
  public record InadmissibleQueue(ClusterQueueCache queue, EquivalenceClass equivalenceClass) {}

  /** What sleeps in one tree. */
  private static final class Tree {
    private final Map<ClusterQueueCache, ClusterQueueInadmissibleIndex> queues =
        new LinkedHashMap<>();

    /** Counts releases, and what else may help. */
    private long events;
  }

  private final Function<QuotaNode, PreemptionUpperBound> reaches;
  private final boolean foretells;
  private final Map<QuotaNode, Tree> trees = new HashMap<>();

  /** Trees in which something happened that may still help somebody. */
  private final Set<QuotaNode> stirred = new LinkedHashSet<>();

  /** Those who would preempt but for a closed gate, by root of the tree. */
  private final Map<QuotaNode, Map<QueuedWorkload, ClusterQueueCache>> gated = new HashMap<>();

  /** Those of them in whose trees something was released since. */
  private final Map<QueuedWorkload, ClusterQueueCache> ungated = new LinkedHashMap<>();

  /**
   * Nobody sleeps.
   *
   * @param queues the queue at a node of the quota tree; null if it isn't declared any more
   * @param shares their shares, if queues share by weight
   * @param foretells whether a cycle admits all who fit, in the classical order
   */
  public InadmissibleIndex(
      Function<QuotaNode, @Nullable ClusterQueueCache> queues,
      @Nullable FairShareCalculator shares,
      boolean foretells) {
    this.reaches = root -> new PreemptionUpperBound(root, queues, shares);
    this.foretells = foretells;
  }

  /**
   * Remembers that a class sleeps until one of its lacks is over.
   *
   * @param competing whether whatever is released may help: its pod sets compete for quota, so that
   *     it may change which flavors they take
   * @param preempts whether others may help by being there to be preempted
   */
  public void add(
      InadmissibleQueue inadmissibleQueue,
      List<EquivalenceClass.Lack> lacks,
      boolean competing,
      boolean preempts) {
    Tree tree = tree(inadmissibleQueue.queue.node());
    tree.queues
        .computeIfAbsent(inadmissibleQueue.queue, ClusterQueueInadmissibleIndex::new)
        .add(
            inadmissibleQueue.equivalenceClass,
            new ClusterQueueInadmissibleIndex.Requirement(
                List.copyOf(lacks), competing, preempts, tree.events));
  }

  private Tree tree(QuotaNode node) {
    return trees.computeIfAbsent(node.root(), root -> new Tree());
  }

  /** Remembers that something in a tree was given back, or that more can be preempted there. */
  public void released(QuotaNode node) {
    tree(node).events++;
    stirred.add(node.root());
    Map<QueuedWorkload, ClusterQueueCache> items = gated.remove(node.root());
    if (items != null) {
      ungated.putAll(items);
    }
  }

  /** Remembers that one who may not preempt is looked at again once anything is released. */
  public void gated(ClusterQueueCache queue, QueuedWorkload item) {
    gated.computeIfAbsent(queue.node().root(), root -> new LinkedHashMap<>()).put(item, queue);
  }

  /** Brings back those who may not preempt, where anything was released; before each cycle. */
  public void requeueGated(Consumer<ClusterQueueCache> broughtBack) {
    ungated.forEach(
        (item, queue) -> {
          if (queue.pending().isHeld(item)) {
            queue.pending().release(item);
            broughtBack.accept(queue);
          }
        });
    ungated.clear();
  }

  /**
   * Those whom releases can help, and who are to be looked at in the next cycle: of each queue the
   * first in its order, unless another one stands in line before it. They sleep on meanwhile, as do
   * all others: what is free may be gone by then.
   *
   * @param inLine who else of a tree takes part in the next cycle; empty if it isn't known. Those
   *     asleep who will get nothing beside them are left out.
   * @param barred who can't be considered whatever the quota
   */
  public List<InadmissibleQueue> candidates(
      Function<QuotaNode, Optional<List<QueueHead>>> inLine, Predicate<QueueHead> barred) {
    if (stirred.isEmpty()) {
      return List.of();
    }
    List<InadmissibleQueue> candidates = new ArrayList<>();
    Iterator<QuotaNode> roots = stirred.iterator();
    while (roots.hasNext()) {
      QuotaNode root = roots.next();
      List<InadmissibleQueue> helped = new ArrayList<>();
      if (!findRequeueable(root, trees.get(root), helped)) {
        roots.remove();
        continue;
      }
      candidates.addAll(foretells ? forecast(helped, inLine.apply(root), barred) : helped);
    }
    return candidates;
  }

  private static List<InadmissibleQueue> forecast(
      List<InadmissibleQueue> helped,
      Optional<List<QueueHead>> inLine,
      Predicate<QueueHead> barred) {
    if (helped.isEmpty() || inLine.isEmpty()) {
      return helped;
    }
    List<QueueHead> others = inLine.get();
    if (!others.isEmpty()) {
      Set<ClusterQueueCache> taken = new HashSet<>();
      helped.forEach(inadmissibleQueue -> taken.add(inadmissibleQueue.queue));
      others = others.stream().filter(queueHead -> !taken.contains(queueHead.queue())).toList();
    }
    List<InadmissibleQueue> winners = AdmissionForecast.of(helped, others, barred);
    return winners == null ? helped : winners;
  }

  /** Whether anybody can be helped; those whose turn it is are put into {@code turn}. */
  private boolean findRequeueable(
      QuotaNode root, @Nullable Tree tree, List<InadmissibleQueue> turn) {
    if (tree == null || tree.queues.isEmpty()) {
      return false;
    }
    boolean any = false;
    PreemptionUpperBound preemptionUpperBound = reaches.apply(root);
    for (Map.Entry<ClusterQueueCache, ClusterQueueInadmissibleIndex> entry :
        tree.queues.entrySet()) {
      ClusterQueueCache queue = entry.getKey();
      EquivalenceClass first = entry.getValue().firstRequeueable(tree.events, preemptionUpperBound);
      if (first != null) {
        any = true;
        if (queue.isStrict() || queue.pending().isHead(first)) {
          turn.add(new InadmissibleQueue(queue, first));
        }
      }
    }
    return any;
  }

  /** A class doesn't sleep any more. */
  public void remove(InadmissibleQueue inadmissibleQueue) {
    Tree tree = trees.get(inadmissibleQueue.queue.node().root());
    ClusterQueueInadmissibleIndex clusterQueueInadmissibleIndex =
        tree == null ? null : tree.queues.get(inadmissibleQueue.queue);
    if (clusterQueueInadmissibleIndex != null) {
      clusterQueueInadmissibleIndex.remove(inadmissibleQueue.equivalenceClass);
    }
  }

  /** Whether anything was released that may still help somebody. */
  public boolean hasReleases() {
    return !stirred.isEmpty() || !ungated.isEmpty();
  }

  /** Forgets everything: the trees are about to change shape. */
  public void clear() {
    trees.clear();
    stirred.clear();
    gated.clear();
    ungated.clear();
  }
}

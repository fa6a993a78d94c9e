package dev.sluice.core.waiting;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.PendingQueue;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.CycleHeads.QueueHead;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The classes of each tree whose heads fitted at the beginning of a cycle, and were skipped because
 * of heads before them. Like every head that was skipped they hold a claim: they take part in each
 * cycle of their tree until they are found not to fit. There may be as many as the tree has queues,
 * so they are kept in one list, and leave it for the other claims only when their queue changes.
 */
final class SkippedClasses {

  /** The skipped classes of a tree. */
  private static final class Tree {
    private final List<ClusterQueueCache> queues = new ArrayList<>();

    /** How many of the queues still have a skipped class. */
    private int size;
  }

  private final PendingQueue.SkipListener listener;
  private final Map<QuotaNode, Tree> byTree = new HashMap<>();

  /** The trees that changed since their last cycle. */
  private final Set<QuotaNode> changed = new HashSet<>();

  /** The trees whose skipped classes take part in the cycle that begins. */
  private Set<QuotaNode> evaluated = Set.of();

  /**
   * @param listener told when a class leaves the list because its queue changes
   */
  SkippedClasses(PendingQueue.SkipListener listener) {
    this.listener =
        (queue, equivalenceClass) -> {
          listener.activated(queue, equivalenceClass);
          left(queue.node().root());
        };
  }

  /** The skipped classes as a value; to be called between cycles. */
  WaitingExport.SkippedExport export() {
    List<WaitingExport.SkippedQueue> exported = new ArrayList<>();
    byTree.entrySet().stream()
        .sorted(Map.Entry.comparingByKey(ExportedNames.BY_ROOT))
        .forEach(
            tree ->
                tree.getValue()
                    .queues
                    .forEach(
                        queue -> {
                          EquivalenceClass skipped = queue.pending().skipped();
                          exported.add(
                              new WaitingExport.SkippedQueue(
                                  queue.name(),
                                  skipped == null
                                      ? Optional.empty()
                                      : Optional.of(skipped.head().id().uid())));
                        }));
    return new WaitingExport.SkippedExport(
        exported,
        changed.stream().sorted(ExportedNames.BY_ROOT).map(ExportedNames::nameOf).toList());
  }

  /** Takes skipped classes over. */
  void restore(WaitingExport.SkippedExport exported, ExportedNames names) {
    for (WaitingExport.SkippedQueue each : exported.queues()) {
      ClusterQueueCache queue = names.queue(each.clusterQueue());
      if (queue == null) {
        continue;
      }
      QueuedWorkload member = each.member().map(names::queued).orElse(null);
      Tree tree = byTree.computeIfAbsent(queue.node().root(), root -> new Tree());
      tree.queues.add(queue);
      if (member != null && queue.pending().skipped() == null) {
        tree.size++;
        queue.pending().skip(member.equivalenceClass(), queue, listener);
      }
    }
    for (WaitingExport.TreeRoot each : exported.changed()) {
      QuotaNode root = names.root(each);
      if (root != null) {
        changed.add(root);
      }
    }
  }

  private void left(QuotaNode root) {
    Tree tree = byTree.get(root);
    if (tree != null && --tree.size == 0) {
      byTree.remove(root);
      changed.remove(root);
    }
  }

  boolean isEmpty() {
    return byTree.isEmpty();
  }

  /** The roots of the trees that have skipped classes. */
  Set<QuotaNode> roots() {
    return byTree.keySet();
  }

  /** The heads of the skipped classes of a tree. */
  Stream<QueueHead> heads(QuotaNode root) {
    Tree tree = byTree.get(root);
    return tree == null
        ? Stream.empty()
        : tree.queues.stream()
            .flatMap(
                queue -> {
                  EquivalenceClass skipped = queue.pending().skipped();
                  return skipped == null
                      ? Stream.empty()
                      : Stream.of(new QueueHead(queue, skipped.head()));
                });
  }

  /** Whether a tree has skipped classes. */
  boolean areIn(QuotaNode root) {
    return byTree.containsKey(root);
  }

  /** Whether any tree with skipped classes changed. */
  boolean anyChanged() {
    return !changed.isEmpty();
  }

  /** Records that something changed in a tree, so that its skipped classes are evaluated. */
  void changed(QuotaNode root) {
    if (byTree.containsKey(root)) {
      changed.add(root);
    }
  }

  /** Whether the skipped classes of a tree take part in the next cycle, or in this one. */
  boolean takePart(QuotaNode root) {
    return changed.contains(root) || evaluated.contains(root);
  }

  /**
   * Begins a cycle: returns the trees whose skipped classes take part in it.
   *
   * @param active the queues whose heads the cycle evaluates
   */
  Set<QuotaNode> begin(Iterable<ClusterQueueCache> active) {
    if (byTree.isEmpty()) {
      return Set.of();
    }
    Set<QuotaNode> trees = new HashSet<>(changed);
    for (ClusterQueueCache queue : active) {
      QuotaNode root = queue.node().root();
      if (byTree.containsKey(root)) {
        trees.add(root);
      }
    }
    evaluated = trees;
    return trees;
  }

  /** Has the skipped classes of a tree take part in the cycle too; whether there are any. */
  boolean join(QuotaNode root) {
    if (!byTree.containsKey(root)) {
      return false;
    }
    evaluated.add(root);
    return true;
  }

  /**
   * Ends the evaluation of the skipped classes that took part in a cycle.
   *
   * @param skipped the heads that this cycle skipped without an outcome
   */
  void end(List<QueueHead> skipped) {
    byTree.keySet().removeAll(evaluated);
    changed.removeAll(evaluated);
    evaluated = Set.of();
    for (QueueHead head : skipped) {
      ClusterQueueCache queue = head.queue();
      Tree tree = byTree.computeIfAbsent(queue.node().root(), root -> new Tree());
      tree.queues.add(queue);
      tree.size++;
      queue.pending().skip(head.item().equivalenceClass(), queue, listener);
    }
  }

  /** Makes all skipped classes active in fact. */
  void activateAll() {
    if (byTree.isEmpty()) {
      return;
    }
    for (Tree tree : List.copyOf(byTree.values())) {
      tree.queues.forEach(queue -> queue.pending().activateSkipped());
    }
  }
}

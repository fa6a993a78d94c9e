package dev.sluice.core.engine;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.QueueHead;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Queues whose head the next cycle looks at. A StrictFIFO queue whose head doesn't fit is blocked:
 * it is looked at again when that head is woken, or another one stands before it. A head that lays
 * claim to quota without getting it yet stands: it takes part in every cycle of its tree, but is no
 * reason for one until something in the tree changes.
 */
final class ActiveQueues {

  private record Block(QueuedWorkload head, Explanation why) {}

  private Map<String, ClusterQueueCache> ready = new LinkedHashMap<>();
  private final Map<String, Block> blocked = new HashMap<>();
  private final Map<QuotaNode, Map<String, ClusterQueueCache>> standing = new HashMap<>();
  private final Map<QuotaNode, Long> changedIn = new HashMap<>();
  private long allChangedIn;
  private long cycle;

  /** Something happened in this queue: its head may be worth a look. */
  void add(ClusterQueueCache queue) {
    QueuedWorkload head = queue.pending().head();
    if (head == null) {
      remove(queue);
      return;
    }
    Block block = blocked.get(queue.name());
    if (block == null || block.head != head) {
      clear(queue);
      ready.put(queue.name(), queue);
    }
  }

  /** The head of a StrictFIFO queue doesn't fit: nobody behind it is looked at. */
  void block(ClusterQueueCache queue, QueuedWorkload head, Explanation why) {
    ready.remove(queue.name());
    blocked.put(queue.name(), new Block(head, why));
  }

  /** The head of a queue keeps its claim: nobody behind it is looked at, and it is, every time. */
  void holdClaim(ClusterQueueCache queue, QueuedWorkload head, Explanation why) {
    block(queue, head, why);
    standing
        .computeIfAbsent(queue.node().root(), root -> new LinkedHashMap<>())
        .put(queue.name(), queue);
  }

  /** Of each tree, the heads in line that the next cycle looks at; empty if some stand there. */
  Function<QuotaNode, Optional<List<QueueHead>>> active() {
    Map<QuotaNode, List<QueueHead>> heads = new HashMap<>();
    for (ClusterQueueCache queue : ready.values()) {
      QueuedWorkload head = queue.active() ? queue.pending().head() : null;
      if (head != null) {
        heads
            .computeIfAbsent(queue.node().root(), root -> new ArrayList<>())
            .add(new QueueHead(queue, head));
      }
    }
    return root ->
        standing.containsKey(root)
            ? Optional.empty()
            : Optional.of(heads.getOrDefault(root, List.of()));
  }

  /** A cycle begins. */
  void begin(long number) {
    cycle = number;
  }

  /** Who holds what in a tree changed, after the last cycle began. */
  void changed(QuotaNode node) {
    changedIn.put(node.root(), cycle);
    activate(node);
  }

  /** Whether it changed since a cycle began. */
  boolean changedSince(QuotaNode node, long number) {
    return changedIn.getOrDefault(node.root(), allChangedIn) >= number;
  }

  /** Every tree changed, and is another one maybe. */
  void allChanged() {
    changedIn.clear();
    allChangedIn = cycle;
  }

  /** Something changed in a tree: heads that stand there are to be looked at. */
  void activate(QuotaNode node) {
    if (!standing.isEmpty()) {
      ready.putAll(standing.getOrDefault(node.root(), Map.of()));
    }
  }

  /** Whatever blocked this queue may be over. */
  void unblock(ClusterQueueCache queue) {
    clear(queue);
    add(queue);
  }

  /** Why this item blocks its queue; null if it doesn't. */
  @Nullable Explanation blockedWhy(String clusterQueue, QueuedWorkload item) {
    Block block = blocked.get(clusterQueue);
    return block != null && block.head == item ? block.why : null;
  }

  /** The head before which this item can't be looked at; null if there is none. */
  @Nullable QueuedWorkload blockedBy(String clusterQueue) {
    Block block = blocked.get(clusterQueue);
    return block == null ? null : block.head;
  }

  boolean isBlockedBy(String clusterQueue, EquivalenceClass equals) {
    Block block = blocked.get(clusterQueue);
    return block != null && block.head.equivalenceClass() == equals;
  }

  /** This queue is gone, or has nobody in line; whoever stands beside it may profit from that. */
  void remove(ClusterQueueCache queue) {
    if (holdsClaim(queue)) {
      activate(queue.node());
    }
    ready.remove(queue.name());
    clear(queue);
  }

  private boolean holdsClaim(ClusterQueueCache queue) {
    return standing.getOrDefault(queue.node().root(), Map.of()).containsKey(queue.name());
  }

  private void clear(ClusterQueueCache queue) {
    if (blocked.remove(queue.name()) == null || standing.isEmpty()) {
      return;
    }
    standing.values().removeIf(ofTree -> ofTree.remove(queue.name()) != null && ofTree.isEmpty());
  }

  boolean isEmpty() {
    return ready.isEmpty();
  }

  /**
   * All of them, and those that stand in their trees; they are then no longer ready until something
   * is said of them again.
   */
  List<ClusterQueueCache> take() {
    Map<String, ClusterQueueCache> all = ready;
    // A map that once held all queues would cost as much to clear each time.
    ready = new LinkedHashMap<>();
    if (!standing.isEmpty()) {
      for (ClusterQueueCache queue : List.copyOf(all.values())) {
        Map<String, ClusterQueueCache> beside = standing.remove(queue.node().root());
        if (beside != null) {
          all.putAll(beside);
        }
      }
    }
    all.keySet().forEach(blocked::remove);
    return new ArrayList<>(all.values());
  }
}

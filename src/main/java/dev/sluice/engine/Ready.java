package dev.sluice.engine;

import dev.sluice.model.Explanation;
import dev.sluice.queue.EquivalenceClass;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.QuotaNode;
import dev.sluice.scheduling.Head;
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
final class Ready {

  private record Block(PendingItem head, Explanation why) {}

  private Map<String, QueueState> ready = new LinkedHashMap<>();
  private final Map<String, Block> blocked = new HashMap<>();
  private final Map<QuotaNode, Map<String, QueueState>> standing = new HashMap<>();
  private final Map<QuotaNode, Long> changedIn = new HashMap<>();
  private long allChangedIn;
  private long cycle;

  /** Something happened in this queue: its head may be worth a look. */
  void add(QueueState queue) {
    PendingItem head = queue.pending().head();
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
  void block(QueueState queue, PendingItem head, Explanation why) {
    ready.remove(queue.name());
    blocked.put(queue.name(), new Block(head, why));
  }

  /** The head of a queue keeps its claim: nobody behind it is looked at, and it is, every time. */
  void stand(QueueState queue, PendingItem head, Explanation why) {
    block(queue, head, why);
    standing
        .computeIfAbsent(queue.node().root(), root -> new LinkedHashMap<>())
        .put(queue.name(), queue);
  }

  /** Of each tree, the heads in line that the next cycle looks at; empty if some stand there. */
  Function<QuotaNode, Optional<List<Head>>> inLine() {
    Map<QuotaNode, List<Head>> heads = new HashMap<>();
    for (QueueState queue : ready.values()) {
      PendingItem head = queue.active() ? queue.pending().head() : null;
      if (head != null) {
        heads
            .computeIfAbsent(queue.node().root(), root -> new ArrayList<>())
            .add(new Head(queue, head));
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
    stir(node);
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
  void stir(QuotaNode node) {
    if (!standing.isEmpty()) {
      ready.putAll(standing.getOrDefault(node.root(), Map.of()));
    }
  }

  /** Whatever blocked this queue may be over. */
  void unblock(QueueState queue) {
    clear(queue);
    add(queue);
  }

  /** Why this item blocks its queue; null if it doesn't. */
  @Nullable Explanation blockedWhy(String clusterQueue, PendingItem item) {
    Block block = blocked.get(clusterQueue);
    return block != null && block.head == item ? block.why : null;
  }

  /** The head before which this item can't be looked at; null if there is none. */
  @Nullable PendingItem blockedBy(String clusterQueue) {
    Block block = blocked.get(clusterQueue);
    return block == null ? null : block.head;
  }

  boolean isBlockedBy(String clusterQueue, EquivalenceClass equals) {
    Block block = blocked.get(clusterQueue);
    return block != null && block.head.equivalenceClass() == equals;
  }

  /** This queue is gone, or has nobody in line; whoever stands beside it may profit from that. */
  void remove(QueueState queue) {
    if (isStanding(queue)) {
      stir(queue.node());
    }
    ready.remove(queue.name());
    clear(queue);
  }

  private boolean isStanding(QueueState queue) {
    return standing.getOrDefault(queue.node().root(), Map.of()).containsKey(queue.name());
  }

  private void clear(QueueState queue) {
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
  List<QueueState> take() {
    Map<String, QueueState> all = ready;
    // A map that once held all queues would cost as much to clear each time.
    ready = new LinkedHashMap<>();
    if (!standing.isEmpty()) {
      for (QueueState queue : List.copyOf(all.values())) {
        Map<String, QueueState> beside = standing.remove(queue.node().root());
        if (beside != null) {
          all.putAll(beside);
        }
      }
    }
    all.keySet().forEach(blocked::remove);
    return new ArrayList<>(all.values());
  }
}

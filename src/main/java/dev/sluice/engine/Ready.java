package dev.sluice.engine;

import dev.sluice.model.Explanation;
import dev.sluice.queue.EquivalenceClass;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Queues whose head the next cycle looks at. A StrictFIFO queue whose head doesn't fit is blocked:
 * it is looked at again when that head is woken, or another one stands before it.
 */
final class Ready {

  private record Block(PendingItem head, Explanation why) {}

  private Map<String, QueueState> ready = new LinkedHashMap<>();
  private final Map<String, Block> blocked = new HashMap<>();

  /** Something happened in this queue: its head may be worth a look. */
  void add(QueueState queue) {
    PendingItem head = queue.pending().head();
    if (head == null) {
      ready.remove(queue.name());
      return;
    }
    Block block = blocked.get(queue.name());
    if (block == null || block.head != head) {
      blocked.remove(queue.name());
      ready.put(queue.name(), queue);
    }
  }

  /** The head of a StrictFIFO queue doesn't fit: nobody behind it is looked at. */
  void block(QueueState queue, PendingItem head, Explanation why) {
    ready.remove(queue.name());
    blocked.put(queue.name(), new Block(head, why));
  }

  /** Whatever blocked this queue may be over. */
  void unblock(QueueState queue) {
    blocked.remove(queue.name());
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

  void remove(String clusterQueue) {
    ready.remove(clusterQueue);
    blocked.remove(clusterQueue);
  }

  boolean isEmpty() {
    return ready.isEmpty();
  }

  /** All of them, which are then no longer ready until something is said of them again. */
  List<QueueState> take() {
    List<QueueState> all = new ArrayList<>(ready.values());
    // A map that once held all queues would cost as much to clear each time.
    ready = new LinkedHashMap<>();
    return all;
  }
}

package dev.sluice.core.waiting;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** What the names in a {@link WaitingExport} stand for in one engine. */
public interface ExportedNames {

  /** The queue of this name; null if it was deleted. */
  @Nullable ClusterQueueCache queue(String name);

  /** The Workload of this UID in its queue; null if it isn't in a queue. */
  @Nullable QueuedWorkload queued(String uid);

  /** The root of a quota tree; null if there is no such tree. */
  @Nullable QuotaNode root(WaitingExport.TreeRoot root);

  /** Whether an item is the one that its queue has: not one that left the queue. */
  default boolean isQueued(QueuedWorkload item) {
    return queued(item.id().uid()) == item;
  }

  /** The order in which trees are exported. */
  Comparator<QuotaNode> BY_ROOT =
      Comparator.comparing(QuotaNode::name).thenComparing(QuotaNode::isQueue);

  /** The name of a root. */
  static WaitingExport.TreeRoot nameOf(QuotaNode root) {
    return new WaitingExport.TreeRoot(root.name(), root.isQueue());
  }
}

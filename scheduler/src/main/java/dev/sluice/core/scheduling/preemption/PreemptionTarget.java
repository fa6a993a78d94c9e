package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;

/** A holder to evict, its queue, and the policy that selected it. */
public record PreemptionTarget(
    QuotaHolder quotaHolder, ClusterQueueCache queue, PreemptionReason reason) {

  /** Removes the holder's usage from the quota tree; {@link #restoreUsage} must undo this. */
  public void removeUsage() {
    quotaHolder.removeUsage(queue);
  }

  /** Undoes {@link #removeUsage}. */
  public void restoreUsage() {
    quotaHolder.restoreUsage(queue);
  }
}

package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.PreemptionReason;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;

/** A holder that is to be evicted: of which queue, and by which policy. */
public record PreemptionTarget(
    QuotaHolder quotaHolder, ClusterQueueCache queue, PreemptionReason reason) {

  /** Takes what it holds out of the quota tree; to be undone by {@link #restoreUsage}. */
  public void removeUsage() {
    quotaHolder.removeUsage(queue);
  }

  /** Undoes {@link #removeUsage}. */
  public void restoreUsage() {
    quotaHolder.restoreUsage(queue);
  }
}

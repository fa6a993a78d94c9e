package dev.sluice.scheduling.preemption;

import dev.sluice.model.PreemptionReason;
import dev.sluice.queue.QuotaHolder;
import dev.sluice.queue.ClusterQueueCache;

/** A holder that is to be evicted: of which queue, and by which policy. */
public record PreemptionTarget(QuotaHolder quotaHolder, ClusterQueueCache queue, PreemptionReason reason) {

  /** Takes what it holds out of the quota tree; to be undone by {@link #comeBack}. */
  public void leave() {
    quotaHolder.leave(queue);
  }

  /** Undoes {@link #leave}. */
  public void comeBack() {
    quotaHolder.comeBack(queue);
  }
}

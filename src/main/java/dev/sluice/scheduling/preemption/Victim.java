package dev.sluice.scheduling.preemption;

import dev.sluice.model.PreemptionReason;
import dev.sluice.queue.Holder;
import dev.sluice.queue.QueueState;

/** A holder that is to be evicted: of which queue, and by which policy. */
public record Victim(Holder holder, QueueState queue, PreemptionReason reason) {

  /** Takes what it holds out of the quota tree; to be undone by {@link #comeBack}. */
  public void leave() {
    holder.leave(queue);
  }

  /** Undoes {@link #leave}. */
  public void comeBack() {
    holder.comeBack(queue);
  }
}

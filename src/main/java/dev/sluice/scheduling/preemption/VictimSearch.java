package dev.sluice.scheduling.preemption;

import dev.sluice.queue.QueueState;
import java.util.List;
import java.util.Optional;

/** The policy that says whom a Workload may preempt; chosen once, when the engine is built. */
@FunctionalInterface
public interface VictimSearch {

  /**
   * Victims found.
   *
   * @param victims whom to evict; at least one
   * @param borrowLevel how high the preemptor borrows for what it needs once they are gone
   */
  record Found(List<Victim> victims, int borrowLevel) {
    public Found {
      victims = List.copyOf(victims);
    }
  }

  /**
   * Whom to evict so that the preemptor fits; empty if nobody it may evict makes it fit. Quota
   * usage and holders are as before when it returns.
   */
  Optional<Found> find(Preemptor preemptor);

  /** Whether a queue may preempt where its request borrows, whatever else its policies say. */
  default boolean mayPreemptBorrowing(QueueState queue) {
    return queue.spec().preemption().borrowWithinCohort();
  }
}

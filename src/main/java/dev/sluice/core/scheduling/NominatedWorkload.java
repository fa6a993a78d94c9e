package dev.sluice.core.scheduling;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A head with what was found for it.
 *
 * @param item the head
 * @param queue the queue it waits in
 * @param assignment the flavors it would get
 * @param victims whom to evict for it; none if it fits as it is, or if nobody can be evicted
 * @param search where its search through the flavors came from
 * @param least what came of it with the fewest pods it can start with; null unless it may start
 *     with fewer, and fits neither in full nor in part
 */
public record NominatedWorkload(
    QueuedWorkload item,
    ClusterQueueCache queue,
    Assignment assignment,
    List<PreemptionTarget> preemptionTargets,
    Search search,
    @Nullable Assignment least) {

  /** For how many cycles in a row a Workload is looked at only because flavors are left. */
  private static final int LONGEST_WALK = 32;

  /**
   * Where a search began, the number of the cycle in which it was at the first flavor, and for how
   * many cycles in a row it was looked at only because flavors were left.
   *
   * @param before what was remembered of the search before it; null if nothing was
   */
  record Search(Resumed from, long began, int walked, @Nullable FlavorProgress before) {

    /** The same, to go on to the end in one cycle. */
    Search toTheEnd(long cycle) {
      return new Search(from, cycle, Integer.MAX_VALUE, before);
    }
  }

  /** The flavors after which a search went on; empty if it began at the first. */
  record Resumed(List<Integer> last) {

    static Resumed at(int @Nullable [] progress) {
      return new Resumed(progress == null ? List.of() : Arrays.stream(progress).boxed().toList());
    }
  }

  /** Whether it fits, if need be after preemption. */
  boolean succeeds() {
    return assignment.fits() || !preemptionTargets.isEmpty();
  }

  /** The same, with what came of it with the fewest pods. */
  NominatedWorkload doesNotFitAtAll(Assignment withFewest) {
    return new NominatedWorkload(item, queue, assignment, preemptionTargets, search, withFewest);
  }

  /**
   * What has to be over before it can fit: what it lacks with the fewest pods it can start with.
   */
  Assignment bound() {
    return least == null ? assignment : least;
  }

  /** Whether it stays in line because flavors were not tried yet. */
  boolean walksOn() {
    return assignment.progress() != null && search.walked < LONGEST_WALK;
  }
}

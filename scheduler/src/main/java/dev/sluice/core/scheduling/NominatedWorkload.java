package dev.sluice.core.scheduling;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import dev.sluice.core.waiting.CycleHeads;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A head with its nomination.
 *
 * @param item the head
 * @param queue the queue of the head
 * @param assignment the flavors for the head
 * @param preemptionTargets the Workloads to evict for the head; empty if it fits without
 *     preemption, or if no sufficient targets exist
 * @param search the origin of the flavor search
 * @param fewestPods the assignment with the fewest pods that the head can start with; null unless
 *     partial admission is allowed and the head fits neither in full nor in part
 * @param plain whether the head needs no outcome if it is skipped, see {@link CycleHeads}
 */
public record NominatedWorkload(
    QueuedWorkload item,
    ClusterQueueCache queue,
    Assignment assignment,
    List<PreemptionTarget> preemptionTargets,
    Search search,
    @Nullable Assignment fewestPods,
    boolean plain) {

  /** The most consecutive cycles that evaluate a Workload only because flavors are left. */
  private static final int MAX_SEARCH_CYCLES = 32;

  /** The number of cycles of a search that tries all remaining flavors in one cycle. */
  private static final int EXHAUSTIVE = Integer.MAX_VALUE;

  /**
   * The origin of a flavor search: where it resumed, the number of the cycle in which it was at the
   * first flavor, and the number of consecutive cycles that evaluated the Workload only because
   * flavors were left.
   *
   * @param before the progress before this search; null if there was none
   */
  record Search(Resumed from, long began, int searchCycles, @Nullable FlavorProgress before) {

    CycleOutcome.Searched searched() {
      if (!from.last().isEmpty() && searchCycles < EXHAUSTIVE) {
        return searchCycles > 0 ? CycleOutcome.Searched.REST_IN_TURN : CycleOutcome.Searched.REST;
      }
      return searchCycles > 0 ? CycleOutcome.Searched.IN_TURN : CycleOutcome.Searched.ALL;
    }

    /** The same search, which tries all remaining flavors in one cycle. */
    Search exhaustive(long cycle) {
      return new Search(from, cycle, EXHAUSTIVE, before);
    }
  }

  /** The flavors after which a search resumed; empty if it started at the first flavor. */
  record Resumed(List<Integer> last) {

    static Resumed at(int @Nullable [] progress) {
      return new Resumed(progress == null ? List.of() : Arrays.stream(progress).boxed().toList());
    }
  }

  /** Whether the head is guaranteed in its queue, and so held to nominal quota. */
  boolean guaranteed() {
    return item.equivalenceClass().demand(queue).guaranteed();
  }

  /** Whether the head fits, if necessary after preemption. */
  boolean succeeds() {
    return assignment.fits() || !preemptionTargets.isEmpty();
  }

  /** The same nomination, with the assignment with the fewest pods. */
  NominatedWorkload withMinimum(Assignment withFewest) {
    return new NominatedWorkload(
        item, queue, assignment, preemptionTargets, search, withFewest, plain);
  }

  /**
   * The assignment whose missing amounts must become available first: the one with the fewest pods.
   */
  Assignment minimumAssignment() {
    return fewestPods == null ? assignment : fewestPods;
  }

  /** Whether the head stays active because flavors are left. */
  boolean hasFlavorsLeft() {
    return assignment.progress() != null && search.searchCycles < MAX_SEARCH_CYCLES;
  }
}

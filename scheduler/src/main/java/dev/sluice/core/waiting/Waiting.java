package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.EquivalenceClass.Shortage;
import java.util.List;

/**
 * What a Workload waits for that a cycle evaluated and didn't admit: the event after which a cycle
 * evaluates the Workload again, and the explanation for people until then.
 */
public sealed interface Waiting {

  /** Why the Workload is pending. */
  Explanation explanation();

  /**
   * The Workload blocks its queue until its queue is unblocked or another Workload becomes the
   * head.
   */
  record Blocking(Explanation explanation) implements Waiting {}

  /**
   * The Workload blocks its queue and holds a claim on quota: it takes part in every cycle of its
   * tree, but causes no cycle itself.
   */
  record Claiming(Explanation explanation) implements Waiting {}

  /**
   * The Workload blocks its queue until a Workload of the tree loses quota: the queue or a cohort
   * has as many Workloads with quota as it may.
   */
  record AtLimit(Explanation explanation) implements Waiting {}

  /** The Workload is held until its eligibility may have changed. */
  record Ineligible(Explanation explanation) implements Waiting {}

  /** The Workload is held until the pause after its attempts in vain is over. */
  record Pausing(Explanation explanation) implements Waiting {}

  /**
   * The Workload is held until quota is released in its tree: a preemption gate of the Workload is
   * closed, or a budget has too little left for the flavors that are free.
   */
  record Gated(Explanation explanation) implements Waiting {}

  /**
   * The Workload waits with its class until a release may help the class. Where a head blocks its
   * queue, the Workload does so meanwhile.
   *
   * @param shortages the missing amounts
   * @param competing whether any release of quota may make the class fit: its pod sets compete for
   *     quota, so that a release may change their flavors
   * @param preempts whether new preemption targets may make the class fit
   */
  record Inadmissible(
      Explanation explanation, List<Shortage> shortages, boolean competing, boolean preempts)
      implements Waiting {}

  /** No cycle runs until the pods of all admitted Workloads are ready; then the Workload fits. */
  record ForPodsReady(Explanation explanation) implements Waiting {}
}

package dev.sluice.scheduling.flavor;

import dev.sluice.model.FlavorAttempt;
import dev.sluice.model.PendingReason;
import dev.sluice.model.PodSetAssignment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of the search for flavors.
 *
 * @param noFit why it doesn't fit; null if it does
 * @param podSets what each pod set would get; complete only if it fits
 * @param usage what it would use, summed by pair
 * @param borrowLevel the highest level of the cohort tree from which it borrows
 * @param attempts what was tried
 * @param lacks the pairs of which more would have been needed
 * @param competing whether something lacked only on top of what an earlier pod set takes: other
 *     flavors for that one may help
 * @param progress where the search would go on, by pod-set group and resource group; null if every
 *     flavor was tried
 */
public record Assignment(
    @Nullable PendingReason noFit,
    List<PodSetAssignment> podSets,
    List<PairAmount> usage,
    int borrowLevel,
    List<FlavorAttempt> attempts,
    List<PairAmount> lacks,
    boolean competing,
    int @Nullable [] progress) {

  /** An amount of a pair, by its number. */
  public record PairAmount(int pair, long amount) {}

  /** Whether it fits. */
  public boolean fits() {
    return noFit == null;
  }
}

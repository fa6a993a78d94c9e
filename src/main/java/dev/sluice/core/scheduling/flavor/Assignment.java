package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PodSetAssignment;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What came of the search for flavors.
 *
 * @param noFit why it doesn't fit; null if it does, or would after preemption
 * @param podSetsGet tells what each pod set would get; complete only if it fits
 * @param usage what it would use, summed by pair
 * @param needed the pairs, by number, that take preemption; none if it fits as it is
 * @param borrowLevel the highest level of the cohort tree from which it borrows
 * @param tried tells what was tried
 * @param lacks the pairs of which more would have been needed
 * @param competing whether other flavors may help: something lacked only on top of what an earlier
 *     pod set takes, or takes preemption
 * @param progress where the search would go on, by pod-set group and resource group; null if every
 *     flavor was tried
 * @param chosen the index of the flavor that was chosen, by pod-set group and resource group; -1
 *     where none was
 */
public record Assignment(
    @Nullable PendingReason noFit,
    Supplier<List<PodSetAssignment>> podSetsGet,
    List<PairAmount> usage,
    int[] needed,
    int borrowLevel,
    Supplier<List<FlavorAttempt>> tried,
    List<PairAmount> lacks,
    boolean competing,
    int @Nullable [] progress,
    int[] chosen) {

  /** An amount of a pair, by its number. */
  public record PairAmount(int pair, long amount) {}

  /** What each pod set would get; complete only if it fits. Found out when it is asked for. */
  public List<PodSetAssignment> podSets() {
    return podSetsGet.get();
  }

  /** What was tried. */
  public List<FlavorAttempt> attempts() {
    return tried.get();
  }

  /** Whether it fits as it is. */
  public boolean fits() {
    return noFit == null && needed.length == 0;
  }

  /** Whether it would fit if somebody was preempted. */
  public boolean needsPreemption() {
    return noFit == null && needed.length > 0;
  }
}

package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The result of a search for flavors.
 *
 * @param noFit why the request doesn't fit; null if it fits, or would after preemption
 * @param podSetsGet supplies the assignment of each pod set; complete only if the request fits
 * @param usage the usage of the request, summed by pair
 * @param needed the numbers of the pairs that need preemption; empty if the request fits
 * @param borrowLevel the highest level of the cohort tree from which the request borrows
 * @param tried supplies the attempts
 * @param shortages the pairs that were not sufficiently available, with the needed amounts
 * @param competing whether other flavors may make the request fit: a pair is short only because of
 *     an earlier pod set, a flavor costs too much or has another topology only beside those chosen
 *     before, or a pair needs preemption
 * @param progress where the search has to resume, by pod-set group and resource group; null if
 *     every flavor was tried
 * @param chosen the index of the chosen flavor, by pod-set group and resource group; -1 without a
 *     choice
 * @param places the places of the pods
 */
public record Assignment(
    @Nullable PendingReason noFit,
    Supplier<List<PodSetAssignment>> podSetsGet,
    List<PairAmount> usage,
    int[] needed,
    int borrowLevel,
    Supplier<List<FlavorAttempt>> tried,
    List<PairAmount> shortages,
    boolean competing,
    int @Nullable [] progress,
    int[] chosen,
    AssignedPlaces places) {

  /** An assignment without places. */
  public Assignment(
      @Nullable PendingReason noFit,
      Supplier<List<PodSetAssignment>> podSetsGet,
      List<PairAmount> usage,
      int[] needed,
      int borrowLevel,
      Supplier<List<FlavorAttempt>> tried,
      List<PairAmount> shortages,
      boolean competing,
      int @Nullable [] progress,
      int[] chosen) {
    this(
        noFit,
        podSetsGet,
        usage,
        needed,
        borrowLevel,
        tried,
        shortages,
        competing,
        progress,
        chosen,
        AssignedPlaces.NONE);
  }

  /** The same assignment with places for its pods. */
  public Assignment with(AssignedPlaces found) {
    return new Assignment(
        noFit,
        () -> placed(podSetsGet.get(), found.podSets()),
        usage,
        needed,
        borrowLevel,
        tried,
        shortages,
        competing,
        progress,
        chosen,
        found);
  }

  private static List<PodSetAssignment> placed(
      List<PodSetAssignment> podSets, List<PodSetTopology> places) {
    List<PodSetAssignment> result = new ArrayList<>(podSets.size());
    for (int i = 0; i < podSets.size(); i++) {
      result.add(podSets.get(i).with(places.get(i)));
    }
    return result;
  }

  /**
   * The same assignment, whose pods have no places at the moment and need preemption of pairs; any
   * release of quota may make room for them.
   */
  Assignment lackingPlaces(AssignedPlaces lacking, int[] pairs) {
    List<PairAmount> released = new ArrayList<>(pairs.length);
    for (int pair : pairs) {
      released.add(new PairAmount(pair, 0));
    }
    return new Assignment(
        null,
        List::of,
        usage,
        pairs,
        borrowLevel,
        () -> lacking.rejections(),
        released,
        true,
        progress,
        chosen,
        lacking);
  }

  /** The same assignment, which doesn't fit because empty nodes have no room for its pods. */
  Assignment withoutPlaces(PendingReason reason, AssignedPlaces lacking) {
    return new Assignment(
        reason,
        List::of,
        usage,
        new int[0],
        borrowLevel,
        () -> lacking.rejections(),
        usage.stream().map(each -> new PairAmount(each.pair(), 0)).toList(),
        true,
        progress,
        chosen,
        lacking);
  }

  /** An amount of a pair, by its number. */
  public record PairAmount(int pair, long amount) {}

  /** The assignment of each pod set; complete only if the request fits. Computed on demand. */
  public List<PodSetAssignment> podSets() {
    return podSetsGet.get();
  }

  /** The attempts. */
  public List<FlavorAttempt> attempts() {
    return tried.get();
  }

  /** Whether the request fits without preemption. */
  public boolean fits() {
    return noFit == null && needed.length == 0;
  }

  /** Whether the request would fit after preemption. */
  public boolean needsPreemption() {
    return noFit == null && needed.length > 0;
  }
}

package dev.sluice.workload.feed;

import dev.sluice.api.config.Resources.Transformation;
import java.util.List;

/**
 * Options of the translation of Workloads, from configuration and feature gates.
 *
 * @param excludedPrefixes resources with one of these name prefixes are not counted
 * @param transformations resources that are counted as other resources
 * @param priorityBoost whether the annotation priority-boost is used
 * @param queueByEviction whether a Workload that was evicted because its pods were not ready is
 *     queued by the time of the eviction, and not by the time of its creation
 * @param prioritySortingWithinCohort whether priority decides between queues of a cohort
 * @param partialAdmission whether minCount is used
 * @param podsReadyCount whether admission waits until the pods of admitted Workloads are ready
 * @param preemptionGates whether closed preemption gates block preemption
 * @param reclaimablePods whether pods that no longer need quota are subtracted
 * @param refusesResourceClaims whether Workloads whose pods have resource claims stay pending,
 *     because their devices are not counted
 * @param elasticJobs whether slices of elastic jobs share quota with the slices that they replace
 * @param topology whether topology requests are used
 * @param keepsPlacesOfPods whether a Workload that a single pod owns keeps its place when the node
 *     fails: that pod can't move
 */
public record TranslationOptions(
    List<String> excludedPrefixes,
    List<Transformation> transformations,
    boolean priorityBoost,
    boolean queueByEviction,
    boolean prioritySortingWithinCohort,
    boolean partialAdmission,
    boolean podsReadyCount,
    boolean preemptionGates,
    boolean reclaimablePods,
    boolean refusesResourceClaims,
    boolean elasticJobs,
    boolean topology,
    boolean keepsPlacesOfPods) {

  /** Options for a cluster with elastic jobs and topologies. */
  public TranslationOptions(
      List<String> excludedPrefixes,
      List<Transformation> transformations,
      boolean priorityBoost,
      boolean queueByEviction,
      boolean prioritySortingWithinCohort,
      boolean partialAdmission,
      boolean podsReadyCount,
      boolean preemptionGates,
      boolean reclaimablePods,
      boolean refusesResourceClaims) {
    this(
        excludedPrefixes,
        transformations,
        priorityBoost,
        queueByEviction,
        prioritySortingWithinCohort,
        partialAdmission,
        podsReadyCount,
        preemptionGates,
        reclaimablePods,
        refusesResourceClaims,
        true,
        true,
        true);
  }

  /** Options without preemption gates, which refuse resource claims. */
  public TranslationOptions(
      List<String> excludedPrefixes,
      List<Transformation> transformations,
      boolean priorityBoost,
      boolean queueByEviction,
      boolean prioritySortingWithinCohort,
      boolean partialAdmission,
      boolean podsReadyCount) {
    this(
        excludedPrefixes,
        transformations,
        priorityBoost,
        queueByEviction,
        prioritySortingWithinCohort,
        partialAdmission,
        podsReadyCount,
        false,
        true,
        true);
  }

  /** The defaults of configuration and gates. */
  public static final TranslationOptions DEFAULT =
      new TranslationOptions(List.of(), List.of(), false, true, true, true, false);

  /** Copies the collections. */
  public TranslationOptions {
    excludedPrefixes = List.copyOf(excludedPrefixes);
    transformations = List.copyOf(transformations);
  }
}

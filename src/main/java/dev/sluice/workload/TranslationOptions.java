package dev.sluice.workload;

import dev.sluice.api.config.Resources.Transformation;
import java.util.List;

/**
 * How Workloads are translated, by configuration and gates.
 *
 * @param excludedPrefixes resources whose names begin so don't count
 * @param transformations resources that count as others
 * @param priorityBoost whether the annotation priority-boost counts
 * @param queueByEviction whether a Workload sent back for its pods not being ready queues by the
 *     time of that, and not by its creation
 * @param prioritySortingWithinCohort whether priority decides between queues of a cohort
 * @param partialAdmission whether minCount counts
 * @param podsReadyCount whether it counts that pods of an admitted Workload are not ready
 * @param preemptionGates whether closed preemption gates count
 * @param refusesResourceClaims whether Workloads whose pods have resource claims are held back,
 *     since their devices are not counted
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
    boolean refusesResourceClaims) {

  /** Rules by which preemption gates don't count and resource claims are refused. */
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
        true);
  }

  /** The defaults of configuration and gates. */
  public static final TranslationOptions DEFAULT =
      new TranslationOptions(List.of(), List.of(), false, true, true, true, false);

  /** Keeps copies. */
  public TranslationOptions {
    excludedPrefixes = List.copyOf(excludedPrefixes);
    transformations = List.copyOf(transformations);
  }
}

package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.quota.DominantResourceShare;
import java.util.List;
import java.util.Optional;

/**
 * A snapshot of a ClusterQueue.
 *
 * @param name name of the ClusterQueue
 * @param cohort name of the cohort; empty without cohort
 * @param rootCohort name of the root of the cohort tree; empty without cohort
 * @param problems why the queue is inactive, in the API's order of precedence; empty for an active
 *     queue
 * @param pendingActive number of Workloads that the next cycles will evaluate
 * @param pendingInadmissible number of Workloads that wait for a change
 * @param reserving number of Workloads with quota reserved
 * @param admitted number of those Workloads that are admitted
 * @param dominantResourceShare the share for fair sharing; empty without fair sharing
 * @param usage one entry per declared flavor and resource, in the order of the spec
 */
public record ClusterQueueView(
    String name,
    String cohort,
    String rootCohort,
    List<InactiveReason> problems,
    int pendingActive,
    int pendingInadmissible,
    int reserving,
    int admitted,
    Optional<DominantResourceShare> dominantResourceShare,
    List<FlavorUsage> usage) {

  public ClusterQueueView {
    problems = List.copyOf(problems);
    usage = List.copyOf(usage);
  }

  /** A snapshot without fair sharing. */
  public ClusterQueueView(
      String name,
      String cohort,
      String rootCohort,
      List<InactiveReason> problems,
      int pendingActive,
      int pendingInadmissible,
      int reserving,
      int admitted,
      List<FlavorUsage> usage) {
    this(
        name,
        cohort,
        rootCohort,
        problems,
        pendingActive,
        pendingInadmissible,
        reserving,
        admitted,
        Optional.empty(),
        usage);
  }
}

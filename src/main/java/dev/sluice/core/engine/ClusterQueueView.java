package dev.sluice.core.engine;

import dev.sluice.core.model.InactiveReason;
import dev.sluice.core.quota.DominantResourceShare;
import java.util.List;
import java.util.Optional;

/**
 * What a ClusterQueue looks like from outside, at one moment.
 *
 * @param name its name
 * @param cohort its cohort; empty when it has none
 * @param rootCohort the root of its cohort tree; empty when it has none
 * @param problems why it is not active, in the API's order of precedence; none when it is
 * @param pendingActive Workloads that the next cycles will look at
 * @param pendingInadmissible Workloads that wait for something to change
 * @param reserving Workloads that hold quota
 * @param admitted those of them that are admitted
 * @param share its fair share; empty where queues don't share by weight
 * @param usage one entry per flavor and resource that it declares, in the order of its spec
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

  /** Of one that doesn't share by weight. */
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

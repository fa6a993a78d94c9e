package dev.sluice.core.topology;

/**
 * How topologies are used, from the feature gates of the configuration.
 *
 * @param enabled whether pods are placed by topology (TopologyAwareScheduling)
 * @param placement how places are chosen
 * @param sharedHosts whether flavors with the same nodes count what each other's Workloads use
 *     (TASHandleOverlappingFlavors)
 * @param recomputes whether a placement that was taken by an earlier head of the cycle is computed
 *     again within the cycle (TASRecomputeAssignmentWithinSchedulingCycle)
 * @param replacesNodes whether domains of failed nodes are replaced (TASFailedNodeReplacement)
 * @param failsFast whether a Workload is evicted when no replacement is found
 *     (TASFailedNodeReplacementFailFast)
 * @param grows whether a running elastic job may grow where pods are placed by topology
 *     (ElasticJobsViaWorkloadSlices)
 */
public record TopologyOptions(
    boolean enabled,
    PlacementRules placement,
    boolean sharedHosts,
    boolean recomputes,
    boolean replacesNodes,
    boolean failsFast,
    boolean grows) {

  /** The defaults of the gates. */
  public static final TopologyOptions DEFAULT =
      new TopologyOptions(true, PlacementRules.DEFAULT, true, true, true, true, false);

  /**
   * How places are chosen.
   *
   * @param mixedProfile whether pods that may be anywhere fill the domains with least free capacity
   *     first (TASProfileMixed)
   * @param balanced whether pods with a preferred level are spread evenly over domains
   *     (TASBalancedPlacement)
   * @param preferredAffinity whether domains of nodes with preferred node affinity come first
   *     (TASRespectNodeAffinityPreferred)
   * @param partialSlices whether the size of slices may be one that doesn't divide the number of
   *     pods (TASPartialSlices)
   * @param eachNode whether the nodes of a domain that is no node are judged one by one
   *     (TASNodeFeasibilityForAllLevels)
   * @param leaderLikeWorkers whether the template of the workers decides which nodes a leader may
   *     run on; otherwise its own does (TASLeaderPodSetFeasibility)
   */
  public record PlacementRules(
      boolean mixedProfile,
      boolean balanced,
      boolean preferredAffinity,
      boolean partialSlices,
      boolean eachNode,
      boolean leaderLikeWorkers) {

    /** The defaults of the gates. */
    public static final PlacementRules DEFAULT =
        new PlacementRules(true, false, false, true, true, false);
  }
}

package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.placement.PendingSummary;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.placement.PlacementPlan;
import dev.sluice.checks.multikueue.placement.WorkerState;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement;
import dev.sluice.queues.cache.LocalClusters.QuotaLocation;
import dev.sluice.workload.CachedWorkload;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** What is to be done about one Workload, whether it is to run here or elsewhere. */
final class PlacementPlanner {

  private final WorkloadPlacement workloadPlacement;
  private final WorkloadStateReader workloadStateReader;

  PlacementPlanner(WorkloadPlacement workloadPlacement, WorkloadStateReader workloadStateReader) {
    this.workloadPlacement = workloadPlacement;
    this.workloadStateReader = workloadStateReader;
  }

  /**
   * What comes of a look.
   *
   * @param plan what to do
   * @param answers what workers say of it meanwhile; empty when nobody is asked
   */
  record Planned(PlacementPlan placementPlan, String answers) {}

  Planned of(
      WorkloadGroup workloadGroup,
      ManagerState managerState,
      ClusterCandidates clusterCandidates,
      Map<String, WorkerState> workerStates) {
    return switch (workloadStateReader.home(workloadGroup)) {
      case QuotaLocation.Remote remote -> {
        PlacementPlan placementPlan =
            workloadPlacement.decide(
                managerState, clusterCandidates.allowed(), workerStates, workloadGroup.now());
        yield new Planned(
            settled(workloadGroup, placementPlan),
            PendingSummary.of(managerState, clusterCandidates, workerStates));
      }
      case QuotaLocation.Local(String cluster) -> {
        PlacementPlan placementPlan =
            workloadPlacement.decideHere(managerState, cluster, workerStates, workloadGroup.now());
        yield new Planned(settled(workloadGroup, placementPlan), "");
      }
      case QuotaLocation.Mixed(Set<String> flavors) -> {
        ManagerState torn = managerState.unsendable(isSplit(flavors));
        PlacementPlan placementPlan =
            workloadPlacement.decide(
                torn, clusterCandidates.allowed(), workerStates, workloadGroup.now());
        yield new Planned(settled(workloadGroup, placementPlan), "");
      }
    };
  }

  private static String isSplit(Set<String> flavors) {
    return "it got quota of this cluster and of others (flavors %s); put the resources of its ClusterQueue into one resource group"
        .formatted(String.join(", ", new TreeSet<>(flavors)));
  }

  /** When one goes of which nothing is left in workers, its job tells of no pods there any more. */
  private static PlacementPlan settled(WorkloadGroup workloadGroup, PlacementPlan placementPlan) {
    boolean gone =
        placementPlan.placementActions().isEmpty() && placementPlan.lookAgain().isEmpty();
    return gone && workloadGroup.workload().filter(CachedWorkload::deleting).isPresent()
        ? new PlacementPlan(List.of(new PlacementAction.ClearPodStatus()), Optional.empty())
        : placementPlan;
  }
}

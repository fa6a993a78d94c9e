package dev.sluice.checks.multikueue.sending;

import dev.sluice.checks.multikueue.placement.Action;
import dev.sluice.checks.multikueue.placement.Answers;
import dev.sluice.checks.multikueue.placement.Candidates;
import dev.sluice.checks.multikueue.placement.Local;
import dev.sluice.checks.multikueue.placement.Placement;
import dev.sluice.checks.multikueue.placement.Plan;
import dev.sluice.checks.multikueue.placement.Remote;
import dev.sluice.controllers.world.LocalWorkers.Home;
import dev.sluice.workloads.Workload;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** What is to be done about one Workload, whether it is to run here or elsewhere. */
final class Planner {

  private final Placement placement;
  private final Views views;

  Planner(Placement placement, Views views) {
    this.placement = placement;
    this.views = views;
  }

  /**
   * What comes of a look.
   *
   * @param plan what to do
   * @param answers what workers say of it meanwhile; empty when nobody is asked
   */
  record Planned(Plan plan, String answers) {}

  Planned of(Errand errand, Local local, Candidates candidates, Map<String, Remote> remotes) {
    return switch (views.home(errand)) {
      case Home.Elsewhere elsewhere -> {
        Plan plan = placement.decide(local, candidates.allowed(), remotes, errand.now());
        yield new Planned(settled(errand, plan), Answers.of(local, candidates, remotes));
      }
      case Home.Here(String cluster) -> {
        Plan plan = placement.decideHere(local, cluster, remotes, errand.now());
        yield new Planned(settled(errand, plan), "");
      }
      case Home.Mixed(Set<String> flavors) -> {
        Local torn = local.unsendable(tornApart(flavors));
        Plan plan = placement.decide(torn, candidates.allowed(), remotes, errand.now());
        yield new Planned(settled(errand, plan), "");
      }
    };
  }

  private static String tornApart(Set<String> flavors) {
    return "it got quota of this cluster and of others (flavors %s); put the resources of its ClusterQueue into one resource group"
        .formatted(String.join(", ", new TreeSet<>(flavors)));
  }

  /** When one goes of which nothing is left in workers, its job tells of no pods there any more. */
  private static Plan settled(Errand errand, Plan plan) {
    boolean gone = plan.actions().isEmpty() && plan.lookAgain().isEmpty();
    return gone && errand.workload().filter(Workload::deleting).isPresent()
        ? new Plan(List.of(new Action.Settle()), Optional.empty())
        : plan;
  }
}

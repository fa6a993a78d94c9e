package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A made-up world whose quotas follow a capacity that changes (docs/dynamic-quota.md): again and
 * again many queues and cohorts have another part of the quota that was declared, or none.
 */
final class CapacityWorld {

  private final Dice dice;
  private final Map<String, ClusterQueueSpec> queues = new TreeMap<>();
  private final Map<String, CohortSpec> cohorts = new TreeMap<>();

  private CapacityWorld(long seed) {
    dice = new Dice(seed);
  }

  /** The steps of a world, between which quotas change. */
  static List<Step> steps(long seed, List<Step> world) {
    CapacityWorld woven = new CapacityWorld(seed);
    List<Step> steps = new ArrayList<>();
    for (Step step : world) {
      steps.add(step);
      if (step instanceof Step.Declare(SchedulerEvent declared)) {
        woven.note(declared);
      } else if (woven.dice.chance(12)) {
        woven.capacityChanges(steps);
      }
    }
    return steps;
  }

  private void note(SchedulerEvent declared) {
    switch (declared) {
      case SchedulerEvent.ClusterQueueChanged(var queue) -> queues.put(queue.name(), queue);
      case SchedulerEvent.ClusterQueueRemoved(var name) -> queues.remove(name);
      case SchedulerEvent.CohortChanged(var cohort) -> cohorts.put(cohort.name(), cohort);
      case SchedulerEvent.CohortRemoved(var name) -> cohorts.remove(name);
      default -> {
        // nothing that has quota
      }
    }
  }

  private void capacityChanges(List<Step> steps) {
    int percent = dice.pick(new Integer[] {0, 30, 50, 100, 100, 200});
    for (ClusterQueueSpec queue : queues.values()) {
      if (dice.chance(60)) {
        steps.add(
            new Step.Declare(
                new SchedulerEvent.ClusterQueueChanged(
                    queue.with(groups(queue.groups(), percent)))));
      }
    }
    for (CohortSpec cohort : cohorts.values()) {
      if (dice.chance(60)) {
        steps.add(
            new Step.Declare(
                new SchedulerEvent.CohortChanged(
                    new CohortSpec(
                        cohort.name(),
                        cohort.parent(),
                        groups(cohort.groups(), percent),
                        cohort.fairWeight(),
                        cohort.rules()))));
      }
    }
  }

  /** An empty list is a valid override. */
  private List<ResourceGroup> groups(List<ResourceGroup> declared, int percent) {
    return dice.chance(4)
        ? List.of()
        : declared.stream()
            .map(
                group ->
                    new ResourceGroup(
                        group.resources(),
                        group.flavors().stream().map(each -> part(each, percent)).toList()))
            .toList();
  }

  private static ResourceGroup.FlavorQuotas part(ResourceGroup.FlavorQuotas declared, int percent) {
    Map<String, Quota> quotas = new HashMap<>();
    declared
        .quotas()
        .forEach(
            (resource, quota) ->
                quotas.put(
                    resource,
                    new Quota(
                        // what is beyond all capacity stays so
                        quota.nominal() > 1_000 ? quota.nominal() : quota.nominal() * percent / 100,
                        quota.borrowingLimit(),
                        quota.lendingLimit())));
    return new ResourceGroup.FlavorQuotas(declared.flavor(), quotas);
  }
}

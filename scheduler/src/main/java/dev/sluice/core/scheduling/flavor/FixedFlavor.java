package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.Flavor;
import dev.sluice.core.queue.ResourceDemand;
import java.util.Map;

/** The flavor of a request that has no choice of flavors. */
public final class FixedFlavor {

  private FixedFlavor() {}

  /**
   * Whether all pods of the request may run on the nodes of its only flavor, whatever the quota;
   * true if it has a choice of flavors.
   */
  public static boolean isEligible(Map<String, Flavor> flavors, ResourceDemand resourceDemand) {
    ResourceDemand.Fixed fixed = resourceDemand.fixed();
    if (fixed == null) {
      return true;
    }
    Flavor flavor =
        flavors.get(resourceDemand.queue().groups().get(fixed.group()).flavors().getFirst());
    for (int member : resourceDemand.bundles().getFirst().members()) {
      if (FlavorEligibility.rejection(
              flavor, resourceDemand.podSets().get(member).nodeConstraints())
          .isPresent()) {
        return false;
      }
    }
    return true;
  }
}

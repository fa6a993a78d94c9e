package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether pods may run on the nodes of a flavor
 * (docs/scheduling-semantics.md#flavor-assignment).
 */
public final class FlavorEligibility {

  private FlavorEligibility() {}

  /** Why the pods can't run on the flavor's nodes; empty if they can. */
  public static Optional<FlavorRejection> rejection(
      @Nullable Flavor flavor, NodeConstraints nodeConstraints) {
    if (flavor == null) {
      return Optional.of(new FlavorRejection.FlavorMissing());
    }
    for (Taint taint : flavor.nodeTaints()) {
      if (taint.keepsPodsOff()
          && !tolerated(taint, nodeConstraints.tolerations())
          && !tolerated(taint, flavor.tolerations())) {
        return Optional.of(new FlavorRejection.UntoleratedTaint(taint));
      }
    }
    if (isRefused(NodeConstraints.VARIANT, flavor.name(), nodeConstraints)) {
      return Optional.of(new FlavorRejection.OfAnotherVariant());
    }
    if (isRefused(NodeConstraints.FLAVOR, flavor.name(), nodeConstraints)) {
      return Optional.of(new FlavorRejection.NodesRefused());
    }
    return selects(nodeConstraints, flavor.nodeLabels())
        ? Optional.empty()
        : Optional.of(new FlavorRejection.PlacementMismatch());
  }

  private static boolean tolerated(Taint taint, List<Toleration> tolerations) {
    for (Toleration toleration : tolerations) {
      if (toleration.tolerates(taint)) {
        return true;
      }
    }
    return false;
  }

  /** Whether a requirement of every term excludes the flavor by its name. */
  private static boolean isRefused(String key, String flavor, NodeConstraints nodeConstraints) {
    List<List<LabelRequirement>> terms = nodeConstraints.affinityTerms();
    return !terms.isEmpty()
        && terms.stream()
            .allMatch(
                term ->
                    term.stream()
                        .filter(requirement -> requirement.key().equals(key))
                        .anyMatch(requirement -> !requirement.matches(Map.of(key, flavor))));
  }

  /** Compares only keys that the flavor labels: for other keys its nodes may have any value. */
  private static boolean selects(NodeConstraints nodeConstraints, Map<String, String> labels) {
    for (Map.Entry<String, String> wanted : nodeConstraints.nodeSelector().entrySet()) {
      String actual = labels.get(wanted.getKey());
      if (actual != null && !actual.equals(wanted.getValue())) {
        return false;
      }
    }
    return nodeConstraints.affinityTerms().isEmpty()
        || nodeConstraints.affinityTerms().stream().anyMatch(term -> termMatches(term, labels));
  }

  /** Whether a term matches; a term without a requirement on the flavor's keys does. */
  private static boolean termMatches(List<LabelRequirement> term, Map<String, String> labels) {
    for (LabelRequirement requirement : term) {
      if (labels.containsKey(requirement.key()) && !requirement.matches(labels)) {
        return false;
      }
    }
    return true;
  }

  /** The flavor of a request that has no choice of flavors. */
  public static final class FixedFlavor {

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
}

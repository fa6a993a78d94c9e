package dev.sluice.scheduling.flavor;

import dev.sluice.model.Flavor;
import dev.sluice.model.LabelRequirement;
import dev.sluice.model.Obstacle;
import dev.sluice.model.Placement;
import dev.sluice.model.Taint;
import dev.sluice.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Whether pods may run on the nodes of a flavor at all (scheduling semantics, section 6). */
final class Eligibility {

  private Eligibility() {}

  /** What keeps the pods off the flavor's nodes; empty if nothing does. */
  static Optional<Obstacle> obstacle(@Nullable Flavor flavor, Placement placement) {
    if (flavor == null) {
      return Optional.of(new Obstacle.FlavorMissing());
    }
    for (Taint taint : flavor.nodeTaints()) {
      if (taint.keepsPodsOff()
          && !tolerated(taint, placement.tolerations())
          && !tolerated(taint, flavor.tolerations())) {
        return Optional.of(new Obstacle.UntoleratedTaint(taint));
      }
    }
    return selects(placement, flavor.nodeLabels())
        ? Optional.empty()
        : Optional.of(new Obstacle.PlacementMismatch());
  }

  private static boolean tolerated(Taint taint, List<Toleration> tolerations) {
    for (Toleration toleration : tolerations) {
      if (toleration.tolerates(taint)) {
        return true;
      }
    }
    return false;
  }

  /** Only keys that the flavor labels count: of others its nodes may have any value. */
  private static boolean selects(Placement placement, Map<String, String> labels) {
    for (Map.Entry<String, String> wanted : placement.nodeSelector().entrySet()) {
      String actual = labels.get(wanted.getKey());
      if (actual != null && !actual.equals(wanted.getValue())) {
        return false;
      }
    }
    return placement.affinityTerms().isEmpty()
        || placement.affinityTerms().stream().anyMatch(term -> termMatches(term, labels));
  }

  /** A term of which no requirement is about the flavor's keys matches. */
  private static boolean termMatches(List<LabelRequirement> term, Map<String, String> labels) {
    for (LabelRequirement requirement : term) {
      if (labels.containsKey(requirement.key()) && !requirement.matches(labels)) {
        return false;
      }
    }
    return true;
  }
}

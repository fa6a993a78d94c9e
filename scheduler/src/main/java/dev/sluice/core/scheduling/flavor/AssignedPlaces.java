package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.topology.TopologyUsage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Places for the pods of an assignment.
 *
 * @param podSets the places of each pod set; empty without places
 * @param usage what the pods use of their places; null without places
 * @param rejections the flavors that have no room for the pods at the moment; empty if there is
 *     room, or if no places are needed
 */
public record AssignedPlaces(
    List<PodSetTopology> podSets, @Nullable TopologyUsage usage, List<FlavorAttempt> rejections) {

  /** No places, because none are needed. */
  public static final AssignedPlaces NONE = new AssignedPlaces(List.of(), null, List.of());

  public AssignedPlaces {
    podSets = List.copyOf(podSets);
    rejections = List.copyOf(rejections);
  }

  /** Whether places are needed and not there at the moment. */
  public boolean lacking() {
    return !rejections.isEmpty();
  }

  /** Whether rules for the spreading of groups close domains that the pods lack. */
  public boolean areCrowded() {
    return rejections.stream()
        .flatMap(attempt -> attempt.flavorRejections().stream())
        .anyMatch(
            rejection ->
                rejection instanceof FlavorRejection.NoPlacement lack
                    && !lack.crowding().isEmpty());
  }

  /** Whether the places depend on the groups of other Workloads, too, not only on their room. */
  public boolean dependsOnGroups() {
    return usage != null && usage.dependsOnGroups();
  }

  /** Whether the places, if there are any, have room with the usage that counts at the moment. */
  public boolean fits() {
    return usage == null || usage.fits();
  }
}
